/* Looks through a block of text: counts its line ends, says what kinds of bytes and characters it has, finds the lines that hold one of
 * many words.
 *
 * Nothing here knows a word: the tables come from Python (`text_scan.py`), which gives the same answers without this, only
 * slower. Nothing is allocated and nothing is kept between calls. Every read is inside the text.
 *
 * A line is searched by what three bytes in a row are. Bytes are of 32 classes: each letter is one, of either case, and so is each
 * kind of sign. `rows` has a bit for each three classes that a word can begin with; only where it is set, the words that
 * begin with this letter are compared.
 */

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
typedef u8 Lanes __attribute__((vector_size(16)));

#define LANES 16
#define FLUSHED 255   /* vectors, after which a lane that counts may overflow */
#define COLOUR 64     /* bytes of the numbers of a colour that are looked through */
#define TOGETHER 4096 /* bytes, after which a text that has control characters is given up */
#define VERSION 2

/* Kinds of bytes, as bits: control characters of ASCII but for tab and LF, and what is no ASCII. */
enum { CONTROL = 1, HIGH = 2 };

/* What stands before a word, and behind it. A check is a necessary condition: the caller looks at the line again. */
enum { ANYTHING, APART, LETTER, LINE_START };
enum { OPEN, ENDED, CALLED, CODE, STATUS };

typedef struct { u8 before, after, length, pad; u32 offset; } Word;

typedef struct {
    const u8 *classes;    /* [256]: 0 to 31 */
    const u8 *fold;       /* [256]: bytes that a search takes for the same */
    const u8 *kinds;      /* [256]: bits of below */
    const u32 *rows;      /* [1024] */
    const u32 *first;     /* [1025]: the words that begin with bytes of two classes are words[first[both]..first[both + 1]) */
    const Word *words;
    const u8 *bytes;      /* of all words, folded */
} Words;

/* Bits of `kinds`. */
enum { IN_NAME = 1, IN_PATH = 2, SMALL = 4, DIGIT = 8, SPACE = 16 };

u64 spillstore_text_version(void) { return (u64)VERSION << 32 | sizeof(Words) << 8 | sizeof(Word); }

static Lanes load(const u8 *at) {
    Lanes lanes;
    memcpy(&lanes, at, LANES);
    return lanes;
}

static Lanes all_of(u8 byte) {
    Lanes lanes;
    memset(&lanes, byte, LANES);
    return lanes;
}

static i64 sum_of(Lanes lanes) {
    i64 sum = 0;
    for (int i = 0; i < LANES; i++) sum += lanes[i];
    return sum;
}

/* The last bytes of a text, fewer than there are lanes; blanks in the other lanes. */
static Lanes load_last(const u8 *at, i64 bytes) {
    Lanes lanes = all_of(' ');
    memcpy(&lanes, at, (size_t)bytes);
    return lanes;
}

/* Adds the lanes that are control characters, and all bits that are set. */
static void look(Lanes lanes, Lanes *controls, Lanes *high) {
    *controls |= (Lanes)(lanes < ' ') & ~((Lanes)(lanes == '\n') | (Lanes)(lanes == '\t'));
    *controls |= (Lanes)(lanes == 0x7F);
    *high |= lanes;
}

static int kinds_of(Lanes controls, Lanes high) {
    int kinds = 0;
    for (int i = 0; i < LANES; i++) kinds |= (controls[i] ? CONTROL : 0) | (high[i] & 0x80 ? HIGH : 0);
    return kinds;
}

/* How often a byte stands in a text. */
i64 spillstore_count(const u8 *text, i64 size, u8 byte) {
    i64 found = 0, at = 0;
    const Lanes wanted = all_of(byte);
    while (size - at >= LANES) {
        i64 vectors = (size - at) / LANES;
        if (vectors > FLUSHED)
            vectors = FLUSHED;
        Lanes counts = {0};
        for (i64 i = 0; i < vectors; i++, at += LANES) counts -= (Lanes)(load(text + at) == wanted);
        found += sum_of(counts);
    }
    for (; at < size; at++) found += text[at] == byte;
    return found;
}

/* Counts line ends, and bytes that do not continue a character of UTF-8; returns what kinds of bytes there are. */
i64 spillstore_survey(const u8 *text, i64 size, u8 end, i64 *counted) {
    i64 ends = 0, continued = 0, at = 0;
    Lanes controls = {0}, high = {0};
    const Lanes wanted = all_of(end), top = all_of(0xC0), going_on = all_of(0x80);
    while (size - at >= LANES) {
        i64 vectors = (size - at) / LANES;
        if (vectors > FLUSHED)
            vectors = FLUSHED;
        Lanes counts = {0}, goes_on = {0};
        for (i64 i = 0; i < vectors; i++, at += LANES) {
            Lanes lanes = load(text + at);
            counts -= (Lanes)(lanes == wanted);
            goes_on -= (Lanes)((lanes & top) == going_on);
            look(lanes, &controls, &high);
        }
        ends += sum_of(counts);
        continued += sum_of(goes_on);
    }
    look(load_last(text + at, size - at), &controls, &high);
    for (; at < size; at++) {
        ends += text[at] == end;
        continued += (text[at] & 0xC0) == 0x80;
    }
    counted[0] = ends;
    counted[1] = size - continued;
    return kinds_of(controls, high);
}

/* The length of the character of UTF-8 that is no ASCII at a place; 0 where there is none, or one that is a control character. */
static inline i64 character(const u8 *at, i64 room) {
    u8 lead = at[0];
    i64 length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4 || length > room)
        return 0;
    for (i64 k = 1; k < length; k++)
        if ((at[k] & 0xC0) != 0x80)
            return 0;
    if ((lead == 0xC2 && at[1] < 0xA0) || (lead == 0xE0 && at[1] < 0xA0) || (lead == 0xED && at[1] > 0x9F) ||
        (lead == 0xF0 && at[1] < 0x90) || (lead == 0xF4 && at[1] > 0x8F))
        return 0;
    return length;
}

/* What a text is: 0 ASCII, 1 other UTF-8, 2 with other cases of k or s (U+212A, U+017F), all without control characters but
 * tab and LF; -1 anything else. */
i64 spillstore_kind(const u8 *text, i64 size) {
    i64 seen = 0; /* how far characters that are no ASCII were looked at */
    i64 answer = 0;
    for (i64 at = 0; at < size;) {
        i64 end = size - at < TOGETHER ? size : at + TOGETHER, k = at;
        Lanes controls = {0}, high = {0};
        for (; end - k >= LANES; k += LANES) look(load(text + k), &controls, &high);
        look(load_last(text + k, end - k), &controls, &high);
        int kinds = kinds_of(controls, high);
        if (kinds & CONTROL)
            return -1;
        if (kinds & HIGH) {
            answer = answer ? answer : 1;
            for (k = seen > at ? seen : at; k < end;) {
                i64 length = text[k] < 0x80 ? 1 : character(text + k, size - k);
                if (!length)
                    return -1;
                if ((length == 2 && text[k] == 0xC5 && text[k + 1] == 0xBF) ||
                    (length == 3 && text[k] == 0xE2 && text[k + 1] == 0x84 && text[k + 2] == 0xAA))
                    answer = 2;
                k += length;
                seen = k;
            }
        }
        at = end;
    }
    return answer;
}

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

/* Whether one of the words may stand at `at`. */
static int word_at(const Words *words, const u8 *text, i64 size, i64 at) {
    if (at + 1 >= size)
        return 0;
    u32 both = (u32)words->classes[text[at]] << 5 | words->classes[text[at + 1]];
    for (u32 i = words->first[both]; i < words->first[both + 1]; i++) {
        const Word *word = &words->words[i];
        const u8 *bytes = words->bytes + word->offset;
        i64 same = 0;
        if (at + word->length > size)
            continue;
        while (same < word->length && words->fold[text[at + same]] == bytes[same]) same++;
        if (same == word->length && before_could(words, text, size, at, word->before) &&
            after_could(words, text, size, at + same, word->after))
            return 1;
    }
    return 0;
}

/* The first place from `from` on, before `size`, at which a word may stand; `size` if there is none.
 *
 * Of a word that must stand apart, the row has what is before it and its first two letters; of others the first three.
 * Four places are looked at together, since most of them are nothing. */
static i64 next_word(const Words *words, const u8 *text, i64 size, i64 from) {
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
            if (place > from && word_at(words, text, size, place - 1))
                return place - 1;
            if (word_at(words, text, size, place))
                return place;
        }
        at += places;
    }
    return size;
}

/* Finds lines that may hold a word, from the line that begins at `from` on. Of each: where it begins, where the next one
 * begins, and how many lines begin before it, from `from` on. Returns how many were found, `room` at most. */
i64 spillstore_lines(const Words *words, const u8 *text, i64 size, i64 from, u8 end, i64 *out, i64 room) {
    i64 found = 0, number = 0, counted = from;
    for (i64 at = from; found < room;) {
        at = next_word(words, text, size, at);
        if (at >= size)
            break;
        i64 start = at;
        while (start > counted && text[start - 1] != end) start--;
        const u8 *stop = memchr(text + at, end, (size_t)(size - at));
        number += spillstore_count(text + counted, start - counted, end);
        out[3 * found] = start;
        out[3 * found + 1] = counted = at = stop == NULL ? size : stop - text + 1;
        out[3 * found + 2] = number++;
        found++;
    }
    return found;
}
