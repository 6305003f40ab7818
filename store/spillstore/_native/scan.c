/* Finds where the rules of redaction may apply in a block of text, without the interpreter's lock.
 *
 * An automaton (Aho-Corasick, a full table) finds every literal that a rule has. Most hits cannot be a secret: nothing
 * stands behind the name, the value is a number, the token goes on with a blank. For each literal a check says so from the
 * bytes around it. A check is always a necessary condition of its rule: it drops a hit only if the rule would find nothing
 * there and would go on as if it had not been asked. What is left is given out, in order, and judged in Python.
 *
 * The tables come from the rules, in Python (`candidates.py`); nothing here knows a token, nor a name but those of a few
 * directives (`password`, `requirepass`, ...). Nothing is allocated; what is kept between calls is the table of names that `learn` fills. Every read is inside the text, and every look around a hit is bounded (REACH, BACK), so
 * hostile text takes linear time. Four lanes walk over a block at once, because one lane waits for its table at each byte.
 */
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

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
};

enum { ALWAYS, NAMED, NAMED_WORD, NAMED_MARK, RUN, SIGNED, CREDENTIALS, COMMAND, LINE_START, COOKIE };

/* Strengths of names, as in `names.py`. */
enum { UNKNOWN, HARMLESS, PASSWORD, SECRET, TOKEN, WEAK };

#define VERSION 6
#define REACH 2048    /* bytes behind a name that a rule looks at */
#define BACK 256      /* bytes before it */
#define LONGEST_NAME 96
#define LONG_VALUE 256
#define BLOCK 65536
#define LANES 4
#define PROBES 8
#define LEAST_RUN 23  /* bytes of a token that stands alone, with its prefix */
#define MOST_RUN 512
#define ESCAPE 5      /* bytes of an escape that may stand before it, at most, behind its first sign */
#define MOST_WORD (14 + ESCAPE) /* letters of a prefix, digits and an escape before them */
#define LEAST_BODY 20
#define STORED_NAME 46

/* Lists of words, as in `Tables`. */
static const u8 STRING_CALL[] = "\7string(", OR[] = "\2or", ID[] = "\2id", GENERATED[] = "\11generated", LOGINS[] = "\5login\5user:\11username:";

typedef struct {
    u8 check;
    u8 length;   /* of the literal */
    u8 skip;     /* RUN: where in the literal the run begins; NAMED_MARK: bytes that are no part of the name */
    u8 least;    /* RUN, SIGNED, COOKIE: bytes of `set` that follow */
    u8 set;      /* RUN, SIGNED, COOKIE: index of a set of bytes */
    u8 apart;    /* RUN: no letter or digit may stand before it */
    u8 dull;     /* NAMED_WORD: set of bytes behind the word that make it no name */
    u8 plural;   /* NAMED_WORD: the letter of its plural */
    u8 comma;    /* SIGNED: a comma is a sign too */
} Literal;

typedef struct { u8 strength, length, bytes[STORED_NAME]; } Name;

typedef struct {
    const u8 *classes;       /* [256] */
    const u16 *next;         /* [states][1 << shift] */
    const u32 *first;        /* of each accepting state: its literals are literals[first[i]..first[i + 1]) of `ends` */
    const u16 *ends;
    const Literal *literals;
    const u32 *bytes;        /* [256] */
    const u8 *sets;          /* [][256] */
    const u8 *spoken;        /* lists of words: of each its length and its bytes; a length of 0 ends a list */
    const u8 *types;
    const u8 *values;
    const u8 *passed;
    const u8 *placeholders;
    const u8 *qualifiers;
    const u8 *setters;
    const u8 *commands;
    Name *names;             /* a hash table, filled by `learn` */
    u64 seed;
    u32 accepting;           /* the first accepting state */
    u32 names_mask;
    u32 longest;             /* literal */
    u32 shift;               /* of a row of `next`: 7 or 8 */
} Tables;

typedef struct { u32 end; u32 state; } Hit;
typedef struct { u32 literal, start, end; } Candidate;
typedef struct { u32 start, end; } Run;
typedef struct {
    const Tables *tables;
    const u8 *text;
    i64 size;
    const u32 *is;
    i64 line, line_end; /* the line that was looked at last */
    i64 begin, stop;    /* the name that was looked at last, and the answer */
    int answer;
} Text;

static inline int is(const Text *t, i64 at, u32 bits) { return at >= 0 && at < t->size && (t->is[t->text[at]] & bits) != 0; }
static inline int at_is(const Text *t, i64 at, u8 byte) { return at >= 0 && at < t->size && t->text[at] == byte; }

static u64 mixed(u64 hash) {
    hash *= 0xD6E8FEB86659FD93ull;
    return hash ^ hash >> 32;
}

static u64 hash_of(u64 seed, const u8 *bytes, i64 size) {
    u64 hash = seed ^ (u64)size * 0x9E3779B97F4A7C15ull, word;
    for (; size >= 8; bytes += 8, size -= 8) {
        memcpy(&word, bytes, 8);
        hash = mixed(hash ^ word);
    }
    word = 0;
    for (i64 i = 0; i < size; i++) word |= (u64)bytes[i] << (8 * i);
    return mixed(mixed(hash ^ word)); /* once more: what differs in a high byte reaches the low ones */
}

static int strength_of(const Tables *tables, const u8 *name, i64 size) {
    if (size > STORED_NAME)
        return UNKNOWN;
    u32 slot = (u32)hash_of(tables->seed, name, size) & tables->names_mask;
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) & tables->names_mask) {
        const Name *known = &tables->names[slot];
        if (known->strength == UNKNOWN)
            return UNKNOWN;
        if (known->length == size && memcmp(known->bytes, name, (size_t)size) == 0)
            return known->strength;
    }
    return UNKNOWN;
}

/* Keeps what a name promises. In a full neighbourhood another name is forgotten. */
void spillstore_learn(const Tables *tables, const u8 *name, i64 size, u8 strength) {
    if (size <= 0 || size > STORED_NAME)
        return;
    u64 hash = hash_of(tables->seed, name, size);
    u32 slot = (u32)hash & tables->names_mask;
    u32 last = (slot + (u32)(hash >> 40) % PROBES) & tables->names_mask;
    for (int i = 0; i < PROBES; i++, slot = (slot + 1) & tables->names_mask)
        if (tables->names[slot].strength == UNKNOWN) {
            last = slot;
            break;
        }
    Name *entry = &tables->names[last];
    entry->length = (u8)size;
    memcpy(entry->bytes, name, (size_t)size);
    entry->strength = strength;
}

static inline int one_of(u8 byte, const char *bytes) {
    int found = 0;
    for (; *bytes; bytes++) found |= byte == (u8)*bytes;
    return found;
}

static u8 small(u8 byte) { return byte >= 'A' && byte <= 'Z' ? (u8)(byte + 32) : byte; }

/* Whether one of the words begins at `at`. */
static int word_begins(const Text *t, i64 at, const u8 *words) {
    for (; *words; words += *words + 1)
        if (at + *words <= t->size && t->text[at] == words[1] && memcmp(t->text + at, words + 1, *words) == 0)
            return 1;
    return 0;
}

/* Whether one of the words ends at `at`, and no letter stands before it. */
static int word_ends(const Text *t, i64 at, const u8 *words, int any_case) {
    for (; *words; words += *words + 1) {
        i64 size = *words, i = 0;
        if (size > at)
            continue;
        for (; i < size; i++) {
            u8 byte = t->text[at - size + i];
            if ((any_case ? small(byte) : byte) != words[1 + i])
                break;
        }
        if (i == size && !is(t, at - size - 1, ALNUM) && !at_is(t, at - size - 1, '_'))
            return 1;
    }
    return 0;
}

static int holds(const Text *t, i64 from, i64 to, const char *word) {
    i64 size = (i64)strlen(word);
    from = from < 0 ? 0 : from;
    while (from + size <= to) {
        const u8 *at = memchr(t->text + from, word[0], (size_t)(to - size - from + 1));
        if (at == NULL)
            return 0;
        if (memcmp(at, word, (size_t)size) == 0)
            return 1;
        from = at - t->text + 1;
    }
    return 0;
}

/* Whether bytes between `from` and `to` could hold a value of that strength, in quotes or not. */
static int run_could_be(const Text *t, i64 from, i64 to, int strength) {
    i64 run = 0;
    int digit = 0, letter = 0;
    for (i64 i = from; i < to; i++) {
        u32 bits = t->is[t->text[i]];
        if (strength == PASSWORD && one_of(t->text[i], "\"'`"))
            return to - i > 3; /* in quotes there may be blanks */
        if (strength == WEAK ? !(bits & KEY) : t->text[i] == ' ') {
            run = digit = letter = 0;
            continue;
        }
        run++;
        digit |= (bits & DIGIT) != 0;
        letter |= (bits & DIGIT) == 0;
        if (strength == PASSWORD ? run >= 3 : strength == WEAK ? run >= 20 && digit && letter : run >= 8 && letter)
            return 1;
    }
    return 0;
}

/* Whether every piece of a value is a word or a small number: [A-Za-z]{1,16}\d{0,3} | \d{1,4} | [vVxX]\d+ */
static int wordy(const Text *t, i64 from, i64 to) {
    for (i64 i = from; i < to;) {
        if (!is(t, i, PIECE)) {
            i++;
            continue;
        }
        i64 letters = 0, digits = 0, first = i;
        while (i < to && is(t, i, ALNUM) && !is(t, i, DIGIT)) i++, letters++;
        while (i < to && is(t, i, DIGIT)) i++, digits++;
        if (i < to && is(t, i, PIECE))
            return 0;
        int version = letters == 1 && (small(t->text[first]) == 'v' || small(t->text[first]) == 'x');
        if (letters ? letters > 16 || (digits > 3 && !version) : digits > 4 || digits == 0)
            return 0;
    }
    return 1;
}

/* The length of the sign between a name and its value, or 0. */
static int sign_at(const Text *t, i64 at) {
    if (at >= t->size)
        return 0;
    u8 byte = t->text[at], then = at + 1 < t->size ? t->text[at + 1] : 0, last = at + 2 < t->size ? t->text[at + 2] : 0;
    if (byte == '=')
        return then == '=' ? 0 : then == '>' ? 2 : 1;
    if (byte == ':')
        return then == '=' ? 2 : then == ':' ? (last == '=' ? 3 : last == ':' ? 4 : 0) : then == '/' ? 0 : 1;
    if (byte == '?')
        return then == '=' ? 2 : then == '?' && last == '=' ? 3 : 0;
    if ((byte == '+' || byte == '.') && then == '=')
        return 2;
    return (byte == '-' && then == '>') || (byte == '<' && then == '-') ? 2 : 0;
}

/* Where the line ends in which `at` stands, or REACH bytes behind it. */
static i64 line_end_of(Text *t, i64 at) {
    if (at >= t->line && at <= t->line_end)
        return t->line_end - at > REACH ? at + REACH : t->line_end;
    i64 most = at + REACH < t->size ? at + REACH : t->size;
    const u8 *end = memchr(t->text + at, '\n', (size_t)(most - at));
    if (end != NULL)
        most = end - t->text;
    end = memchr(t->text + at, '\r', (size_t)(most - at));
    if (end != NULL)
        most = end - t->text;
    if (most == t->size || is(t, most, LINE_END)) {
        t->line = at;
        t->line_end = most;
    }
    return most;
}

/* The length of the word of `words` that stands at `at`, of either case; 0 if none does. */
static i64 word_at(const Text *t, i64 at, const u8 *words) {
    for (; *words; words += *words + 1) {
        i64 size = *words, i = 0;
        while (i < size && at + i < t->size && small(t->text[at + i]) == words[1 + i]) i++;
        if (i == size && !is(t, at + size, ALNUM) && !at_is(t, at + size, '_'))
            return size;
    }
    return 0;
}

/* The same for lists of which few words begin, or end, with the letter that stands there. */
static i64 spoken_at(const Text *t, i64 at) { return is(t, at, SPOKEN) ? word_at(t, at, t->tables->spoken) : 0; }
static int type_begins(const Text *t, i64 at) { return is(t, at, TYPE) && word_begins(t, at, t->tables->types); }
static int setter_before(const Text *t, i64 at) { return is(t, at - 1, SETTER) && word_ends(t, at, t->tables->setters, 0); }

static i64 blanks_end(const Text *t, i64 at) {
    while (is(t, at, BLANK)) at++;
    return at;
}

/* Whether one of the next lines may be `value: ...`, `<string>...` or an only word; `line_end` is where this one ends. */
static int next_line_could(const Text *t, i64 line_end, int word) {
    if (!is(t, line_end, LINE_END))
        return 1; /* the line is longer than what was looked at */
    for (int lines = 0; lines < 10; lines++) {
        if (line_end + 1 >= t->size)
            return 1;
        i64 at = blanks_end(t, line_end + 1), end = at;
        while (end < t->size && end < at + 512 && !is(t, end, LINE_END)) end++;
        if (end == t->size || end == at + 512)
            return 1;
        line_end = end;
        if (end == at)
            continue;
        if (t->text[at] == '<')
            return 1;
        if (word) {
            i64 last = end - at > 3 && memcmp(t->text + at, "=> ", 3) == 0 ? at + 3 : at;
            last += one_of(t->text[last], "\"'");
            while (last < end && is(t, last, WORD)) last++;
            while (last < end && (is(t, last, BLANK) || one_of(t->text[last], "\"'"))) last++;
            if (last >= end || word_begins(t, at, STRING_CALL))
                return 1;
        }
        if (t->text[at] == '-')
            at = blanks_end(t, at + 1);
        while (one_of(t->text[at], "\\\"'")) at++;
        i64 size = is(t, at, VALUE) ? word_at(t, at, t->tables->values) : 0;
        if (size) {
            for (at += size; one_of(t->text[at], "\\\"'") || is(t, at, BLANK); at++) {}
            if (sign_at(t, at))
                return 1;
        }
        if (!is(t, at, PASSED) || !word_at(t, at, t->tables->passed))
            return 0;
    }
    return 1;
}

/* Whether `form-data` stands before in this line. */
static int part_of_a_form(const Text *t, i64 begin) {
    i64 line = begin;
    while (line > 0 && line > begin - BACK && !is(t, line - 1, LINE_END)) line--;
    return holds(t, line, begin, "form-data");
}

/* Whether the next line may be what a console prints: `=> "..."`, a text in quotes. */
static int printed_could(const Text *t, i64 line_end) {
    i64 at = line_end;
    while (at < line_end + 512 && is(t, at, LINE_END | BLANK)) at++;
    return at >= t->size || one_of(t->text[at], "=\"'") || is(t, at, KEY | BLANK | LINE_END);
}

/* The same behind a name that stands alone as a value, such as that of `name`; of a part of a form the value may be anything. */
static int labelled_could(const Text *t, i64 begin, i64 line_end) {
    return part_of_a_form(t, begin) || next_line_could(t, line_end, 0);
}

/* Whether bytes are a word that is never a value, such as `null`. */
static int placeholder(const Text *t, i64 from, i64 to) {
    return from < to && is(t, from, PLACEHOLDER) && word_at(t, from, t->tables->placeholders) == to - from;
}

/* Whether a value between `from` and `to` could be a secret; a bare one, in no quotes, without the signs at its end. */
static int value_could_be(const Text *t, i64 from, i64 to, int strength, int bare) {
    i64 end = to, first = from;
    if (strength == WEAK) {
        int signs = 0;
        for (i64 i = from; !bare && i < to; i++) signs += !is(t, i, ALNUM | BLANK);
        return signs >= 10 || run_could_be(t, from, to, WEAK);
    }
    while (bare && end > from && is(t, end - 1, TRAILS)) end--;
    if (placeholder(t, from, end))
        return 0;
    if (strength == PASSWORD)
        return to - from >= 3;
    while (first < end && one_of(t->text[first], "^~<>=")) first++; /* a range of versions */
    int number = 1;
    for (i64 i = first; i < end && number; i++) number = is(t, i, NUMBER);
    if (to - from < 8 || number)
        return 0;
    return !(strength == TOKEN && wordy(t, from, to));
}

/* Whether a value in quotes, with what may stand before them, could be a secret; -1 if there are none at `at`. */
static int quoted_could(const Text *t, i64 at, i64 line_end, int strength) {
    i64 escapes = 0;
    for (int i = 0; i < 2 && at < line_end && one_of(t->text[at], "fbruFBRUN@$"); i++) at++;
    while (at < line_end && t->text[at] == '\\' && escapes < 8) at++, escapes++;
    if (at >= line_end || !one_of(t->text[at], "\"'`"))
        return -1;
    u8 quote = t->text[at];
    i64 from = at + 1, end = from;
    for (; end < line_end; end++) {
        if ((t->text[end] == '\\' && !escapes) || end - from > LONG_VALUE + escapes)
            return 1;
        if (t->text[end] == quote && (!escapes || t->text[end - 1] == '\\'))
            break;
    }
    if (end == line_end)
        return 1;
    i64 to = end - escapes;
    if (to <= from)
        return at_is(t, end + 1, quote) || escapes > 1; /* three of them */
    return to - from > LONG_VALUE || value_could_be(t, from, to, strength, 0);
}

/* A plain value behind a sign. Returns 0 if no rule can find a secret in it, nor by any other form from this name on. */
static int after_sign(const Text *t, i64 sign, int length, i64 line_end, int strength) {
    i64 at = sign + length;
    if (at > line_end)
        return 1; /* what was looked at ends within the sign */
    while (at < line_end && is(t, at, BLANK)) at++;
    if (at == line_end)
        return next_line_could(t, line_end, 1);
    int quoted = quoted_could(t, at, line_end, strength);
    if (quoted >= 0)
        return quoted;
    u8 byte = t->text[at];
    i64 end = at + 1; /* a mark at the line's end, of a block, an object or a line that goes on */
    if (one_of(byte, "|>")) {
        end += at_is(t, end, '-') || at_is(t, end, '+');
        end += is(t, end, DIGIT);
        end += at_is(t, end, '-') || at_is(t, end, '+');
    }
    if (one_of(byte, "{|>,\\") && blanks_end(t, end) >= line_end)
        return byte == '{' ? next_line_could(t, line_end, 0) : byte != ',';
    if (byte == '(' || (at + 1 < line_end && ((byte == '$' && one_of(t->text[at + 1], "({")) || (byte == '{' && t->text[at + 1] == '{')))) {
        for (end = at; end < line_end && end - at <= LONG_VALUE && is(t, end, WORD); end++) {} /* a variable or a call */
        return end - at > LONG_VALUE; /* the rule goes on behind a long one */
    }
    int plain = !is(t, at, OPENS);
    for (end = at; end < line_end && end - at <= LONG_VALUE && is(t, end, WORD); end++) plain = plain && (is(t, end, ALNUM) || !one_of(t->text[end], "({["));
    if (end - at > LONG_VALUE)
        return 1;
    if (!plain)
        return run_could_be(t, at, line_end, strength);
    if (t->text[sign] == ':') /* `name: type = "value"` */
        for (i64 i = at; i < line_end && i < at + 96; i++)
            if (t->text[i] == '=')
                return run_could_be(t, at, line_end, strength);
    return value_could_be(t, at, end, strength, 1);
}

/* Whether `name`, at the end of what stands before, is the first word of its line, but for commands and signs. */
static int first_of_line(const Text *t, i64 begin) {
    i64 low = begin > 64 ? begin - 64 : 0, line = begin;
    while (line > low && !is(t, line - 1, LINE_END)) line--;
    for (; line < begin && is(t, line, BLANK | BULLET); line++)
        if (t->text[line] == '-' && !is(t, line + 1, BLANK))
            return 1; /* an option of a command */
    return line == begin || word_begins(t, line, t->tables->commands);
}

/* Whether `login NAME` or `user: NAME` stands before. */
static int login_before(const Text *t, i64 begin) {
    i64 low = begin > BACK ? begin - BACK : 0, at = begin;
    while (at > low && is(t, at - 1, BLANK)) at--;
    while (at > low && !is(t, at - 1, BLANK | LINE_END)) at--;
    while (at > low && is(t, at - 1, BLANK)) at--;
    return word_ends(t, at, LOGINS, 0);
}

static int directive(const Text *t, i64 begin, i64 stop) {
    i64 size = stop - begin;
    const u8 *name = t->text + begin;
    return (size == 8 && memcmp(name, "password", 8) == 0) || (size == 11 && memcmp(name, "requirepass", 11) == 0) ||
           (size == 10 && memcmp(name, "masterauth", 10) == 0);
}

/* Whether a word at `at` could be a key or a token: long, and with digits in it. */
static int drawn_at(const Text *t, i64 at, i64 line_end) {
    int digits = 0;
    i64 end = at;
    for (; end < line_end && (is(t, end, ALNUM) || one_of(t->text[end], "_-")); end++) digits += is(t, end, DIGIT);
    return (end - at >= 16 && digits > 1) || end == t->size;
}

/* The same at `at`, or behind `is` or `was`. */
static int drawn_word(const Text *t, i64 at, i64 line_end) {
    if (drawn_at(t, at, line_end))
        return 1;
    if (at + 4 >= line_end || (memcmp(t->text + at, "is", 2) != 0 && memcmp(t->text + at, "was", 3) != 0))
        return 0;
    for (at += t->text[at] == 'i' ? 2 : 3; is(t, at, BLANK) || at_is(t, at, ':') || (at < line_end && one_of(t->text[at], "\"'`")); at++) {}
    return drawn_at(t, at, line_end);
}

/* Whether `ENV` or another setter stands before, and blanks behind it. */
static int set_before(const Text *t, i64 begin) {
    i64 before = begin;
    while (before > 0 && before > begin - 32 && is(t, before - 1, BLANK)) before--;
    return setter_before(t, before);
}

/* `PASS word`, `ENV NAME word`, `password word`: a word behind a blank where a command or a line of its own says so. */
static int after_blank_only(const Text *t, i64 begin, i64 stop, i64 line_end, int strength) {
    i64 size = stop - begin;
    if (set_before(t, begin))
        return run_could_be(t, stop, line_end, strength == SECRET || strength == TOKEN ? strength : PASSWORD);
    if ((size == 4 && memcmp(t->text + begin, "PASS", 4) == 0) || (size == 8 && memcmp(t->text + begin, "PASSWORD", 8) == 0))
        return 1;
    if (strength != PASSWORD && strength != WEAK && drawn_word(t, blanks_end(t, stop), line_end))
        return 1;
    if (directive(t, begin, stop))
        return first_of_line(t, begin) || login_before(t, begin);
    return 0;
}

/* What may stand behind the blanks behind a name, if a value is to follow. */
static int value_may_follow(const Text *t, i64 stop) {
    i64 at = stop;
    while (at < t->size && at < stop + 64 && is(t, at, BLANK)) at++;
    if (at - stop > 1 || at == t->size || t->text[stop] == '\t')
        return 1;
    if (one_of(t->text[at], ".=:<>?+!&\\\"'`|-["))
        return 1;
    if (is(t, at, DIGIT)) {
        i64 end = at + 1 + is(t, at + 1, DIGIT);
        return is(t, end, BLANK) || at_is(t, end, ':') || end >= t->size;
    }
    return type_begins(t, at) || spoken_at(t, at) || word_at(t, at, ID) || word_begins(t, at, GENERATED);
}

/* `is set to: word`: words that may stand between a password's name and its value, and behind them a sign or a quote. */
static int spoken_could(const Text *t, i64 stop, i64 line_end) {
    i64 at = stop;
    int is_before = 0;
    for (int words = 0; words < 9; words++) {
        i64 next = blanks_end(t, at);
        if (next >= line_end)
            return 0;
        if (one_of(t->text[next], ":=") || (next > at && one_of(t->text[next], "\"'`\\")) || (is_before && next > at))
            return 1;
        i64 size = spoken_at(t, next), end = next;
        while (end < line_end && (is(t, end, NAME) || t->text[end] == '@')) end++;
        is_before = size == 2 && t->text[next] == 'i';
        if (size)
            at = next + size;
        else if (memchr(t->text + next, '@', (size_t)(end - next)) != NULL)
            at = end;
        else
            return 0;
    }
    return 1;
}

/* Blanks and a word behind the name: only some forms have their value there. */
static int after_blank(const Text *t, i64 begin, i64 stop, i64 line_end, int strength) {
    i64 at = stop;
    while (at < line_end && is(t, at, BLANK)) at++;
    if (at == line_end)
        return labelled_could(t, begin, line_end);
    if (t->text[at] == '>' && blanks_end(t, at + 1) >= line_end)
        return 1; /* of an element, whose value may be the next line */
    if (t->text[at] == '{' && blanks_end(t, at + 1) >= line_end && holds(t, begin - BACK, begin, "variable"))
        return 1; /* of Terraform, whose default may be in a line below */
    if (!is(t, at, ALNUM) || is(t, at, DIGIT) || at - stop > 1 || t->text[stop] == '\t')
        return run_could_be(t, stop, line_end, strength);
    i64 before = begin;
    while (before > 0 && before > begin - 32 && is(t, before - 1, BLANK)) before--;
    int could = setter_before(t, before) || type_begins(t, at) || word_begins(t, at, OR);
    for (i64 i = begin > 32 ? begin - 32 : 0; i < begin && !could; i++) could = t->text[i] == '<';
    could = could || (strength == PASSWORD && spoken_could(t, stop, line_end)) ||
            (strength == SECRET && word_at(t, at, ID)) ||
            after_blank_only(t, begin, stop, line_end, strength); /* of a word such as `Has`, that is one of those but for its case */
    return could && run_could_be(t, stop, line_end, strength);
}

/* A name that a quote or a bracket ends, and no sign behind it. */
static int after_closer(const Text *t, i64 begin, i64 stop, i64 line_end, int strength) {
    i64 at = stop;
    while (at < line_end && (is(t, at, CLOSER | BLANK) || at_is(t, at, ')'))) {
        if (one_of(t->text[at], "\\&%"))
            return 1;
        at++;
    }
    i64 head = begin - 1;
    while (head >= 0 && head > begin - BACK && (is(t, head, BLANK) || at_is(t, head, '"') || at_is(t, head, '\'') || at_is(t, head, '\\'))) head--;
    int labelled = head < 0 || one_of(t->text[head], ":=>") || part_of_a_form(t, begin);
    if (at == line_end)
        return labelled && labelled_could(t, begin, line_end);
    if (holds(t, stop, line_end, "alue"))
        return 1;
    if (t->text[at] == '{' && !is(t, at + 1, WORD))
        return (labelled || holds(t, begin - BACK, begin, "variable")) && next_line_could(t, line_end, 0);
    if (t->text[at] != ',')
        return one_of(t->text[at], "=!>|?o") && run_could_be(t, stop, line_end, strength);
    while (++at < line_end && is(t, at, BLANK)) {}
    if (at == line_end)
        return labelled && labelled_could(t, begin, line_end);
    if (!one_of(t->text[at], "\\\"'"))
        return 0;
    i64 end = at + 1;
    while (end < line_end && t->text[end] != t->text[at] && t->text[end] != '\\') end++;
    int plain = t->text[begin] != '-' && !holds(t, begin - 20, begin, "define") && !holds(t, begin - 20, begin, "(");
    if (plain && end < line_end && t->text[end] == t->text[at] && end > at + 1 && wordy(t, at + 1, end))
        return 0;
    return quoted_could(t, at, line_end, strength) != 0;
}

/* Whether a secret may stand behind the name at [begin, stop). */
static int known_could(Text *t, i64 begin, i64 stop) {
    int strength = strength_of(t->tables, t->text + begin, stop - begin);
    int known = strength != UNKNOWN;
    u8 left = begin > 0 ? t->text[begin - 1] : 0, byte = t->text[stop];
    int dashed = t->text[begin] == '-' && (begin == 0 || is(t, begin - 1, BEFORE_OPTION));
    if (strength == HARMLESS)
        return 0;
    i64 line_end = line_end_of(t, stop);
    if (strength == WEAK && is(t, begin - 1, BLANK) && is(t, begin - 2, QUALIFIER) && word_ends(t, begin - 1, t->tables->qualifiers, 1))
        strength = TOKEN;
    int spoken = is(t, stop, BLANK) && !dashed && left != '<' && left != ':';
    if (spoken && !value_may_follow(t, stop))
        return after_blank_only(t, begin, stop, line_end, strength);
    if (!known)
        return 1;
    i64 at = stop;
    for (int quotes = 0; quotes < 3 && (at_is(t, at, '"') || at_is(t, at, '\'') || at_is(t, at, '`')); quotes++) at++;
    for (int brackets = 0; brackets < 2 && at_is(t, at, ']'); brackets++) at++;
    while (at < line_end && is(t, at, BLANK)) at++;
    int length = sign_at(t, at);
    if (length) { /* behind a setter, or if it does not begin as signs of assignments do, the sign may be a part of the value */
        if (after_sign(t, at, length, line_end, strength))
            return 1;
        if (spoken && !one_of(t->text[at], "=:") && after_blank(t, begin, stop, line_end, strength))
            return 1;
        return spoken && set_before(t, begin) && after_blank_only(t, begin, stop, line_end, strength);
    }
    if (is(t, stop, CLOSER))
        return after_closer(t, begin, stop, line_end, strength);
    if (is(t, stop, BLANK))
        return dashed ? run_could_be(t, stop, line_end, strength) : after_blank(t, begin, stop, line_end, strength);
    switch (byte) {
    case '(':
        for (at = stop + 1; at < line_end && (is(t, at, BLANK) || at_is(t, at, 'N')); at++) {}
        return strength == PASSWORD && at < line_end && (t->text[at] == '"' || t->text[at] == '\'');
    case ':':
        return !at_is(t, stop + 1, ':') && !at_is(t, stop + 1, '/') && run_could_be(t, stop, line_end, strength);
    case '?':
        return at_is(t, stop + 1, '?') || at_is(t, stop + 1, '=');
    case '!': case '=':
        return at_is(t, stop + 1, '=') && run_could_be(t, stop, line_end, strength);
    case '>':
        return begin > 0 && (line_end - stop < 16 || run_could_be(t, stop, line_end, strength));
    case ',':
        return (left == '{' || left == ':') && run_could_be(t, stop, line_end, strength);
    case '<': case '+': case '-':
        return 1;
    default:
        return 0;
    }
}

/* Whether the name that holds a literal at [start, end) may have a secret behind it. */
static int name_could(Text *t, i64 start, i64 end) {
    i64 stop = end, begin = start;
    while (stop < end + LONGEST_NAME && is(t, stop, NAME)) stop++;
    if (stop >= t->size)
        return 1;
    if (!is(t, stop, FOLLOWS))
        return is(t, stop, LINE_END) && ((holds(t, start - 64, start, "ame:") && labelled_could(t, start, stop)) ||
                                         (holds(t, start - 64, start, "> ") && printed_could(t, stop)));
    while (begin > start - LONGEST_NAME && is(t, begin - 1, NAME)) begin--;
    if (begin != t->begin || stop != t->stop) { /* one name may hold several literals */
        t->answer = known_could(t, begin, stop);
        t->begin = begin;
        t->stop = stop;
    }
    return t->answer;
}

/* `://`: whether an `@` follows where a user and a password would end. */
static int credentials_could(const Text *t, i64 start, i64 end) {
    if (!is(t, start - 1, ALNUM))
        return 0;
    i64 at = end, most = end + REACH < t->size ? end + REACH : t->size;
    while (at < most && at < end + 257 &&
           (is(t, at, ALNUM) || ((is(t, at, WORD) || t->text[at] == 0x7f) && !one_of(t->text[at], ":/@?#<>\\(){}[],;|")))) at++;
    if (at == t->size || at_is(t, at, '@'))
        return 1;
    if (!at_is(t, at, ':'))
        return 0;
    while (++at < most && (is(t, at, WORD) || t->text[at] == 0x7f) && t->text[at] != '<' && t->text[at] != '>')
        if (t->text[at] == '@')
            return 1;
    return at == most;
}

/* A sign behind the literal, and behind it, after quotes and short prefixes, `least` bytes of a set. */
static int signed_could(const Text *t, i64 end, const Literal *literal) {
    const u8 *set = t->tables->sets + 256 * (u32)literal->set;
    i64 at = end;
    for (; is(t, at, CLOSER | BLANK); at++)
        if (one_of(t->text[at], "\\&%"))
            return 1;
    if (at >= t->size)
        return 1;
    int length = literal->comma ? one_of(t->text[at], ":=,") : sign_at(t, at);
    if (!length)
        return 0;
    at += length;
    for (int runs = 0; runs < 4; runs++) {
        i64 begin = at, run = 0;
        if (at_is(t, at, '&'))
            return 1;
        while (at < t->size && at < begin + 160 && (is(t, at, BLANK) || one_of(t->text[at], "\"'`\\|>-+!="))) at++;
        if (at == begin + 160 || at_is(t, at, '&'))
            return 1;
        while (at + run < t->size && run < literal->least && set[t->text[at + run]]) run++;
        if (run >= literal->least || at + run >= t->size)
            return 1;
        if (run == 0)
            return 0;
        at += run; /* of a prefix of quotes, of a tag, of a scheme */
    }
    return 0;
}

/* Whether a sign follows, and a name with a `=` that may begin a pair. */
static int cookie_could(const Text *t, i64 end, const Literal *literal) {
    const u8 *set = t->tables->sets + 256 * (u32)literal->set;
    i64 at = end;
    while (is(t, at, CLOSER | BLANK)) at++;
    if (at < t->size && !one_of(t->text[at], ":="))
        return 0;
    at += at_is(t, at, '=') && at_is(t, at + 1, '>') ? 2 : 1;
    while (is(t, at, CLOSER | BLANK)) at++;
    if (at_is(t, at, ';'))
        at = blanks_end(t, at + 1);
    for (i64 most = at + literal->least; at < most && at < t->size && set[t->text[at]]; at++)
        if (t->text[at] == '=')
            return 1;
    return at >= t->size;
}

/* Whether an option follows in the line of a command. */
static int command_could(const Text *t, i64 start, i64 end) {
    if (is(t, start - 1, ALNUM))
        return 0;
    for (i64 at = end - 1; at < end + 512; at++) {
        if (at + 1 >= t->size)
            return 1;
        if (is(t, at, LINE_END))
            return 0;
        if (is(t, at, BLANK) && (at_is(t, at + 1, '-') || at_is(t, at + 1, '/')))
            return 1;
    }
    return 0;
}

static int run_could(const Text *t, i64 start, i64 end, const Literal *literal) {
    if (literal->apart && is(t, start - 1, ALNUM)) {
        int escaped = at_is(t, start - 2, '\\') || at_is(t, start - 3, '%') || at_is(t, start - 4, '\\') || at_is(t, start - 6, '\\');
        if (!escaped)
            return 0;
    }
    const u8 *set = t->tables->sets + 256 * (u32)literal->set;
    i64 at = end;
    while (at < t->size && at - end < literal->least && set[t->text[at]]) at++;
    return at - end >= literal->least || at == t->size;
}

static int line_start_could(const Text *t, i64 start) {
    for (i64 at = start - 1; at >= 0 && at > start - 66; at--) {
        if (is(t, at, LINE_END))
            return 1;
        if (!is(t, at, BLANK) && t->text[at] != '#')
            return 0;
    }
    return 1;
}

static int could_be(Text *t, const Literal *literal, i64 start, i64 end) {
    switch (literal->check) {
    case NAMED:
        return name_could(t, start, end);
    case NAMED_MARK:
        return name_could(t, start, end - literal->skip);
    case NAMED_WORD:
        if (end >= t->size)
            return 1;
        if (t->tables->sets[256 * (u32)literal->dull + t->text[end]])
            return 0;
        if (t->text[end] == literal->plural && is(t, end + 1, ALNUM) && !is(t, end + 1, DIGIT))
            return 0;
        return name_could(t, start, end);
    case RUN:
        return run_could(t, start, end, literal);
    case SIGNED:
        return signed_could(t, end, literal);
    case COOKIE:
        return cookie_could(t, end, literal);
    case CREDENTIALS:
        return credentials_could(t, start, end);
    case COMMAND:
        return command_could(t, start, end);
    case LINE_START:
        return line_start_could(t, start);
    default:
        return 1;
    }
}

/* Walks over text[from, to) in lanes; the hits of lane i stand in hits[i], counts[i] of them. */
static inline void walk_rows(const Tables *tables, const u8 *text, i64 from, i64 to, Hit hits[LANES][BLOCK / LANES + 1], u32 counts[LANES],
                             const u32 shift) {
    const u8 *classes = tables->classes;
    const u16 *next = tables->next;
    const u32 accepting = tables->accepting;
    const i64 part = (to - from + LANES - 1) / LANES;
    const u8 *at[LANES];
    i64 begins[LANES], sizes[LANES], common = part;
    u32 state[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        begins[lane] = from + lane * part < to ? from + lane * part : to;
        i64 end = from + (lane + 1) * part < to ? from + (lane + 1) * part : to;
        sizes[lane] = end - begins[lane];
        at[lane] = text + begins[lane];
        counts[lane] = 0;
        state[lane] = 0;
        if (sizes[lane] < common)
            common = sizes[lane];
        i64 before = begins[lane] > tables->longest ? begins[lane] - tables->longest : 0; /* a literal may begin there */
        for (i64 i = before; i < begins[lane]; i++) state[lane] = next[state[lane] << shift | classes[text[i]]];
    }
    u32 s0 = state[0], s1 = state[1], s2 = state[2], s3 = state[3];
    i64 i = 0;
    for (; i < common; i++) {
        s0 = next[s0 << shift | classes[at[0][i]]];
        s1 = next[s1 << shift | classes[at[1][i]]];
        s2 = next[s2 << shift | classes[at[2][i]]];
        s3 = next[s3 << shift | classes[at[3][i]]];
        if (s0 >= accepting) hits[0][counts[0]++] = (Hit){(u32)(begins[0] + i + 1), s0 - accepting};
        if (s1 >= accepting) hits[1][counts[1]++] = (Hit){(u32)(begins[1] + i + 1), s1 - accepting};
        if (s2 >= accepting) hits[2][counts[2]++] = (Hit){(u32)(begins[2] + i + 1), s2 - accepting};
        if (s3 >= accepting) hits[3][counts[3]++] = (Hit){(u32)(begins[3] + i + 1), s3 - accepting};
    }
    state[0] = s0, state[1] = s1, state[2] = s2, state[3] = s3;
    for (int lane = 0; lane < LANES; lane++)
        for (i64 j = i; j < sizes[lane]; j++) {
            state[lane] = next[state[lane] << shift | classes[at[lane][j]]];
            if (state[lane] >= accepting) hits[lane][counts[lane]++] = (Hit){(u32)(begins[lane] + j + 1), state[lane] - accepting};
        }
}

/* The compiler makes one of each size of rows. */
static void walk(const Tables *tables, const u8 *text, i64 from, i64 to, Hit hits[LANES][BLOCK / LANES + 1], u32 counts[LANES]) {
    if (tables->shift == 7)
        walk_rows(tables, text, from, to, hits, counts, 7);
    else
        walk_rows(tables, text, from, to, hits, counts, 8);
}

/* Gives out where rules may apply: literals that end in text[from, size), in the order of their ends, the longest first.
 *
 * Of literals that end behind `whole` nothing is dropped: what stands behind them may still be to come.
 * Returns how many; fewer than there are if `room` is not enough, and then `*from` is where to go on, else the size.
 */
i64 spillstore_scan(const Tables *tables, const u8 *text, i64 size, i64 whole, i64 *from, Candidate *out, i64 room, Hit *scratch) {
    Hit(*hits)[BLOCK / LANES + 1] = (Hit(*)[BLOCK / LANES + 1])scratch;
    u32 counts[LANES];
    i64 found = 0;
    Text t = {.tables = tables, .text = text, .size = size, .is = tables->bytes, .line = 1};
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
                    if (end > whole || could_be(&t, literal, start, end))
                        out[found++] = (Candidate){tables->ends[j], (u32)start, (u32)end};
                }
            }
        *from = to;
    }
    return found;
}

typedef u8 Sixteen __attribute__((vector_size(16)));

/* Of sixteen bytes two words: all bits of a byte are set where it is of LETTER. */
static inline void letters_of(const u8 *at, u64 words[2]) {
    Sixteen is;
    memcpy(&is, at, 16);
    Sixteen letter = (Sixteen)((is | 32) - 'a' < 26), digit = (Sixteen)(is - '0' < 10);
    Sixteen all = letter | digit | (Sixteen)(is == '_') | (Sixteen)(is == '-');
    memcpy(words, &all, 16);
}

/* How many of eight bytes are letters up to the first that is none, and behind the last. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static inline int first_of(u64 word) { return word == ~0ull ? 8 : __builtin_clzll(~word) / 8; }
static inline int last_of(u64 word) { return word == ~0ull ? 8 : __builtin_ctzll(~word) / 8; }
#else
static inline int first_of(u64 word) { return word == ~0ull ? 8 : __builtin_ctzll(~word) / 8; }
static inline int last_of(u64 word) { return word == ~0ull ? 8 : __builtin_clzll(~word) / 8; }
#endif

/* How many letters stand at `at`, and before it, up to sixteen. */
static inline int letters_from(const u8 *text, i64 at, i64 size) {
    u64 words[2];
    if (at + 16 <= size)
        letters_of(text + at, words);
    else {
        u8 last[16] = {0};
        memcpy(last, text + at, (size_t)(size - at));
        letters_of(last, words);
    }
    int first = first_of(words[0]);
    return first < 8 ? first : 8 + first_of(words[1]);
}

static inline int letters_before(const u8 *text, i64 at) {
    u64 words[2];
    if (at >= 16)
        letters_of(text + at - 16, words);
    else {
        u8 first[16] = {0};
        memcpy(first + 16 - at, text, (size_t)at);
        letters_of(first, words);
    }
    int last = last_of(words[1]);
    return last < 8 ? last : 8 + last_of(words[0]);
}

/* Whether one of at least eight bytes, all of LETTER, is a digit. */
static int holds_digit(const u8 *at, i64 size) {
    const u64 ones = 0x0101010101010101ull, high = 0x8080808080808080ull;
    for (i64 i = 0;; i += 8) {
        u64 word;
        memcpy(&word, at + (i + 8 < size ? i : size - 8), 8);
        if ((word + (0x80 - '0') * ones) & ~(word + (0x80 - '9' - 1) * ones) & high)
            return 1;
        if (i + 8 >= size)
            return 0;
    }
}

/* Whether letters and digits between `from` and `to` change as often, and in as many places, as in a token. */
static int run_is_mixed(const Text *t, i64 from, i64 to) {
    int digits = 0, changes = 0;
    u32 before = 0;
    for (i64 i = from; i < to; i++) {
        u8 byte = t->text[i];
        u32 now = byte == '_' || byte == '-' ? 0 : is(t, i, DIGIT) ? 1 : byte >= 'a' ? 2 : 3;
        changes += now && before && now != before;
        digits += now == 1 && before != 1;
        before = now;
    }
    return digits && changes >= 5;
}

/* Whether a run of LETTER may be a token: `prefix_`, and behind it what is drawn. */
static int alone_could(const Text *t, i64 start, i64 end) {
    if (end - start > MOST_RUN + ESCAPE || is(t, start - 1, LEADS))
        return 0;
    if (is(t, end, GOES_ON) || (at_is(t, end, '.') && is(t, end + 1, ALNUM)))
        return 0;
    i64 sign = start;
    while (sign < end && sign < start + MOST_WORD && t->text[sign] != '_' && t->text[sign] != '-') sign++;
    if (sign - start < 2 || sign >= end - LEAST_BODY || !(t->text[sign] == '_' || t->text[sign] == '-'))
        return 0;
    return holds_digit(t->text + sign, end - sign) && run_is_mixed(t, sign, end);
}

/* Gives out runs of LETTER that end behind `*from` and may be tokens, in order. As `spillstore_scan`, but nothing is lost behind
 * the text's last line: a run that ends with the text is looked at again when it goes on.
 *
 * Of such a run two words of eight bytes side by side are letters alone, so it is enough to look at every other word. */
i64 spillstore_runs(const Tables *tables, const u8 *text, i64 size, i64 *from, Run *out, i64 room) {
    Text t = {.tables = tables, .text = text, .size = size, .is = tables->bytes, .line = 1};
    i64 found = 0, at = *from > LEAST_RUN + 16 ? (*from - LEAST_RUN - 16) & ~(i64)15 : 0;
    u64 words[2], before = 0;
    for (; at + 8 <= size; at += 16) {
        if (at + 16 <= size)
            letters_of(text + at, words);
        else {
            u8 last[16] = {0};
            memcpy(last, text + at, (size_t)(size - at));
            letters_of(last, words);
        }
        int long_enough = (words[0] == ~0ull) & ((words[1] == ~0ull) | (before == ~0ull));
        before = words[1];
        if (!long_enough)
            continue;
        i64 start = at, end = at + 8;
        for (int n = 16; n == 16 && start > at - MOST_RUN - ESCAPE - 1; start -= n)
            n = letters_before(text, start);
        for (int n = 16; n == 16; end += n)
            n = letters_from(text, end, size);
        if (end - start >= LEAST_RUN && end > *from && alone_could(&t, start, end)) {
            if (found == room) {
                *from = start;
                return found;
            }
            out[found++] = (Run){(u32)start, (u32)end};
        }
        at = end & ~(i64)15; /* nothing before the next block but its second word can be of another run */
        if (at + 16 <= size)
            letters_of(text + at, words);
        before = words[1];
    }
    *from = size;
    return found;
}

/* Makes the automaton of `count` literals, which stand in `bytes` one behind the other (Aho and Corasick, 1975).
 *
 * `next` has a row of `1 << shift` for each state, `work` 4 numbers, `first` one and one more; there are at most `most` states. `ends`
 * takes the literals that end in each accepting state, the longest first, and has room for `room` of them.
 * Returns the number of the first accepting state, or -1 if there is not enough room; `states` becomes how many there are.
 */
i64 spillstore_build(const u8 *bytes, const u8 *lengths, i64 count, const u8 *classes, u32 shift, u16 *next, u32 *work, u32 *first, u16 *ends,
                     u32 most, u32 room, u32 *states) {
    u32 *fails = work, *literal = work + most, *same = work + 2 * most, *order = work + 3 * most; /* by state */
    u32 made = 1, queued = 0, plain = 0, written = 0;
    const u32 columns = 1u << shift;
    memset(next, 0, (size_t)most * columns * sizeof *next);
    memset(work, 0, (size_t)most * 4 * sizeof *work);
    for (i64 i = 0; i < count; bytes += lengths[i++]) {
        u32 state = 0;
        for (u8 j = 0; j < lengths[i]; j++) {
            u16 *to = &next[state << shift | classes[bytes[j]]];
            if (*to == 0) {
                if (made == most || made == 0xFFFF)
                    return -1;
                *to = (u16)made++;
            }
            state = *to;
        }
        literal[state] = (u32)i + 1; /* each stands once */
    }
    for (u32 c = 0; c < columns; c++)
        if (next[c])
            order[queued++] = next[c];
    for (u32 i = 0; i < queued; i++) {
        u32 state = order[i], fail = fails[state];
        same[state] = literal[fail] ? fail : same[fail]; /* the next shorter literal that ends here too */
        for (u32 c = 0; c < columns; c++) {
            u32 to = next[state << shift | c];
            if (to) {
                fails[to] = next[fail << shift | c];
                order[queued++] = to;
            } else
                next[state << shift | c] = next[fail << shift | c];
        }
    }
    /* Accepting states go last: `fails` becomes the new number of each. */
    for (u32 state = 0; state < made; state++)
        plain += !(literal[state] || same[state]);
    u32 low = 0, high = plain;
    for (u32 state = 0; state < made; state++) {
        if (!(literal[state] || same[state])) {
            fails[state] = low++;
            continue;
        }
        first[high - plain] = written;
        for (u32 at = state; at; at = same[at])
            if (literal[at]) {
                if (written == room)
                    return -1;
                ends[written++] = (u16)(literal[at] - 1);
            }
        fails[state] = high++;
    }
    first[high - plain] = written;
    for (u32 i = 0; i < made * columns; i++)
        next[i] = (u16)fails[next[i]];
    /* Rows are put in their places by following the cycles of the new numbers. */
    for (u32 state = 0; state < made; state++)
        while (fails[state] != state) {
            u32 to = fails[state];
            u16 row[256];
            memcpy(row, next + ((size_t)to << shift), columns * sizeof *row);
            memcpy(next + ((size_t)to << shift), next + ((size_t)state << shift), columns * sizeof *row);
            memcpy(next + ((size_t)state << shift), row, columns * sizeof *row);
            fails[state] = fails[to];
            fails[to] = to;
        }
    *states = made;
    return plain;
}

/* What the tables and the checks are like; counted up with each change of them or of a function's arguments, here and in
 * `candidates.py`. The rest says how the compiler has laid them out. */
u64 spillstore_version(void) { return (u64)VERSION << 32 | (u64)sizeof(Tables) << 8 | sizeof(Literal); }

u32 spillstore_scratch(void) { return (u32)(sizeof(Hit) * LANES * (BLOCK / LANES + 1)); }
