/* Names: the table of what is known of them, and whether a secret may stand behind one. */
#include "scan.h"

#define PROBES 8

/* Lists, as in `Tables`: parts of lines, and a word. */
static const u8 OR[] = "\2or", GENERATED[] = "\11generated", LOGINS[] = "\5login\5user:\11username:";
static const u8 ID[] = "id              ";

/* Where a name stands in the table depends on its bytes, taken by sixteen; the last ones overlap. */
static inline u64 mixed(u64 hash, Sixteen bytes) {
    u64 words[2];
    memcpy(words, &bytes, 16);
    hash = (hash ^ words[0]) * 0xD6E8FEB86659FD93ull + (words[1] ^ hash >> 32) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

/* The first bytes of a name, and zeros behind a short one. */
static inline Sixteen head_of(const Text *t, i64 begin, i64 size) {
    return size < 16 ? bytes_from(t, begin) & first_bytes(size) : sixteen_at(t->text + begin);
}

static inline u64 hash_of(u64 seed, const u8 *name, i64 size, Sixteen head) {
    u64 hash = mixed(seed ^ (u64)size, head);
    for (i64 at = 16; at < size; at += 16)
        hash = mixed(hash, sixteen_at(name + (at + 16 < size ? at : size - 16)));
    hash *= 0xD6E8FEB86659FD93ull; /* what differs in a high byte reaches the low ones */
    return hash ^ hash >> 32;
}

static inline int is_name(const Name *known, const u8 *name, i64 size, Sixteen head) {
    if (known->length != size || bits_of((Sixteen)(sixteen_at(known->bytes) == head)) != 0xFFFF)
        return 0;
    for (i64 at = 16; at < size; at += 16) {
        i64 from = at + 16 < size ? at : size - 16;
        if (bits_of((Sixteen)(sixteen_at(known->bytes + from) == sixteen_at(name + from))) != 0xFFFF)
            return 0;
    }
    return 1;
}

static int strength_of(const Text *t, i64 begin, i64 size) {
    if (size > STORED_NAME)
        return UNKNOWN;
    const Tables *tables = t->tables;
    const u8 *name = t->text + begin;
    const Sixteen head = head_of(t, begin, size);
    u32 slot = (u32)hash_of(tables->seed, name, size, head) & tables->names_mask;
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) & tables->names_mask) {
        const Name *known = &tables->names[slot];
        if (known->strength == UNKNOWN)
            return UNKNOWN;
        if (is_name(known, name, size, head))
            return known->strength;
    }
    return UNKNOWN;
}

/* Keeps what a name promises, in one place. In a full neighbourhood another name is forgotten. */
void spillstore_learn(const Tables *tables, const u8 *name, i64 size, u8 strength) {
    if (size <= 0 || size > STORED_NAME)
        return;
    const Text t = {.text = name, .size = size};
    const Sixteen head = head_of(&t, 0, size);
    u64 hash = hash_of(tables->seed, name, size, head);
    u32 slot = (u32)hash & tables->names_mask;
    u32 last = (slot + (u32)(hash >> 40) % PROBES) & tables->names_mask;
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) & tables->names_mask) {
        const Name *known = &tables->names[slot];
        if (known->strength == UNKNOWN || is_name(known, name, size, head)) {
            last = slot;
            break;
        }
    }
    Name *entry = &tables->names[last];
    entry->length = (u8)size;
    memset(entry->bytes, 0, sizeof entry->bytes);
    memcpy(entry->bytes, name, (size_t)size);
    entry->strength = strength;
}

/* What is no word behind a sign: quotes, a mark, a call. Returns -1 if it is to be looked at as one. */
static int no_word_could(const Text *t, i64 at, i64 line_end, int strength) {
    int quoted = quoted_could(t, at, line_end, strength);
    if (quoted >= 0)
        return quoted;
    u8 byte = t->text[at];
    i64 end = at + 1; /* a mark at the line's end, of a block, an object or a line that goes on */
    if (one_of(byte, "|>")) {
        end += at_is(t, end, '-') || at_is(t, end, '+');
        end += is(t, end, DIGIT);
        end += at_is(t, end, '-') || at_is(t, end, '+');
    }
    if (one_of(byte, "{|>,\\") && blanks_end(t, end) >= line_end)
        return byte == '{' ? next_line_could(t, line_end, 0) : byte != ',';
    int call = byte == '(' || (byte == '{' && at_is(t, at + 1, '{')) ||
               (byte == '$' && (at_is(t, at + 1, '(') || at_is(t, at + 1, '{'))); /* or a variable */
    i64 most = at + LONG_VALUE + 1 < line_end ? at + LONG_VALUE + 1 : line_end;
    return call ? word_end_before(t, at, most, &call) - at > LONG_VALUE : -1; /* the rule goes on behind a long one */
}

/* Whether all of a value up to its line's end is a call without arguments: `next_token();`. */
static int empty_call(const Text *t, i64 at, i64 end) {
    if (!is(t, blanks_end(t, end), LINE_END))
        return 0;
    while (end > at && one_of(t->text[end - 1], ";,")) end--;
    if (end - at < 3 || t->text[end - 1] != ')' || t->text[end - 2] != '(' || is(t, at, DIGIT))
        return 0;
    for (end -= 2; at < end; at++)
        if (!is(t, at, ALNUM) && !one_of(t->text[at], "_."))
            return 0;
    return 1;
}

/* A value behind a sign. Returns 0 if no rule can find a secret in it, nor by any other form from this name on. */
static int after_sign(Text *t, i64 sign, int length, i64 stop, int strength) {
    i64 at = blanks_end(t, sign + length);
    if (at >= t->size || is(t, at, LINE_END))
        return next_line_could(t, at, 1);
    int word = is(t, at, ALNUM) && !is(t, at + 1, CLOSER) && !is(t, at + 2, CLOSER); /* and no letters before quotes */
    if (!word) {
        i64 line_end = line_end_of(t, stop);
        int could = at < line_end ? no_word_could(t, at, line_end, strength) : 1;
        if (could >= 0)
            return could;
    }
    int plain = !is(t, at, OPENS);
    i64 end = word_end_before(t, at, at + LONG_VALUE + 1, &plain);
    if (end - at > LONG_VALUE)
        return 1;
    if (!plain && empty_call(t, at, end))
        return 0;
    if (!plain || (t->text[sign] == ':' && holds_before(t, at, line_end_of(t, stop), '='))) /* `name: type = "value"` */
        return run_could_be(t, at, line_end_of(t, stop), strength);
    return value_could_be(t, at, end, strength, 1);
}

/* Whether `name`, at the end of what stands before, is the first word of its line, but for commands and signs. */
static int first_of_line(const Text *t, i64 begin) {
    i64 line = line_begin_behind(t, begin, begin > 64 ? begin - 64 : 0);
    if (line > 0 && !is(t, line - 1, LINE_END))
        return 0; /* the line begins before what the rule looks at */
    for (; line < begin && is(t, line, BLANK | BULLET); line++)
        if (t->text[line] == '-' && !is(t, line + 1, BLANK))
            return 1; /* an option of a command */
    if (line == begin || word_begins(t, line, t->tables->commands))
        return 1;
    while (line < begin && (is(t, line, NAME) || one_of(t->text[line], "/@+:"))) line++;
    while (line < begin && is(t, line, BLANK | BULLET)) line++; /* behind what grep puts before a line */
    return line == begin || word_begins(t, line, t->tables->commands);
}

/* Whether `login NAME` or `user: NAME` stands before. */
static int login_before(const Text *t, i64 begin) {
    i64 low = begin > BACK ? begin - BACK : 0, at = begin;
    while (at > low && is(t, at - 1, BLANK)) at--;
    while (at > low && !is(t, at - 1, BLANK | LINE_END)) at--;
    while (at > low && is(t, at - 1, BLANK)) at--;
    return word_ends(t, at, LOGINS);
}

static int directive(const Text *t, i64 begin, i64 stop) {
    i64 size = stop - begin;
    const u8 *name = t->text + begin;
    return (size == 8 && memcmp(name, "password", 8) == 0) || (size == 11 && memcmp(name, "requirepass", 11) == 0) ||
           (size == 10 && memcmp(name, "masterauth", 10) == 0);
}

/* Whether a word at `at` could be a key or a token: long, and with digits in it. */
static int drawn_at(const Text *t, i64 at, i64 line_end) {
    int digits = 0;
    i64 end = at;
    for (; end < line_end && (is(t, end, ALNUM) || one_of(t->text[end], "_-")); end++) digits += is(t, end, DIGIT);
    return (end - at >= 16 && digits > 1) || end == t->size;
}

/* The same at `at`, or behind `is` or `was`. */
static int drawn_word(const Text *t, i64 at, i64 line_end) {
    if (drawn_at(t, at, line_end))
        return 1;
    if (at + 4 >= line_end || (memcmp(t->text + at, "is", 2) != 0 && memcmp(t->text + at, "was", 3) != 0))
        return 0;
    at += t->text[at] == 'i' ? 2 : 3;
    while (is(t, at, BLANK) || at_is(t, at, ':') || (at < line_end && one_of(t->text[at], "\"'`"))) at++;
    return drawn_at(t, at, line_end);
}

/* Whether `ENV` or another setter stands before, and blanks behind it. */
static int set_before(const Text *t, i64 begin) {
    i64 before = begin;
    while (before > 0 && before > begin - 32 && is(t, before - 1, BLANK)) before--;
    return setter_before(t, before);
}

/* `PASS word`, `ENV NAME word`, `password word`: a word behind a blank where a command or a line of its own says so. */
static int after_blank_only(Text *t, i64 begin, i64 stop, int strength) {
    const i64 size = stop - begin;
    const u8 *name = t->text + begin;
    if (set_before(t, begin))
        return run_could_be(t, stop, line_end_of(t, stop), strength == SECRET || strength == TOKEN ? strength : PASSWORD);
    if ((size == 4 && memcmp(name, "PASS", 4) == 0) || (size == 8 && memcmp(name, "PASSWORD", 8) == 0))
        return 1;
    if (strength != PASSWORD && strength != WEAK && drawn_word(t, blanks_end(t, stop), line_end_of(t, stop)))
        return 1;
    if (directive(t, begin, stop))
        return first_of_line(t, begin) || login_before(t, begin);
    return 0;
}

/* What may stand behind the blank behind a name, if a value is to follow. */
static int value_may_follow(const Text *t, i64 stop) {
    i64 at = stop + 1;
    if (at >= t->size || t->text[stop] == '\t' || is(t, at, BLANK | LINE_END))
        return 1;
    if (!is(t, at, ALNUM))
        return one_of(t->text[at], ".=:<>?+!&(\\\"'`|-[\xe2");
    if (is(t, at, DIGIT)) {
        i64 end = at + 1 + is(t, at + 1, DIGIT);
        return end >= t->size || is(t, end, BLANK) || one_of(t->text[end], ":=-");
    }
    return type_begins(t, at) || spoken_at(t, at) || word_at(t, at, ID) || word_begins(t, at, GENERATED);
}

/* `is set to: word`: words that may stand between a password's name and its value; a sign or a quote behind them. */
static int spoken_could(const Text *t, i64 stop, i64 line_end) {
    i64 at = stop;
    int is_before = 0;
    for (int words = 0; words < 9; words++) {
        i64 next = blanks_end(t, at);
        if (next >= line_end)
            return 0;
        if (one_of(t->text[next], ":=") || (next > at && one_of(t->text[next], "\"'`\\")) || (is_before && next > at))
            return 1;
        i64 size = spoken_at(t, next), end = next;
        while (end < line_end && (is(t, end, NAME) || t->text[end] == '@')) end++;
        is_before = (size == 2 && t->text[next] == 'i') || (size == 3 && memcmp(t->text + next, "no", 2) == 0);
        if (size)
            at = next + size;
        else if (memchr(t->text + next, '@', (size_t)(end - next)) != NULL)
            at = end;
        else
            return 0;
    }
    return 1;
}

/* Blanks and a word behind the name: only some forms have their value there. */
static int after_blank(Text *t, i64 begin, i64 stop, i64 line_end, int strength) {
    i64 at = stop;
    while (at < line_end && is(t, at, BLANK)) at++;
    if (at == line_end)
        return labelled_could(t, begin, line_end) || holds(t, begin - BACK, begin, "|");
    if (t->text[at] == '|')
        return 1; /* of a table, whose values are in the lines below */
    if (t->text[at] == '>' && blanks_end(t, at + 1) >= line_end)
        return 1; /* of an element, whose value may be the next line */
    if (t->text[at] == '{' && blanks_end(t, at + 1) >= line_end && holds(t, begin - BACK, begin, "variable"))
        return 1; /* of Terraform, whose default may be in a line below */
    if (t->text[at] == '(' && at - stop == 1 && t->text[stop] == ' ') { /* `token (shown once): word` */
        i64 close = at;
        while (close < line_end && t->text[close] != ')') close++;
        if (close < line_end && !at_is(t, close + 1, ':'))
            return after_blank_only(t, begin, stop, strength);
    }
    if (!is(t, at, ALNUM) || is(t, at, DIGIT) || at - stop > 1 || t->text[stop] == '\t')
        return run_could_be(t, stop, line_end, strength);
    int could = set_before(t, begin) || type_begins(t, at) || word_begins(t, at, OR);
    for (i64 i = begin > 32 ? begin - 32 : 0; i < begin && !could; i++) could = t->text[i] == '<';
    could = could || (strength == PASSWORD && spoken_could(t, stop, line_end)) ||
            (strength == SECRET && word_at(t, at, ID)) ||
            after_blank_only(t, begin, stop, strength); /* `Has` is one of those words but for its case */
    return could && run_could_be(t, stop, line_end, strength);
}

/* What stands before a name in quotes or brackets, and before blanks; 0 if nothing does. */
static u8 before_quotes(const Text *t, i64 begin) {
    i64 head = begin - 1;
    while (head >= 0 && head > begin - BACK && (is(t, head, BLANK) || one_of(t->text[head], "\"'\\"))) head--;
    return head < 0 ? 0 : t->text[head];
}

/* Whether it may be the value of another name: a sign or a tag stands before it. */
static int behind_a_sign(const Text *t, i64 begin) {
    u8 head = before_quotes(t, begin);
    return head == 0 || one_of(head, ":=>");
}

/* Whether a console may print its value in the next line: `> os.environ["DB_PASSWORD"]`. */
static int asked_could(const Text *t, i64 begin, i64 line_end) {
    return printed_could(t, line_end) && (before_quotes(t, begin) == ')' || holds(t, begin - BACK, begin, "> ") ||
                                          holds(t, begin - BACK, begin, "]: "));
}

/* Whether its own value may stand in a line below. */
static int closed_could(const Text *t, i64 begin, i64 line_end) {
    return (behind_a_sign(t, begin) && next_line_could(t, line_end, 0)) || part_of_a_form(t, begin);
}

/* A name that a quote or a bracket ends, and no sign behind it. */
static int after_closer(const Text *t, i64 begin, i64 stop, i64 line_end, int strength) {
    i64 at = stop;
    for (; at < line_end && (is(t, at, CLOSER | BLANK) || at_is(t, at, ')')); at++)
        if (one_of(t->text[at], "\\&%"))
            return 1;
    if (at == line_end)
        return closed_could(t, begin, line_end) || asked_could(t, begin, line_end);
    if (holds(t, stop, line_end, "alue"))
        return 1;
    if (t->text[at] == '{' && !is(t, at + 1, WORD))
        return next_line_could(t, line_end, 0) &&
               (behind_a_sign(t, begin) || part_of_a_form(t, begin) || holds(t, begin - BACK, begin, "variable"));
    if (t->text[at] != ',')
        return one_of(t->text[at], "=!>|?o") && run_could_be(t, stop, line_end, strength);
    while (++at < line_end && is(t, at, BLANK)) {}
    if (at == line_end)
        return closed_could(t, begin, line_end);
    if (!one_of(t->text[at], "\\\"'"))
        return 0;
    i64 end = at + 1;
    while (end < line_end && t->text[end] != t->text[at] && t->text[end] != '\\') end++;
    int plain = t->text[begin] != '-' && !holds(t, begin - 20, begin, "define") && !holds(t, begin - 20, begin, "(");
    if (plain && end < line_end && t->text[end] == t->text[at] && end > at + 1 && wordy(t, at + 1, end))
        return 0;
    return quoted_could(t, at, line_end, strength) != 0;
}

/* Whether a secret may stand behind the name at [begin, stop). */
static __attribute__((noinline)) int known_could(Text *t, i64 begin, i64 stop, int strength) {
    const int known = strength != UNKNOWN, blank = is(t, stop, BLANK);
    const u8 left = begin > 0 ? t->text[begin - 1] : 0, byte = t->text[stop];
    const int dashed = t->text[begin] == '-' && (begin == 0 || is(t, begin - 1, BEFORE_OPTION));
    const int spoken = blank && !dashed && left != '<' && left != ':';
    if (strength == WEAK && is(t, begin - 1, BLANK) && qualifier_before(t, begin - 1))
        strength = TOKEN;
    if (spoken && !value_may_follow(t, stop))
        return after_blank_only(t, begin, stop, strength);
    if (!known)
        return 1;
    i64 at = stop;
    if (is(t, stop, CLOSER)) {
        for (int i = 0; i < 3 && at < t->size && one_of(t->text[at], "\"'`"); i++) at++;
        for (int i = 0; i < 2 && at_is(t, at, ']'); i++) at++;
    }
    at = blanks_end(t, at);
    int length = sign_at(t, at);
    if (length) {
        if (after_sign(t, at, length, stop, strength))
            return 1;
        if (!spoken)
            return 0; /* else the sign may be a part of the value: behind a setter, or if it begins as no assignment does */
        if (!one_of(t->text[at], "=:") && after_blank(t, begin, stop, line_end_of(t, stop), strength))
            return 1;
        return set_before(t, begin) && after_blank_only(t, begin, stop, strength);
    }
    const i64 line_end = line_end_of(t, stop);
    if (is(t, stop, CLOSER))
        return after_closer(t, begin, stop, line_end, strength);
    if (blank)
        return dashed ? run_could_be(t, stop, line_end, strength) : after_blank(t, begin, stop, line_end, strength);
    switch (byte) {
    case '(':
        for (at = stop + 1; at < line_end && (is(t, at, BLANK) || at_is(t, at, 'N')); at++) {}
        return (strength == PASSWORD || drawn_at(t, at + 1, line_end)) && at < line_end &&
               (t->text[at] == '"' || t->text[at] == '\'');
    case ':':
        return !at_is(t, stop + 1, ':') && !at_is(t, stop + 1, '/') && run_could_be(t, stop, line_end, strength);
    case '?':
        return at_is(t, stop + 1, '?') || at_is(t, stop + 1, '=');
    case '!': case '=':
        return at_is(t, stop + 1, '=') && run_could_be(t, stop, line_end, strength);
    case '>':
        return begin > 0 && (line_end - stop < 16 || run_could_be(t, stop, line_end, strength));
    case ',':
        return (left == '{' || left == ':') && run_could_be(t, stop, line_end, strength);
    case '<': case '+': case '-':
        return 1;
    default:
        return 0;
    }
}

/* Whether a name that its line ends with may have its value in a line below: `name: DB_PASSWORD`, `> password`, a column. */
static int last_of_line_could(const Text *t, i64 begin, i64 stop) {
    return (labelled_could(t, begin, stop) && holds(t, begin - 64, begin, "ame:")) ||
           (holds(t, begin - 64, begin, "> ") && printed_could(t, stop)) || holds(t, begin - 64, begin, "|");
}

/* Whether a secret may stand behind the name at [begin, stop), or in a line below it. */
static int judged_could(Text *t, i64 begin, i64 stop) {
    if (is(t, stop, LINE_END) && !last_of_line_could(t, begin, stop))
        return 0;
    int strength = strength_of(t, begin, stop - begin);
    if (strength == HARMLESS)
        return 0;
    return is(t, stop, LINE_END) || known_could(t, begin, stop, strength);
}

/* The same for the name that holds a literal at [start, end). It may hold several, and is judged once. */
int name_could(Text *t, i64 start, i64 end, const Literal *literal) {
    if (end >= t->size)
        return 1;
    i64 within = end - literal->skip;
    if (within <= t->stop && !t->answer)
        return 0;
    if (t->tables->sets[256 * (u32)literal->no_name + t->text[end]])
        return 0;
    if (t->text[end] == literal->plural && is(t, end + 1, ALNUM) && !is(t, end + 1, DIGIT))
        return 0;
    if (within <= t->stop)
        return 1;
    i64 stop = name_end(t, within);
    if (stop >= t->size)
        return 1;
    if (!is(t, stop, FOLLOWS | LINE_END))
        return 0;
    i64 begin = name_begin(t, start);
    int answer = judged_could(t, begin, stop);
    if (stop - begin < LONGEST_NAME) { /* else the next literal may see more of it */
        t->stop = stop;
        t->answer = answer;
    }
    return answer;
}
