/* What stands around literals that are no names: tokens, addresses, headers, commands. */
#include "scan.h"

/* `://`: whether an `@` follows where a user and a password would end. */
static int credentials_could(const Text *t, i64 start, i64 end) {
    if (!is(t, start - 1, ALNUM))
        return 0;
    i64 at = end, most = end + REACH < t->size ? end + REACH : t->size;
    for (; at < most && at < end + 257; at++)
        if (!is(t, at, ALNUM) &&
            (!(is(t, at, WORD) || t->text[at] == 0x7f) || one_of(t->text[at], ":/@?#<>\\(){}[],;|")))
            break;
    if (at == t->size || at_is(t, at, '@'))
        return 1;
    if (!at_is(t, at, ':'))
        return 0;
    while (++at < most && (is(t, at, WORD) || t->text[at] == 0x7f) && t->text[at] != '<' && t->text[at] != '>')
        if (t->text[at] == '@')
            return 1;
    return at == most;
}

/* A sign behind the literal, and behind it, after quotes and short prefixes, `least` bytes of a set. */
static int signed_could(const Text *t, i64 end, const Literal *literal) {
    const u8 *set = t->tables->sets + 256 * (u32)literal->set;
    i64 at = end - literal->skip;
    for (; is(t, at, CLOSER | BLANK); at++)
        if (one_of(t->text[at], "\\&%"))
            return 1;
    if (at >= t->size)
        return 1;
    int length = literal->comma ? one_of(t->text[at], ":=,") : sign_at(t, at);
    if (!length)
        return 0;
    at += length;
    for (int runs = 0; runs < 4; runs++) {
        i64 begin = at, run = 0;
        if (at_is(t, at, '&'))
            return 1;
        while (at < t->size && at < begin + 160 && (is(t, at, BLANK) || one_of(t->text[at], "\"'`\\|>-+!="))) at++;
        if (at == begin + 160 || at_is(t, at, '&'))
            return 1;
        while (at > begin && set[t->text[at - 1]]) at--; /* such a sign may be of the run, too */
        while (at + run < t->size && run < literal->least && set[t->text[at + run]]) run++;
        if (run >= literal->least || at + run >= t->size)
            return 1;
        if (run == 0)
            return 0;
        at += run; /* of a prefix of quotes, of a tag, of a scheme */
    }
    return 0;
}

/* Whether a sign follows, and a name with a `=` that may begin a pair. */
static int cookie_could(const Text *t, i64 end, const Literal *literal) {
    const u8 *set = t->tables->sets + 256 * (u32)literal->set;
    i64 at = end;
    while (is(t, at, CLOSER | BLANK)) at++;
    if (at_is(t, at, ',')) /* `"name": "Cookie", "value": "..."` */
        return at + 96 >= t->size || holds(t, at, at + 96, "alue");
    if (at < t->size && !one_of(t->text[at], ":="))
        return 0;
    at += at_is(t, at, '=') && at_is(t, at + 1, '>') ? 2 : 1;
    while (is(t, at, CLOSER | BLANK)) at++;
    if (at_is(t, at, ';'))
        at = blanks_end(t, at + 1);
    for (i64 most = at + literal->least; at < most && at < t->size && set[t->text[at]]; at++)
        if (t->text[at] == '=')
            return 1;
    return at >= t->size;
}

/* Whether an option follows in the line of a command. */
static int command_could(const Text *t, i64 start, i64 end) {
    if (is(t, start - 1, ALNUM))
        return 0;
    for (i64 at = end - 1; at < end + 512; at++) {
        if (at + 1 >= t->size)
            return 1;
        if (is(t, at, LINE_END))
            return 0;
        if (is(t, at, BLANK) && (at_is(t, at + 1, '-') || at_is(t, at + 1, '/')))
            return 1;
    }
    return 0;
}

static int run_could(const Text *t, i64 start, i64 end, const Literal *literal) {
    if (literal->apart && is(t, start - 1, ALNUM)) {
        int escaped = at_is(t, start - 2, '\\') || at_is(t, start - 3, '%') || at_is(t, start - 4, '\\') ||
                      at_is(t, start - 6, '\\');
        if (!escaped)
            return 0;
    }
    const u8 *set = t->tables->sets + 256 * (u32)literal->set;
    i64 at = end, least = literal->least;
    if (least && end + least <= t->size) { /* a look at some of them says nearly always that it is none */
        const u8 *run = t->text + end;
        if (!(set[run[least - 1]] & set[run[least / 2]] & set[run[least / 4]] & set[run[least * 3 / 4]]))
            return 0;
    }
    while (at < t->size && at - end < literal->least && set[t->text[at]]) at++;
    return at - end >= literal->least || at == t->size;
}

/* Where a byte stands in [at, most), or `most`. */
static i64 found_at(const Text *t, i64 at, i64 most, int byte) {
    const u8 *found = at < most ? memchr(t->text + at, byte, (size_t)(most - at)) : NULL;
    return found ? found - t->text : most;
}

/* Where one of two bytes stands in [at, most), or `most`; counts the commas before it. */
static i64 one_found_at(const Text *t, i64 at, i64 most, u8 one, u8 other, int *commas) {
    for (; at < most; at += 16) {
        const Sixteen bytes = bytes_from(t, at);
        const u32 found = bits_of((Sixteen)(bytes == one) | (Sixteen)(bytes == other)), within = most - at < 16 ? (1u << (most - at)) - 1 : 0xFFFF;
        u32 before = bits_of((Sixteen)(bytes == ',')) & within;
        if (found & within)
            before &= (found & -found) - 1;
        for (; before; before &= before - 1) ++*commas;
        if (found & within)
            return at + __builtin_ctz(found);
    }
    return most;
}

/* Whether a value of SQL from `from` to `to` could be a secret below the name behind `commas` commas from `names` on. */
static int below_name_could(Text *t, i64 names, int commas, i64 from, i64 to) {
    for (; commas; commas--) names = found_at(t, names, from, ',') + 1;
    while (names < from && !is(t, names, NAME)) names++;
    i64 end = names;
    while (end < from && is(t, end, NAME)) end++;
    int strength = strength_of(t, names, end - names);
    return strength != HARMLESS && strength != HINT && value_could_be(t, from, to, strength, 0);
}

/* Whether a row of SQL, `table (name, ...) VALUES ('value', ...`, may have a secret below the name of one; behind `INSERT INTO`. */
static int inserted_could(Text *t, i64 at) {
    const i64 most = line_end_before(t, at, at + 512 < t->size ? at + 512 : t->size), names = found_at(t, at, most, '(') + 1;
    at = found_at(t, found_at(t, names, most, ')'), most, '(') + 1;
    for (int commas = 0, inside = 0;;) {
        const i64 quote = found_at(t, at, most, '\''), bracket = one_found_at(t, at, quote, '(', ')', &commas);
        if (bracket < quote)
            return t->text[bracket] == '(';
        if (quote == most)
            return most == t->size || !is(t, most, LINE_END);
        const i64 end = one_found_at(t, quote + 1, most, '\'', '\\', &inside);
        if (end >= most || t->text[end] == '\\' || at_is(t, end + 1, '\'') || below_name_could(t, names, commas, quote + 1, end))
            return 1;
        at = end + 1;
    }
}

static int line_start_could(const Text *t, i64 start) {
    for (i64 at = start - 1; at >= 0 && at > start - 66; at--) {
        if (is(t, at, LINE_END))
            return 1;
        if (!is(t, at, BLANK) && t->text[at] != '#')
            return 0;
    }
    return 1;
}

/* Whether a prompt may stand before in the line, a trace's plus, a number of a history, or a bar before the literal. */
static int prompt_before(const Text *t, i64 start) {
    const i64 line = line_before(t, start), first = blanks_end(t, line);
    i64 digits = first, last = start;
    while (digits < start && is(t, digits, DIGIT)) digits++;
    while (last > line && is(t, last - 1, BLANK)) last--;
    if (at_is(t, line, '+') || at_is(t, last - 1, '|') ||
        (digits > first && (digits == start || is(t, digits, BLANK) || at_is(t, digits, '*'))))
        return 1;
    for (i64 at = line; at < start; at += 16) {
        Sixteen bytes = bytes_from(t, at);
        u32 before = start - at < 16 ? (1u << (start - at)) - 1 : 0xFFFF;
        u32 apart = blanks_in(bytes_from(t, at + 1));
        if (start - at <= 16)
            apart |= 1u << (start - at - 1); /* the literal itself may stand behind the sign */
        before &= apart;
        if (bits_of((Sixteen)(bytes == '$') | (Sixteen)(bytes == '#') | (Sixteen)(bytes == '%') | (Sixteen)(bytes == '>')) & before)
            return 1;
        for (u32 ends = bits_of((Sixteen)(bytes == 'N') | (Sixteen)(bytes == ':')) & before; ends; ends &= ends - 1) {
            i64 end = at + __builtin_ctz(ends) + 1;
            if ((end >= 3 && memcmp(t->text + end - 3, "RUN", 3) == 0) || (end >= 4 && memcmp(t->text + end - 4, "run:", 4) == 0))
                return 1;
        }
    }
    return 0;
}

/* Which of sixteen bytes are of words as `told.py` has them. */
static inline u32 told_in(Sixteen bytes) {
    return words_in(bytes) & ~bits_of((Sixteen)(bytes == '(') | (Sixteen)(bytes == '<') | (Sixteen)(bytes == '>') |
                                      (Sixteen)(bytes == '\\') | (Sixteen)(bytes > 126));
}

/* Where such a word ends from `at` on, if not behind `most`. */
static i64 told_end(const Text *t, i64 at, i64 most) {
    for (int letters = 16; letters == 16 && at < most; at += letters) letters = ones_first(told_in(bytes_from(t, at)));
    return at;
}

static inline u32 capitals_in(Sixteen bytes) { return bits_of((Sixteen)(bytes - 'A' < 26)); }

enum { LONGEST_TYPED = 40 }; /* bytes of a value that looks typed */

/* Whether the bytes have small letters, capitals and digits, and 2 if nothing else. */
static int all_classes(const Text *t, i64 from, i64 to) {
    u32 small = 0, capital = 0, digit = 0, others = 0;
    for (i64 at = from; at < to; at += 16) {
        const Sixteen bytes = bytes_from(t, at);
        const u32 within = to - at < 16 ? (1u << (to - at)) - 1 : 0xFFFF;
        const u32 smalls = bits_of((Sixteen)(bytes - 'a' < 26)), capitals = capitals_in(bytes), digits = bits_of((Sixteen)(bytes - '0' < 10));
        small |= smalls & within;
        capital |= capitals & within;
        digit |= digits & within;
        others |= ~(smalls | capitals | digits) & within;
    }
    return small && capital && digit ? 1 + !others : 0;
}

/* Whether it is a word and a number as people make a password of, WORD_AND_NUMBER of `shapes.py`: `Kitten1987.x`. */
static int word_and_number(const Text *t, i64 from, i64 to) {
    i64 at = from, digits = 0;
    while (at < to && at - from < 16 && is(t, at, ALNUM) && !is(t, at, DIGIT)) at++;
    if (at - from < 3)
        return 0;
    while (at < to && is(t, at, DIGIT)) at++, digits++;
    return (digits == 3 || digits == 4) && at < to && to - at <= 3 && !is(t, at, ALNUM);
}

/* Whether a value has letters of both cases and digits, as passwords have to: 1, and 2 if it says more, by a sign or by no order. */
static int typed_as(const Text *t, i64 from, i64 to) {
    enum { SMALL = 1, CAPITAL, NUMERAL, JOINT, MARK };
    i64 inner = to, changes = 0, letters = 0;
    int seen = 0, marked = 0;
    if (to - from < 8 || to - from > LONGEST_TYPED)
        return 0;
    while (inner > from && one_of(t->text[inner - 1], "!?")) inner--;
    for (i64 i = from, before = JOINT; i < to; i++) {
        const u8 byte = t->text[i];
        i64 now = one_of(byte, "_.:-") ? JOINT : MARK;
        if (is(t, i, ALNUM))
            now = byte <= '9' ? NUMERAL : byte <= 'Z' ? CAPITAL : SMALL;
        if (now == MARK && !one_of(byte, "!@#%^&*+?~") && !(byte == '=' && i >= to - 2))
            return 0;
        changes += before < JOINT && now != before && byte != '_' && byte != '-';
        letters += now != JOINT;
        marked |= now == MARK && i > from && i < inner;
        seen |= 1 << now;
        before = now;
    }
    if ((seen & 14) != 14)
        return 0;
    if (word_and_number(t, from, to))
        return 2;
    return 1 + (marked ? !wordy(t, from, to) : (seen & 1 << JOINT) && changes * 5 >= letters * 2);
}

/* The same of a word: all of it, what stands behind the first sign in it, or behind an option's letter. */
static int word_typed_as(const Text *t, i64 from, i64 to) {
    from += at_is(t, from - 1, '\\') && one_of(t->text[from], "nrt"); /* of an escape */
    while (to > from && one_of(t->text[to - 1], ")]},;.:|")) to--;
    while (from < to && one_of(t->text[from], "[{,;:=")) from++;
    i64 sign = from + at_is(t, from, '/');
    while (sign < to && !one_of(t->text[sign], ":=/%")) sign++;
    int typed = typed_as(t, from, to);
    if (sign < to)
        typed |= typed_as(t, sign + 1, to);
    if (at_is(t, from, '-'))
        typed |= typed_as(t, from + 2, to);
    return typed;
}

/* Whether a word behind has such a value; where no prompt stands before, one that says more. Words are looked at once. */
static int told_could(Text *t, i64 start, i64 end, int asks) {
    enum { LONGEST = 106 };
    const i64 most = end + BACK + LONGEST;
    i64 last = told_in(bytes_before(t, end)) >> 15 ? told_end(t, end, most) : end; /* where a word has ended */
    int prompt = asks ? -1 : 0;
    if (last < t->told) {
        if (asks && last <= t->typed && (prompt = prompt_before(t, start)))
            return 1;
        last = t->told;
    }
    for (i64 at = last; at < most;) {
        const Sixteen bytes = bytes_from(t, at);
        const u32 capitals = capitals_in(bytes), ends = line_ends_in(bytes); /* most words have digits or none, few a capital */
        const int first = capitals ? __builtin_ctz(capitals) : 16;
        if (ends && __builtin_ctz(ends) < first)
            break;
        if (!capitals) {
            at += 16;
            if (at >= t->size)
                return 1;
            continue;
        }
        i64 word = at + first;
        const i64 stop = told_end(t, word, t->size);
        for (int letters = 16; letters == 16 && word > last; word -= letters) letters = ones_last(told_in(bytes_before(t, word)));
        at = last = stop;
        if (stop >= t->size)
            return 1;
        const int classes = stop - word < 8 || stop - word > LONGEST ? 0 : all_classes(t, word, stop);
        if (!classes)
            continue;
        const int typed = classes > 1 && !at_is(t, word - 1, '\\') ? stop - word <= LONGEST_TYPED : word_typed_as(t, word, stop);
        if (!typed)
            continue;
        if (typed > 1 || (prompt < 0 ? (prompt = prompt_before(t, start)) : prompt))
            return 1;
        t->typed = word;
    }
    t->told = last;
    return 0;
}

int place_could(Text *t, i64 start, i64 end, const Literal *literal) {
    switch (literal->check) {
    case RUN:
        return run_could(t, start, end, literal);
    case SIGNED:
        return signed_could(t, end, literal);
    case COOKIE:
        return cookie_could(t, end, literal);
    case CREDENTIALS:
        return credentials_could(t, start, end);
    case COMMAND:
        return command_could(t, start, end);
    case INSERTED:
        return inserted_could(t, end);
    case TOLD:
        return told_could(t, start, end, literal->least);
    case LINE_START:
        return line_start_could(t, start);
    default:
        return 1;
    }
}
