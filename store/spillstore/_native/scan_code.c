/* Values without quotes that are code, and places where a word without quotes may be a literal; see `bare_words.py`. */
#include "scan.h"

#define LONG_PART 18 /* bytes of a part of a token with dots, at least */

static int letter(const Text *t, i64 at) { return is(t, at, ALNUM) && !is(t, at, DIGIT); }
static int begins_identifier(const Text *t, i64 at) {
    return letter(t, at) || (at < t->size && one_of(t->text[at], "_$@"));
}

static i64 identifier_end(const Text *t, i64 at, i64 end) {
    while (at < end && (is(t, at, ALNUM) || one_of(t->text[at], "_$"))) at++;
    return at < end && one_of(t->text[at], "!?") ? at + 1 : at;
}

/* The length of what stands between two names of a program, or 0; of `?.` the mark belongs to the first of them. */
static i64 joint(const Text *t, i64 at) {
    if (at_is(t, at, '.'))
        return 1;
    return (at_is(t, at, '-') && at_is(t, at + 1, '>')) || (at_is(t, at, ':') && at_is(t, at + 1, ':')) ? 2 : 0;
}

/* Where names end that a program joins: `self.password`, `x->key`, `Kind::Token`; `at` if none begins there. */
static i64 chain_end(const Text *t, i64 at, i64 end) {
    if (!begins_identifier(t, at))
        return at;
    at = identifier_end(t, at, end);
    for (;;) {
        i64 next = at + joint(t, at);
        if (next == at || next >= end || !begins_identifier(t, next) || t->text[next] == '@')
            return at;
        at = identifier_end(t, next, end);
    }
}

/* Whether a part may be one of a token with dots: long, and with digits in two places at least. */
static int part_could(const Text *t, i64 at, i64 end) {
    for (i64 run = 0, numbers = 0; at < end; at++) {
        int of_run = is(t, at, ALNUM) || one_of(t->text[at], "_-");
        run = of_run ? run + 1 : 0;
        numbers = of_run ? numbers + (is(t, at, DIGIT) && !(run > 1 && is(t, at - 1, DIGIT))) : 0;
        if (run >= LONG_PART && numbers > 1)
            return 1;
    }
    return 0;
}

/* Whether nobody may have written it as a name: letters with digits alone, six at least, or eight bytes with digits and
 * letters of both cases. */
static int loose_could(const Text *t, i64 at, i64 end) {
    int digit = 0, small = 0, capital = 0, others = 0;
    const i64 size = end - at;
    while (end > at && one_of(t->text[end - 1], "!?$")) end--;
    for (; at < end; at++) {
        u8 byte = t->text[at];
        digit |= is(t, at, DIGIT);
        small |= byte >= 'a' && byte <= 'z';
        capital |= byte >= 'A' && byte <= 'Z';
        others |= !is(t, at, ALNUM);
    }
    return digit && (others ? small && capital && size >= 7 : size >= 6);
}

/* Whether the value that ends with its line at `end` goes up to there: a mark is no part of it, nor a lone bracket. */
static int ends_line(const Text *t, i64 at, i64 end) {
    if (!is(t, end, LINE_END))
        return 0;
    if (!is(t, end - 1, TRAILS))
        return 1;
    int opened = 0;
    for (i64 i = at; i < end; i++) opened |= one_of(t->text[i], "([{<");
    return opened && one_of(t->text[end - 1], ")]}>");
}

/* Whether nothing but blanks stands before, the last of them a tab or two spaces. */
static int indented(const Text *t, i64 begin) {
    i64 at = begin;
    while (at > 0 && at > begin - BACK && is(t, at - 1, BLANK)) at--;
    int blanks = at_is(t, begin - 1, '\t') || (at_is(t, begin - 1, ' ') && at_is(t, begin - 2, ' '));
    at -= at > 0 && one_of(t->text[at - 1], "+-"); /* of a difference */
    return blanks && (at == 0 || is(t, at - 1, LINE_END));
}

/* Whether a word from `at` to `end` behind the name at [begin, stop) may be a literal, by what stands around it. */
static int literal_could(const Text *t, i64 begin, i64 stop, i64 at, i64 end) {
    const u8 sign = t->text[at - 1], first = t->text[begin], left = begin > 0 ? t->text[begin - 1] : 0;
    if (end >= t->size || sign == ';' || first == '-')
        return 1;
    if (ends_line(t, at, end)) {
        i64 last = at;
        while (is(t, last - 1, BLANK)) last--;
        return sign == '=' || t->text[last - 1] == ':' || !indented(t, begin);
    }
    if (sign != '=') /* a name in capitals, or an option of Windows: ` /pass:word` */
        return sign == ':' && ((first >= 'A' && first <= 'Z') || (left == '/' && is(t, begin - 2, BLANK)));
    for (i64 i = at; i <= end; i++)
        if (one_of(t->text[i], "?;&"))
            return 1;
    int lower = 0;
    for (i64 i = begin; i < stop; i++) lower |= t->text[i] >= 'a' && t->text[i] <= 'z';
    if (!lower)
        return 1;
    if (left && one_of(left, "({[<!*"))
        return 0;
    if (left != ' ')
        return 1;
    i64 word = begin - 1;
    int sign_before = 0, plain = 1;
    while (word > 0 && word > begin - BACK && !is(t, word - 1, BLANK | LINE_END)) sign_before |= t->text[--word] == '=';
    if (word == begin - 1 || word <= begin - BACK || one_of(t->text[word], "-\"'"))
        return 1;
    for (i64 i = at; i < end; i++) plain &= is(t, i, ALNUM) || t->text[i] == '_';
    return !one_of(t->text[begin - 2], ",(){};") && (sign_before || plain || t->text[begin - 2] == 's');
}

/* Where the next byte stands that `call_in` looks at, or `end`. */
static i64 sign_of_call(const Text *t, i64 at, i64 end) {
    for (; at < end; at += 16) {
        const Sixteen bytes = bytes_from(t, at);
        const u32 found = bits_of((Sixteen)(bytes == '(') | (Sixteen)(bytes == ')') | (Sixteen)((bytes | 32) == '}') | (Sixteen)(bytes == '&') |
                                  (Sixteen)((bytes | 32) == '|') | (Sixteen)(bytes == '<') | (Sixteen)(bytes == ';') | (Sixteen)(bytes == 0xE2) |
                                  (Sixteen)(bytes == 0xC2));
        if (found)
            return at + __builtin_ctz(found) < end ? at + __builtin_ctz(found) : end;
    }
    return end;
}

/* Where the first call begins in a word, if what is judged of it holds it; -1 if none does. */
static i64 call_in(const Text *t, i64 at, i64 end) {
    i64 plain = -1; /* where letters and dots end with which the word begins; looked for when it is asked for */
    for (i64 i = at; (i = sign_of_call(t, i, end)) < end; i++) {
        u8 byte = t->text[i], then = i + 1 < end ? t->text[i + 1] : 0;
        if (byte == '(' && i > at && (is(t, i - 1, ALNUM) || one_of(t->text[i - 1], "_$")))
            return i;
        if (one_of(byte, "&|\\\xe2\xc2") || (byte == '<' && then == '/') || (byte == ';' && then == ';'))
            return -1;
        if (one_of(byte, ")]}") && then && one_of(then, ")]}.;,")) { /* behind letters and dots alone it may end the value */
            for (plain = plain < 0 ? at : plain; plain < i && is(t, plain, NAME) && t->text[plain] != '-'; plain++) {}
            if (plain == i)
                return -1;
        }
    }
    return -1;
}

/* Whether a rule looks into the bracket: `Some("...")`, `string(12) "..."`, `q(...)` of Perl. */
static int looked_into(const Text *t, i64 at, i64 bracket) {
    if (t->text[at] == 'q' && (bracket == at + 1 || (bracket == at + 2 && t->text[at + 1] == 'q')))
        return 1;
    if (t->text[bracket] != '(')
        return 0;
    i64 inside = blanks_end(t, bracket + 1);
    if (inside >= t->size || one_of(t->text[inside], "\"'"))
        return 1;
    return bracket == at + 6 && memcmp(t->text + at, "string", 6) == 0 && is(t, inside, DIGIT);
}

/* Where the value ends in a word from `at` to `end`, if a sign follows that begins the next: `value,name=`. */
i64 cut_of(const Text *t, i64 at, i64 end) {
    for (; at < end; at += 16) {
        const Sixteen bytes = bytes_from(t, at);
        u32 signs = bits_of((Sixteen)(bytes == '&') | (Sixteen)(bytes == ';') | (Sixteen)(bytes == ',') | (Sixteen)(bytes == '|'));
        for (; signs && at + __builtin_ctz(signs) < end; signs &= signs - 1) {
            const i64 sign = at + __builtin_ctz(signs);
            i64 name = sign + 1;
            while (name < end && name < sign + 66 && (is(t, name, ALNUM) || one_of(t->text[name], "_.%$[]-"))) name++;
            if (name > sign + 1 && name < sign + 66 && name < end && one_of(t->text[name], "=:"))
                return sign;
        }
    }
    return end;
}

/* Whether a word without quotes, behind a sign, is code of a program and no literal, so that it is no secret. */
int code_alone(const Text *t, i64 begin, i64 stop, i64 at, i64 end) {
    if (t->text[at] == '!' && (at_is(t, at + 1, '0') || at_is(t, at + 1, '1'))) /* true and false, minified */
        return at + 2 == end || one_of(t->text[at + 2], ",;)}]");
    i64 opened = at + 1 + at_is(t, at + 1, 'q');
    if (t->text[at] == 'q' && opened < end && one_of(t->text[opened], "{[("))
        return 0; /* a string of Perl */
    i64 call = call_in(t, at, end);
    if (call >= 0) /* what brackets hold is judged for itself: `[value]call(`, `[val(ue]` */
        return !looked_into(t, at, call) && !(t->text[at] == '[' && memchr(t->text + at, ']', (size_t)(end - at)));
    i64 last = chain_end(t, at, end);
    if (last == at || part_could(t, at, end) || literal_could(t, begin, stop, at, end))
        return 0;
    if (last < end && one_of(t->text[last], "[{"))
        return !looked_into(t, at, last);
    if (loose_could(t, at, last))
        return 0;
    i64 rest = last;
    while (rest < end && is(t, rest, TRAILS)) rest++;
    if (rest == end)
        return 1;
    int closed = one_of(t->text[last], ")]}") && one_of(t->text[last + 1], ")]}.;,");
    for (i64 i = at; closed && i < last; i++) closed = is(t, i, NAME) && t->text[i] != '-';
    return closed;
}
