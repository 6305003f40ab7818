/* What a name promises, as `classify` of `names.py` says: it is taken apart into words, and rows of groups decide.
 *
 * A word is a set of bits, one for each group that it is in. Names that were seen before stand in a table: most recur.
 */
#include "scan.h"

#define PROBES 8
#define WORD_SIZE 16 /* bytes of the longest word of a group */
#define WORD_SLOTS 2048
#define MASKS 4      /* of a word: its own groups, and those of the words that it stands for */
#define MASK_SIZE 16 /* bytes */
#define MOST_PARTS (2 * LONGEST_NAME)

/* As they stand in the tables: bytes alone, so that their order is the same on every machine. */
typedef struct { u8 bytes[WORD_SIZE], masks[MASKS][MASK_SIZE], count; } Known;
typedef struct { u8 last[MASK_SIZE], behind[MASK_SIZE], among[MASK_SIZE], longer, strength; } Row;

__extension__ typedef unsigned __int128 Groups; /* the order of its bytes does not matter, since it is only compared bit by bit */

static inline Groups groups_of(const u8 *mask) {
    Groups groups;
    memcpy(&groups, mask, sizeof groups);
    return groups;
}

/* Where a name stands in the table depends on its bytes, taken by sixteen; the last ones overlap. */
static inline u64 hashed(u64 hash, Sixteen bytes) {
    u64 words[2];
    memcpy(words, &bytes, 16);
    hash = (hash ^ words[0]) * 0xD6E8FEB86659FD93ull + (words[1] ^ hash >> 32) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

/* The first bytes of a name, and zeros behind a short one. */
static inline Sixteen head_of(const Text *t, i64 begin, i64 size) {
    return size < 16 ? bytes_from(t, begin) & first_bytes(size) : sixteen_at(t->text + begin);
}

static inline u64 hash_of(u64 seed, const u8 *name, i64 size, Sixteen head) {
    u64 hash = hashed(seed ^ (u64)size, head);
    for (i64 at = 16; at < size; at += 16)
        hash = hashed(hash, sixteen_at(name + (at + 16 < size ? at : size - 16)));
    hash *= 0xD6E8FEB86659FD93ull; /* what differs in a high byte reaches the low ones */
    return hash ^ hash >> 32;
}

static inline int is_name(const Name *known, const u8 *name, i64 size, Sixteen head) {
    if (known->length != size || bits_of((Sixteen)(sixteen_at(known->bytes) == head)) != 0xFFFF)
        return 0;
    for (i64 at = 16; at < size; at += 16) {
        i64 from = at + 16 < size ? at : size - 16;
        if (bits_of((Sixteen)(sixteen_at(known->bytes + from) == sixteen_at(name + from))) != 0xFFFF)
            return 0;
    }
    return 1;
}

/* The entry of a small word, or one of no groups. */
static const u8 *word_of(const Tables *tables, const u8 *word, i64 size) {
    static const u8 NONE[sizeof(Known)];
    if (size > WORD_SIZE)
        return NONE;
    u32 hash = 0x811C9DC5u; /* FNV-1a */
    for (i64 i = 0; i < size; i++) hash = (hash ^ word[i]) * 0x01000193u;
    for (u32 slot = hash % WORD_SLOTS;; slot = (slot + 1) % WORD_SLOTS) {
        const u8 *known = tables->words + slot * sizeof(Known);
        if (known[0] == 0)
            return NONE;
        if (memcmp(known, word, (size_t)size) == 0 && (size == WORD_SIZE || known[size] == 0))
            return known;
    }
}

/* Whether a word ends with one of a list, and does not begin with it; how long that one is. */
static i64 ending_of(const u8 *word, i64 size, const u8 *endings) {
    for (; *endings; endings += *endings + 1)
        if (size > *endings && memcmp(word + size - *endings, endings + 1, *endings) == 0)
            return *endings;
    return 0;
}

/* The groups of the words that a small word is made of: `dbpassword`, `authtoken`, `apikey`. Returns how many. */
static i64 apart(const Tables *tables, const u8 *word, i64 size, Groups *parts) {
    const Known *known = (const Known *)word_of(tables, word, size);
    i64 count = 0, ending = known->count ? 0 : ending_of(word, size, tables->endings);
    if (ending) {
        parts[count++] = groups_of(((const Known *)word_of(tables, word, size - ending))->masks[0]);
        known = (const Known *)word_of(tables, word + size - ending, ending);
    } else if (!known->count && (ending = ending_of(word, size, tables->short_endings)) != 0) {
        Groups first = groups_of(((const Known *)word_of(tables, word, size - ending))->masks[0]);
        if (first & groups_of(tables->before_short)) {
            parts[count++] = first;
            known = (const Known *)word_of(tables, word + size - ending, ending);
        }
    }
    for (u8 i = 1; i <= known->count; i++) parts[count++] = groups_of(known->masks[i]);
    if (!known->count)
        parts[count++] = groups_of(known->masks[0]);
    return count;
}

static inline int is_capital(u8 byte) { return byte >= 'A' && byte <= 'Z'; }
static inline int is_small(u8 byte) { return byte >= 'a' && byte <= 'z'; }
static inline int is_digit(u8 byte) { return byte >= '0' && byte <= '9'; }

/* The groups of the words of a name, which end at `_ - .`, at digits and before capitals. */
static i64 parts_of(const Tables *tables, const u8 *name, i64 size, Groups *parts) {
    u8 word[LONGEST_NAME];
    i64 count = 0;
    for (i64 at = 0, end; at < size; at = end) {
        end = at + 1;
        if (is_digit(name[at])) {
            while (end < size && is_digit(name[end])) end++;
            parts[count++] = groups_of(tables->dropped);
            continue;
        }
        if (!is_capital(name[at]) && !is_small(name[at]))
            continue;
        if ((name[at] | 32) == 's' && end < size && name[end] == '3') {
            end++;
        } else {
            while (is_capital(name[at]) && end < size && is_capital(name[end])) end++;
            if (end < size && is_small(name[end])) {
                if (end - at > 1)
                    end--; /* the last capital begins the next word */
                else
                    while (end < size && is_small(name[end])) end++;
            }
        }
        for (i64 i = at; i < end; i++) word[i - at] = (u8)(name[i] | 32);
        count += apart(tables, word, end - at, parts + count);
    }
    return count;
}

/* What the first row says that fits the words of a name. */
static int promised(const Tables *tables, const u8 *name, i64 size) {
    if (size == 3 && memcmp(name, "psk", 3) == 0)
        return PASSWORD;
    Groups parts[MOST_PARTS], among = 0;
    const i64 cut = size > LONGEST_NAME ? size - LONGEST_NAME : 0;
    i64 count = parts_of(tables, name + cut, size - cut, parts);
    while (count > 1 && (parts[count - 1] & groups_of(tables->dropped))) count--;
    if (count == 0)
        return HARMLESS;
    for (i64 i = 0; i < count - 1; i++) among |= parts[i];
    const Groups last = parts[count - 1], behind = count > 1 ? parts[count - 2] : 0;
    for (const Row *row = (const Row *)tables->promises; row->strength; row++) {
        Groups of_last = groups_of(row->last), of_behind = groups_of(row->behind), of_among = groups_of(row->among);
        if ((!of_last || last & of_last) && (!of_behind || behind & of_behind) && (!of_among || among & of_among) &&
            count > row->longer)
            return row->strength;
    }
    return HARMLESS;
}

static int judged(const Tables *tables, const u8 *name, i64 size) {
    i64 from = 0, to = size;
    while (from < to && one_of(name[from], "-.")) from++;
    while (to > from && one_of(name[to - 1], "-.")) to--;
    int strength = promised(tables, name + from, to - from);
    int defines = size > 1 && name[0] == '-' && (name[1] == 'D' || name[1] == 'P'); /* of Java, of Gradle */
    return strength == HARMLESS && defines ? promised(tables, name + 2, size - 2) : strength;
}

/* What the name at `begin` promises. It is kept in the table; in a full neighbourhood another one is forgotten. */
int strength_of(const Text *t, i64 begin, i64 size) {
    const Tables *tables = t->tables;
    const u8 *name = t->text + begin;
    if (size > STORED_NAME)
        return judged(tables, name, size);
    const Sixteen head = head_of(t, begin, size);
    const u64 hash = hash_of(tables->seed, name, size, head);
    u32 slot = (u32)hash & tables->names_mask;
    Name *entry = &tables->names[(slot + (u32)(hash >> 40) % PROBES) & tables->names_mask];
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) & tables->names_mask) {
        Name *known = &tables->names[slot];
        if (known->strength == UNKNOWN) {
            entry = known;
            break;
        }
        if (is_name(known, name, size, head))
            return known->strength;
    }
    entry->length = (u8)size;
    memset(entry->bytes, 0, sizeof entry->bytes);
    memcpy(entry->bytes, name, (size_t)size);
    return entry->strength = (u8)judged(tables, name, size);
}
