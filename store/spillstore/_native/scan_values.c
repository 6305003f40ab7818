/* What stands behind a name: words, lines, and whether a value could be a secret. */
#include "scan.h"

#define LEAST_WEAK 20 /* bytes of a value behind a weak name */
#define LEAST_SIGNS 10 /* of one that is drawn of all signs */

static const u8 STRING_CALL[] = "\7string(";

/* Whether one of the words begins at `at`. */
int word_begins(const Text *t, i64 at, const u8 *words) {
    for (; *words; words += *words + 1)
        if (at + *words <= t->size && t->text[at] == words[1] && memcmp(t->text + at, words + 1, *words) == 0)
            return 1;
    return 0;
}

/* Whether one of the words ends at `at`, and no letter stands before it. */
int word_ends(const Text *t, i64 at, const u8 *words) {
    for (; *words; words += *words + 1)
        if (*words <= at && memcmp(t->text + at - *words, words + 1, *words) == 0 && !is(t, at - *words - 1, ALNUM) &&
            !at_is(t, at - *words - 1, '_'))
            return 1;
    return 0;
}

/* Whether bytes between `from` and `to` hold a run of KEY, of at least LEAST_WEAK, with letters and digits in it.
 *
 * It is looked for from the place where a run would have that length, backwards, so that of shorter runs few bytes are
 * seen. Those between `begin` and `known` are of KEY, and are not looked at again. */
static int weak_could_be(const Text *t, i64 from, i64 to) {
    i64 begin = from, known = from;
    for (i64 at = from + LEAST_WEAK; at <= to; at = begin + LEAST_WEAK) {
        i64 back = at;
        while (back > known && is(t, back - 1, KEY)) back--;
        int whole = back == known;
        known = at;
        if (!whole) {
            begin = back;
            continue;
        }
        int digit = 0, letter = 0;
        for (i64 i = begin; i < to && is(t, i, KEY); i++) {
            digit |= is(t, i, DIGIT);
            letter |= !is(t, i, DIGIT);
            known = i + 1;
            if (digit && letter && known - begin >= LEAST_WEAK)
                return 1;
        }
        begin = known = known + 1;
    }
    return 0;
}

static int quote_between(const Text *t, i64 from, i64 to) {
    for (; from < to; from += 16) {
        Sixteen bytes = bytes_from(t, from);
        u32 quotes = bits_of((Sixteen)(bytes == '"') | (Sixteen)(bytes == '\'') | (Sixteen)(bytes == '`'));
        if (quotes)
            return from + __builtin_ctz(quotes) < to;
    }
    return 0;
}

/* Whether so many of them are signs that a value behind a weak name may be drawn of all signs; such a one is in quotes. */
static int signs_could_be(const Text *t, i64 from, i64 to) {
    int signs = 0;
    for (; from < to && signs < LEAST_SIGNS; from += 16) {
        const Sixteen bytes = bytes_from(t, from);
        u32 others = ~(blanks_in(bytes) | (parts_in(bytes) & ~bits_of((Sixteen)(bytes == '_'))));
        for (others &= to - from < 16 ? (1u << (to - from)) - 1 : 0xFFFF; others; others &= others - 1) signs++;
    }
    return signs >= LEAST_SIGNS;
}

/* Whether bytes between `from` and `to` could hold a value of that strength, in quotes or not. */
int run_could_be(const Text *t, i64 from, i64 to, int strength) {
    if (strength == WEAK)
        return weak_could_be(t, from, to) || (quote_between(t, from, to) && signs_could_be(t, from, to));
    i64 run = 0;
    int letter = 0;
    for (i64 i = from; i < to; i++) {
        u8 byte = t->text[i];
        if (strength == PASSWORD && one_of(byte, "\"'`"))
            return to - i > 3; /* in quotes there may be blanks */
        run = byte == ' ' ? 0 : run + 1;
        letter = byte != ' ' && (letter || !is(t, i, DIGIT));
        if (strength == PASSWORD ? run >= 3 : run >= 8 && letter)
            return 1;
    }
    return 0;
}

/* The same for what an element holds, which is in no quotes. */
int element_could_be(const Text *t, i64 from, i64 to, int strength) {
    return run_could_be(t, from, to, strength) || (strength == WEAK && signs_could_be(t, from, to));
}

static u8 small(u8 byte) { return byte >= 'A' && byte <= 'Z' ? (u8)(byte + 32) : byte; }

/* How many humps letters and digits have: `getURLOf2` has get, URL, Of, 2. */
static i64 humps_of(const Text *t, i64 from, i64 to) {
    i64 humps = 0;
    for (i64 i = from, before = 0; i < to; i++) {
        const u8 byte = t->text[i];
        const i64 now = byte <= '9' ? 1 : byte <= 'Z' ? 2 : 3;
        humps += now == 2 ? before != 2 || (i + 1 < to && t->text[i + 1] > 'Z') : now == 3 ? before < 2 : before != 1;
        before = now;
    }
    return humps;
}

/* Whether every piece of a value is a word or a small number: [A-Za-z]{1,16}\d{0,3} | \d{1,4} | [vVxX]\d+, a long one with few
 * humps, and it is no word and number as people make a password of, which ends in a sign and two letters at most. */
int wordy(const Text *t, i64 from, i64 to) {
    enum { LONG_WORD = 12 };
    for (i64 i = from; i < to;) {
        if (!is(t, i, PIECE)) {
            i++;
            continue;
        }
        i64 letters = 0, digits = 0, first = i;
        while (i < to && is(t, i, ALNUM) && !is(t, i, DIGIT)) i++, letters++;
        while (i < to && is(t, i, DIGIT)) i++, digits++;
        if (i < to && is(t, i, PIECE))
            return 0;
        int version = letters == 1 && (small(t->text[first]) == 'v' || small(t->text[first]) == 'x');
        if (letters ? letters > 16 || (digits > 3 && !version) : digits > 4 || digits == 0)
            return 0;
        if ((first == from && digits == 3 && i < to && to - i <= 3) || (i - first >= LONG_WORD && humps_of(t, first, i) * 3 > i - first))
            return 0;
    }
    return 1;
}

/* The length of the sign between a name and its value, or 0. */
int sign_at(const Text *t, i64 at) {
    if (at >= t->size)
        return 0;
    u8 byte = t->text[at], then = at + 1 < t->size ? t->text[at + 1] : 0, last = at + 2 < t->size ? t->text[at + 2] : 0;
    if (byte == 0xEF)
        return then == 0xBC && last == 0x9A ? 3 : 0; /* a colon of Chinese */
    if (byte == '=')
        return then == '=' ? 0 : then == '>' ? 2 : 1;
    if (byte == ':')
        return then == '=' ? 2 : then == ':' ? (last == '=' ? 3 : last == ':' ? 4 : 0) : then == '/' ? 0 : 1;
    if (byte == '?')
        return then == '=' ? 2 : then == '?' && last == '=' ? 3 : 0;
    if ((byte == '+' || byte == '.') && then == '=')
        return 2;
    return (byte == '-' && then == '>') || (byte == '<' && then == '-') ? 2 : 0;
}

/* Where the line ends in which `at` stands, or REACH bytes behind it. */
i64 line_end_of(Text *t, i64 at) {
    if (at >= t->line && at <= t->line_end)
        return t->line_end - at > REACH ? at + REACH : t->line_end;
    const int within = at >= t->within && at <= t->seen; /* then it goes on up to there */
    i64 most = line_end_before(t, within ? t->seen : at, at + REACH < t->size ? at + REACH : t->size);
    if (most == t->size || is(t, most, LINE_END)) {
        t->line = at;
        t->line_end = most;
    } else {
        t->within = within ? t->within : at;
        t->seen = most > t->seen || !within ? most : t->seen;
    }
    return most;
}

/* How many letters, digits and `_` a word has, in a row, from `at` on and before it, up to sixteen. */
static inline i64 word_size(const Text *t, i64 at) { return ones_first(parts_in(bytes_from(t, at))); }
static inline i64 word_size_before(const Text *t, i64 at) { return ones_last(parts_in(bytes_before(t, at))); }

/* Whether the `size` bytes at `at` are one of the words, in either case. */
static int is_one_of(const Text *t, i64 at, i64 size, const u8 *words) {
    if (size > 15)
        return 0;
    Sixteen word = bytes_from(t, at), inside = first_bytes(size);
    word |= (Sixteen)(word - 'A' < 26) & 32;
    word = (word & inside) | (~inside & ' ');
    for (; *words; words += 16)
        if (bits_of((Sixteen)(word == sixteen_at(words))) == 0xFFFF)
            return 1;
    return 0;
}

/* The length of the word of `words` that stands at `at`, of either case; 0 if none does. */
i64 word_at(const Text *t, i64 at, const u8 *words) {
    i64 size = word_size(t, at);
    return is_one_of(t, at, size, words) ? size : 0;
}

/* The same for lists of which few words begin, or end, with the letter that stands there. */
i64 spoken_at(const Text *t, i64 at) { return is(t, at, SPOKEN) ? word_at(t, at, t->tables->spoken) : 0; }
int type_begins(const Text *t, i64 at) { return is(t, at, TYPE) && word_begins(t, at, t->tables->types); }
int setter_before(const Text *t, i64 at) { return is(t, at - 1, SETTER) && word_ends(t, at, t->tables->setters); }
int qualifier_before(const Text *t, i64 at) {
    i64 size = is(t, at - 1, QUALIFIER) ? word_size_before(t, at) : 0;
    return size && is_one_of(t, at - size, size, t->tables->qualifiers);
}

/* Whether a line ends somewhere in the 512 bytes from `at` on, and the text does not. */
static inline int line_ends_near(const Text *t, i64 at) {
    u32 near = line_ends_in(bytes_from(t, at)) | line_ends_in(bytes_from(t, at + 16));
    const i64 most = at + 512 < t->size ? at + 512 : t->size;
    return near || line_end_before(t, at, most) < most;
}

/* Whether a console may have printed what stands before a blank: `=> `, `2) `, `PASS `, `Out[1]: `, `C: `, `[1] `, `$1 = `. */
static int printed_before(const Text *t, i64 blank) {
    return one_of(t->text[blank - 1], ">)S]=") || (at_is(t, blank - 1, ':') && (at_is(t, blank - 2, ']') || at_is(t, blank - 2, 'C')));
}

static int is_space(const Text *t, i64 at) { return is(t, at, BLANK) || one_of(t->text[at], "\v\f"); }

/* Where such spaces end from `at` on. */
static i64 space_end(const Text *t, i64 at) {
    for (;; at++) {
        at = blanks_end(t, at);
        if (at >= t->size || !one_of(t->text[at], "\v\f"))
            return at;
    }
}

/* Whether one of the next lines may be `value: ...`, `<string>...` or an only word, behind the end of this one. */
int next_line_could(const Text *t, i64 line_end, int word) {
    if (!is(t, line_end, LINE_END))
        return 1; /* the line is longer than what was looked at */
    for (int lines = 0; lines < 10; lines++) {
        i64 at = space_end(t, line_end + 1);
        if (at >= t->size || !line_ends_near(t, at))
            return 1;
        if (!word && !is(t, at, BEGINS))
            return 0;
        if (t->text[at] == '<')
            return 1;
        line_end = line_end_before(t, at, t->size);
        if (line_end == at)
            continue;
        if (word) {
            i64 last = at, blank = at;
            while (blank < line_end && is(t, blank, WORD)) blank++;
            if (t->text[at] == '-' && is(t, at + 1, BLANK))
                last = blanks_end(t, at + 1); /* an item of a list */
            else if (at_is(t, blank, ' ') && printed_before(t, blank))
                last = blank + 1;
            last += at_is(t, last, 'b') && last + 1 < t->size && one_of(t->text[last + 1], "\"'"); /* of Python */
            last += one_of(t->text[last], "\"'");
            while (last < line_end && is(t, last, WORD)) last++;
            while (last < line_end && (is_space(t, last) || one_of(t->text[last], "\"'"))) last++;
            if (last >= line_end || word_begins(t, at, STRING_CALL))
                return 1;
        }
        if (t->text[at] == '-' || t->text[at] == '+')
            at = blanks_end(t, at + 1);
        while (one_of(t->text[at], "\\\"'")) at++;
        i64 size = is(t, at, VALUE) ? word_at(t, at, t->tables->values) : 0;
        if (size) {
            for (at += size; one_of(t->text[at], "\\\"'") || is(t, at, BLANK); at++) {}
            if (one_of(t->text[at], ":="))
                return 1;
        }
        if (!is(t, at, PASSED) || !word_at(t, at, t->tables->passed))
            return 0;
    }
    return 1;
}

/* Whether `form-data` stands before in this line, in any case. */
int part_of_a_form(const Text *t, i64 begin) {
    u32 found = 0;
    i64 at = begin;
    for (const i64 least = begin - BACK; at > least && at > 0; at -= 16) {
        Sixteen bytes = bytes_before(t, at);
        u32 ends = line_ends_in(bytes), first = bits_of((Sixteen)((bytes | 32) == 'f'));
        found |= ends ? first >> (31 - __builtin_clz(ends)) : first;
        if (ends) {
            at -= __builtin_clz(ends) - 16;
            break;
        }
    }
    if (!found)
        return 0;
    static const char FORM[] = "form-data";
    const i64 size = (i64)strlen(FORM);
    for (at = at < 0 ? 0 : at; at + size <= begin; at++)
        if (stands(t, at, FORM, size))
            return 1;
    return 0;
}

/* Whether the next line that is not empty may be what a console prints: a word, with a mark or a number before it. */
int printed_could(const Text *t, i64 line_end) {
    i64 at = line_end;
    for (i64 before = -1; at != before && at < t->size && at < line_end + 512;) {
        before = at;
        at = space_end(t, at);
        at += is(t, at, LINE_END);
    }
    const i64 most = at + 512 < t->size ? at + 512 : t->size;
    i64 end = line_end_before(t, at, most);
    if (at >= line_end + 512 || end >= most)
        return 1;
    while (end > at && (is(t, end - 1, BLANK) || one_of(t->text[end - 1], "\"'"))) end--;
    for (i64 i = at; i < end; i += 16) {
        const u32 blanks = blanks_in(bytes_from(t, i));
        if (blanks && i + __builtin_ctz(blanks) < end)
            return printed_before(t, i + __builtin_ctz(blanks)) || one_of(t->text[at], "$(0");
    }
    return end - at >= 6;
}

/* The same for a name that is the value of another one, such as `name`; in a part of a form any line may be its value. */
int labelled_could(const Text *t, i64 begin, i64 line_end) {
    return next_line_could(t, line_end, 0) || part_of_a_form(t, begin);
}

/* Whether bytes are a word that is never a value, such as `null`, in either case. */
static int placeholder(const Text *t, i64 from, i64 to) {
    return from < to && is(t, from, PLACEHOLDER) && is_one_of(t, from, to - from, t->tables->placeholders);
}

/* Whether a value between `from` and `to` could be a secret; a bare one, in no quotes, without the signs at its end. */
int value_could_be(const Text *t, i64 from, i64 to, int strength, int bare) {
    i64 size = to - from, end = to, first = from;
    if (strength == WEAK) {
        if (size < (bare ? LEAST_WEAK : LEAST_SIGNS))
            return 0;
        return (!bare && signs_could_be(t, from, to)) || weak_could_be(t, from, to);
    }
    if (size < least_value(strength))
        return 0;
    while (bare && end > from && is(t, end - 1, TRAILS)) end--;
    if (placeholder(t, from, end))
        return 0;
    if (strength == PASSWORD) {
        while (first < end && is(t, first, DIGIT)) first++;
        return !bare || first < end || end - from > 3;
    }
    while (first < end && one_of(t->text[first], "^~<>=")) first++; /* a range of versions */
    while (first < end && is(t, first, NUMBER)) first++;
    return first < end && !(strength == TOKEN && wordy(t, from, to));
}

/* Whether so many backslashes stand between `from` and a quote. */
static int is_escaped(const Text *t, i64 from, i64 quote, i64 escapes) {
    for (; escapes && quote > from && t->text[quote - 1] == '\\'; escapes--) quote--;
    return !escapes;
}

/* Whether a value in quotes, with what may stand before them, could be a secret; -1 if there are none at `at`. */
int quoted_could(const Text *t, i64 at, i64 line_end, int strength) {
    i64 escapes = 0;
    for (int i = 0; i < 2 && at < line_end && one_of(t->text[at], "fbruFBRUN@$"); i++) at++;
    while (at < line_end && t->text[at] == '\\' && escapes < 8) at++, escapes++;
    if (at >= line_end || !one_of(t->text[at], "\"'`"))
        return -1;
    u8 quote = t->text[at];
    const i64 from = at + 1, longest = from + LONG_VALUE + escapes + 1, most = longest < line_end ? longest : line_end;
    i64 end = from;
    for (;; end++) {
        while (end < most) {
            Sixteen bytes = bytes_from(t, end);
            u32 ends = bits_of((Sixteen)(bytes == quote) | (Sixteen)(bytes == '\\'));
            if (ends) {
                end += __builtin_ctz(ends);
                break;
            }
            end += 16;
        }
        if (end >= most || (t->text[end] == '\\' && !escapes))
            return 1;
        if (t->text[end] == quote && is_escaped(t, from, end, escapes))
            break;
    }
    i64 to = end - escapes;
    if (to <= from)
        return at_is(t, end + 1, quote) || escapes > 1; /* three of them */
    return to - from > LONG_VALUE || value_could_be(t, from, to, strength, 0);
}
