/* System calls that fail when it is their turn, or before which the process is killed. Loaded with LD_PRELOAD.

   failing_calls_arm() says which calls count, on files below which folder, and what becomes of the one with a number:
   an error once, an error from then on, half of what was to be written or read, or SIGKILL before it is done. Nothing
   counts before. Descriptors are told by /proc/self/fd, so this is for Linux. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    WRITE = 1, SYNC = 2, TRUNCATE = 4, CREATE = 8, OPEN = 16, UNLINK = 32, RENAME = 64, MKDIR = 128, MMAP = 256, READ = 512,
    LOCK = 1024, STAT = 2048, ALLOCATE = 4096, LIST = 8192, ATTRIBUTES = 16384, SEND = 32768, RECEIVE = 65536
};
enum { COUNT, FAIL, HALF, KILL };  /* HALF: half of it is done; with an error and `ever`, later ones fail */

static char folder[4096];
static size_t folder_length;
static unsigned kinds;
static long at, count, hits;
static int action, failure, ever;
static char where[5000];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

void failing_calls_arm(const char *below, unsigned which, long turn, int what, int error, int for_ever)
{
    pthread_mutex_lock(&guard);
    snprintf(folder, sizeof folder, "%s", below);
    folder_length = strlen(folder);
    at = turn, action = what, failure = error, ever = for_ever, count = 0, hits = 0, where[0] = 0;
    kinds = which;
    pthread_mutex_unlock(&guard);
}

void failing_calls_disarm(void) { kinds = 0; }
long failing_calls_counted(void) { return count; }
long failing_calls_hits(void) { return hits; }
const char *failing_calls_where(void) { return where; }

/* What becomes of this call: 0 it is done, 1 it fails, 2 half of it is done. */
static int turn(unsigned kind, const char *name, const char *path)
{
    int becomes = 0;
    pthread_mutex_lock(&guard);
    if (kinds & kind) {
        count++;
        if (action != COUNT && (count == at || (ever && count > at))) {
            if (!hits++) snprintf(where, sizeof where, "%s %.4000s", name, path);
            if (action == KILL) syscall(SYS_kill, getpid(), SIGKILL);
            becomes = action == HALF && count == at ? 2 : 1;
        }
    }
    pthread_mutex_unlock(&guard);
    return becomes;
}

static int below(const char *path)
{
    return folder_length && !strncmp(path, folder, folder_length) && (path[folder_length] == '/' || !path[folder_length]);
}

static int path_of(int descriptor, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

static int turn_of_path(unsigned kind, const char *name, int directory, const char *path)
{
    char full[8192];
    int saved = errno;
    if (!(kinds & kind) || !path) return 0;
    if (path[0] == '/') snprintf(full, sizeof full, "%s", path);
    else {
        size_t length;
        if (directory == AT_FDCWD || !path_of(directory, full, 4096)) return errno = saved, 0;
        length = strlen(full);
        snprintf(full + length, sizeof full - length, "/%s", path);
    }
    int becomes = below(full) ? turn(kind, name, full) : 0;
    errno = saved;
    return becomes;
}

static int turn_of(unsigned kind, const char *name, int descriptor)
{
    char path[4096];
    int saved = errno;
    if (!(kinds & kind)) return 0;
    int becomes = path_of(descriptor, path, sizeof path) && below(path) ? turn(kind, name, path) : 0;
    errno = saved;
    return becomes;
}

/* Of a socket, whatever it leads to. One that fails is broken, as one that fails by itself. */
static int turn_of_socket(unsigned kind, const char *name, int descriptor)
{
    char path[4096];
    int saved = errno;
    if (!(kinds & kind)) return 0;
    int becomes = path_of(descriptor, path, sizeof path) && !strncmp(path, "socket:", 7) ? turn(kind, name, path) : 0;
    if (becomes) shutdown(descriptor, SHUT_RDWR);
    errno = saved;
    return becomes;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define FAILED(value) do { errno = failure; return value; } while (0)

#define ON_DESCRIPTOR(type, name, kind, parameters, arguments, descriptor, value, ...) \
    type name parameters { REAL(type, #name, __VA_ARGS__); \
        if (turn_of(kind, #name, descriptor)) FAILED(value); \
        return real arguments; }
#define ON_PATH(type, name, kind, parameters, arguments, directory, path, value, ...) \
    type name parameters { REAL(type, #name, __VA_ARGS__); \
        if (turn_of_path(kind, #name, directory, path)) FAILED(value); \
        return real arguments; }
/* Of `size` bytes, half may be done. */
#define ON_BYTES(name, kind, parameters, whole, half, descriptor, size, ...) \
    ssize_t name parameters { REAL(ssize_t, #name, __VA_ARGS__); \
        int becomes = turn_of(kind, #name, descriptor); \
        if (becomes == 2 && size > 1) return real half; \
        if (becomes) FAILED(-1); \
        return real whole; }

ON_BYTES(pwrite, WRITE, (int f, const void *b, size_t n, off_t o), (f, b, n, o), (f, b, n / 2, o), f, n, int, const void *, size_t, off_t)
ON_BYTES(pwrite64, WRITE, (int f, const void *b, size_t n, off64_t o), (f, b, n, o), (f, b, n / 2, o), f, n, int, const void *, size_t, off64_t)
ON_BYTES(pread, READ, (int f, void *b, size_t n, off_t o), (f, b, n, o), (f, b, n / 2, o), f, n, int, void *, size_t, off_t)
ON_BYTES(pread64, READ, (int f, void *b, size_t n, off64_t o), (f, b, n, o), (f, b, n / 2, o), f, n, int, void *, size_t, off64_t)
ON_DESCRIPTOR(ssize_t, writev, WRITE, (int f, const struct iovec *v, int n), (f, v, n), f, -1, int, const struct iovec *, int)
ON_DESCRIPTOR(ssize_t, pwritev, WRITE, (int f, const struct iovec *v, int n, off_t o), (f, v, n, o), f, -1, int, const struct iovec *, int, off_t)
ON_DESCRIPTOR(ssize_t, pwritev64, WRITE, (int f, const struct iovec *v, int n, off64_t o), (f, v, n, o), f, -1, int, const struct iovec *, int, off64_t)
ON_DESCRIPTOR(ssize_t, copy_file_range, WRITE, (int a, off64_t *p, int b, off64_t *q, size_t n, unsigned g), (a, p, b, q, n, g), b, -1, int, off64_t *, int, off64_t *, size_t, unsigned)
ON_DESCRIPTOR(int, fsync, SYNC, (int f), (f), f, -1, int)
ON_DESCRIPTOR(int, fdatasync, SYNC, (int f), (f), f, -1, int)
ON_DESCRIPTOR(int, ftruncate, TRUNCATE, (int f, off_t n), (f, n), f, -1, int, off_t)
ON_DESCRIPTOR(int, ftruncate64, TRUNCATE, (int f, off64_t n), (f, n), f, -1, int, off64_t)
ON_DESCRIPTOR(int, flock, LOCK, (int f, int o), (f, o), f, -1, int, int)
ON_DESCRIPTOR(int, fchmod, ATTRIBUTES, (int f, mode_t m), (f, m), f, -1, int, mode_t)
ON_DESCRIPTOR(int, futimens, ATTRIBUTES, (int f, const struct timespec t[2]), (f, t), f, -1, int, const struct timespec *)
ON_PATH(int, utimensat, ATTRIBUTES, (int d, const char *p, const struct timespec t[2], int g), (d, p, t, g), d, p, -1, int, const char *, const struct timespec *, int)
ON_DESCRIPTOR(int, fstat, STAT, (int f, struct stat *s), (f, s), f, -1, int, struct stat *)
ON_DESCRIPTOR(int, fstat64, STAT, (int f, struct stat64 *s), (f, s), f, -1, int, struct stat64 *)
ON_PATH(int, stat, STAT, (const char *p, struct stat *s), (p, s), AT_FDCWD, p, -1, const char *, struct stat *)
ON_PATH(int, stat64, STAT, (const char *p, struct stat64 *s), (p, s), AT_FDCWD, p, -1, const char *, struct stat64 *)
ON_PATH(int, lstat, STAT, (const char *p, struct stat *s), (p, s), AT_FDCWD, p, -1, const char *, struct stat *)
ON_PATH(int, lstat64, STAT, (const char *p, struct stat64 *s), (p, s), AT_FDCWD, p, -1, const char *, struct stat64 *)
ON_PATH(int, fstatat, STAT, (int d, const char *p, struct stat *s, int g), (d, p, s, g), d, p, -1, int, const char *, struct stat *, int)
ON_PATH(int, fstatat64, STAT, (int d, const char *p, struct stat64 *s, int g), (d, p, s, g), d, p, -1, int, const char *, struct stat64 *, int)
ON_PATH(int, statvfs, STAT, (const char *p, struct statvfs *s), (p, s), AT_FDCWD, p, -1, const char *, struct statvfs *)
ON_PATH(int, statvfs64, STAT, (const char *p, struct statvfs64 *s), (p, s), AT_FDCWD, p, -1, const char *, struct statvfs64 *)
ON_PATH(int, unlink, UNLINK, (const char *p), (p), AT_FDCWD, p, -1, const char *)
ON_PATH(int, unlinkat, UNLINK, (int d, const char *p, int g), (d, p, g), d, p, -1, int, const char *, int)
ON_PATH(int, rmdir, UNLINK, (const char *p), (p), AT_FDCWD, p, -1, const char *)
ON_PATH(int, rename, RENAME, (const char *a, const char *b), (a, b), AT_FDCWD, b, -1, const char *, const char *)
ON_PATH(int, renameat, RENAME, (int c, const char *a, int d, const char *b), (c, a, d, b), d, b, -1, int, const char *, int, const char *)
ON_PATH(int, renameat2, RENAME, (int c, const char *a, int d, const char *b, unsigned g), (c, a, d, b, g), d, b, -1, int, const char *, int, const char *, unsigned)
ON_PATH(int, link, RENAME, (const char *a, const char *b), (a, b), AT_FDCWD, b, -1, const char *, const char *)
ON_PATH(int, linkat, RENAME, (int c, const char *a, int d, const char *b, int g), (c, a, d, b, g), d, b, -1, int, const char *, int, const char *, int)
ON_PATH(int, mkdir, MKDIR, (const char *p, mode_t m), (p, m), AT_FDCWD, p, -1, const char *, mode_t)
ON_PATH(int, mkdirat, MKDIR, (int d, const char *p, mode_t m), (d, p, m), d, p, -1, int, const char *, mode_t)
ON_PATH(DIR *, opendir, LIST, (const char *p), (p), AT_FDCWD, p, NULL, const char *)
ON_DESCRIPTOR(DIR *, fdopendir, LIST, (int f), (f), f, NULL, int)
ON_DESCRIPTOR(struct dirent *, readdir, LIST, (DIR *d), (d), dirfd(d), NULL, DIR *)
ON_DESCRIPTOR(struct dirent64 *, readdir64, LIST, (DIR *d), (d), dirfd(d), NULL, DIR *)

/* These give their error as their value. */
int posix_fallocate(int f, off_t o, off_t n)
{
    REAL(int, "posix_fallocate", int, off_t, off_t);
    return turn_of(ALLOCATE, "posix_fallocate", f) ? failure : real(f, o, n);
}

int posix_fallocate64(int f, off64_t o, off64_t n)
{
    REAL(int, "posix_fallocate64", int, off64_t, off64_t);
    return turn_of(ALLOCATE, "posix_fallocate64", f) ? failure : real(f, o, n);
}

/* Mappings of no file are left alone. */
void *mmap(void *a, size_t n, int p, int g, int f, off_t o)
{
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
    if (f >= 0 && turn_of(MMAP, "mmap", f)) FAILED(MAP_FAILED);
    return real(a, n, p, g, f, o);
}

void *mmap64(void *a, size_t n, int p, int g, int f, off64_t o)
{
    REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
    if (f >= 0 && turn_of(MMAP, "mmap64", f)) FAILED(MAP_FAILED);
    return real(a, n, p, g, f, o);
}

/* What is written to and read from a socket counts apart. */
ssize_t write(int f, const void *b, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    int becomes = turn_of(WRITE, "write", f);
    if (!becomes && turn_of_socket(SEND, "write", f)) FAILED(-1);
    if (becomes == 2 && n > 1) return real(f, b, n / 2);
    if (becomes) FAILED(-1);
    return real(f, b, n);
}

ssize_t read(int f, void *b, size_t n)
{
    REAL(ssize_t, "read", int, void *, size_t);
    int becomes = turn_of(READ, "read", f);
    if (!becomes && turn_of_socket(RECEIVE, "read", f)) FAILED(-1);
    if (becomes == 2 && n > 1) return real(f, b, n / 2);
    if (becomes) FAILED(-1);
    return real(f, b, n);
}

ssize_t send(int f, const void *b, size_t n, int g)
{
    REAL(ssize_t, "send", int, const void *, size_t, int);
    if (turn_of_socket(SEND, "send", f)) FAILED(-1);
    return real(f, b, n, g);
}

ssize_t recv(int f, void *b, size_t n, int g)
{
    REAL(ssize_t, "recv", int, void *, size_t, int);
    if (turn_of_socket(RECEIVE, "recv", f)) FAILED(-1);
    return real(f, b, n, g);
}

#define MODE(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
#define KIND_OF(flags) ((flags) & O_CREAT ? CREATE : OPEN)

#define OPENS(name) \
    int name(const char *p, int flags, ...) { MODE(flags, mode) REAL(int, #name, const char *, int, ...); \
        if (turn_of_path(KIND_OF(flags), #name, AT_FDCWD, p)) FAILED(-1); \
        return real(p, flags, mode); }
#define OPENS_AT(name) \
    int name(int d, const char *p, int flags, ...) { MODE(flags, mode) REAL(int, #name, int, const char *, int, ...); \
        if (turn_of_path(KIND_OF(flags), #name, d, p)) FAILED(-1); \
        return real(d, p, flags, mode); }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

#define CONTROLS(name) \
    int name(int f, int command, ...) { \
        va_list more; va_start(more, command); void *argument = va_arg(more, void *); va_end(more); \
        REAL(int, #name, int, int, ...); \
        if ((command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW) \
            && turn_of(LOCK, #name, f)) FAILED(-1); \
        return real(f, command, argument); }
CONTROLS(fcntl)
CONTROLS(fcntl64)
