/* Finds short sequences of bytes in a block of text, without the interpreter's lock.
 *
 * A pattern is a list of alternatives, each a sequence of classes of bytes (`byte_patterns.py` makes them); where several
 * match at a place, the first one does. Two places of each alternative are compared in 16 positions of the text at once: those
 * whose byte is rarest. What passes is compared whole. A class may stand for as many of its bytes as there are; what follows such a
 * run is none of them, so there is one way to match. What was compared in vain is counted, and where that would be too much to be
 * linear in the text, RE2 is to search it. Nothing is allocated or kept, and every read is inside the text.
 */

#include "places.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

#define VERSION 4
#define WORK 4 /* bytes that may be looked at in vain for each byte of a text */

typedef struct {
    u8 length; /* in classes */
    u8 least;  /* bytes that it matches at least */
    Places places;
    u32 classes; /* of its first class, in the tables */
} Alternative;

typedef struct {
    const Alternative *list;
    i64 count;
    const u8 *classes; /* 32 bytes for each class, a bit for each byte */
    const u8 *rests;   /* of each class: whether it stands for as many of its bytes as there are */
    i64 shortest;
    i64 reach;         /* of the places that are compared */
} Sequences;

enum { NOTHING = -1, UNKNOWN_MATCH = -2 };

/* The length of the first alternative that matches at a place, or 0. Bytes that were looked at in vain are added to `work`. */
static inline i64 matching(const Sequences *wanted, const u8 *at, i64 room, i64 *work) {
    for (i64 index = 0; index < wanted->count; index++) {
        const Alternative *each = wanted->list + index;
        const u8 *classes = wanted->classes + 32 * (u64)each->classes;
        const u8 *rests = wanted->rests + each->classes;
        i64 k = 0, end = 0;
        if (each->least > room)
            continue;
        for (; k < each->length; k++, classes += 32)
            if (rests[k])
                while (end < room && classes[at[end] >> 3] >> (at[end] & 7) & 1)
                    end++;
            else if (end < room && classes[at[end] >> 3] >> (at[end] & 7) & 1)
                end++;
            else
                break;
        if (k == each->length)
            return end;
        *work += end;
    }
    return 0;
}

/* The first match that begins in [at, high) and ends there, or NOTHING; its length too. UNKNOWN_MATCH where so much was looked
 * at in vain that it would not take linear time. */
static inline i64 next_match(const Sequences *wanted, const u8 *text, i64 at, i64 high, i64 *length, i64 *work) {
    const i64 most = WORK * (high + 1);
#if HAS_LANES
    while (at + wanted->reach + LANES <= high) {
        Lanes hits = fitting(&wanted->list->places, text + at);
        u64 halves[2];
        for (i64 index = 1; index < wanted->count; index++)
            hits |= fitting(&wanted->list[index].places, text + at);
        memcpy(halves, &hits, sizeof halves);
        for (int half = 0; half < 2; half++)
            while (halves[half]) {
                int lane = __builtin_ctzll(halves[half]) >> 3;
                i64 found = at + 8 * half + lane;
                if ((*length = matching(wanted, text + found, high - found, work)))
                    return found;
                if (*work > most)
                    return UNKNOWN_MATCH;
                halves[half] &= ~((u64)0xFF << 8 * lane);
            }
        at += LANES;
    }
#endif
    for (; at + wanted->shortest <= high; at++) {
        if ((*length = matching(wanted, text + at, high - at, work)))
            return at;
        if (*work > most)
            return UNKNOWN_MATCH;
    }
    return NOTHING;
}

u64 spillstore_sequences_version(void) { return (u64)VERSION << 32 | sizeof(Sequences) << 8 | sizeof(Alternative); }

/* Where the first match in [low, high) begins, or NOTHING, or UNKNOWN_MATCH. */
i64 spillstore_first_sequence(const Sequences *wanted, const u8 *text, i64 low, i64 high) {
    i64 length, work = 0;
    return next_match(wanted, text, low, high, &length, &work);
}

/* How many lines of [low, high) match, and how many matches without overlap they have; whether that could be told. */
i64 spillstore_count_sequences(const Sequences *wanted, const u8 *text, i64 low, i64 high, i64 *counts) {
    i64 length = 0, lines = 0, matches = 0, line_end = low, work = 0, at = low;
    for (; (at = next_match(wanted, text, at, high, &length, &work)) >= 0; at += length) {
        matches++;
        if (at >= line_end) {
            const u8 *end = memchr(text + at, '\n', (size_t)(high - at));
            line_end = end == NULL ? high : end - text + 1;
            lines++;
        }
    }
    counts[0] = lines;
    counts[1] = matches;
    return at != UNKNOWN_MATCH;
}
