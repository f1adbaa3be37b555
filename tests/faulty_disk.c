/* A disk that fails now and then: preloaded into a process, it makes some writes, flushes, renames and removals below a folder fail or
   come short, as a real disk's do. FAULTY_BELOW is the folder, FAULTY_SEED what decides, FAULTY_ONE_OF how many calls there are to one
   fault, FAULTY_LOG where each fault is told of; nothing fails unless the file FAULTY_WHILE is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static atomic_ulong calls;

/* A number from a seed and the count of calls, by splitmix64: the same calls fail alike. */
static uint64_t drawn(void) {
    const char *seed = getenv("FAULTY_SEED");
    uint64_t z = (seed ? strtoull(seed, NULL, 10) : 0) + 0x9e3779b97f4a7c15u * (1 + atomic_fetch_add(&calls, 1));
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void tell(const char *what, const char *error, const char *path) {
    const char *log = getenv("FAULTY_LOG");
    int saved = errno, fd = log ? open(log, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (fd >= 0) {
        dprintf(fd, "%s %s %s\n", what, error, path); /* not below the folder: it does not fail */
        close(fd);
    }
    errno = saved;
}

/* Which of `kinds` faults befalls a call, from 1; 0 for none. */
static int fault(const char *path, int kinds) {
    const char *below = getenv("FAULTY_BELOW"), *one_of = getenv("FAULTY_ONE_OF"), *when = getenv("FAULTY_WHILE");
    if (!below || !one_of || !when || !path || strncmp(path, below, strlen(below)) || access(when, F_OK)) return 0;
    uint64_t number = drawn();
    return number % strtoull(one_of, NULL, 10) ? 0 : 1 + (int)((number >> 40) % (uint64_t)kinds);
}

static int failing(const char *what, const char *path, int error, const char *name) {
    tell(what, name, path);
    errno = error;
    return -1;
}

static const char *path_of(int fd, char *place) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, place, PATH_MAX - 1);
    if (length < 0) return NULL;
    place[length] = 0;
    return place;
}

ssize_t write(int fd, const void *from, size_t count) {
    REAL(write);
    char place[PATH_MAX];
    int saved = errno;
    const char *path = path_of(fd, place);
    int which = fault(path, 3);
    errno = saved;
    if (which == 1) return failing("write", path, ENOSPC, "ENOSPC");
    if (which == 2) return failing("write", path, EIO, "EIO");
    if (which == 3 && count > 1) {
        tell("write", "short", path);
        count /= 2;
    }
    return real(fd, from, count);
}

static int flushed(int fd, int (*real)(int)) {
    char place[PATH_MAX];
    int saved = errno;
    const char *path = path_of(fd, place);
    int which = fault(path, 2);
    errno = saved;
    if (which == 1) return failing("fsync", path, ENOSPC, "ENOSPC");
    if (which == 2) return failing("fsync", path, EIO, "EIO");
    return real(fd);
}

int fsync(int fd) {
    REAL(fsync);
    return flushed(fd, real);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    return flushed(fd, real);
}

static int changed(const char *what, const char *path) {
    int saved = errno, which = fault(path, 3);
    errno = saved;
    if (which == 1) return failing(what, path, ENOSPC, "ENOSPC");
    if (which == 2) return failing(what, path, EIO, "EIO");
    if (which == 3) return failing(what, path, EROFS, "EROFS");
    return 0;
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return changed("rename", to) ? -1 : real(from, to);
}

int unlink(const char *path) {
    REAL(unlink);
    return changed("unlink", path) ? -1 : real(path);
}
