/* System calls that change files are written down in the order in which they were done. Loaded with LD_PRELOAD.

   recorded_calls_arm() names the descriptor that they are written to, and a folder on the disk that counts. A record is
   five numbers, `kind object other offset length`, and `length` bytes: what was written, or names that end in zero.
   Files and folders are told by their inode numbers. A call and its record are one step, so that no sync is written
   down before a write that came before it. Mappings are not seen: SQLite writes its index of the journal through one,
   and makes it anew after a crash. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WRITE, TRUNCATE, SYNC, CREATE, MKDIR, UNLINK, RENAME, NOTE, EXCHANGE };

static int into = -1;
static dev_t disk;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void put(const void *data, size_t size)
{
    for (const char *at = data; size;) {
        long done = syscall(SYS_write, into, at, size);
        if (done < 0) abort();
        at += done, size -= (size_t)done;
    }
}

static void record(uint64_t kind, uint64_t object, uint64_t other, uint64_t offset, const void *data, size_t size)
{
    uint64_t head[5] = {kind, object, other, offset, size};
    put(head, sizeof head);
    put(data, size);
}

void recorded_calls_arm(int descriptor, const char *folder)
{
    struct stat status;
    if (stat(folder, &status)) abort();
    disk = status.st_dev;
    into = descriptor;
}

void recorded_calls_disarm(void) { into = -1; }

void recorded_calls_note(const char *text)
{
    pthread_mutex_lock(&guard);
    if (into >= 0) record(NOTE, 0, 0, 0, text, strlen(text));
    pthread_mutex_unlock(&guard);
}

/* The number of a file or folder on the disk that counts; 0 for any other. */
static uint64_t object_of(int descriptor, struct stat *status)
{
    int counts = into >= 0 && !fstat(descriptor, status) && status->st_dev == disk && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode));
    return counts ? status->st_ino : 0;
}

static uint64_t at(int directory, const char *path)
{
    struct stat status;
    return !fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) && status.st_dev == disk ? status.st_ino : 0;
}

/* The folder that a name lies in, and the last part of the name. */
static uint64_t parent_of(int directory, const char *path, const char **name)
{
    char above[4096];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash) return at(directory, ".");
    snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
    return at(directory, *above ? above : "/");
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define BEGIN pthread_mutex_lock(&guard)
#define END do { int saved = errno; pthread_mutex_unlock(&guard); errno = saved; } while (0)

#define WRITES_AT(name, offset_type) \
    ssize_t name(int f, const void *b, size_t n, offset_type o) \
    { \
        struct stat status; \
        REAL(ssize_t, #name, int, const void *, size_t, offset_type); \
        BEGIN; \
        ssize_t done = real(f, b, n, o); \
        uint64_t object = done > 0 ? object_of(f, &status) : 0; \
        if (object) record(WRITE, object, 0, (uint64_t)o, b, (size_t)done); \
        END; \
        return done; \
    }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

ssize_t write(int f, const void *b, size_t n)
{
    struct stat status;
    REAL(ssize_t, "write", int, const void *, size_t);
    BEGIN;
    ssize_t done = real(f, b, n);
    uint64_t object = done > 0 ? object_of(f, &status) : 0;
    if (object) record(WRITE, object, 0, (uint64_t)(lseek(f, 0, SEEK_CUR) - done), b, (size_t)done);
    END;
    return done;
}

#define TRUNCATES(name, size_type) \
    int name(int f, size_type n) \
    { \
        struct stat status; \
        REAL(int, #name, int, size_type); \
        BEGIN; \
        int failed = real(f, n); \
        uint64_t object = failed ? 0 : object_of(f, &status); \
        if (object) record(TRUNCATE, object, 0, (uint64_t)n, "", 0); \
        END; \
        return failed; \
    }
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

/* Of a file that becomes longer by it; its content stays. */
#define ALLOCATES(name, offset_type) \
    int name(int f, offset_type o, offset_type n) \
    { \
        struct stat status; \
        REAL(int, #name, int, offset_type, offset_type); \
        BEGIN; \
        int failed = real(f, o, n); \
        uint64_t object = failed ? 0 : object_of(f, &status); \
        if (object) record(TRUNCATE, object, 0, (uint64_t)status.st_size, "", 0); \
        END; \
        return failed; \
    }
ALLOCATES(posix_fallocate, off_t)
ALLOCATES(posix_fallocate64, off64_t)

#define SYNCS(name) \
    int name(int f) \
    { \
        struct stat status; \
        REAL(int, #name, int); \
        BEGIN; \
        int failed = real(f); \
        uint64_t object = failed ? 0 : object_of(f, &status); \
        if (object) record(SYNC, object, 0, 0, "", 0); \
        END; \
        return failed; \
    }
SYNCS(fsync)
SYNCS(fdatasync)

static void named(uint64_t kind, int directory, const char *path, uint64_t object)
{
    const char *name;
    uint64_t parent = parent_of(directory, path, &name);
    if (into >= 0 && parent) record(kind, parent, object, 0, name, strlen(name) + 1);
}

#define REMOVES(name, parameters, arguments, directory, path, ...) \
    int name parameters \
    { \
        REAL(int, #name, __VA_ARGS__); \
        BEGIN; \
        int failed = real arguments; \
        if (!failed) named(UNLINK, directory, path, 0); \
        END; \
        return failed; \
    }
REMOVES(unlink, (const char *p), (p), AT_FDCWD, p, const char *)
REMOVES(rmdir, (const char *p), (p), AT_FDCWD, p, const char *)
REMOVES(unlinkat, (int d, const char *p, int g), (d, p, g), d, p, int, const char *, int)

#define MAKES(name, parameters, arguments, directory, path, ...) \
    int name parameters \
    { \
        REAL(int, #name, __VA_ARGS__); \
        BEGIN; \
        int failed = real arguments; \
        if (!failed) named(MKDIR, directory, path, at(directory, path)); \
        END; \
        return failed; \
    }
MAKES(mkdir, (const char *p, mode_t m), (p, m), AT_FDCWD, p, const char *, mode_t)
MAKES(mkdirat, (int d, const char *p, mode_t m), (d, p, m), d, p, int, const char *, mode_t)

static void renamed(int from, const char *old, int to, const char *new, unsigned flags)
{
    char both[600];
    const char *name, *other;
    uint64_t parent = parent_of(from, old, &name), target = parent_of(to, new, &other);
    int size = snprintf(both, sizeof both, "%s%c%s", name, 0, other);
    if (into >= 0 && parent && target) record(flags & RENAME_EXCHANGE ? EXCHANGE : RENAME, parent, target, 0, both, (size_t)size + 1);
}

#define RENAMES(name, parameters, arguments, from, old, to, new, flags, ...) \
    int name parameters \
    { \
        REAL(int, #name, __VA_ARGS__); \
        BEGIN; \
        int failed = real arguments; \
        if (!failed) renamed(from, old, to, new, flags); \
        END; \
        return failed; \
    }
RENAMES(rename, (const char *a, const char *b), (a, b), AT_FDCWD, a, AT_FDCWD, b, 0, const char *, const char *)
RENAMES(renameat, (int c, const char *a, int d, const char *b), (c, a, d, b), c, a, d, b, 0, int, const char *, int, const char *)
RENAMES(renameat2, (int c, const char *a, int d, const char *b, unsigned g), (c, a, d, b, g), c, a, d, b, g, int, const char *, int, const char *, unsigned)

/* A file that was not there before, or is made empty. */
#define OPENS(name, parameters, directory, call) \
    int name parameters \
    { \
        mode_t mode = 0; \
        if (flags & O_CREAT) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); } \
        OPENS_REAL(name) \
        if (into < 0 || !(flags & (O_CREAT | O_TRUNC))) return call; \
        BEGIN; \
        uint64_t before = at(directory, p); \
        int f = call; \
        struct stat status; \
        uint64_t object = f < 0 ? 0 : object_of(f, &status); \
        if (object && object != before) named(CREATE, directory, p, object); \
        else if (object && flags & O_TRUNC) record(TRUNCATE, object, 0, 0, "", 0); \
        END; \
        return f; \
    }
#define OPENS_REAL(name) REAL(int, #name, const char *, int, ...);
OPENS(open, (const char *p, int flags, ...), AT_FDCWD, real(p, flags, mode))
OPENS(open64, (const char *p, int flags, ...), AT_FDCWD, real(p, flags, mode))
#undef OPENS_REAL
#define OPENS_REAL(name) REAL(int, #name, int, const char *, int, ...);
OPENS(openat, (int d, const char *p, int flags, ...), d, real(d, p, flags, mode))
OPENS(openat64, (int d, const char *p, int flags, ...), d, real(d, p, flags, mode))
