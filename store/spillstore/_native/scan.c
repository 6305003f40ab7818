/* Finds where the rules of redaction may apply in a block of text, without the interpreter's lock.
 *
 * An automaton (Aho-Corasick, a full table) finds every literal that a rule has. Most hits cannot be a secret: nothing
 * stands behind the name, the value is a number, the token goes on with a blank. For each literal a check says so from
 * the bytes around it. A check is always a necessary condition of its rule: it drops a hit only if the rule would find
 * nothing there and would go on as if it had not been asked. What is left is given out, in order, and judged in Python.
 *
 *   scan.c         the automaton: how it is made, and the walk over a text
 *   scan_names.c   the check of literals in names: what is known of the name, and what stands around it
 *   scan_promises.c  what a name promises
 *   scan_blanks.c  the same check where a blank stands behind the name
 *   scan_code.c    values without quotes that are code
 *   scan_values.c  what both look at: words, lines, and whether a value could be a secret
 *   scan_places.c  the checks of all other literals: tokens, addresses, headers, commands
 *   scan_runs.c    runs of letters that may be tokens, which no literal begins
 *
 * The tables come from the rules, in Python (`scanner_tables.py`); nothing here knows a token, nor a name but those of a
 * few directives (`password`, `requirepass`, ...). Nothing is allocated. What is kept between calls is a table of names
 * that were judged.
 *
 * Only bytes of the text are read: a check asks for a byte through functions that know the text's size, or goes up to
 * the end of a line or of a run that it has found. How far it looks is bounded: a line is seen up to REACH, what stands
 * before a name up to BACK, and only runs of blanks as far as they go. So hostile text takes linear time.
 *
 * Lanes walk over parts of a block side by side, since one alone waits for its table at each byte. With six of them a
 * text without hits takes 0.5 ns a byte, with four 0.6, and seven take longer where there are hits. To write each place
 * down and count it only if it is a hit, without a branch, lost: 1.0 ns, and no less where every twentieth byte is one.
 */
#include "scan.h"

#define VERSION 18
#define BLOCK 65536
#define LANES 6
#define PLANE 32 /* columns of the table that stand side by side: a line of the processor's cache */

typedef struct { u32 end; u32 state; } Hit;
typedef struct { u32 literal, start, end; } Candidate;
typedef Hit Hits[LANES][BLOCK / LANES + 1]; /* of each lane */

/* Walks over text[from, to) in lanes of `part` bytes; the hits of lane i stand in hits[i], counts[i] of them. */
static inline __attribute__((always_inline)) void walk_parts(const Tables *tables, const u8 *text, i64 from, i64 to, i64 part, Hits hits,
                                                             u32 counts[LANES]) {
    const u32 *columns = tables->columns;
    const u16 *next = tables->next;
    const u32 accepting = tables->accepting;
    i64 begins[LANES], ends[LANES];
    u32 state[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        begins[lane] = from + lane * part < to ? from + lane * part : to;
        ends[lane] = begins[lane] + part < to ? begins[lane] + part : to;
        counts[lane] = 0;
        state[lane] = 0;
        i64 before = begins[lane] > tables->longest ? begins[lane] - tables->longest : 0; /* literals may begin there */
        for (i64 i = before; i < begins[lane]; i++) state[lane] = next[state[lane] * PLANE + columns[text[i]]];
    }
    u32 s0 = state[0], s1 = state[1], s2 = state[2], s3 = state[3], s4 = state[4], s5 = state[5];
    const u8 *at = text + from;
    i64 i = 0;
    for (const i64 common = ends[LANES - 1] - begins[LANES - 1]; i < common; i++) {
        s0 = next[s0 * PLANE + columns[at[i]]];
        s1 = next[s1 * PLANE + columns[at[i + part]]];
        s2 = next[s2 * PLANE + columns[at[i + 2 * part]]];
        s3 = next[s3 * PLANE + columns[at[i + 3 * part]]];
        s4 = next[s4 * PLANE + columns[at[i + 4 * part]]];
        s5 = next[s5 * PLANE + columns[at[i + 5 * part]]];
        if (RARELY(s0 >= accepting)) hits[0][counts[0]++] = (Hit){(u32)(from + i + 1), s0 - accepting};
        if (RARELY(s1 >= accepting)) hits[1][counts[1]++] = (Hit){(u32)(from + i + part + 1), s1 - accepting};
        if (RARELY(s2 >= accepting)) hits[2][counts[2]++] = (Hit){(u32)(from + i + 2 * part + 1), s2 - accepting};
        if (RARELY(s3 >= accepting)) hits[3][counts[3]++] = (Hit){(u32)(from + i + 3 * part + 1), s3 - accepting};
        if (RARELY(s4 >= accepting)) hits[4][counts[4]++] = (Hit){(u32)(from + i + 4 * part + 1), s4 - accepting};
        if (RARELY(s5 >= accepting)) hits[5][counts[5]++] = (Hit){(u32)(from + i + 5 * part + 1), s5 - accepting};
    }
    state[0] = s0, state[1] = s1, state[2] = s2, state[3] = s3, state[4] = s4, state[5] = s5;
    for (int lane = 0; lane < LANES; lane++)
        for (i64 j = begins[lane] + i; j < ends[lane]; j++) {
            state[lane] = next[state[lane] * PLANE + columns[text[j]]];
            if (RARELY(state[lane] >= accepting))
                hits[lane][counts[lane]++] = (Hit){(u32)(j + 1), state[lane] - accepting};
        }
}

/* Of a whole block it is known when this is compiled where the lanes are, so that this takes no registers. */
static void walk(const Tables *tables, const u8 *text, i64 from, i64 to, Hits hits, u32 counts[LANES]) {
    if (to - from == BLOCK)
        walk_parts(tables, text, from, to, (BLOCK + LANES - 1) / LANES, hits, counts);
    else
        walk_parts(tables, text, from, to, (to - from + LANES - 1) / LANES, hits, counts);
}

/* Whether a rule may find something where its literal stands. */
static inline int could_be(Text *t, const Literal *literal, i64 start, i64 end) {
    return literal->check == NAMED ? name_could(t, start, end, literal) : place_could(t, start, end, literal);
}

/* Gives out where rules may apply: literals that end in text[from, size), in the order of their ends, the longest
 * first.
 *
 * Of literals that end behind `whole` nothing is dropped: what stands behind them may still be to come. The check TOLD sees to that itself.
 * Returns how many; fewer than there are if `room` is not enough, and then `*from` is where to go on, else the size.
 */
i64 spillstore_scan(const Tables *tables, const u8 *text, i64 size, i64 whole, i64 *from, Candidate *out, i64 room,
                    Hits hits) {
    u32 counts[LANES];
    i64 found = 0;
    Text t = {.tables = tables, .text = text, .size = size, .is = tables->bytes, .line = 1, .within = 1, .typed = -1};
    while (*from < size) {
        i64 to = *from + BLOCK < size ? *from + BLOCK : size;
        walk(tables, text, *from, to, hits, counts);
        for (int lane = 0; lane < LANES; lane++)
            for (u32 i = 0; i < counts[lane]; i++) {
                i64 end = hits[lane][i].end;
                u32 first = tables->first[hits[lane][i].state], last = tables->first[hits[lane][i].state + 1];
                if (found + (i64)(last - first) > room) {
                    *from = end - 1;
                    return found;
                }
                for (u32 j = first; j < last; j++) {
                    const Literal *literal = &tables->literals[tables->ends[j]];
                    i64 start = end - literal->length;
                    if ((end > whole && literal->check != TOLD) || could_be(&t, literal, start, end))
                        out[found++] = (Candidate){tables->ends[j], (u32)start, (u32)end};
                }
            }
        *from = to;
    }
    return found;
}

/* A state while the automaton is made. The literals are a tree: `child` is the first that goes on from here, `sibling` the next. */
typedef struct {
    u32 child, sibling, byte; /* that leads here */
    u32 fail;                 /* the longest end of what was seen that is a state, too */
    u32 literal, same;        /* that ends here, counted from 1; the next shorter end with which one does */
    u32 order, number;        /* the state in that place, of all by their length; its row */
} State;

/* The state that a byte leads to in the tree; 0 if none. */
static inline u32 child_of(const State *states, u32 state, u32 byte) {
    u32 child = states[state].child;
    while (child && states[child].byte != byte) child = states[child].sibling;
    return child;
}

/* Makes the tree; returns how many states it has, or 0 if there are more than `most`. */
static u32 grow(const u8 *bytes, const u8 *lengths, i64 count, State *states, u32 most) {
    u32 made = 1;
    for (i64 i = 0; i < count; bytes += lengths[i++]) {
        u32 state = 0;
        for (u8 j = 0; j < lengths[i]; j++) {
            u32 child = child_of(states, state, bytes[j]);
            if (!child) {
                if (made == most || made == 0xFFFF)
                    return 0;
                child = made++;
                states[child].byte = bytes[j];
                states[child].sibling = states[state].child;
                states[state].child = child;
            }
            state = child;
        }
        states[state].literal = (u32)i + 1; /* each stands once */
    }
    return made;
}

static inline int accepts(const State *state) { return state->literal || state->same; }

/* Tells, from the shortest on, where each state goes on from when no child fits; returns how many states accept nothing. */
static u32 connect(State *states, u32 made) {
    u32 queued = 1, plain = 0;
    states[0].order = 0;
    for (u32 i = 0; i < queued; i++) {
        const u32 state = states[i].order;
        for (u32 child = states[state].child; child; child = states[child].sibling) {
            u32 fail = state, found = 0;
            while (fail && !found) {
                fail = states[fail].fail;
                found = child_of(states, fail, states[child].byte);
            }
            states[child].fail = found;
            states[child].same = states[found].literal ? found : states[found].same;
            states[queued++].order = child;
        }
    }
    for (u32 i = 0; i < made; i++) plain += !accepts(&states[i]);
    return plain;
}

/* Makes the automaton of `count` literals, which stand in `bytes` one behind the other (Aho and Corasick, 1975).
 *
 * `next` has `planes` planes of `most` rows, all zeros, and `columns` says where the column of each byte stands in it; `work` has
 * 8 numbers for each state, `first` one and one more. `ends` takes the literals that end in each accepting state, the longest
 * first, and has room for `room`. States are numbered by how much they have seen, the accepting ones behind all others.
 * Returns the number of the first accepting state, or -1 if there is not enough room.
 */
i64 spillstore_build(const u8 *bytes, const u8 *lengths, i64 count, const u32 *columns, u32 planes, u16 *next, u32 *work,
                     u32 *first, u16 *ends, u32 most, u32 room) {
    State *states = (State *)work;
    memset(states, 0, (size_t)most * sizeof *states);
    const u32 made = grow(bytes, lengths, count, states, most);
    if (made == 0)
        return -1;
    const u32 plain = connect(states, made);
    u32 low = 0, high = plain, written = 0;
    for (u32 i = 0; i < made; i++) {
        State *state = &states[states[i].order];
        if (!accepts(state)) {
            state->number = low++;
            continue;
        }
        state->number = high++;
        first[state->number - plain] = written;
        for (u32 at = states[i].order; at; at = states[at].same)
            if (states[at].literal) {
                if (written == room)
                    return -1;
                ends[written++] = (u16)(states[at].literal - 1);
            }
    }
    first[high - plain] = written;
    for (u32 i = 0; i < made; i++) { /* what a state has no child for goes on as from the state it fails to, which stands before it */
        const State *state = &states[states[i].order];
        const u16 *from = next + (size_t)states[state->fail].number * PLANE;
        u16 *row = next + (size_t)state->number * PLANE;
        for (size_t p = 0; i && p < planes; p++) memcpy(row + p * most * PLANE, from + p * most * PLANE, PLANE * sizeof *row);
        for (u32 child = state->child; child; child = states[child].sibling)
            row[columns[states[child].byte]] = (u16)states[child].number;
    }
    return plain;
}

/* What the tables and the checks are like; counted up with each change of them or of a function's arguments, here and
 * in `scanner_tables.py`. The rest says how the compiler has laid them out. */
u64 spillstore_version(void) { return (u64)VERSION << 32 | (u64)sizeof(Tables) << 8 | sizeof(Literal); }

u32 spillstore_scratch(void) { return (u32)sizeof(Hits); }
