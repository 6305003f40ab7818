/* What the files of the scanner share: its tables, the text that is scanned, and how bytes of it are looked at.
 *
 * Bytes are looked at one at a time, by a table of classes that Python makes, or sixteen at a time, by vectors of the
 * compiler, which any processor has. There the most frequent classes are written out; they are those of the same names.
 */
#ifndef SCAN_H
#define SCAN_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

/* What a branch is laid out for. */
#define RARELY(condition) __builtin_expect(!!(condition), 0)

/* What bytes are, as bits of `Tables.bytes`. */
enum {
    NAME = 1,        /* of names */
    FOLLOWS = 2,     /* may stand behind a name that has a value */
    CLOSER = 4,      /* ends a name in quotes or brackets */
    BLANK = 8,       /* a blank or a tab */
    LINE_END = 16,
    WORD = 32,       /* no blank, quote or control character */
    KEY = 64,        /* of keys and tokens */
    ALNUM = 128,
    DIGIT = 256,
    PIECE = 512,     /* of the pieces of a value, between its separators */
    NUMBER = 1024,   /* of numbers, dates, versions */
    OPENS = 2048,    /* before a value that is no plain word: quotes, brackets, references */
    TRAILS = 4096,   /* punctuation behind a value */
    BEFORE_OPTION = 8192,
    BULLET = 16384,  /* before a line's first word: signs of lists, quotes */
    LETTER = 32768,  /* of tokens that stand alone behind a prefix */
    LEADS = 65536,   /* before a run that is a part of something else */
    GOES_ON = 131072, /* behind one */
    SPOKEN = 262144, /* a word of the list of that name begins with it, in either case */
    TYPE = 524288,
    PLACEHOLDER = 1048576,
    QUALIFIER = 2097152, /* a word of that list ends with it, in either case */
    SETTER = 4194304,
    VALUE = 8388608, /* begins again */
    PASSED = 16777216,
    BEGINS = 33554432, /* a line that may have the value of a name above it */
};

enum { ALWAYS, NAMED, RUN, SIGNED, CREDENTIALS, COMMAND, LINE_START, COOKIE, INSERTED, TOLD };

/* Strengths of names, as in `names.py`. */
enum { UNKNOWN, HARMLESS, PASSWORD, SECRET, TOKEN, WEAK, HINT };

/* Bytes that a value has at least behind a name of a strength other than WEAK. */
static inline i64 least_value(int strength) { return strength == PASSWORD ? 3 : 8; }

#define REACH 2048    /* bytes behind a name that a rule looks at */
#define BACK 256      /* bytes before it */
#define LONGEST_NAME 96
#define LONG_VALUE 256
#define STORED_NAME 46

typedef struct {
    u8 check;
    u8 length;   /* of the literal */
    u8 skip;     /* NAMED, SIGNED: bytes of it behind the name */
    u8 least;    /* RUN, SIGNED, COOKIE: bytes of `set` that follow */
    u8 set;      /* RUN, SIGNED, COOKIE: index of a set of bytes */
    u8 apart;    /* RUN: no letter or digit may stand before it */
    u8 no_name;  /* NAMED: set of bytes behind the literal that make it no name */
    u8 plural;   /* NAMED: the letter of its plural, or 0 */
    u8 comma;    /* SIGNED: a comma is a sign too */
} Literal;

typedef struct { u8 strength, length, bytes[STORED_NAME]; } Name;

typedef struct {
    const u32 *columns;      /* [256]: where each byte's column stands in `next`, from a state's row on */
    const u16 *next;         /* [planes][states][PLANE]; the most frequent bytes stand in the first plane */
    const u32 *first;        /* of each accepting state: its literals are ends[first[i]..first[i + 1]) */
    const u16 *ends;
    const Literal *literals;
    const u32 *bytes;        /* [256] */
    const u8 *sets;          /* [][256] */
    const u8 *spoken;        /* lists of words: sixteen bytes for each, filled up with blanks; then a 0 */
    const u8 *values;
    const u8 *passed;
    const u8 *placeholders;
    const u8 *qualifiers;
    const u8 *types;         /* lists of parts of lines: the length of each and its bytes; then a 0 */
    const u8 *setters;
    const u8 *commands;
    const u8 *endings;       /* of words of names */
    const u8 *short_endings;
    const u8 *words;         /* a hash table of those words; see `scan_promises.c` */
    const u8 *promises;      /* rows; then one of zeros */
    const u8 *dropped;       /* bits: words that say nothing at the end of a name, numbers among them */
    const u8 *before_short;  /* words before a short ending */
    Name *names;             /* a hash table of names that were judged */
    u64 seed;
    u32 accepting;           /* the first accepting state */
    u32 names_mask;
    u32 longest;             /* literal */
} Tables;

typedef struct {
    const Tables *tables;
    const u8 *text;
    i64 size;
    const u32 *is;
    i64 line, line_end; /* where the line ends that was looked at last, and from where on that is known */
    i64 within, seen;   /* between them no line ends */
    i64 stop;           /* where the name ends that was judged last */
    int answer;         /* whether a secret could stand behind it */
    i64 told, typed;    /* up to where `told_could` has looked; where the last word stood that looks typed */
} Text;

/* Whether the byte at `at` is of one of the classes, or is that byte; outside the text there is none. */
static inline int is(const Text *t, i64 at, u32 bits) {
    return at >= 0 && at < t->size && (t->is[t->text[at]] & bits) != 0;
}

static inline int at_is(const Text *t, i64 at, u8 byte) { return at >= 0 && at < t->size && t->text[at] == byte; }

/* Sixteen bytes at once; where they are compared, all bits of a byte are set or none. */
typedef u8 Sixteen __attribute__((vector_size(16)));

static inline Sixteen sixteen_at(const u8 *at) {
    Sixteen bytes;
    memcpy(&bytes, at, 16);
    return bytes;
}

/* The bytes from `at` on, and those before it; zeros where there is no text any more. */
static inline Sixteen bytes_from(const Text *t, i64 at) {
    if (at + 16 <= t->size)
        return sixteen_at(t->text + at);
    u8 last[16] = {0};
    if (at < t->size)
        memcpy(last, t->text + at, (size_t)(t->size - at));
    return sixteen_at(last);
}

static inline Sixteen bytes_before(const Text *t, i64 at) {
    if (at >= 16)
        return sixteen_at(t->text + at - 16);
    u8 first[16] = {0};
    if (at > 0)
        memcpy(first + 16 - at, t->text, (size_t)at);
    return sixteen_at(first);
}

/* A bit for each of sixteen bytes that were compared, the lowest for the first. */
static inline u32 bits_of(Sixteen compared) {
#ifdef __SSE2__
    return (u32)_mm_movemask_epi8((__m128i)compared);
#else
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const u64 picked = 0x0102040810204080ull;
#else
    const u64 picked = 0x8040201008040201ull;
#endif
    const u64 ones = 0x0101010101010101ull;
    u64 words[2];
    memcpy(words, &compared, 16);
    return (u32)((words[0] & picked) * ones >> 56 | (words[1] & picked) * ones >> 56 << 8);
#endif
}

/* Of sixteen bits how many are set up to the first that is not, and behind the last. */
static inline int ones_first(u32 bits) { return __builtin_ctz(~bits); }
static inline int ones_last(u32 bits) { return __builtin_clz(~(bits << 16)); }

/* Which of sixteen bytes are letters, digits or `_`; which are of NAME, of WORD, blanks, ends of lines. */
static inline u32 parts_in(Sixteen bytes) {
    return bits_of((Sixteen)((bytes | 32) - 'a' < 26) | (Sixteen)(bytes - '0' < 10) | (Sixteen)(bytes == '_'));
}

static inline u32 names_in(Sixteen bytes) {
    return bits_of((Sixteen)((bytes | 32) - 'a' < 26) | (Sixteen)(bytes - '0' < 10) | (Sixteen)(bytes - '-' < 2) |
                   (Sixteen)(bytes == '_'));
}

static inline u32 words_in(Sixteen bytes) {
    return bits_of((Sixteen)(bytes > ' ') & (Sixteen)(bytes != '"') & (Sixteen)(bytes != '\'') &
                   (Sixteen)(bytes != '`') & (Sixteen)(bytes != 127));
}

static inline u32 blanks_in(Sixteen bytes) { return bits_of((Sixteen)(bytes == ' ') | (Sixteen)(bytes == '\t')); }
static inline u32 line_ends_in(Sixteen bytes) { return bits_of((Sixteen)(bytes == '\n') | (Sixteen)(bytes == '\r')); }

/* Where bytes of names end from `at` on, and where they begin before it; LONGEST_NAME of them are looked at. */
static inline i64 name_end(const Text *t, i64 at) {
    for (i64 most = at + LONGEST_NAME; at < most; at += 16) {
        int names = ones_first(names_in(bytes_from(t, at)));
        if (names < 16)
            return at + names;
    }
    return at;
}

static inline i64 name_begin(const Text *t, i64 at) {
    for (i64 least = at - LONGEST_NAME; at > least; at -= 16) {
        int names = ones_last(names_in(bytes_before(t, at)));
        if (names < 16)
            return at - names;
    }
    return at;
}

/* Where a line ends from `at` on, and where it begins before it; `most` or `least` if not before that. */
static inline i64 line_end_before(const Text *t, i64 at, i64 most) {
    for (; at < most; at += 16) {
        u32 ends = line_ends_in(bytes_from(t, at));
        if (ends) {
            at += __builtin_ctz(ends);
            break;
        }
    }
    return at < most ? at : most;
}

static inline i64 line_begin_behind(const Text *t, i64 at, i64 least) {
    for (; at > least; at -= 16) {
        u32 ends = line_ends_in(bytes_before(t, at));
        if (ends) {
            at -= __builtin_clz(ends) - 16;
            break;
        }
    }
    return at > least ? at : least;
}

/* Where bytes of WORD end from `at` on; `most` if not before that. With brackets among them they are not plain. */
static inline i64 word_end_before(const Text *t, i64 at, i64 most, int *plain) {
    for (; at < most; at += 16) {
        Sixteen bytes = bytes_from(t, at);
        int words = ones_first(words_in(bytes));
        u32 opened = bits_of((Sixteen)((bytes | 32) == '{') | (Sixteen)(bytes == '('));
        if (opened && __builtin_ctz(opened) < words)
            *plain = 0;
        if (words < 16) {
            at += words;
            break;
        }
    }
    return at < most ? at : most;
}

/* Where the line begins, or what of it is looked at before a name. */
static inline i64 line_before(const Text *t, i64 begin) {
    return line_begin_behind(t, begin, begin > BACK ? begin - BACK : 0);
}

/* Whether it is one of these bytes. */
static inline int one_of(u8 byte, const char *bytes) {
    int found = 0;
    for (; *bytes; bytes++) found |= byte == (u8)*bytes;
    return found;
}

/* Whether a word stands between `from` and `to`; its first and last letter are looked for at sixteen places at once. */
static inline int holds(const Text *t, i64 from, i64 to, const char *word) {
    const i64 size = (i64)strlen(word);
    for (i64 at = from < 0 ? 0 : from; at + size <= to; at += 16) {
        Sixteen first = bytes_from(t, at), last = bytes_from(t, at + size - 1);
        u32 bits = bits_of((Sixteen)(first == (u8)word[0]) & (Sixteen)(last == (u8)word[size - 1]));
        for (; bits; bits &= bits - 1) {
            i64 place = at + __builtin_ctz(bits);
            if (place + size <= to && memcmp(t->text + place, word, (size_t)size) == 0)
                return 1;
        }
    }
    return 0;
}

/* Whether a word in small letters stands at `at`, in any case. */
static inline int stands(const Text *t, i64 at, const char *word, i64 size) {
    i64 same = 0;
    while (at >= 0 && at + same < t->size && same < size && (t->text[at + same] | 32) == (u8)word[same]) same++;
    return same == size;
}

/* Where blanks end from `at` on. */
static inline i64 blanks_end(const Text *t, i64 at) {
    if (!is(t, at, BLANK))
        return at;
    for (int blanks = 16; blanks == 16; at += blanks) blanks = ones_first(blanks_in(bytes_from(t, at)));
    return at;
}

/* All bits of so many of the first bytes. */
static inline Sixteen first_bytes(i64 count) {
    static const u8 FIRST[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    return sixteen_at(FIRST + 16 - count);
}

/* Of the other files; not seen outside the library. */
#pragma GCC visibility push(hidden)
int word_begins(const Text *t, i64 at, const u8 *words);
int word_ends(const Text *t, i64 at, const u8 *words);
int run_could_be(const Text *t, i64 from, i64 to, int strength);
int element_could_be(const Text *t, i64 from, i64 to, int strength);
int wordy(const Text *t, i64 from, i64 to);
int sign_at(const Text *t, i64 at);
i64 line_end_of(Text *t, i64 at);
i64 word_at(const Text *t, i64 at, const u8 *words);
i64 spoken_at(const Text *t, i64 at);
int type_begins(const Text *t, i64 at);
int setter_before(const Text *t, i64 at);
int qualifier_before(const Text *t, i64 at);
int next_line_could(const Text *t, i64 line_end, int word);
int part_of_a_form(const Text *t, i64 begin);
int printed_could(const Text *t, i64 line_end);
int labelled_could(const Text *t, i64 begin, i64 line_end);
int value_could_be(const Text *t, i64 from, i64 to, int strength, int bare);
int quoted_could(const Text *t, i64 at, i64 line_end, int strength);
i64 cut_of(const Text *t, i64 at, i64 end);
int code_alone(const Text *t, i64 begin, i64 stop, i64 at, i64 end);
int compared_could(const Text *t, i64 at, i64 line_end, int strength);
int last_word_could(const Text *t, i64 at, i64 line_end, int strength);
int drawn_at(const Text *t, i64 at, i64 line_end);
int set_before(const Text *t, i64 begin);
int called(const Text *t, i64 stop);
int value_may_follow(const Text *t, i64 stop, int strength);
int label_could(Text *t, i64 stop, int strength);
int heads_column(Text *t, i64 begin, i64 stop);
int heads_column_of_blanks(Text *t, i64 begin, i64 stop, i64 line_end);
int after_blank_only(Text *t, i64 begin, i64 stop, int strength);
int after_blank(Text *t, i64 begin, i64 stop, i64 line_end, int strength);
int strength_of(const Text *t, i64 begin, i64 size);
int name_could(Text *t, i64 start, i64 end, const Literal *literal);
int place_could(Text *t, i64 start, i64 end, const Literal *literal);
#pragma GCC visibility pop

#endif
