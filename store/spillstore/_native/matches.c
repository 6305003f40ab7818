/* Counts the matches of a pattern in a block of text with a table of states (`search/automaton.py` makes it), without the interpreter's lock.
 *
 * A match is found by its end: a state says that one ends here, and the state in which nothing can follow that the last such end was
 * the match's. No match crosses a line end, so its end tells its line. What was looked at behind a match's end is looked at again, and
 * where that would be too much to be linear in the text, RE2 is to search it. Where it is known with which bytes each match begins,
 * what stands before two of them is passed over 16 positions at a time. Every read is inside the text.
 */

#include "places.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

#define VERSION 2
#define WORK 4 /* bytes that may be looked at again for each byte of a text */

enum { ENDS = 1, OVER = 2 };

typedef struct {
    const u32 *next;   /* of each state and class of bytes: where the next state's row begins, times 4, and whether a match ENDS or is OVER */
    const u8 *classes; /* [256] */
    i64 reach;         /* of the places below; -1 where there are none */
    Places begin;      /* bytes with which each match begins */
} States;

typedef struct { i64 lines, matches; } Counts;

/* The first position from `at` on at which a match may begin; `high` if there is none. */
static inline i64 next_begin(const States *states, const u8 *text, i64 at, i64 high) {
    const Places *begin = &states->begin;
    const i64 reach = states->reach;
#if HAS_LANES
    for (; at + reach + LANES <= high; at += LANES) {
        Lanes hits = fitting(begin, text + at);
        u64 halves[2];
        memcpy(halves, &hits, sizeof halves);
        if (halves[0])
            return at + (__builtin_ctzll(halves[0]) >> 3);
        if (halves[1])
            return at + 8 + (__builtin_ctzll(halves[1]) >> 3);
    }
#endif
    for (; at + reach < high; at++)
        if (fits(begin, text + at))
            return at;
    return high;
}

u64 spillstore_matches_version(void) { return (u64)VERSION << 32 | sizeof(States) << 8 | sizeof(Counts); }

/* How many lines of [low, high) match, and how many matches they have; whether that could be told. */
i64 spillstore_count_matches(const States *states, const u8 *text, i64 low, i64 high, Counts *counts) {
    const u32 *next = states->next;
    const u8 *classes = states->classes;
    i64 lines = 0, matches = 0, line_end = low, again = 0;
    const i64 most = WORK * (high - low + 1);
    for (i64 from = low; from < high;) {
        i64 end = -1, at = from;
        for (u32 row = 0; at < high;) {
            if (row == 0 && states->reach >= 0 && (at = next_begin(states, text, at, high)) == high)
                break;
            u32 entry = next[row + classes[text[at++]]];
            row = entry >> 2;
            if (entry & ENDS)
                end = at;
            if (entry & OVER)
                break;
        }
        if (end < 0)
            break;
        matches++;
        if (end > line_end) {
            const u8 *stop = memchr(text + end, '\n', (u64)(high - end));
            line_end = stop == NULL ? high : stop - text + 1;
            lines++;
        }
        again += at - end;
        if (again > most)
            return 0;
        from = end;
    }
    counts->lines = lines;
    counts->matches = matches;
    return 1;
}
