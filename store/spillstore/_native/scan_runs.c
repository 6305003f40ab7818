/* Runs of letters that may be tokens with a prefix, whatever the prefix is; see `prefixed.py`. */
#include "scan.h"

#define LEAST_RUN 23  /* bytes of a token that stands alone, with its prefix */
#define MOST_RUN 512
#define ESCAPE 5      /* bytes of an escape that may stand before it, at most, behind its first sign */
#define MOST_WORD (14 + ESCAPE) /* letters of a prefix, digits and an escape before them */
#define LEAST_BODY 20
#define BEFORE_RUN 16  /* bytes of a value before its first run */
#define BEFORE_VALUE 48 /* bytes between a name and a value */

typedef struct { u32 start, end; } Run;

/* A bit for each of sixteen bytes that is of LETTER. */
static inline u32 letters_in(Sixteen bytes) { return parts_in(bytes) | bits_of((Sixteen)(bytes == '-')); }

/* Whether one of at least eight bytes, all of LETTER, is a digit. */
static int holds_digit(const u8 *at, i64 size) {
    const u64 ones = 0x0101010101010101ull, high = 0x8080808080808080ull;
    for (i64 i = 0;; i += 8) {
        u64 word;
        memcpy(&word, at + (i + 8 < size ? i : size - 8), 8);
        if ((word + (0x80 - '0') * ones) & ~(word + (0x80 - '9' - 1) * ones) & high)
            return 1;
        if (i + 8 >= size)
            return 0;
    }
}

/* How often letters, capitals and digits change between `from` and `to`, how many there are of each, and how long the longest
 * piece of them is. */
typedef struct { i64 changes, digit, small, capital, longest; } Mix;

static Mix mix_of(const Text *t, i64 from, i64 to) {
    Mix mix = {0};
    for (i64 i = from, before = 0, piece = 0; i < to; i++) {
        u8 byte = t->text[i];
        i64 now = byte == '_' || byte == '-' ? 0 : is(t, i, DIGIT) ? 1 : byte >= 'a' ? 2 : 3;
        piece = now ? piece + 1 : 0;
        mix.changes += now && before && now != before;
        mix.digit += now == 1;
        mix.small += now == 2;
        mix.capital += now == 3;
        mix.longest = piece > mix.longest ? piece : mix.longest;
        before = now;
    }
    return mix;
}

/* Whether they change as often as in a token that stands alone, or as in one of so many letters behind a name. */
static int run_is_mixed(const Text *t, i64 from, i64 to) {
    const Mix mix = mix_of(t, from, to);
    const int cases = mix.small >= 2 && mix.capital >= 2; /* a tenth of a body is of either, or it is in one piece */
    return mix.digit && mix.changes >= 5 && (cases || mix.longest >= LEAST_BODY);
}

static int run_is_drawn(const Text *t, i64 from, i64 to) {
    const Mix mix = mix_of(t, from, to);
    return mix.digit && (mix.small && mix.capital ? mix.changes * 5 >= (to - from) * 2 : mix.changes * 4 >= to - from);
}

/* Whether a run may be one of a value behind a name that is one of a secret, or hints at it; see `hinted.py`. */
static int hinted_could(const Text *t, i64 start, i64 end) {
    if (end - start > MOST_RUN + ESCAPE || !holds_digit(t->text + start, end - start))
        return 0;
    i64 at = start, least = start - BEFORE_RUN;
    while (at > least && at > 0 && (is(t, at - 1, ALNUM) || one_of(t->text[at - 1], "+/_.~-"))) at--;
    const i64 value = at;
    least = value - BEFORE_VALUE;
    while (at > least && at > 0 && (is(t, at - 1, BLANK) || one_of(t->text[at - 1], "\"'`\\=:>|,;([{<*?~)}]\xe2\x94\x82\x80\x93\xef\xbc\x9a"))) at--;
    if (at == value || (value - at == 1 && t->text[at] == ' ') || !is(t, at - 1, NAME))
        return 0;
    const i64 begin = name_begin(t, at);
    const u8 *name = t->text + begin; /* of a pair it is `value`, and stands before that */
    const int pair = at - begin == 5 && (memcmp(name + 1, "alue", 4) == 0 || memcmp(name + 1, "ALUE", 4) == 0);
    return (pair || strength_of(t, begin, at - begin) != HARMLESS) && run_is_drawn(t, start, end);
}

/* Whether a run of LETTER may be a token: `prefix_`, and behind it what is drawn. */
static int alone_could(const Text *t, i64 start, i64 end) {
    if (end - start > MOST_RUN + ESCAPE || is(t, start - 1, LEADS))
        return 0;
    if (is(t, end, GOES_ON) || (at_is(t, end, '.') && is(t, end + 1, ALNUM)))
        return 0;
    i64 sign = start;
    while (sign < end && sign < start + MOST_WORD && t->text[sign] != '_' && t->text[sign] != '-') sign++;
    if (sign - start < 2 || sign >= end - LEAST_BODY || !(t->text[sign] == '_' || t->text[sign] == '-'))
        return 0;
    return holds_digit(t->text + sign, end - sign) && run_is_mixed(t, sign, end);
}

/* The first place from `at` on where eight letters stand, of every sixteenth; the text's size if there is none. */
static i64 even_word(const Text *t, i64 at) {
    for (; at + 24 <= t->size; at += 32) { /* two such places at once */
        u64 words[2];
        Sixteen both;
        memcpy(words, t->text + at, 8);
        memcpy(words + 1, t->text + at + 16, 8);
        memcpy(&both, words, 16);
        const u32 letters = letters_in(both);
        if ((letters & 0xFF) == 0xFF)
            return at;
        if (letters >> 8 == 0xFF)
            return at + 16;
    }
    for (; at + 8 <= t->size; at += 16)
        if ((letters_in(bytes_from(t, at)) & 0xFF) == 0xFF)
            return at;
    return t->size;
}

/* Gives out runs of LETTER that end behind `*from` and may be tokens, in order. As `spillstore_scan`, but nothing is lost
 * behind the text's last line: a run that ends with the text is looked at again when it goes on.
 *
 * Such a run has two words of eight bytes side by side that are letters alone, so one of them is in an even place. */
i64 spillstore_runs(const Tables *tables, const u8 *text, i64 size, i64 *from, Run *out, i64 room) {
    const Text t = {.tables = tables, .text = text, .size = size, .is = tables->bytes};
    i64 found = 0, at = *from > LEAST_RUN + 16 ? (*from - LEAST_RUN - 16) & ~(i64)15 : 0;
    while ((at = even_word(&t, at)) < size) {
        i64 start = at, end = at + 8;
        for (int n = 16; n == 16 && start > at - MOST_RUN - ESCAPE - 1; start -= n)
            n = ones_last(letters_in(bytes_before(&t, start)));
        for (int n = 16; n == 16; end += n)
            n = ones_first(letters_in(bytes_from(&t, end)));
        if (end - start >= LEAST_RUN && end > *from && (alone_could(&t, start, end) || hinted_could(&t, start, end))) {
            if (found == room) {
                *from = start;
                return found;
            }
            out[found++] = (Run){(u32)start, (u32)end};
        }
        at = (end & ~(i64)15) + 16; /* the even word before that is not letters alone, or is of this run */
    }
    *from = size;
    return found;
}
