/* Drives the native scanner for `scan_driver.py`: makes texts inside this process, scans them, and checks what must hold of
 * every answer. Compiled when the tests run, with the scanner's own source, under sanitizers where the compiler has them.
 *
 * It reads from stdin the scanner's tables, then what texts are made of, then commands. Numbers are little-endian in both
 * directions, so that a driver for another machine can be run under an emulator. Each text stands in a block of its own
 * with nothing behind its last byte, and each output in one that has no room to spare, so that a sanitizer sees the first
 * byte too many. A check that fails writes the text in hexadecimal to stderr and aborts.
 */
#define _DEFAULT_SOURCE
#include "scan.c"
#include "scan_blanks.c"
#include "scan_code.c"
#include "scan_names.c"
#include "scan_places.c"
#include "scan_promises.c"
#include "scan_runs.c"
#include "scan_values.c"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern u64 scan_steps; /* blocks of instructions that a scan has run, and bytes that it has compared */
extern u32 scan_edges; /* pairs of such blocks, one behind the other, that any scan of this round has run */
extern int scan_watched;
void scan_forget_edges(void);

#define MOST (1 << 18) /* bytes of a text */
#define PATIENCE 900   /* seconds until a command is taken to hang */
#define KEPT 4096
#define COMMON 2048    /* bytes of a text that is no large one */

typedef struct { u8 *bytes; u32 size; } Blob;
typedef struct { Blob *items; u32 count; } Group;

static Tables tables;
static Group *groups, seeds;
static Blob templates;
static u32 group_count, most_at_once, kept_count;
static Blob kept[KEPT]; /* texts that ran something new */
static Hit (*scratch)[BLOCK / LANES + 1];
static u8 text[MOST];
static u32 size;
static u64 dice;

/* What the other side sends, and what it gets. */

static void need(void *to, size_t count) {
    if (count && fread(to, 1, count, stdin) != count)
        exit(0); /* the other side has gone */
}

static u32 get32(void) {
    u8 b[4];
    need(b, 4);
    return (u32)b[0] | (u32)b[1] << 8 | (u32)b[2] << 16 | (u32)b[3] << 24;
}

static u64 get64(void) {
    u64 low = get32();
    return low | (u64)get32() << 32;
}

static void put32(u32 number) {
    u8 b[4] = {(u8)number, (u8)(number >> 8), (u8)(number >> 16), (u8)(number >> 24)};
    fwrite(b, 1, 4, stdout);
}

static void put64(u64 number) {
    put32((u32)number);
    put32((u32)(number >> 32));
}

static Blob get_blob(void) {
    Blob blob = {NULL, get32()};
    blob.bytes = malloc(blob.size);
    need(blob.bytes, blob.size);
    return blob;
}

static Group get_group(void) {
    Group group = {NULL, get32()};
    group.items = malloc(group.count * sizeof *group.items);
    for (u32 i = 0; i < group.count; i++)
        group.items[i] = get_blob();
    return group;
}

static u32 *numbers_of(const u8 *bytes) {
    u32 *numbers = malloc(256 * sizeof *numbers);
    for (u32 j = 0; j < 256; j++) {
        const u8 *b = bytes + 4 * j;
        numbers[j] = (u32)b[0] | (u32)b[1] << 8 | (u32)b[2] << 16 | (u32)b[3] << 24;
    }
    return numbers;
}

static u32 planes_of(const u32 *columns, u32 most) {
    u32 highest = 0;
    for (u32 i = 0; i < 256; i++)
        if (columns[i] > highest)
            highest = columns[i];
    return highest / (PLANE * most) + 1;
}

static u32 planes;

/* Makes the automaton with room for `most` states; returns the first accepting one. */
static u32 build_for(const Blob *lengths, const Blob *literals, const u32 *columns, u32 most) {
    const u32 room = 4 * lengths->size;
    planes = planes_of(columns, most);
    u16 *next = calloc((size_t)most * PLANE * planes, sizeof *next), *ends = malloc(room * sizeof *ends);
    u32 *work = malloc((size_t)most * 8 * sizeof *work), *first = malloc((most + 1) * sizeof *first);
    i64 accepting = spillstore_build(literals->bytes, lengths->bytes, lengths->size, columns, planes, next, work, first, ends, most, room);
    if (accepting < 0)
        abort();
    free(work);
    free((u16 *)tables.next);
    free((u32 *)tables.first);
    free((u16 *)tables.ends);
    tables.next = next;
    tables.first = first;
    tables.ends = ends;
    return (u32)accepting;
}

/* How many states there are: each but the first is the next one of another. */
static u32 states_of(u32 most) {
    u32 highest = 0;
    for (size_t i = 0; i < (size_t)most * PLANE * planes; i++)
        if (tables.next[i] > highest)
            highest = tables.next[i];
    return highest + 1;
}

/* The pointers of `Tables` come in their order; those that are made here come empty. */
static void get_tables(void) {
    u32 pointers = get32(), *columns = NULL;
    for (u32 i = 0; i < pointers; i++) {
        Blob blob = get_blob();
        memcpy((u8 *)&tables + i * sizeof(void *), &blob.bytes, sizeof(void *));
        if (i * sizeof(void *) == offsetof(Tables, bytes))
            tables.bytes = numbers_of(blob.bytes);
        if (i * sizeof(void *) == offsetof(Tables, columns))
            columns = numbers_of(blob.bytes);
    }
    Blob lengths = get_blob(), literals = get_blob();
    const u32 most = literals.size + 1;
    u32 states = most, accepting = 0;
    for (int round = 0; round < 2; round++) { /* the second time there is room for as many states as there are, and no more */
        for (u32 i = 0; i < 256; i++) columns[i] = columns[i] / (PLANE * most) * (PLANE * states) + columns[i] % (PLANE * most);
        accepting = build_for(&lengths, &literals, columns, states);
        if (!round)
            states = states_of(states);
    }
    tables.columns = columns;
    tables.first = realloc((u32 *)tables.first, (states - accepting + 1) * sizeof *tables.first);
    tables.ends = realloc((u16 *)tables.ends, tables.first[states - accepting] * sizeof *tables.ends);
    tables.accepting = accepting;
    for (u32 i = 0; i < lengths.size; i++)
        if (lengths.bytes[i] > tables.longest)
            tables.longest = lengths.bytes[i];
    for (u32 i = 0; i < states - accepting; i++)
        if (tables.first[i + 1] - tables.first[i] > most_at_once)
            most_at_once = tables.first[i + 1] - tables.first[i];
}

/* Chance. */

static u64 draw(void) { /* xorshift64* (Marsaglia, Vigna) */
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return dice * 0x2545F4914F6CDD1Dull;
}

static u32 below(u32 limit) { return limit ? (u32)((draw() >> 32) * limit >> 32) : 0; }
static int one_in(u32 number) { return below(number) == 0; }

/* Texts. */

static void put(u32 at, const u8 *bytes, u32 count, u32 limit) {
    if (size + count > limit)
        return;
    memmove(text + at + count, text + at, size - at);
    memcpy(text + at, bytes, count);
    size += count;
}

static const Blob *piece(u32 group) { return &groups[group].items[below(groups[group].count)]; }
static const Blob *any_piece(void) { return piece(below(group_count)); }
static const Blob *any_text(void) { return kept_count && one_in(2) ? &kept[below(kept_count)] : &seeds.items[below(seeds.count)]; }

static void drawn(void) {
    for (u32 parts = 1 + below(8); parts; parts--) {
        u32 at = below(templates.size);
        while (at && templates.bytes[at - 1] != 255) at--;
        for (; templates.bytes[at] != 255; at++) {
            const Blob *item = piece(templates.bytes[at]);
            put(size, item->bytes, item->size, COMMON);
        }
    }
}

/* A part of a text of its own, at most `most` bytes. */
static Blob part_of(const Blob *of, u32 most) {
    Blob part = {of->bytes, of->size};
    if (one_in(2) || part.size > most) {
        u32 from = below(part.size), count = 1 + below(most);
        part.bytes += from;
        part.size = part.size - from < count ? part.size - from : count;
    }
    return part;
}

static void change(void) {
    static const u8 edges[] = "\n\r\t \"'`\\=:;,@/-_.<>()[]{}&%$\0\x7f\xff\x80sS0";
    u32 at = below(size + 1), count;
    Blob part;
    switch (below(10)) {
    case 0:
        if (size) text[below(size)] ^= (u8)(1 << below(8));
        break;
    case 1:
        if (size) text[below(size)] = edges[below(sizeof edges - 1)];
        break;
    case 2:
        put(at, &edges[below(sizeof edges - 1)], 1, COMMON);
        break;
    case 3: /* some bytes less */
        count = below(size - at < 16 ? size - at + 1 : 16);
        memmove(text + at, text + at + count, size - at - count);
        size -= count;
        break;
    case 4: case 5:
        part = *any_piece();
        put(at, part.bytes, part.size, COMMON);
        break;
    case 6:
        part = part_of(any_text(), 64);
        put(at, part.bytes, part.size, COMMON);
        break;
    case 7: /* the same again */
        if (size) {
            u8 copy[32];
            u32 from = below(size);
            count = size - from < 32 ? size - from : 32;
            count = 1 + below(count);
            memcpy(copy, text + from, count);
            for (u32 times = one_in(8) ? below(64) : 1; times; times--)
                put(at, copy, count, COMMON);
        }
        break;
    case 8: /* the same in the other case */
        for (count = below(12); count && at < size; count--, at++)
            if ((text[at] | 32) >= 'a' && (text[at] | 32) <= 'z')
                text[at] ^= 32;
        break;
    default: /* many blanks, letters or quotes */
        for (u32 times = 1 + below(one_in(16) ? 600 : 40), byte = edges[below(sizeof edges - 1)]; times; times--) {
            u8 same = (u8)byte;
            put(at, &same, 1, COMMON);
        }
    }
}

static void make(u32 large) {
    size = 0;
    u32 kind = below(16), changes = 0;
    if (kind < 7) {
        drawn();
        changes = one_in(2) ? 0 : 1 + below(4);
    } else if (kind < 15) {
        Blob part = part_of(any_text(), 400);
        put(0, part.bytes, part.size, COMMON);
        changes = 1 + below(8);
    } else
        for (u32 count = 1 + below(60), all = below(2); count; count--) {
            u8 byte = all ? (u8)below(256) : (u8)(" \n\"'=:aA0@/-_s"[below(14)]);
            put(size, &byte, 1, COMMON);
        }
    while (changes--) change();
    if (large && one_in(large)) {
        u32 once = size, wanted = BLOCK - 300 + below(MOST - BLOCK);
        while (once && size + once <= wanted) {
            memcpy(text + size, text, once);
            size += once;
            if (one_in(3))
                text[below(size)] ^= (u8)(1 << below(8));
        }
    }
    if (one_in(3)) /* cut off anywhere */
        size = below(size + 1);
    if (one_in(4)) {
        u32 from = below(size + 1);
        memmove(text, text + from, size - from);
        size -= from;
    }
}

/* Scans and their checks. */

static void wrong(const char *what) {
    fprintf(stderr, "scan_driver: %s, in this text: ", what);
    for (u32 i = 0; i < size; i++)
        fprintf(stderr, "%02x", text[i]);
    fprintf(stderr, "\n");
    abort();
}

static i64 scan(const u8 *of, i64 count, i64 whole, i64 *from, Candidate *out, i64 room) {
    scan_watched = 1;
    i64 found = spillstore_scan(&tables, of, count, whole, from, out, room, scratch);
    scan_watched = 0;
    return found;
}

/* Every literal, found in one walk; `out` may be NULL. */
static u32 literals_of(const u8 *of, u32 count, Candidate *out) {
    u32 state = 0, found = 0;
    for (u32 i = 0; i < count; i++) {
        state = tables.next[state * PLANE + tables.columns[of[i]]];
        if (state < tables.accepting)
            continue;
        for (u32 j = tables.first[state - tables.accepting]; j < tables.first[state - tables.accepting + 1]; j++, found++)
            if (out)
                out[found] = (Candidate){tables.ends[j], i + 1 - tables.literals[tables.ends[j]].length, i + 1};
    }
    return found;
}

static int same(const Candidate *a, const Candidate *b) { return a->literal == b->literal && a->start == b->start && a->end == b->end; }

static i64 runs(const u8 *of, i64 count, i64 *from, Run *out, i64 room) {
    scan_watched = 1;
    i64 found = spillstore_runs(&tables, of, count, from, out, room);
    scan_watched = 0;
    return found;
}

/* The runs of a text, which the caller frees, and how many there are. They are asked for again with little room. */
static u32 checked_runs(const u8 *of, u32 count, Run **out) {
    i64 place = 0, most = count / LEAST_RUN + 1;
    Run *found = malloc((size_t)most * sizeof *found), few[2];
    u32 all = (u32)runs(of, count, &place, found, most);
    if (place != count)
        wrong("the runs are more than there is room for");
    for (u32 i = 0; i < all; i++)
        if (found[i].end > count || found[i].start + LEAST_RUN > found[i].end || (i && found[i].start <= found[i - 1].end))
            wrong("a run that is none");
    place = one_in(2) ? 0 : below(count + 1);
    u32 done = 0;
    while (done < all && found[done].end <= place) done++;
    while (place < count) {
        i64 now = runs(of, count, &place, few, 1 + below(2));
        for (i64 i = 0; i < now; i++, done++)
            if (done >= all || found[done].start != few[i].start || found[done].end != few[i].end)
                wrong("other runs with a small room");
        if (place == count && done != all)
            wrong("fewer runs with a small room");
    }
    *out = found;
    return all;
}

/* Whether its check tells by itself that more of a line may come. */
static int drops_anywhere(const Candidate *of) { return tables.literals[of->literal].check == TOLD; }

/* Scans the text in every way and returns how many places `out` got, which the caller frees. */
static u32 checked(i64 whole, Candidate **out) {
    u8 *block = malloc(size);
    memcpy(block, text, size);
    u32 all = literals_of(block, size, NULL), edges = scan_edges;
    Candidate *every = malloc(all * sizeof *every), *found = malloc(all * sizeof *found);
    literals_of(block, size, every);
    i64 place = 0;
    u32 given = (u32)scan(block, size, 0, &place, found, all);
    for (u32 i = 0, j = 0; i < all; i++) {
        if (j < given && same(&every[i], &found[j]))
            j++;
        else if (!drops_anywhere(&every[i]))
            wrong("not every literal is given out where nothing may be dropped, or in another order");
        if (i + 1 == all && (j != given || place != size))
            wrong("a place that is no literal where nothing may be dropped");
    }
    place = 0;
    u32 count = (u32)scan(block, size, whole, &place, found, all);
    if (count > all || place != size)
        wrong("more places than literals");
    for (u32 i = 0, j = 0; i < all; i++) {
        if (j < count && same(&every[i], &found[j]))
            j++;
        else if (every[i].end > whole && !drops_anywhere(&every[i]))
            wrong("a literal is dropped behind the place where nothing may be");
        if (i + 1 == all && j != count)
            wrong("a place that is no literal");
    }
    i64 room = (i64)most_at_once + below(3); /* so that it goes on many times, from where it was told */
    Candidate *few = malloc((size_t)room * sizeof *few);
    u32 skipped = 0;
    place = one_in(2) ? 0 : below(size + 1);
    while (skipped < count && found[skipped].end <= place) skipped++;
    for (u32 done = skipped; place < size;) {
        i64 before = place, now = scan(block, size, whole, &place, few, room);
        if (now > room || place > size || (now == 0 && place <= before && place < size))
            wrong("no progress with a small room");
        for (i64 i = 0; i < now; i++, done++)
            if (done >= count || !same(&found[done], &few[i]))
                wrong("another answer with a small room");
        if (place == size && done != count)
            wrong("fewer places with a small room");
    }
    free(few);
    Run *alone;
    checked_runs(block, size, &alone);
    free(alone);
    free(every);
    free(block);
    if (scan_edges != edges && size <= COMMON) {
        Blob *to = &kept[kept_count < KEPT ? kept_count++ : below(KEPT)];
        free(to->bytes);
        to->bytes = malloc(size);
        to->size = size;
        memcpy(to->bytes, text, size);
    }
    *out = found;
    return count;
}

/* Commands. */

static void start_round(void) {
    dice = get64() | 1;
    tables.seed = get64();
    tables.names_mask = get32();
    free(tables.names);
    tables.names = calloc(tables.names_mask + 1, sizeof(Name));
    for (; kept_count; kept_count--) {
        free(kept[kept_count - 1].bytes);
        kept[kept_count - 1].bytes = NULL;
    }
    scan_forget_edges();
    for (int i = 0; i < 16; i++) draw();
}

static void check(void) {
    u32 count = get32(), large = get32();
    u64 bytes = 0, places = 0;
    for (u32 i = 0; i < count; i++) {
        Candidate *found;
        make(large);
        bytes += size;
        places += checked(below(size + 2), &found);
        free(found);
    }
    put64(bytes);
    put64(places);
    put32(scan_edges);
}

static void give(const Candidate *found, u32 count) {
    put32(count);
    for (u32 i = 0; i < count; i++) {
        put32(found[i].literal);
        put32(found[i].start);
        put32(found[i].end);
    }
}

static void give_runs(const u8 *of, u32 count) {
    Run *found;
    u32 all = checked_runs(of, count, &found);
    put32(all);
    for (u32 i = 0; i < all; i++) {
        put32(found[i].start);
        put32(found[i].end);
    }
    free(found);
}

/* Texts with their places and runs. Those of one line may be unfinished: a stream asks about all lines before that first, alone. */
static void texts(void) {
    u32 count = get32(), large = get32();
    for (u32 i = 0; i < count; i++) {
        Candidate *found;
        make(large);
        u32 final = !one_in(4) || memchr(text, '\n', size) != NULL || memchr(text, '\r', size) != NULL;
        u32 places = checked(final ? size : 0, &found);
        put32(size);
        put32(final);
        fwrite(text, 1, size, stdout);
        give(found, places);
        free(found);
        u8 *block = malloc(size);
        memcpy(block, text, size);
        give_runs(block, size);
        free(block);
    }
}

/* One text that the other side sends: its places, and how many steps the one scan took. */
static void asked(void) {
    i64 whole = get32();
    Blob of = get_blob();
    u32 all = literals_of(of.bytes, of.size, NULL);
    Candidate *found = malloc(all * sizeof *found);
    i64 place = 0;
    scan_steps = 0;
    i64 count = scan(of.bytes, of.size, whole, &place, found, all);
    put64(scan_steps);
    give(found, (u32)count);
    free(found);
    free(of.bytes);
}

/* The runs of one text that the other side sends, and how many steps it took to find them. */
static void asked_runs(void) {
    Blob of = get_blob();
    i64 place = 0;
    Run *found = malloc((of.size / LEAST_RUN + 1) * sizeof *found);
    scan_steps = 0;
    runs(of.bytes, of.size, &place, found, of.size / LEAST_RUN + 1);
    put64(scan_steps);
    free(found);
    give_runs(of.bytes, of.size);
    free(of.bytes);
}

int main(void) {
    get_tables();
    group_count = get32();
    groups = malloc(group_count * sizeof *groups);
    for (u32 i = 0; i < group_count; i++)
        groups[i] = get_group();
    templates = get_blob();
    seeds = get_group();
    scratch = malloc(spillstore_scratch());
    for (int command; alarm(0), (command = getchar()) != EOF; fflush(stdout)) {
        alarm(PATIENCE);
        switch (command) {
        case 'R': start_round(); break;
        case 'C': check(); break;
        case 'T': texts(); break;
        case 'S': asked(); break;
        case 'U': asked_runs(); break;
        default: abort();
        }
    }
    return 0;
}
