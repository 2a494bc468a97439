/* common/base/clock.h: time as a value. Nanoseconds. Any thread for the real clock; a fake clock is
 * owned by its test. mono never decreases; wall is Unix time. */
#ifndef COMMON_BASE_CLOCK_H
#define COMMON_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define CLOCK_NS_PER_MS INT64_C(1000000)
#define CLOCK_NS_PER_S INT64_C(1000000000)
#define CLOCK_NEVER INT64_MAX
/* 2200-01-01: the latest time that may stand for "now". The sum of it and any wait fits an int64.
 */
#define CLOCK_LATEST_NOW (INT64_C(7258118400) * CLOCK_NS_PER_S)

struct tm;

struct clock {
	int64_t (*mono)(const struct clock *c);
	int64_t (*wall)(const struct clock *c);
};

struct clock_fake {
	struct clock base;       /* first member */
	_Atomic int64_t mono_ns; /* its test moves it, other threads read it */
	_Atomic int64_t wall_ns;
};

const struct clock *clock_real(void);
void clock_fake_init(struct clock_fake *c, int64_t wall_ns); /* mono starts at 0 */
void clock_fake_advance(struct clock_fake *c, int64_t ns);
int64_t clock_mono(const struct clock *c);
int64_t clock_wall(const struct clock *c);

/* The earlier and the later of two times of the same clock. */
static inline int64_t clock_earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}
static inline int64_t clock_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Unix nanoseconds of a UTC date; before 1677 and after 2262 the earliest or latest representable
 * time. */
int64_t clock_of_utc(const struct tm *utc);

#define CLOCK_RFC3339_MAX 40
/* metav1.Time ("2026-01-02T15:04:05Z") and metav1.MicroTime ("...05.000000Z") of wall_ns, UTC. */
void clock_format_time(int64_t wall_ns, char out[CLOCK_RFC3339_MAX]);
void clock_format_micro(int64_t wall_ns, char out[CLOCK_RFC3339_MAX]);
/* RFC 3339 with optional fraction and Z or +hh:mm offset, bounded as by clock_of_utc; 0 or
 * -ERR_INVALID, *ret untouched then. */
int clock_parse_time(struct str text, int64_t *ret_wall_ns);
/* Go durations ("1h30m", "500ms", "0", "1.5s"); 0 or -ERR_INVALID. Negative ones are refused. */
int clock_parse_duration(struct str text, int64_t *ret_ns);

#endif
