/* Looks through a block of text: counts its line ends, says what kinds of bytes and characters it has, finds UTF-16, takes out colours.
 *
 * Python gives the same answers without this (`text_scan.py`), only slower. Nothing is allocated and nothing is kept between calls. Every
 * read is inside the text.
 */

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint64_t u64;
typedef int64_t i64;
typedef u8 Lanes __attribute__((vector_size(16)));

#define LANES 16
#define FLUSHED 255   /* vectors, after which a lane that counts may overflow */
#define TOLD 4        /* vectors in which a sequence is looked for together */
#define VERSION 3
#define WIDE_NULS 7   /* that a text of two bytes a character is told by */
#define PARAMETERS 30 /* bytes of an escape between its bracket and its letter */
#define TOGETHER 4096 /* bytes, after which a text that has control characters is given up */

/* Kinds of bytes, as bits: control characters of ASCII but for tab and LF, and what is no ASCII. */
enum { CONTROL = 1, HIGH = 2 };

u64 spillstore_text_version(void) { return (u64)VERSION << 32 | sizeof(i64) << 8 | sizeof(u8); }

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

static int is_empty(Lanes lanes) {
    u64 halves[2];
    memcpy(halves, &lanes, sizeof halves);
    return !(halves[0] | halves[1]);
}

/* How often a sequence of bytes stands in a text, without overlap: its first, its last and a byte between them are looked for at
 * 64 places together. */
i64 spillstore_count_sequence(const u8 *text, i64 size, const u8 *wanted, i64 length) {
    const i64 middle = length / 2;
    const Lanes first = all_of(wanted[0]), between = all_of(wanted[middle]), last = all_of(wanted[length - 1]);
    i64 found = 0, at = 0, free = 0; /* behind the last one that was counted */
    for (; at + TOLD * LANES + length - 1 <= size; at += TOLD * LANES) {
        Lanes hits[TOLD], any = {0};
        for (int k = 0; k < TOLD; k++) {
            const u8 *here = text + at + k * LANES;
            hits[k] = (Lanes)(load(here) == first) & (Lanes)(load(here + middle) == between) & (Lanes)(load(here + length - 1) == last);
            any |= hits[k];
        }
        for (int k = 0; k < TOLD && !is_empty(any); k++)
            for (int lane = 0; lane < LANES && !is_empty(hits[k]); lane++) {
                i64 place = at + k * LANES + lane;
                if (hits[k][lane] && place >= free && memcmp(text + place, wanted, (size_t)length) == 0) {
                    found++;
                    free = place + length;
                }
            }
    }
    for (at = at > free ? at : free; at + length <= size; at++)
        if (memcmp(text + at, wanted, (size_t)length) == 0) {
            found++;
            at += length - 1;
        }
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

static int printed(u8 byte) { return (byte >= '\t' && byte <= '\r') || byte == 0x1B || (byte >= ' ' && byte < 0x7F) || byte >= 0xA0; }

/* The first NUL from which on every second byte is one, with letters, digits, signs or blanks of Latin-1 between them, as in UTF-16:
 * WIDE_NULS of them, or as many as there are up to the text's end. -1 if there is none. */
i64 spillstore_find_wide(const u8 *text, i64 size) {
    for (i64 at = 0; at < size; at++) {
        const u8 *found = memchr(text + at, 0, (size_t)(size - at));
        if (found == NULL)
            return -1;
        at = found - text;
        for (u64 eight; size - at > (i64)sizeof eight; at += (i64)sizeof eight) { /* NULs one behind the other */
            memcpy(&eight, text + at + 1, sizeof eight);
            if (eight)
                break;
        }
        const i64 first = at;
        for (int nuls = 1;; nuls++, at += 2) {
            if (nuls == WIDE_NULS || at + 1 == size)
                return first;
            if (!printed(text[at + 1]))
                break;
            if (at + 2 == size)
                return first;
            if (text[at + 2])
                break;
        }
    }
    return -1;
}

/* Where the escape for a colour or the like ends that begins at `at`: a bracket, parameters, a letter. `at` if there is none. */
static i64 escape_end(const u8 *text, i64 at, i64 size) {
    if (at + 1 >= size || text[at + 1] != '[')
        return at;
    i64 end = at + 2;
    const i64 most = end + PARAMETERS < size ? end + PARAMETERS : size;
    while (end < most && ((text[end] >= '0' && text[end] <= ';') || text[end] == '?')) end++;
    return end < size && (text[end] | 32) >= 'a' && (text[end] | 32) <= 'z' ? end + 1 : at;
}

/* Copies text[low, high) without such escapes to `out`, which has room for all of it; returns how many bytes these are. */
i64 spillstore_uncoloured(const u8 *text, i64 low, i64 high, u8 *out) {
    u8 *to = out;
    i64 copied = low; /* up to here, or left out */
    const u8 *found;
    for (i64 at = low; at < high && (found = memchr(text + at, 0x1B, (size_t)(high - at))) != NULL; at++) {
        at = found - text;
        const i64 end = escape_end(text, at, high);
        if (end == at)
            continue;
        memcpy(to, text + copied, (size_t)(at - copied));
        to += at - copied;
        copied = end;
        at = end - 1;
    }
    memcpy(to, text + copied, (size_t)(high - copied));
    return to - out + high - copied;
}
