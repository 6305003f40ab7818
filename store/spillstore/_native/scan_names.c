/* Names: whether a secret may stand behind one. */
#include "scan.h"

static int at_quote(const Text *t, i64 at) { return at < t->size && one_of(t->text[at], "\"'"); }

/* Whether `value: "..."` stands before the line's end, and what is in the quotes could be a secret. */
static int field_could(const Text *t, i64 at, i64 line_end, int strength) {
    const u8 *found = t->text + at, *most = t->text + line_end;
    for (; most - found >= 4 && (found = memchr(found, 'a', (size_t)(most - found))) != NULL; found++) {
        if (most - found < 4 || memcmp(found, "alue", 4) != 0)
            continue;
        i64 sign = found - t->text + 4;
        while (sign < line_end && one_of(t->text[sign], "\\\"' \t")) sign++;
        if (sign >= line_end || !one_of(t->text[sign], ":="))
            continue;
        if (quoted_could(t, blanks_end(t, sign + 1), line_end, strength) > 0)
            return 1;
    }
    return 0;
}

/* Whether one of the strings up to the line's end is as long as a token, and no words. */
static int list_could(const Text *t, i64 at, i64 line_end) {
    for (i64 begin = -1; at <= line_end; at++) { /* of a string, behind the first quote */
        if (at < line_end && !one_of(t->text[at], "\"'\\"))
            continue;
        if (begin >= 0 && at - begin >= 16 && !wordy(t, begin, at))
            return 1;
        begin = at + 1;
    }
    return 0;
}

/* Whether another string stands behind one: `"old" -> "new"`, of a difference. */
static int changed_could(const Text *t, i64 at, i64 line_end) {
    if (t->text[at] != '"')
        return 0;
    const i64 most = at + 258 < line_end ? at + 258 : line_end;
    const u8 *quote = memchr(t->text + at + 1, '"', (size_t)(most - at - 1));
    if (quote == NULL || !is(t, quote - t->text + 1, BLANK))
        return 0;
    const i64 arrow = blanks_end(t, quote - t->text + 1);
    return at_is(t, arrow, '-') && at_is(t, arrow + 1, '>');
}

/* What is no word behind a sign: quotes, a mark, a call. Returns -1 if it is to be looked at as one. */
static int no_word_could(const Text *t, i64 at, i64 line_end, int strength) {
    int quoted = quoted_could(t, at, line_end, strength);
    if (quoted >= 0)
        return quoted || changed_could(t, at, line_end);
    u8 byte = t->text[at];
    i64 end = at + 1; /* a mark at the line's end, of a block, an object or a line that goes on */
    if (one_of(byte, "|>")) {
        end += at_is(t, end, '-') || at_is(t, end, '+');
        end += is(t, end, DIGIT);
        end += at_is(t, end, '-') || at_is(t, end, '+');
    }
    if (one_of(byte, "{|>,\\") && blanks_end(t, end) >= line_end)
        return byte == '{' ? next_line_could(t, line_end, 0) : byte != ',';
    if (byte == '{' && !is(t, at + 1, WORD)) /* an object, which may have the value */
        return field_could(t, at, line_end, strength) || ((strength == SECRET || strength == TOKEN) && list_could(t, at + 1, line_end));
    if (byte == '[' && at_quote(t, blanks_end(t, at + 1)))
        return strength == PASSWORD ? quoted_could(t, blanks_end(t, at + 1), line_end, strength) != 0
                                    : (strength == SECRET || strength == TOKEN) && list_could(t, at + 1, line_end);
    if (byte == '(') { /* a type in brackets, of Go: `(string) (len=3) "..."` */
        for (end = at + 1; end < line_end && end < at + 20 && (is(t, end, NAME) || one_of(t->text[end], "[]")); end++) {}
        if (at_is(t, end, ')') && is(t, end + 1, BLANK) && (at_quote(t, blanks_end(t, end + 1)) || at_is(t, blanks_end(t, end + 1), '(')))
            return run_could_be(t, end, line_end, strength);
    }
    int call = byte == '(' || (byte == '{' && at_is(t, at + 1, '{')) ||
               (byte == '$' && (at_is(t, at + 1, '(') || at_is(t, at + 1, '{'))); /* or a variable */
    i64 most = at + LONG_VALUE + 1 < line_end ? at + LONG_VALUE + 1 : line_end;
    return call ? word_end_before(t, at, most, &call) - at > LONG_VALUE : -1; /* the rule goes on behind a long one */
}

/* Whether a string may follow a type and a `=` behind it: `name: type = "value"`. */
static int typed_could(const Text *t, i64 at, i64 line_end) {
    const u8 *sign = t->text + at, *most = t->text + (at + 96 < line_end ? at + 96 : line_end);
    for (; sign < most && (sign = memchr(sign, '=', (size_t)(most - sign))) != NULL; sign++) {
        i64 then = blanks_end(t, sign - t->text + 1);
        for (int i = 0; i < 2 && then < line_end && one_of(t->text[then], "fbruFBRUN@$"); i++) then++;
        if (then >= line_end || one_of(t->text[then], "\"'`"))
            return 1;
    }
    return 0;
}

/* Whether it is the name of a test's result, `PASS: name`, which promises nothing there. */
static int result_of_test(const Text *t, i64 begin, i64 stop, i64 sign, int length) {
    const i64 size = stop - begin;
    return sign == stop && length == 1 && t->text[sign] == ':' && (size == 4 || size == 6) &&
           memcmp(t->text + begin, "PASSWD", (size_t)size) == 0;
}

/* Whether a string follows in what may hold one: `Some "..."`, or `Some(` with the string in the next line. */
static int wrapped(const Text *t, i64 at, i64 end) {
    static const u8 WRAPPERS[] = "\4Some\4Just\3chr";
    const i64 then = blanks_end(t, end);
    if (t->text[end - 1] == '(')
        return is(t, then, LINE_END) && one_of(t->text[at], "SOJR");
    return end - at < 5 && then > end && at_is(t, then, '"') && word_begins(t, at, WRAPPERS);
}

/* Whether forty bytes at `at` are of the sorts that keys of Django have: OF_ALL_SIGNS of `shapes.py`. */
static int of_all_signs(const Text *t, i64 at) {
    for (i64 end = at + 40; at < end; at += 16) {
        const Sixteen bytes = bytes_from(t, at);
        const u32 signs = bits_of((Sixteen)(bytes == '!') | (Sixteen)(bytes - '#' < 4) | (Sixteen)(bytes - '(' < 4) | (Sixteen)(bytes == '-') |
                                  (Sixteen)(bytes == '=') | (Sixteen)(bytes == '@') | (Sixteen)(bytes - '^' < 2));
        const u32 all = signs | bits_of((Sixteen)(bytes - 'a' < 26) | (Sixteen)(bytes - '0' < 10));
        const u32 seen = end - at < 16 ? (1u << (end - at)) - 1 : 0xFFFF;
        if (~all & seen)
            return 0;
    }
    return 1;
}

/* A value behind a sign. Returns 0 if no rule can find a secret in it, nor by any other form from this name on. */
static int after_sign(Text *t, i64 begin, i64 sign, int length, i64 stop, int strength) {
    i64 at = blanks_end(t, sign + length);
    if (at >= t->size || is(t, at, LINE_END))
        return next_line_could(t, at, 1);
    if (of_all_signs(t, at))
        return 1;
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
    const int made = end - at == 3 && memcmp(t->text + at, "new", 3) == 0 && is(t, end, BLANK); /* `new String("` */
    if (made || (t->text[sign] == ':' && typed_could(t, at, line_end_of(t, stop))))
        return run_could_be(t, at, line_end_of(t, stop), strength);
    if (wrapped(t, at, end))
        return 1;
    const i64 cut = cut_of(t, at, end);
    if (cut < end) {
        plain = !is(t, at, OPENS);
        for (i64 i = at; i < cut; i++) plain &= !one_of(t->text[i], "({[");
    }
    if (plain && (!value_could_be(t, at, cut, strength, 1) || result_of_test(t, begin, stop, sign, length)))
        return 0;
    if (code_alone(t, begin, stop, at, cut))
        return 0;
    return plain || run_could_be(t, at, line_end_of(t, stop), strength);
}

/* What stands before a name in quotes or brackets, and before blanks; 0 if nothing does. */
static u8 before_quotes(const Text *t, i64 begin) {
    i64 head = begin - 1;
    while (head >= 0 && head > begin - BACK && (is(t, head, BLANK) || one_of(t->text[head], "\"'\\"))) head--;
    return head < 0 ? 0 : t->text[head];
}

/* Whether it may be the value of another name: a sign or a tag stands before it. */
static int behind_a_sign(const Text *t, i64 begin) {
    while (at_is(t, begin - 1, '/')) begin = name_begin(t, begin - 1); /* of a path, such as `app/prod/` */
    u8 head = before_quotes(t, begin);
    return head == 0 || one_of(head, ":=>");
}

/* Whether all from `at` to `begin` is a path. */
static int path_between(const Text *t, i64 at, i64 begin) {
    while (at < begin && (is(t, at, NAME) || t->text[at] == '/' || t->text[at] == '@')) at++;
    return at == begin;
}

/* Whether a console may print its value in the next line, since a prompt, a number or a path that begins its line stands
 * before: `> os.environ["DB_PASSWORD"]`, `2) "password"`, `/app/db/password`. */
static __attribute__((noinline)) int asked_could(const Text *t, i64 begin, i64 line_end) {
    const i64 line = line_before(t, begin);
    u32 signs = at_is(t, line, '/');
    for (i64 at = line; at < begin && !signs; at += 16) { /* most lines have none of them */
        Sixteen bytes = bytes_from(t, at);
        signs = bits_of((Sixteen)(bytes == '>') | (Sixteen)(bytes == '$') | (Sixteen)(bytes == '#') | (Sixteen)(bytes == ']') |
                        (Sixteen)(bytes == ')'));
        signs &= begin - at < 16 ? (1u << (begin - at)) - 1 : 0xFFFF;
    }
    if (!signs || !printed_could(t, line_end))
        return 0;
    return before_quotes(t, begin) == ')' || holds(t, line, begin, "> ") || holds(t, line, begin, "$ ") ||
           holds(t, line, begin, "# ") || holds(t, line, begin, "]: ") || holds(t, line, begin, ") ") ||
           (at_is(t, line, '/') && path_between(t, line, begin));
}

/* Whether its own value may stand in a line below: that of an option, the next item of a list, too. */
static int closed_could(const Text *t, i64 begin, i64 line_end) {
    return t->text[begin] == '-' || (behind_a_sign(t, begin) && next_line_could(t, line_end, 0)) || part_of_a_form(t, begin);
}

/* A name that a quote or a bracket ends, and no sign behind it. */
static int after_closer(Text *t, i64 begin, i64 stop, i64 line_end, int strength) {
    i64 at = stop;
    if (at_is(t, stop, '"') && ((is(t, stop + 1, BLANK) && at_is(t, blanks_end(t, stop + 1), '"')) || heads_column(t, begin, stop)))
        return 1;
    for (; at < line_end && (is(t, at, CLOSER | BLANK) || at_is(t, at, ')')); at++)
        if (one_of(t->text[at], "\\&%"))
            return 1;
    if (at > stop + 1 && t->text[stop] != '`' && one_of(t->text[at - 1], "])") && holds(t, line_before(t, begin), begin, "loc"))
        return 1; /* of an error in what was sent, whose value stands behind */
    if (at == line_end)
        return closed_could(t, begin, line_end) || asked_could(t, begin, line_end);
    if (field_could(t, stop, line_end, strength))
        return 1;
    if (t->text[at] == '{' && !is(t, at + 1, WORD))
        return next_line_could(t, line_end, 0) &&
               (behind_a_sign(t, begin) || part_of_a_form(t, begin) || holds(t, begin - BACK, begin, "variable"));
    if (is(t, at, ALNUM) && is(t, at - 1, BLANK) && before_quotes(t, begin) == '=' && !holds(t, begin - 8, begin, "class"))
        return element_could_be(t, at, line_end, strength); /* `<x name="password" type="text">` */
    if (t->text[at] != ',')
        return (one_of(t->text[at], "=!>|?o") && run_could_be(t, stop, line_end, strength)) || label_could(t, stop, strength);
    while (++at < line_end && is(t, at, BLANK)) {}
    if (at == line_end)
        return closed_could(t, begin, line_end);
    if (line_end - at > 8 && memcmp(t->text + at, "default=", 8) == 0)
        at += 8;
    at += at_is(t, at, 'b');
    if (at >= line_end || !one_of(t->text[at], "\\\"'"))
        return 0;
    i64 end = at + 1;
    while (end < line_end && t->text[end] != t->text[at] && t->text[end] != '\\') end++;
    int plain = strength != PASSWORD && t->text[begin] != '-' && !holds(t, begin - 20, begin, "define") && !holds(t, begin - 20, begin, "(");
    if (plain && end < line_end && t->text[end] == t->text[at] && end > at + 1 && wordy(t, at + 1, end))
        return 0;
    return quoted_could(t, at, line_end, strength) != 0;
}

/* Whether a string follows in a tuple, or a binary of Erlang. */
static int listed_could(const Text *t, i64 at, i64 line_end, int strength) {
    at += 2 * (at_is(t, at, '<') && at_is(t, at + 1, '<'));
    return quoted_could(t, at, line_end, strength) > 0;
}

static const u8 PROGMEM[] = "\7PROGMEM";                     /* of Arduino, behind an array */
static const u8 VISIBLE[] = "\13:protected]\11:private]"; /* of PHP, behind a name */

/* Whether a secret may stand behind the name at [begin, stop). */
static __attribute__((noinline)) int known_could(Text *t, i64 begin, i64 stop, int strength) {
    const int blank = is(t, stop, BLANK);
    const u8 left = begin > 0 ? t->text[begin - 1] : 0, byte = t->text[stop];
    const int dashed = t->text[begin] == '-' && (begin == 0 || is(t, begin - 1, BEFORE_OPTION));
    const int spoken = blank && !dashed && left != '<' && left != ':';
    if (strength == WEAK && is(t, begin - 1, BLANK) && qualifier_before(t, begin - 1))
        strength = SECRET; /* of which less is asked than of a token: `Secret Key` is one */
    if (strength == WEAK && left == ' ' && (byte == ':' || byte == '=') && stop - begin == 3 && memcmp(t->text + begin, "Key", 3) == 0)
        strength = PASSWORD; /* of a label of two words, as `Wep Key:` */
    if (blank && strength != PASSWORD && called(t, stop))
        return 1; /* `PASSWOrD`, of which the words promise less */
    if (spoken && !value_may_follow(t, stop, strength))
        return after_blank_only(t, begin, stop, strength) || label_could(t, stop, strength);
    i64 at = stop;
    if (is(t, stop, CLOSER)) {
        for (int i = 0; i < 3 && at < t->size && one_of(t->text[at], "\"'`"); i++) at++;
        for (int i = 0; i < 2 && at_is(t, at, ']'); i++) at++;
    }
    if (word_begins(t, at, VISIBLE))
        return 1;
    const i64 marks = at;
    at += 2 * (at_is(t, at, '*') && at_is(t, at + 1, '*')); /* of Markdown, before a sign or behind it */
    at = blanks_end(t, at);
    int length = sign_at(t, at);
    if (length == 1 && (at > marks + 1 || at_is(t, at + 1, '*')) && (t->text[marks] == '*' || at_is(t, at + 2, '*')))
        return run_could_be(t, at + 1, line_end_of(t, stop), strength);
    if (length) {
        if (after_sign(t, begin, at, length, stop, strength))
            return 1;
        const int assigns = one_of(t->text[at], "=:"); /* else the sign may be a part of the value */
        if (!spoken)
            return dashed && blank && !assigns && run_could_be(t, at, line_end_of(t, stop), strength);
        if (!assigns && after_blank(t, begin, stop, line_end_of(t, stop), strength))
            return 1;
        return set_before(t, begin) && after_blank_only(t, begin, stop, strength);
    }
    const i64 line_end = line_end_of(t, stop);
    if (is(t, stop, CLOSER))
        return after_closer(t, begin, stop, line_end, strength);
    if (blank && dashed) /* an option, whose value may be in the next line, or a word of a title or a label */
        return blanks_end(t, stop) >= line_end || run_could_be(t, stop, line_end, strength) || heads_column_of_blanks(t, begin, stop, line_end) ||
               label_could(t, stop, strength);
    if (blank)
        return after_blank(t, begin, stop, line_end, strength) || (blanks_end(t, stop) >= line_end && asked_could(t, begin, line_end));
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
        return compared_could(t, stop, line_end, strength);
    case '>':
        return begin > 0 && (line_end - stop < 16 || element_could_be(t, stop, line_end, strength));
    case '*':
        return at_is(t, stop + 1, '*') && is(t, stop + 2, BLANK) && run_could_be(t, stop, line_end, strength);
    case '[': /* of an array: `password[] = "..."` */
        for (at = stop + 1; at < stop + 18 && is(t, at, NAME); at++) {}
        at = blanks_end(t, at + 1);
        if (word_begins(t, at, PROGMEM))
            at = blanks_end(t, at + *PROGMEM);
        return at_is(t, at, '=') && quoted_could(t, blanks_end(t, at + 1), line_end, strength) > 0;
    case '|':
        return heads_column(t, begin, stop) ||
               ((left == 0 || left == '|' || is(t, begin - 1, LINE_END)) && last_word_could(t, stop + 1, line_end, strength));
    case ';':
        return heads_column(t, begin, stop);
    case ',':
        return dashed || heads_column(t, begin, stop) || (blanks_end(t, stop + 1) >= line_end && labelled_could(t, begin, line_end)) ||
               ((left == '{' || left == ':') && listed_could(t, blanks_end(t, stop + 1), line_end, strength));
    case '<': case '+': case '-':
        return 1;
    default:
        return 0;
    }
}

/* Whether a name that its line ends with may have its value in a line below: `name: DB_PASSWORD`, `> password`, a column. */
static int last_of_line_could(Text *t, i64 begin, i64 stop) {
    const i64 line = line_begin_behind(t, begin, begin > 192 ? begin - 192 : 0);
    const int labelled = holds(t, line, begin, "ame:") || holds(t, line, begin, "ey:") || holds(t, line, begin, "abel:");
    return t->text[begin] == '-' || (labelled && labelled_could(t, begin, stop)) || asked_could(t, begin, stop) ||
           holds(t, line, begin, "|") || heads_column(t, begin, stop);
}

/* Whether a secret may stand behind the name at [begin, stop), or in a line below it. */
static int judged_could(Text *t, i64 begin, i64 stop) {
    if (is(t, stop, LINE_END) && !last_of_line_could(t, begin, stop))
        return 0;
    int strength = strength_of(t, begin, stop - begin);
    if (strength == HARMLESS || strength == HINT)
        return 0;
    return is(t, stop, LINE_END) || known_could(t, begin, stop, strength);
}

/* The same for the name that holds a literal at [start, end). It may hold several, and is judged once. */
int name_could(Text *t, i64 start, i64 end, const Literal *literal) {
    if (RARELY(end >= t->size))
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
    if (RARELY(stop >= t->size))
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
