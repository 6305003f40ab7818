/* Finds the lines of a block of text that hold one of many words, without the interpreter's lock.
 *
 * Nothing here knows a word: the tables come from Python (`line_filter.py`). Nothing is allocated and nothing is kept between calls. Every
 * read is inside the text.
 *
 * A line is searched by what three bytes in a row are. Bytes are of 32 classes: each letter is one, of either case, and so is each
 * kind of sign. `rows` has a bit for each three classes that a word can begin with; only where it is set, the words that
 * begin with this letter are compared.
 *
 * Where there are wide vectors, 32 places are looked at together: the words are in 16 groups, and `groups` says of each class in which
 * groups it may stand before a word, and first to fourth in one. Only where all five say so of one group, the words are compared.
 */

#include <stdint.h>
#include <string.h>

#include "wide.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

#define COLOUR 64 /* bytes of the numbers of a colour that are looked through */
#define VERSION 6
#define HEAD 4 /* bytes of a word that are compared together */

/* What stands before a word, and behind it. A check is a necessary condition. APART and ENDED say all, but for a colour whose numbers take
 * more than COLOUR bytes; where there are others, the caller looks at the line again. */
enum { ANYTHING, APART, LETTER, LINE_START };
enum { OPEN, ENDED, CALLED, CODE, STATUS };

typedef struct { u8 before, after, length, pad; u32 offset, head, mask; } Word; /* its first HEAD bytes, and which of them it has */

typedef struct {
    const u8 *classes;    /* [256]: 0 to 31 */
    const u8 *fold;       /* [256]: bytes that a search takes for the same */
    const u8 *kinds;      /* [256]: bits of below */
    const u8 *groups;     /* [5][2][2][32]: of each place and half of the groups, those of the classes 0 to 15 and 16 to 31, twice each */
    const u32 *rows;      /* [1024] */
    const u32 *first;     /* [1025]: the words that begin with bytes of two classes are words[first[both]..first[both + 1]) */
    const Word *words;
    const u8 *bytes;      /* of all words, folded */
} Words;

/* Classes that are no letter. */
enum { SIGN = 0, BLANK = 27, LINE_END, MARK, OTHER, PATH };

#define NOT_YET (-1)
#define NO_WORD (-1)

/* Bits of `kinds`. */
enum { IN_NAME = 1, IN_PATH = 2, SMALL = 4, DIGIT = 8, SPACE = 16 };

i64 spillstore_count(const u8 *text, i64 size, u8 byte);

u64 spillstore_words_version(void) { return (u64)VERSION << 32 | sizeof(Words) << 8 | sizeof(Word); }

static int is(const Words *words, const u8 *text, i64 size, i64 at, int kinds) {
    return at >= 0 && at < size && (words->kinds[text[at]] & kinds) != 0;
}

/* Whether an escape sequence for a colour may end before `at`. */
static int colour_before(const Words *words, const u8 *text, i64 size, i64 at) {
    i64 place = at - 1;
    if (place < 0 || text[place] != 'm')
        return 0;
    for (place--; is(words, text, size, place, DIGIT) || (place >= 0 && text[place] == ';'); place--)
        if (at - place > COLOUR)
            return 1;
    return place > 0 && text[place] == '[' && text[place - 1] == 0x1B;
}

static int before_could(const Words *words, const u8 *text, i64 size, i64 at, u8 before) {
    switch (before) {
    case APART:
        return !is(words, text, size, at - 1, IN_NAME | IN_PATH) || colour_before(words, text, size, at);
    case LETTER:
        return is(words, text, size, at - 1, SMALL);
    case LINE_START:
        return at == 0 || text[at - 1] == '\n';
    default:
        return 1;
    }
}

/* Whether two letters or more and three digits or more, or more of both, stand at `at`: the code of a message, with a colon behind it. */
static int code_at(const Words *words, const u8 *text, i64 size, i64 at) {
    i64 start = at;
    while (is(words, text, size, at, SMALL)) at++;
    i64 digits = at;
    while (is(words, text, size, at, DIGIT)) at++;
    return digits - start >= 2 && at - digits >= 3 && at < size && text[at] == ':';
}

/* Whether the version and a status of 400 to 599 follow. */
static int status_at(const Words *words, const u8 *text, i64 size, i64 at) {
    if (!is(words, text, size, at++, DIGIT))
        return 0;
    if (at < size && text[at] == '.')
        at += 2;
    if (at < size && (text[at] == '"' || text[at] == '\''))
        at++;
    return at + 1 < size && text[at] == ' ' && (text[at + 1] == '4' || text[at + 1] == '5');
}

static int after_could(const Words *words, const u8 *text, i64 size, i64 at, u8 after) {
    switch (after) {
    case ENDED: /* a dot may stand behind a word */
        return at >= size || text[at] == '.' || !is(words, text, size, at, IN_NAME | IN_PATH);
    case CALLED:
        return at >= size || text[at] == ':' || text[at] == '(' || is(words, text, size, at, SPACE);
    case CODE:
        return code_at(words, text, size, at);
    case STATUS:
        return status_at(words, text, size, at);
    default:
        return 1;
    }
}

/* The HEAD bytes at `at`, folded, the first one lowest; zeros behind the text. */
static inline u32 head_at(const Words *words, const u8 *text, i64 size, i64 at) {
    u32 head = 0;
    const i64 bytes = size - at < HEAD ? size - at : HEAD;
    for (i64 i = 0; i < bytes; i++) head |= (u32)words->fold[text[at + i]] << 8 * i;
    return head;
}

/* The number of the word that may stand at `at`; NO_WORD if none may. */
static inline i64 word_at(const Words *words, const u8 *text, i64 size, i64 at) {
    if (at + 1 >= size)
        return NO_WORD;
    const u32 both = (u32)words->classes[text[at]] << 5 | words->classes[text[at + 1]], last = words->first[both + 1];
    u32 i = words->first[both];
    if (i == last)
        return NO_WORD;
    const u32 head = head_at(words, text, size, at);
    for (; i < last; i++) {
        const Word *word = &words->words[i];
        const u8 *bytes = words->bytes + word->offset;
        i64 same = HEAD;
        if ((head & word->mask) != word->head || at + word->length > size)
            continue;
        while (same < word->length && words->fold[text[at + same]] == bytes[same]) same++;
        if (same >= word->length && before_could(words, text, size, at, word->before) &&
            after_could(words, text, size, at + word->length, word->after))
            return i;
    }
    return NO_WORD;
}

#if HAS_WIDE
#define PLACES 32     /* that are looked at together */
#define BEFORE_FIRST 112 /* and a class of 16 or more is more than 127, which a table of 16 gives nothing for */

/* The classes of 32 bytes. */
WIDE static inline __m256i classes_of(const u8 *at) {
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
#define ALL(byte) _mm256_set1_epi8((char)(byte))
#define EQUAL(byte) _mm256_cmpeq_epi8(bytes, ALL(byte))
#define UP_TO(value, most) _mm256_cmpeq_epi8(_mm256_min_epu8(value, ALL(most)), value)
    const __m256i letter = _mm256_sub_epi8(_mm256_or_si256(bytes, ALL(0x20)), ALL('a')), path = _mm256_sub_epi8(bytes, ALL('-'));
    const __m256i letters = _mm256_and_si256(UP_TO(letter, 25), _mm256_and_si256(bytes, ALL(0x1F)));
    const __m256i in_path = _mm256_or_si256(UP_TO(path, '9' - '-'), _mm256_or_si256(EQUAL('_'), EQUAL('\\')));
    const __m256i round = _mm256_sub_epi8(bytes, ALL('(')), other = _mm256_or_si256(EQUAL('<'), EQUAL('>'));
    const __m256i mark = _mm256_or_si256(_mm256_or_si256(UP_TO(round, 2), other), _mm256_or_si256(EQUAL('['), EQUAL(']')));
    const __m256i high = _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_setzero_si256(), bytes), ALL(OTHER));
    const __m256i blank = _mm256_and_si256(_mm256_or_si256(EQUAL(' '), EQUAL('\t')), ALL(BLANK));
    const __m256i end = _mm256_and_si256(_mm256_or_si256(EQUAL('\n'), EQUAL('\r')), ALL(LINE_END));
    const __m256i names = _mm256_or_si256(letters, _mm256_and_si256(in_path, ALL(PATH)));
    const __m256i signs = _mm256_or_si256(high, _mm256_and_si256(mark, ALL(MARK)));
    return _mm256_or_si256(_mm256_or_si256(names, signs), _mm256_or_si256(blank, end));
}

/* Which groups may have a class at a place, of one half of the groups. */
WIDE static inline __m256i groups_of(const u8 *groups, __m256i classes) {
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)groups);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(groups + 32));
    return _mm256_or_si256(_mm256_shuffle_epi8(low, _mm256_add_epi8(classes, ALL(BEFORE_FIRST))),
                           _mm256_shuffle_epi8(high, _mm256_sub_epi8(classes, ALL(16))));
}

/* As `next_word`, of as many whole vectors as there are; NOT_YET if there is none, and `from` becomes where they end. */
WIDE static i64 next_word_wide(const Words *words, const u8 *text, i64 size, i64 *from, i64 *word) {
    i64 at = *from;
    if (at + 2 * PLACES > size)
        return NOT_YET;
    __m256i before = ALL(words->classes[at > 0 ? text[at - 1] : '\n']), here = classes_of(text + at);
    for (; at + 2 * PLACES <= size; at += PLACES) {
        const __m256i next = classes_of(text + at + PLACES), across = _mm256_permute2x128_si256(here, next, 0x21);
        const __m256i at_each[5] = {
            _mm256_alignr_epi8(here, _mm256_permute2x128_si256(before, here, 0x21), 15),
            here,
            _mm256_alignr_epi8(across, here, 1),
            _mm256_alignr_epi8(across, here, 2),
            _mm256_alignr_epi8(across, here, 3),
        };
        __m256i found[2] = {ALL(0xFF), ALL(0xFF)};
        for (int place = 0; place < 5; place++)
            for (int half = 0; half < 2; half++)
                found[half] = _mm256_and_si256(found[half], groups_of(words->groups + 128 * place + 64 * half, at_each[place]));
        const __m256i none = _mm256_cmpeq_epi8(_mm256_or_si256(found[0], found[1]), _mm256_setzero_si256());
        for (u32 bits = ~(u32)_mm256_movemask_epi8(none); bits; bits &= bits - 1) {
            i64 place = at + __builtin_ctz(bits);
            if ((*word = word_at(words, text, size, place)) != NO_WORD)
                return place;
        }
        before = here;
        here = next;
    }
    *from = at;
    return NOT_YET;
}
#endif

/* The first place from `from` on, before `size`, at which a word may stand, and the number of that word; `size` if there is none.
 *
 * Of a word that must stand apart, the row has what is before it and its first two letters; of others the first three.
 * Four places are looked at together, since most of them are nothing. */
static i64 next_word(const Words *words, const u8 *text, i64 size, i64 from, i64 *word) {
#if HAS_WIDE
    if (wide_used()) {
        i64 place = next_word_wide(words, text, size, &from, word);
        if (place != NOT_YET)
            return place;
    }
#endif
    const u8 *classes = words->classes;
    const u32 *rows = words->rows;
    u32 before = classes[from > 0 ? text[from - 1] : '\n'], here = from < size ? classes[text[from]] : 0;
    for (i64 at = from; at + 1 < size;) {
        u32 found;
        i64 places = 4;
        if (at + 4 < size) {
            u32 one = classes[text[at + 1]], two = classes[text[at + 2]], three = classes[text[at + 3]], four = classes[text[at + 4]];
            found = (rows[before << 5 | here] >> one & 1) | (rows[here << 5 | one] >> two & 1) << 1 |
                    (rows[one << 5 | two] >> three & 1) << 2 | (rows[two << 5 | three] >> four & 1) << 3;
            before = three;
            here = four;
        } else {
            u32 one = classes[text[at + 1]];
            found = rows[before << 5 | here] >> one & 1;
            before = here;
            here = one;
            places = 1;
        }
        for (i64 place = at; found; place++, found >>= 1) {
            if (!(found & 1))
                continue;
            if (place > from && (*word = word_at(words, text, size, place - 1)) != NO_WORD)
                return place - 1;
            if ((*word = word_at(words, text, size, place)) != NO_WORD)
                return place;
        }
        at += places;
    }
    return size;
}

/* Finds lines that may hold a word, from the line that begins at `from` on. Of each: where it begins, where the next one
 * begins, how many lines begin before it, from `from` on, where its first word stands, and the number of that word. Returns how many
 * were found, `room` at most. */
i64 spillstore_lines(const Words *words, const u8 *text, i64 size, i64 from, u8 end, i64 *out, i64 room) {
    i64 found = 0, number = 0, counted = from, word = NO_WORD;
    for (i64 at = from; found < room;) {
        at = next_word(words, text, size, at, &word);
        if (at >= size)
            break;
        i64 start = at;
        while (start > counted && text[start - 1] != end) start--;
        const u8 *stop = memchr(text + at, end, (size_t)(size - at));
        number += spillstore_count(text + counted, start - counted, end);
        out[5 * found] = start;
        out[5 * found + 3] = at;
        out[5 * found + 4] = word;
        out[5 * found + 1] = counted = at = stop == NULL ? size : stop - text + 1;
        out[5 * found + 2] = number++;
        found++;
    }
    return found;
}
