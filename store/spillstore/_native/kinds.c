/* Counts kinds of lines: which words of a line are frequent in its text, and how many others it has.
 *
 * A word is the letters between two blanks, brackets, quotes and the like; digits and signs inside of it are left out. Lines come
 * in groups. First the words of a group are counted, then each line of it gets its kind from the words that were counted often.
 * `line_kinds.py` gives the same answers without this, only slower.
 *
 * All memory is one block that the caller owns. Words and kinds stand in tables of hashes of 64 bits, which are made with numbers
 * drawn at random, so that no text can be made to collide; a table that is full takes nothing new. Every read is inside the text.
 */

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
typedef int32_t i32;

#define VERSION 2
#define GROUP 1024       /* lines of a group */
#define LINE_BYTES 512   /* of a line that are looked at */
#define LINE_WORDS 32    /* of a line that are looked at */
#define WORD_LETTERS 40  /* of a word that are looked at */
#define WORDS 8192       /* that are counted at once */
#define KINDS 4096       /* that are counted */
#define SLOTS (2 * WORDS)
#define KIND_SLOTS (2 * KINDS)
#define MANY 16          /* rare lines are many where they are more than this part of all, and some */
#define BESIDE 8         /* lines before and behind one that are beside it */
#define NO_SLOT SLOTS
#define NO_KIND (-1)
#define OFTEN 5          /* a word that was counted so often is frequent, where there are few lines */
#define OTHERS 3         /* words that are not frequent are counted up to here */
#define SELDOM 3         /* a kind is rare while it has at most so many lines */
#define SHORTEST 3       /* letters of a word all of whose letters are hexadecimal */
#define RARE 64          /* rare lines of a group that are given out */

/* What a byte is, as bits; nothing, where it ends a word: a letter; not a letter of hexadecimal numbers; a digit; any byte inside of a word; the beginning
 * of a character of three bytes or more; a letter that is no part of one; what stands between the folders of a path. */
enum { LETTER = 1, PLAIN = 2, DIGIT = 4, INSIDE = 8, WIDE = 16, NARROW = 32, FOLDER = 64 };

typedef struct { u64 hash; u32 count, path; } Slot; /* a word; whether it was a path when it was new */

typedef struct {
    u64 letters[256];    /* drawn at random, 0 for bytes that are no letters; at random are the three that follow, too, which are odd */
    u64 step, mix, other;
    i64 lines;           /* counted */
    i64 often;           /* half the root of that: a word that was counted so often is frequent */
    i64 used;            /* words */
    i64 kinds;
    i64 given_up;        /* whether nearly every line is of a kind of its own */
    u8 marks[256];
    Slot words[SLOTS];
    Slot spare[SLOTS];
    u64 hashes[KIND_SLOTS];
    i32 ids[KIND_SLOTS]; /* of the kinds, and 1 more: 0 is a free slot */
    u32 counts[KINDS];
    u32 places[GROUP * LINE_WORDS];
    i64 starts[GROUP + 1];
    u8 sizes[GROUP];
    i32 found[GROUP];
} State;

typedef struct { i64 start, end, number, kind; } Rare;

u64 spillstore_kinds_version(void) { return (u64)VERSION << 32 | (u64)sizeof(Rare) << 8 | sizeof(Slot); }

i64 spillstore_kinds_size(void) { return (i64)sizeof(State); }

/* Makes the memory ready, all of which is 0 before: 259 numbers drawn at random, and what all bytes are. */
void spillstore_kinds_begin(State *state, const u64 *random, const u8 *marks) {
    memcpy(state->marks, marks, sizeof state->marks);
    for (int i = 0; i < 256; i++) state->letters[i] = marks[i] & LETTER ? random[i] : 0;
    state->step = random[256] | 1;
    state->mix = random[257] | 1;
    state->other = random[258] | 1;
}

i64 spillstore_kinds_given_up(const State *state) { return state->given_up; }

static u64 mixed(u64 hash, u64 by) {
    hash ^= hash >> 32;
    hash *= by;
    return hash ^ hash >> 29;
}

/* The slot of a word, which is counted; NO_SLOT if it is new and there is no room. */
static u32 count_word(State *state, u64 hash, u32 marks) {
    u64 at = hash >> 20 & (SLOTS - 1);
    for (; state->words[at].count; at = (at + 1) & (SLOTS - 1))
        if (state->words[at].hash == hash) {
            state->words[at].count++;
            return (u32)at;
        }
    if (state->used >= WORDS)
        return NO_SLOT;
    state->used++;
    state->words[at] = (Slot){hash, 1, marks & FOLDER};
    return (u32)at;
}

/* Halves the counts of all words; those that are left with none make room for others. */
static void forget(State *state) {
    memcpy(state->spare, state->words, sizeof state->spare);
    memset(state->words, 0, sizeof state->words);
    state->used = 0;
    for (i64 i = 0; i < SLOTS; i++) {
        Slot slot = state->spare[i];
        u64 at = slot.hash >> 20 & (SLOTS - 1);
        if (slot.count < 2)
            continue;
        while (state->words[at].count) at = (at + 1) & (SLOTS - 1);
        state->words[at] = (Slot){slot.hash, slot.count / 2, slot.path};
        state->used++;
    }
}

/* The hash of a word is the sum of its letters', each turned by its place: each turn may stand once only. */
static inline u64 turned(u64 letter, u32 place) { return letter << (place & 63) | letter >> (-place & 63); }

/* Counts a word, unless it is a part of a number, and puts its place behind those before it. Returns how many there are. */
static inline int end_word(State *state, u64 hash, u32 letters, u32 marks, u32 *places, int words) {
    if (letters && (marks & PLAIN || (!(marks & DIGIT) && letters >= SHORTEST)))
        places[words++] = count_word(state, mixed(hash ^ state->other, state->mix), marks);
    return words;
}

/* Counts the words of a line; returns how many. Where characters of three bytes and more begin or end, a word ends: their languages
 * put no blanks around them. */
static int words_of(State *state, const u8 *at, const u8 *stop, u32 *places) {
    int words = 0;
    while (words < LINE_WORDS) {
        u64 hash = 0;
        u32 letters = 0, marks = 0;
        while (at < stop && !state->marks[*at]) at++;
        if (at == stop)
            break;
        for (; at < stop; at++) {
            u32 mark = state->marks[*at];
            if (!mark || (mark & WIDE ? (marks & (INSIDE | WIDE)) == INSIDE : mark & NARROW && marks & WIDE))
                break;
            marks |= mark;
            if (letters < WORD_LETTERS) {
                hash += turned(state->letters[*at], letters);
                letters += mark & LETTER;
            }
        }
        words = end_word(state, hash, letters, marks, places, words);
    }
    return words;
}

/* The same for a line of ASCII alone. */
static int ascii_words_of(State *state, const u8 *at, const u8 *stop, u32 *places) {
    int words = 0;
    while (words < LINE_WORDS) {
        u64 hash = 0;
        u32 letters = 0, marks = 0, mark;
        while (at < stop && !state->marks[*at]) at++;
        if (at == stop)
            break;
        const u8 *last = stop - at > WORD_LETTERS ? at + WORD_LETTERS : stop;
        for (; at < last && (mark = state->marks[*at]); at++) {
            marks |= mark;
            hash += turned(state->letters[*at], letters);
            letters += mark & LETTER;
        }
        for (; at < stop && (mark = state->marks[*at]); at++) {
            marks |= mark;
            if (letters < WORD_LETTERS) {
                hash += turned(state->letters[*at], letters);
                letters += mark & LETTER;
            }
        }
        words = end_word(state, hash, letters, marks, places, words);
    }
    return words;
}

/* A hash of which signs a line without words has. */
static u64 signs_of(const State *state, const u8 *at, const u8 *stop) {
    u64 seen[2] = {0, 0};
    for (; at < stop; at++)
        if (*at > ' ' && *at < 0x7F && !(state->marks[*at] & (LETTER | DIGIT)))
            seen[*at >> 6] |= (u64)1 << (*at & 63);
    return mixed(mixed(seen[0] ^ state->other, state->step) ^ seen[1], state->mix) + 1;
}

/* The sum of the hashes of a line's words but paths; 0 where there are none but paths. */
static u64 plain_of(const State *state, const u32 *places, int words) {
    u64 sum = 0;
    for (int i = 0; i < words; i++) {
        const Slot *slot = state->words + places[i];
        if (places[i] == NO_SLOT)
            sum += state->other;
        else if (!slot->path)
            sum += mixed(slot->hash, state->step);
    }
    return sum;
}

/* A hash of a line's frequent words and of how many others it has. Where none of several is frequent, which `frequent` tells: of all words but paths,
 * if there are any. */
static u64 kind_of(const State *state, const u32 *places, int words, u32 often, u8 *frequent) {
    u64 kind = 0, others = 0, plain;
    for (int i = 0; i < words; i++) {
        const Slot *slot = state->words + places[i];
        if (places[i] != NO_SLOT && slot->count >= often)
            kind += mixed(slot->hash, state->step);
        else
            others++;
    }
    *frequent = others < (u64)words;
    if (!*frequent && words > 1 && (plain = plain_of(state, places, words)))
        return mixed(plain ^ state->mix, state->mix);
    return mixed(kind + (others < OTHERS ? others : OTHERS) * state->other, state->mix);
}

/* The number of a kind, from 0, one line of which is counted; NO_KIND if it is new and there is no room. */
static i32 count_kind(State *state, u64 hash) {
    u64 at = hash >> 20 & (KIND_SLOTS - 1);
    for (; state->ids[at]; at = (at + 1) & (KIND_SLOTS - 1))
        if (state->hashes[at] == hash) {
            state->counts[state->ids[at] - 1]++;
            return state->ids[at] - 1;
        }
    if (state->kinds >= KINDS)
        return NO_KIND;
    state->hashes[at] = hash;
    state->counts[state->kinds] = 1;
    return (state->ids[at] = (i32)++state->kinds) - 1;
}

/* The number of a kind that is given out: those whose lines have words, none of which is frequent, are told from others. */
static i32 told(i32 kind, u8 named) { return named || kind == NO_KIND ? kind : -2 - kind; }

static i32 number_of(i32 told) { return told >= NO_KIND ? told : -2 - told; }

static int is_ascii(const u8 *at, i64 size) {
    u64 high = 0, eight;
    for (; size >= 8; at += 8, size -= 8) {
        memcpy(&eight, at, 8);
        high |= eight;
    }
    for (; size > 0; size--) high |= *at++;
    return !(high & 0x8080808080808080);
}

/* Counts the lines of [at, size), a group at most; `kinds` gets the kind of each. Returns where the next group begins. */
static i64 count_group(State *state, const u8 *text, i64 at, i64 size, u8 end, i32 *kinds, i64 *counted) {
    i64 lines = 0;
    if (state->used > WORDS / 4 * 3)
        forget(state);
    for (; at < size && lines < GROUP; lines++) {
        const u8 *stop = memchr(text + at, end, (size_t)(size - at));
        i64 next = stop == NULL ? size : stop - text + 1;
        i64 seen = next - at < LINE_BYTES ? next : at + LINE_BYTES;
        state->starts[lines] = at;
        u32 *places = state->places + lines * LINE_WORDS;
        state->sizes[lines] = (u8)(is_ascii(text + at, seen - at) ? ascii_words_of(state, text + at, text + seen, places)
                                                                  : words_of(state, text + at, text + seen, places));
        at = next;
    }
    state->starts[lines] = at;
    state->lines += lines;
    while ((state->often + 1) * (state->often + 1) * 4 <= state->lines) state->often++;
    u32 often = state->often > OFTEN ? (u32)state->often : OFTEN;
    for (i64 i = 0; i < lines; i++) {
        i64 start = state->starts[i], stop = state->starts[i + 1];
        if (stop - start > LINE_BYTES)
            stop = start + LINE_BYTES;
        u8 named = 1;
        u64 kind = state->sizes[i] ? kind_of(state, state->places + i * LINE_WORDS, state->sizes[i], often, &named)
                                   : signs_of(state, text + start, text + stop);
        kinds[i] = told(count_kind(state, kind), named);
    }
    *counted = lines;
    return at;
}

static int is_rare(const State *state, i32 kind) { return kind != NO_KIND && state->counts[number_of(kind)] <= SELDOM; }

static int is_often(const State *state, i32 kind) { return kind != NO_KIND && state->counts[number_of(kind)] >= OFTEN; }

/* Whether most lines beside one are of kinds that stand often. */
static int stands_out(const State *state, const i32 *kinds, i64 lines, i64 line) {
    i64 low = line > BESIDE ? line - BESIDE : 0, high = lines - line > BESIDE ? line + BESIDE + 1 : lines, often = 0;
    for (i64 i = low; i < high; i++) often += is_often(state, kinds[i]);
    return often * 3 >= (high - low) * 2;
}

/* The lines of kinds that are rare so far, and the first ones of kinds from `known` on: where each and the next one begin, how many are before it, and
 * its kind. Where rare lines are many, only those that stand out. Kinds of a group are numbered in the order of their first lines. Returns
 * how many. */
static i64 rare_of(const State *state, i64 known, const i32 *kinds, i64 lines, i64 before, Rare *rare) {
    i64 found = 0, all = 0;
    for (i64 i = 0; i < lines; i++) all += is_rare(state, kinds[i]);
    int few = all * MANY <= lines + RARE;
    for (i64 i = 0; i < lines && found < RARE; i++) {
        i64 kind = number_of(kinds[i]);
        int seldom = is_rare(state, kinds[i]);
        if (few ? seldom || kind >= known : seldom && stands_out(state, kinds, lines, i))
            rare[found++] = (Rare){state->starts[i], state->starts[i + 1], before + i, kind};
        if (kind >= known)
            known = kind + 1;
    }
    return found;
}

/* Counts the lines of a text; groups begin anew at each of `cuts`, the last of which is the text's size. `kinds` gets the kind of each
 * line, `rare` the rare lines, for which there must be room: 64 for each cut, and for each 1,024 lines. `counted` gets how many lines and rare
 * ones there are. */
void spillstore_kinds(State *state, const u8 *text, u8 end, const i64 *cuts, i64 cut_count, i32 *kinds, Rare *rare, i64 *counted) {
    i64 lines = 0, found = 0, at = 0;
    for (i64 cut = 0; cut < cut_count; cut++)
        while (at < cuts[cut] && !state->given_up) {
            i64 known = state->kinds, more;
            at = count_group(state, text, at, cuts[cut], end, kinds + lines, &more);
            found += rare_of(state, known, kinds + lines, more, lines, rare + found);
            lines += more;
            if (state->kinds > KINDS / 2 && state->kinds > state->lines / 3)
                state->given_up = 1;
        }
    counted[0] = lines;
    counted[1] = found;
}

/* The lines of each kind; returns how many kinds there are. */
i64 spillstore_kind_counts(const State *state, u32 *counts) {
    memcpy(counts, state->counts, sizeof state->counts);
    return state->kinds;
}
