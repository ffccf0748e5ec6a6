// A slower disk, preloaded into a process: each fsync, fdatasync and write to a file opened with O_DSYNC takes
// SLOW_SYNC_US microseconds longer. Syncs that wait at the same time wait together, as flushes of one device do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FILES 65536

static unsigned char synced[FILES];

static void wait_for_disk(void) {
  static long us = -1;
  if (us < 0) us = getenv("SLOW_SYNC_US") ? atol(getenv("SLOW_SYNC_US")) : 0;
  struct timespec time = {us / 1000000, us % 1000000 * 1000};
  if (us > 0) nanosleep(&time, NULL);
}

static int note(int fd, int flags) {
  if (fd >= 0 && fd < FILES) synced[fd] = (flags & O_DSYNC) != 0;
  return fd;
}

static void *next(void **known, const char *name) {
  if (*known == NULL) *known = dlsym(RTLD_NEXT, name);
  return *known;
}

#define OPEN(name)                                                                                   \
  int name(const char *path, int flags, ...) {                                                       \
    static void *known;                                                                              \
    va_list rest;                                                                                    \
    va_start(rest, flags);                                                                           \
    int mode = va_arg(rest, int);                                                                    \
    va_end(rest);                                                                                    \
    return note(((int (*)(const char *, int, ...))next(&known, #name))(path, flags, mode), flags);   \
  }
OPEN(open)
OPEN(open64)

#define SYNC(name)                                    \
  int name(int fd) {                                  \
    static void *known;                               \
    wait_for_disk();                                  \
    return ((int (*)(int))next(&known, #name))(fd);   \
  }
SYNC(fsync)
SYNC(fdatasync)

#define PWRITE(name)                                                                              \
  ssize_t name(int fd, const void *bytes, size_t length, off_t at) {                              \
    static void *known;                                                                           \
    if (fd >= 0 && fd < FILES && synced[fd]) wait_for_disk();                                     \
    return ((ssize_t(*)(int, const void *, size_t, off_t))next(&known, #name))(fd, bytes, length, at); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)
