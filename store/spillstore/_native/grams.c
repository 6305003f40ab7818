/* Makes the gram filter of a chunk, without the interpreter's lock (`format/grams.py` says what it is).
 *
 * Grams are marked in tables of one byte for each value of a hash, which fit the processor's first cache; the filter is the table
 * brought down to as many bits as it may have. Which windows of the text are grams is told for 64 places at once, as bits: whether
 * a byte is a digit, a letter or neither. Nothing is allocated or kept, and every read is inside the texts.
 */

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

#define VERSION 1
#define BITS 13                /* of a hash */
#define PLACES (1 << BITS)
#define SPREAD 0x9E3779B97F4A7C15u
#define MARK 5                 /* bytes of a gram with digits */
#define WORD 4                 /* bytes of a gram without */
#define BEFORE 63              /* bytes before the chunk */
#define SEAM (BEFORE + MARK - 1)
#define HEADER 4
#define OTHER 3                /* the kind of a text that is none of `spillstore_kind` */

i64 spillstore_kind(const u8 *text, i64 size);

typedef u8 Lanes __attribute__((vector_size(16)));
typedef char Signed __attribute__((vector_size(16)));

typedef struct { u8 marks[2][PLACES]; } Tables; /* of grams without digits, and with */

/* One text of a call, and the filter that is made of it. */
typedef struct {
    const u8 *text;
    const u8 *before;   /* what stands before it */
    u8 *out;
    i64 size;
    i64 before_size;    /* BEFORE bytes, or all that there are */
    i64 most;           /* bytes that the filter may have */
    i64 made;           /* bytes that it has; 0 where it would rule nothing out */
} Part;

/* 0 where bytes stand in the other order in numbers: no filter is made there. */
u64 spillstore_grams_version(void) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (u64)VERSION << 32 | sizeof(Part) << 8 | sizeof(Tables) >> BITS : 0;
}

/* Of 16 lanes that are 0 or 255, which ones are 255, as 16 bits. */
static inline u64 bits_of(Lanes lanes) {
#ifdef __SSE2__
    return (u64)(u32)__builtin_ia32_pmovmskb128((Signed)lanes);
#else
    u64 halves[2];
    memcpy(halves, &lanes, sizeof halves);
    const u64 each = 0x0101010101010101u, gather = 0x0102040810204080u;
    return (halves[0] & each) * gather >> 56 | ((halves[1] & each) * gather >> 56) << 8;
#endif
}

static inline Lanes among(Lanes lanes, u8 first, u8 last) { return (Lanes)(lanes - first <= (u8)(last - first)); }

static inline u64 load8(const u8 *at) {
    u64 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

static inline u32 hashed(u64 gram) { return (u32)(gram * SPREAD >> (64 - BITS)); }

/* The bytes of 64 places, folded, and the 64 behind them; which of them are letters and digits. */
typedef struct { u8 folded[128 + 8]; u64 letters[2], digits[2]; } Window;

/* Marks the grams that begin in the first 64 bytes. */
static inline void mark_block(const Window *at, Tables *tables) {
#define LATER(bits, k) ((bits)[0] >> (k) | (bits)[1] << (64 - (k)))
    u64 words = at->letters[0] & LATER(at->letters, 1) & LATER(at->letters, 2) & LATER(at->letters, 3), marks = 0;
    if (at->digits[0] | (at->digits[1] & 0xF)) {
        const u64 names[2] = {at->letters[0] | at->digits[0], at->letters[1] | at->digits[1]};
        u64 digit = at->digits[0], letter = at->letters[0];
        marks = names[0];
        for (int k = 1; k < MARK; k++) {
            marks &= LATER(names, k);
            digit |= LATER(at->digits, k);
            letter |= LATER(at->letters, k);
        }
        marks &= digit & letter;
    }
    for (; words; words &= words - 1) tables->marks[0][hashed(load8(at->folded + __builtin_ctzll(words)) & 0xFFFFFFFFu)] = 1;
    for (; marks; marks &= marks - 1) tables->marks[1][hashed(load8(at->folded + __builtin_ctzll(marks)) & 0xFFFFFFFFFFu)] = 1;
}

/* Takes 64 bytes in; what is behind the text is neither a letter nor a digit. */
static inline void classify(const u8 *text, i64 size, Window *at) {
    u8 *folded = at->folded + 64;
    if (size < 64) {
        memset(folded, 0, 64);
        if (size > 0)
            memcpy(folded, text, (size_t)size);
        text = folded;
    }
    at->letters[1] = at->digits[1] = 0;
    for (int k = 0; k < 64; k += 16) {
        Lanes lanes;
        memcpy(&lanes, text + k, sizeof lanes);
        lanes |= among(lanes, 'A', 'Z') & 0x20;
        memcpy(folded + k, &lanes, sizeof lanes);
        at->letters[1] |= bits_of(among(lanes, 'a', 'z') | (Lanes)(lanes == '_') | (Lanes)(lanes >= 0x80)) << k;
        at->digits[1] |= bits_of(among(lanes, '0', '9')) << k;
    }
}

static void mark(const u8 *text, i64 size, Tables *tables) {
    Window window = {0};
    classify(text, size, &window);
    for (i64 at = 0; at < size; at += 64) {
        memcpy(window.folded, window.folded + 64, 64);
        window.letters[0] = window.letters[1];
        window.digits[0] = window.digits[1];
        classify(text + at + 64, size - at - 64, &window);
        mark_block(&window, tables);
    }
}

/* One bit for each place of a table, and how many of them are set. */
typedef struct { u64 words[PLACES / 64]; i64 count; } Bits;

static void gather(const u8 *table, Bits *bits) {
    bits->count = 0;
    for (int i = 0; i < PLACES / 64; i++, table += 64) {
        u64 word = 0;
        for (int k = 0; k < 64; k += 16) {
            Lanes lanes;
            memcpy(&lanes, table + k, sizeof lanes);
            word |= bits_of((Lanes)(lanes != 0)) << k;
        }
        bits->words[i] = word;
        bits->count += __builtin_popcountll(word);
    }
}

static i64 at_most(i64 value, i64 most) { return value < most ? value : most; }

/* Brings the bits down to as many as the filter may have; only every 2^`few`-th place counts. */
static void scale(const Bits *table, i64 few, u8 *out, i64 bytes) {
    static const u64 EVERY[7] = {~(u64)0, 0x5555555555555555u, 0x1111111111111111u, 0x0101010101010101u, 0x0001000100010001u,
                                 0x0000000100000001u, 1};
    const u64 bits = 8 * (u64)bytes;
    u64 found = 0, at = 0; /* 64 bits of the filter, and where they are in it */
    u8 last[8];
    memset(out, 0, (size_t)bytes);
    for (u64 i = 0; bytes && i < PLACES / 64; i++)
        for (u64 word = table->words[i] & EVERY[few]; word; word &= word - 1) {
            const u64 place = (64 * i + (u64)__builtin_ctzll(word)) * bits >> BITS;
            if (place >= at + 64) {
                memcpy(last, &found, sizeof last);
                memcpy(out + at / 8, last, sizeof last);
                found = 0;
                at = place & ~(u64)63;
            }
            found |= (u64)1 << (place & 63);
        }
    memcpy(last, &found, sizeof last);
    memcpy(out + at / 8, last, (size_t)at_most(bytes - (i64)at / 8, sizeof last));
}

static i64 continued(const u8 *text, i64 size) {
    i64 count = 0;
    while (count < size && count < 3 && (text[count] & 0xC0) == 0x80) count++;
    return count;
}

/* Bytes of a character at the end that has not ended. */
static i64 unfinished(const u8 *text, i64 size) {
    for (i64 back = 1; back <= 3 && back <= size; back++) {
        u8 byte = text[size - back];
        if ((byte & 0xC0) == 0x80)
            continue;
        return byte <= 0xF4 && byte >= (back == 1 ? 0xC2 : back == 2 ? 0xE0 : 0xF0) ? back : 0;
    }
    return 0;
}

/* What a chunk's characters are, those included that end in it and began before it. */
static i64 kind_of(const Part *part) {
    u8 seam[BEFORE + 3];
    i64 head = continued(part->text, part->size), tail = unfinished(part->text, part->size);
    if (head + tail > part->size)
        return OTHER;
    i64 skipped = part->before_size < BEFORE ? 0 : continued(part->before, part->before_size);
    i64 kept = part->before_size - skipped;
    memcpy(seam, part->before + skipped, (size_t)kept);
    memcpy(seam + kept, part->text, (size_t)head);
    if (!head) /* the character that begins in what is before ends nowhere */
        kept -= unfinished(seam, kept) ? BEFORE + 1 : 0;
    if (kept < 0)
        return OTHER;
    i64 first = spillstore_kind(seam, kept + head), second = spillstore_kind(part->text + head, part->size - head - tail);
    return first < 0 || second < 0 ? OTHER : first > second ? first : second;
}

static void make(Part *part, Tables *tables) {
    u8 seam[SEAM];
    const i64 head = at_most(part->size, MARK - 1), seam_size = part->before_size + head;
    memcpy(seam, part->before, (size_t)part->before_size);
    memcpy(seam + part->before_size, part->text, (size_t)head);
    memset(tables, 0, sizeof *tables);
    mark(part->text, part->size, tables);
    mark(seam, seam_size, tables);
    Bits bits[2];
    gather(tables->marks[0], bits);
    gather(tables->marks[1], bits + 1);
    const i64 room = part->most - HEADER, words = bits[0].count, marks = bits[1].count;
    const i64 wanted = (marks * 3 + 15) / 16, word_bytes = at_most((words * 3 + 7) / 8, room - at_most(wanted, room / 3));
    const i64 mark_bytes = at_most(wanted, room - word_bytes);
    i64 few = 0;
    part->made = 0;
    if (words > 20 * word_bytes || words > PLACES / 8 * 7)
        return;
    while (few < 6 && (marks >> few) * 5 / 4 > mark_bytes * 8) few++;
    part->out[0] = (u8)kind_of(part);
    part->out[1] = (u8)few;
    part->out[2] = (u8)(word_bytes & 0xFF);
    part->out[3] = (u8)(word_bytes >> 8);
    scale(bits, 0, part->out + HEADER, word_bytes);
    scale(bits + 1, few, part->out + HEADER + word_bytes, mark_bytes);
    part->made = HEADER + word_bytes + mark_bytes;
}

void spillstore_grams(Part *parts, i64 count) {
    Tables tables;
    for (i64 i = 0; i < count; i++) make(parts + i, &tables);
}
