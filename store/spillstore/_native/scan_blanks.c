/* A name with a blank behind it: in prose most often, and now and then with a value. */
#include "scan.h"

/* Lists, as in `Tables`: parts of lines, and a word. */
static const u8 OR[] = "\2or", GENERATED[] = "\11generated", REGISTRY[] = "\4REG_";
static const u8 LOGINS[] = "\5login\10neighbor\5user:\11username:";
static const u8 ID[] = "id              ";

/* Whether a string follows a comparison at `at`, which could be a secret. */
int compared_could(const Text *t, i64 at, i64 line_end, int strength) {
    if (!at_is(t, at + 1, '='))
        return 0;
    at = blanks_end(t, at + 2 + at_is(t, at + 2, '='));
    return at >= t->size || quoted_could(t, at, line_end, strength) > 0;
}

/* Whether `name`, at the end of what stands before, is the first word of its line, but for commands and signs. */
static int first_of_line(const Text *t, i64 begin) {
    i64 line = line_begin_behind(t, begin, begin > 64 ? begin - 64 : 0);
    if (line > 0 && !is(t, line - 1, LINE_END))
        return 0; /* the line begins before what the rule looks at */
    i64 number = blanks_end(t, line), after = number;
    while (after < begin && is(t, after, DIGIT)) after++;
    if (after > number && after < begin && one_of(t->text[after], "\t \xe2|")) /* of the line, before a tab, an arrow or a bar */
        for (line = after; line < begin && one_of(t->text[line], "\t |\xe2\x86\x92\x94\x82"); line++) {}
    for (; line < begin && is(t, line, BLANK | BULLET); line++)
        if (t->text[line] == '-' && !is(t, line + 1, BLANK))
            return 1; /* an option of a command */
    for (int words = 0; words < 3; words++) { /* behind what grep puts before a line, and `main:` or `/main/db/` */
        if (line == begin || word_begins(t, line, t->tables->commands))
            return 1;
        while (line < begin && (is(t, line, NAME) || one_of(t->text[line], "/\\@+:~^"))) line++;
        if (line < begin && !at_is(t, line - 1, ':'))
            return 0;
        while (line < begin && is(t, line, BLANK | BULLET)) line++;
    }
    return line == begin;
}

/* Whether `login NAME` or `user: NAME` stands before. */
static int login_before(const Text *t, i64 begin) {
    i64 low = begin > BACK ? begin - BACK : 0, at = begin;
    while (at > low && is(t, at - 1, BLANK)) at--;
    while (at > low && !is(t, at - 1, BLANK | LINE_END)) at--;
    while (at > low && is(t, at - 1, BLANK)) at--;
    return word_ends(t, at, LOGINS);
}

/* Whether `name=` and more stand at `at`: a field of its own, no value. */
static int field_at(const Text *t, i64 at) {
    enum { LONGEST = 16 };
    i64 end = at;
    while (end < t->size && end - at <= LONGEST && ((t->text[end] >= 'a' && t->text[end] <= 'z') || (end > at && t->text[end] == '_'))) end++;
    return end - at >= 2 && end - at <= LONGEST && end + 1 < t->size && t->text[end] == '=' && t->text[end + 1] != '=' &&
           t->text[end + 1] > ' ';
}

static int directive(const Text *t, i64 begin, i64 stop) {
    i64 size = stop - begin;
    const u8 *name = t->text + begin;
    return called(t, stop) || (size == 4 && memcmp(name, "Pass", 4) == 0) || (size == 11 && memcmp(name, "requirepass", 11) == 0) ||
           (size == 10 && memcmp(name, "masterauth", 10) == 0);
}

/* Whether a word at `at` could be a key or a token: long, and with digits in it. */
int drawn_at(const Text *t, i64 at, i64 line_end) {
    int digits = 0;
    i64 end = at;
    for (; end < line_end && (is(t, end, ALNUM) || one_of(t->text[end], "_-")); end++) digits += is(t, end, DIGIT);
    return (end - at >= 16 && digits > 1) || end == t->size;
}

/* Whether a word at `at`, of any signs, could be one: long, and with a digit. */
static int drawn_part(const Text *t, i64 at, i64 line_end) {
    int digits = 0;
    i64 end = at;
    for (; end < line_end && is(t, end, WORD); end++) digits += is(t, end, DIGIT);
    return (end - at >= 8 && digits) || end == t->size;
}

/* Whether the word at `at` is the last of its line, or of a string in it, and no word of letters, unless a capital stands in a long one. */
int last_word_could(const Text *t, i64 at, i64 line_end, int strength) {
    int letters = 1, capital = 0, escaped = 0;
    i64 end = at;
    for (; end < line_end && is(t, end, WORD); end++) {
        letters &= is(t, end, ALNUM) && !is(t, end, DIGIT);
        capital |= end > at && t->text[end] >= 'A' && t->text[end] <= 'Z';
        escaped |= t->text[end] == '\\'; /* it may end there, in a string */
    }
    if (letters && !(capital && end - at >= 8))
        return 0;
    return (end == line_end || escaped || one_of(t->text[end], "\"'`")) && end - at >= least_value(strength);
}

/* Whether a word behind blanks at `at`, in quotes or a bracket or not, has letters of both cases and digits, as passwords have to. */
static int typed_at(const Text *t, i64 at, i64 line_end) {
    int small = 0, capital = 0, digit = 0;
    i64 word = at = blanks_end(t, at);
    while (word < at + 7 && word < line_end && t->text[word] >= 'a' && t->text[word] <= 'z') word++;
    if (is(t, word, BLANK))
        at = blanks_end(t, word); /* behind `is` */
    at += at < line_end && one_of(t->text[at], "\"'`(");
    i64 end = at;
    for (; end < line_end && is(t, end, WORD); end++) {
        u8 byte = t->text[end];
        small |= byte >= 'a' && byte <= 'z';
        capital |= byte >= 'A' && byte <= 'Z';
        digit |= byte >= '0' && byte <= '9';
    }
    return (end - at >= 8 && small && capital && digit) || end == t->size;
}

/* Whether a word at `at`, or behind `is` or `was`, could be a key or a token. */
static int drawn_word(const Text *t, i64 at, i64 line_end) {
    if (drawn_at(t, at, line_end))
        return 1;
    if (at + 4 >= line_end)
        return 0;
    const int more = memcmp(t->text + at, "for", 3) == 0 || memcmp(t->text + at, "of", 2) == 0;
    for (int words = 0; more && words < 3 && at + 4 < line_end; words++) {
        if (words > 1 && (memcmp(t->text + at, "is", 2) == 0 || memcmp(t->text + at, "was", 3) == 0))
            break;
        while (at < line_end && is(t, at, WORD)) at++;
        at = blanks_end(t, at);
    }
    if (at + 4 >= line_end || (memcmp(t->text + at, "is", 2) != 0 && memcmp(t->text + at, "was", 3) != 0))
        return 0;
    at += t->text[at] == 'i' ? 2 : 3;
    while (is(t, at, BLANK) || at_is(t, at, ':') || (at < line_end && one_of(t->text[at], "\"'`"))) at++;
    return drawn_part(t, at, line_end);
}

/* Whether `ENV` or another setter stands before, and blanks behind it. */
int set_before(const Text *t, i64 begin) {
    i64 before = begin;
    while (before > 0 && before > begin - 32 && is(t, before - 1, BLANK)) before--;
    return setter_before(t, before);
}

/* `PASS word`, `ENV NAME word`, `password word`: a word behind a blank where a command or a line of its own says so. */
int after_blank_only(Text *t, i64 begin, i64 stop, int strength) {
    const i64 size = stop - begin;
    const u8 *name = t->text + begin;
    if (set_before(t, begin))
        return run_could_be(t, stop, line_end_of(t, stop), strength == WEAK ? PASSWORD : strength);
    if ((size == 4 && memcmp(name, "PASS", 4) == 0) || (size == 8 && memcmp(name, "PASSWORD", 8) == 0))
        return 1;
    if (strength != PASSWORD && strength != WEAK && drawn_word(t, blanks_end(t, stop), line_end_of(t, stop)))
        return 1;
    if ((strength == PASSWORD || strength == SECRET) && typed_at(t, stop, line_end_of(t, stop)))
        return 1;
    if (!directive(t, begin, stop))
        return 0;
    i64 at = blanks_end(t, stop), end = at; /* a word of letters alone is one in `.netrc` only, but for capitals in it */
    int capital = 0;
    for (; is(t, end, ALNUM) && !is(t, end, DIGIT); end++)
        capital |= end > at && t->text[end] >= 'A' && t->text[end] <= 'Z';
    if (capital && end - at >= 8)
        return first_of_line(t, begin) || login_before(t, begin);
    while (end < t->size && one_of(t->text[end], ".,;:?)]")) end++;
    if (end > at && (is(t, end, BLANK | LINE_END) || (end - at > 2 && is(t, end, CLOSER) && !is(t, end, WORD))))
        return login_before(t, begin) && holds(t, line_before(t, begin), begin, "machine ");
    return first_of_line(t, begin) || (!field_at(t, at) && login_before(t, begin));
}

/* What may stand behind the blank behind a name, if a value is to follow. */
int value_may_follow(const Text *t, i64 stop, int strength) {
    i64 at = stop + 1;
    if (at >= t->size || t->text[stop] == '\t' || is(t, at, BLANK | LINE_END))
        return 1;
    if (t->text[at] == '-') /* an option, or a sign before a token */
        return strength == SECRET || strength == TOKEN || at_is(t, at + 1, '>') || is(t, at + 1, BLANK) || at_is(t, at + 1, '-');
    if (one_of(t->text[at], ".+<"))
        return sign_at(t, at) != 0 || at_is(t, at + 1, '.');
    if (!is(t, at, ALNUM))
        return one_of(t->text[at], "=:>?!(\"'`|[\xe2");
    if (is(t, at, DIGIT)) {
        i64 end = at + 1 + is(t, at + 1, DIGIT);
        return end >= t->size || is(t, end, BLANK) || one_of(t->text[end], ":=-");
    }
    return type_begins(t, at) || spoken_at(t, at) || word_at(t, at, ID) || word_begins(t, at, GENERATED);
}

/* Whether a name ends with a word for a password, in any case. */
int called(const Text *t, i64 stop) {
    static const char *const WORDS[] = {"password", "passwd", "passphrase"};
    if (stop < 1 || !one_of(t->text[stop - 1], "dDeE"))
        return 0;
    for (int i = 0; i < 3; i++) {
        const i64 size = (i64)strlen(WORDS[i]);
        if (stands(t, stop - size, WORDS[i], size))
            return 1;
    }
    return 0;
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
        is_before = (size == 2 && one_of(t->text[next], "it")) || (size == 3 && memcmp(t->text + next, "no", 2) == 0);
        if (size)
            at = next + size;
        else if (memchr(t->text + next, '@', (size_t)(end - next)) != NULL)
            at = end;
        else
            return 0;
    }
    return 1;
}

/* Where the first colon stands in the 64 bytes behind a name, in its line; 0 if none does. */
static i64 colon_behind(const Text *t, i64 stop) {
    for (i64 at = stop; at < stop + 64; at += 16) {
        Sixteen bytes = bytes_from(t, at);
        u32 colons = bits_of((Sixteen)(bytes == ':')), ends = line_ends_in(bytes);
        if (colons && (!ends || __builtin_ctz(colons) < __builtin_ctz(ends)))
            return at + __builtin_ctz(colons);
        if (ends || at + 16 >= t->size)
            return 0;
    }
    return 0;
}

/* `password for NAME: word`, `token now: word`, `the password to go on with:` above one: words, a colon, and what could be
 * a secret at the line's end, or in the next line. */
int label_could(Text *t, i64 stop, int strength) {
    const i64 colon = colon_behind(t, stop);
    if (!colon)
        return 0;
    i64 then = blanks_end(t, colon + 1);
    if (then >= t->size)
        return 1;
    if (is(t, then, LINE_END))
        return printed_could(t, then);
    for (i64 at = stop + 1; at < colon; at++)
        if (t->text[at - 1] == ' ' && (is(t, at, DIGIT) || (!is(t, at, ALNUM) && !one_of(t->text[at], "'\"/"))))
            return 0;
    then += at_is(t, then, '`');
    return then > colon + 1 && (last_word_could(t, then, line_end_of(t, stop), strength) ||
                                (strength == PASSWORD && typed_at(t, then, line_end_of(t, stop))));
}

/* Whether the name may be in a cell of a table: the first of its line, alone or behind a path, or behind a bar. */
static int cell_could(const Text *t, i64 begin) {
    const i64 line = line_before(t, begin);
    for (i64 i = line; i < begin; i++)
        if (one_of(t->text[i], "|\xe2"))
            return 1;
    i64 at = blanks_end(t, line);
    while (at < begin && (is(t, at, NAME) || t->text[at] == '/')) at++;
    return at >= begin;
}

/* Bytes beside names and blanks in a line of titles, or in a bar of its frame: those that part cells are SIGN. A table, since
   a line of titles is looked at once for each name in it. */
enum { OF_TITLES = 1, SIGN = 2, FAR = 480 /* bytes behind a title, as in columns.py */ };
static const u8 TITLES[256] = {
    ['\t'] = SIGN,
    [','] = OF_TITLES | SIGN, [';'] = OF_TITLES | SIGN, ['|'] = OF_TITLES | SIGN, [0xE2] = OF_TITLES | SIGN,
    ['"'] = OF_TITLES, ['('] = OF_TITLES, [')'] = OF_TITLES, ['#'] = OF_TITLES, ['/'] = OF_TITLES, ['*'] = OF_TITLES,
    [0x80 ... 0xE1] = OF_TITLES, [0xE3 ... 0xFF] = OF_TITLES,
};

static int of_titles(const Text *t, i64 at) { return is(t, at, NAME | BLANK) || (TITLES[t->text[at]] & OF_TITLES); }

/* Whether a cell begins here: behind a sign, or two blanks. */
static int begins_cell(const Text *t, i64 at, i64 line) {
    if (at == line)
        return 1;
    u8 before = t->text[at - 1];
    return one_of(before, ",;|\t") || (before == ' ' && (at - 1 == line || one_of(t->text[at - 2], " |\t")));
}

/* Whether the name may head a column of the next lines: its line has titles alone, with a sign or two blanks between them. */
int heads_column(Text *t, i64 begin, i64 stop) {
    if ((one_of(t->text[stop], ",;") && is(t, stop + 1, BLANK)) ||
        (begin > 0 && !of_titles(t, begin - 1) && !is(t, begin - 1, LINE_END)) ||
        (begin > 1 && at_is(t, begin - 1, ' ') && !of_titles(t, begin - 2) && !is(t, begin - 2, LINE_END)))
        return 0; /* most names are told by what stands beside them */
    const i64 line = line_before(t, begin), end = line_end_of(t, stop);
    if (end - begin > FAR)
        return 0;
    int signs = 0, commas = 0, semicolons = 0;
    const i64 first = blanks_end(t, line);
    for (i64 i = first, blanks = 0; i < end; i++) {
        u8 byte = t->text[i];
        if (!of_titles(t, i) || ((byte == ',' || byte == ';') && is(t, i + 1, BLANK)) ||
            (is(t, i, DIGIT) && begins_cell(t, i, line)))
            return 0;
        signs |= (TITLES[byte] & SIGN) | ((blanks > 1) & (byte != ' '));
        commas |= byte == ',';
        semicolons |= byte == ';';
        blanks = byte == ' ' ? blanks + 1 : 0;
    }
    if (commas | semicolons) /* then they alone part the cells, and are at neither end of the line */
        return !(commas & semicolons) && first == line && (end >= t->size || !one_of(t->text[end - 1], ",;"));
    return signs;
}

/* The same, behind which blanks stand: two of them, or a sign behind one, end a title. */
int heads_column_of_blanks(Text *t, i64 begin, i64 stop, i64 line_end) {
    i64 at = stop;
    while (at < line_end && is(t, at, BLANK)) at++;
    const int ends = at - stop > 1 || at == line_end || t->text[stop] == '\t' || one_of(t->text[at], "|\xe2");
    return ends && heads_column(t, begin, stop);
}

/* Blanks and a word behind the name: only some forms have their value there. */
int after_blank(Text *t, i64 begin, i64 stop, i64 line_end, int strength) {
    if (heads_column_of_blanks(t, begin, stop, line_end))
        return 1;
    i64 at = stop;
    while (at < line_end && is(t, at, BLANK)) at++;
    if (at == line_end)
        return labelled_could(t, begin, line_end) || holds(t, line_before(t, begin), begin, "|");
    if (at_is(t, begin - 1, '<') && !is(t, at, ALNUM) && run_could_be(t, stop, line_end, strength))
        return 1; /* of an element, whatever stands behind its name */
    if (t->text[at] == '|')
        return at_is(t, at + 1, '|') || cell_could(t, begin) || after_blank_only(t, begin, stop, strength);
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
    if (t->text[at] == '=')
        return compared_could(t, at, line_end, strength);
    const int wide = at - stop > 1 || t->text[stop] == '\t';
    const int alone = at - stop == 1 && is(t, at + 1, BLANK); /* `password 7 word` */
    if (!is(t, at, ALNUM) || (is(t, at, DIGIT) && (alone || strength == SECRET || strength == TOKEN)))
        return run_could_be(t, stop, line_end, strength) || (t->text[at] == '-' && label_could(t, stop, strength));
    int could = (wide && (first_of_line(t, begin) || word_begins(t, at, REGISTRY))) || set_before(t, begin) ||
                type_begins(t, at) || word_begins(t, at, OR);
    could = could || (begin > 0 && one_of(t->text[begin - 1], "<:")) || /* of an element */
            (called(t, stop) && spoken_could(t, stop, line_end)) ||
            (strength == SECRET && word_at(t, at, ID)) ||
            after_blank_only(t, begin, stop, strength); /* `Has` is one of those words but for its case */
    return (could && run_could_be(t, stop, line_end, strength)) || label_could(t, stop, strength);
}
