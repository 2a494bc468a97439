/* test/lint/pure.h: included before everything else where decisions are made (listed in
 * pure.txt). Time, randomness, environment, I/O, threads and logging do not compile there.
 * Names without any other use are poisoned. Names that structs of ours use for members
 * (open, time, ...) are declared as errors, so that only calling the libc function fails. */
#ifndef TEST_LINT_PURE_H
#define TEST_LINT_PURE_H

/* First what pure code may include: their own text must not meet the poison. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PURE_REFUSES(what) __attribute__((error("pure code: " what)))

/* The real clock, the kernel's randomness and direct system calls: see above. The first declaration
 * must carry the attribute, so these stand before the headers that declare them. */
struct clock;
const struct clock *clock_real(void) PURE_REFUSES("now is an argument");
uint64_t rng_entropy(void) PURE_REFUSES("the seed is an argument");
long time(long *t) PURE_REFUSES("now is an argument");
int open(const char *path, int flags, ...) PURE_REFUSES("no I/O");
int close(int fd) PURE_REFUSES("no I/O");
ssize_t read(int fd, void *buf, size_t n) PURE_REFUSES("no I/O");
ssize_t write(int fd, const void *buf, size_t n) PURE_REFUSES("no I/O");

/* glibc makes macros of some of them when it checks buffers. */
#undef printf
#undef fprintf
#undef vprintf
#undef vfprintf
#undef fread

#pragma GCC poison sleep gettimeofday clock_gettime clock_nanosleep nanosleep usleep gmtime        \
	localtime
#pragma GCC poison rand rand_r srand random srandom drand48 lrand48 getrandom
#pragma GCC poison getenv secure_getenv setenv unsetenv putenv system popen
#pragma GCC poison socket accept4 sendmsg recvmsg epoll_wait
#pragma GCC poison pthread_create pthread_mutex_lock pthread_cond_wait
#pragma GCC poison printf fprintf vprintf vfprintf puts fputs putchar fputc perror fopen fdopen
#pragma GCC poison freopen fread fwrite fscanf scanf tmpfile opendir readdir openat unlink mkdir
#pragma GCC poison log_write log_enabled file_read_all file_write_atomic mpsc_push

#endif
