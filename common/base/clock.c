#include "base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * CLOCK_NS_PER_S + ts.tv_nsec;
}

static int64_t real_mono(const struct clock *c)
{
	(void)c;
	return read_clock(CLOCK_MONOTONIC);
}

static int64_t real_wall(const struct clock *c)
{
	(void)c;
	return read_clock(CLOCK_REALTIME);
}

const struct clock *clock_real(void)
{
	static const struct clock real = { .mono = real_mono, .wall = real_wall };

	return &real;
}

static int64_t fake_mono(const struct clock *c)
{
	return ((const struct clock_fake *)(const void *)c)->mono_ns;
}

static int64_t fake_wall(const struct clock *c)
{
	return ((const struct clock_fake *)(const void *)c)->wall_ns;
}

void clock_fake_init(struct clock_fake *c, int64_t wall_ns)
{
	*c = (struct clock_fake){ .base = { .mono = fake_mono, .wall = fake_wall },
				  .wall_ns = wall_ns };
}

void clock_fake_advance(struct clock_fake *c, int64_t ns)
{
	c->mono_ns += ns;
	c->wall_ns += ns;
}

int64_t clock_mono(const struct clock *c)
{
	return c->mono(c);
}

int64_t clock_wall(const struct clock *c)
{
	return c->wall(c);
}

/* "2026-01-02T15:04:05"; its length, and the rest in nanoseconds. */
static size_t format_seconds(int64_t wall_ns, char out[CLOCK_RFC3339_MAX], int *ret_ns)
{
	time_t s = wall_ns / CLOCK_NS_PER_S;
	int ns = (int)(wall_ns % CLOCK_NS_PER_S);
	struct tm utc;

	/* Division rounds towards zero, but the nanoseconds of a time before 1970 count upwards as
	 * well. */
	if (ns < 0) {
		ns += (int)CLOCK_NS_PER_S;
		s--;
	}
	*ret_ns = ns;
	(void)gmtime_r(&s, &utc);
	return strftime(out, CLOCK_RFC3339_MAX, "%Y-%m-%dT%H:%M:%S", &utc);
}

void clock_format_time(int64_t wall_ns, char out[CLOCK_RFC3339_MAX])
{
	int ns;
	size_t n = format_seconds(wall_ns, out, &ns);

	memcpy(out + n, "Z", sizeof("Z"));
}

void clock_format_micro(int64_t wall_ns, char out[CLOCK_RFC3339_MAX])
{
	int ns;
	size_t n = format_seconds(wall_ns, out, &ns);

	snprintf(out + n, CLOCK_RFC3339_MAX - n, ".%06dZ", ns / 1000);
}

/* Consumes one byte if it is c. */
static bool eat(struct str *s, char c)
{
	if (s->len == 0 || s->p[0] != c) {
		return false;
	}
	s->p++;
	s->len--;
	return true;
}

static bool eat_digits(struct str *s, size_t count, int max, int *ret)
{
	uint64_t n;

	if (s->len < count || !str_to_u64((struct str){ s->p, count }, &n) || n > (uint64_t)max) {
		return false;
	}
	s->p += count;
	s->len -= count;
	*ret = (int)n;
	return true;
}

/* Fraction digits beyond nanoseconds are dropped. */
static bool eat_fraction(struct str *s, int *ret_ns)
{
	int scale = 100000000;
	int ns = 0;
	size_t i;

	for (i = 0; i < s->len && s->p[i] >= '0' && s->p[i] <= '9'; i++) {
		ns += (s->p[i] - '0') * scale;
		scale /= 10;
	}
	s->p += i;
	s->len -= i;
	*ret_ns = ns;
	return i > 0;
}

static bool eat_zone(struct str *s, int *ret_offset_s)
{
	int hours, minutes;
	bool west;

	if (eat(s, 'Z')) {
		*ret_offset_s = 0;
		return true;
	}
	west = eat(s, '-');
	if (!west && !eat(s, '+')) {
		return false;
	}
	if (!eat_digits(s, 2, 23, &hours) || !eat(s, ':') || !eat_digits(s, 2, 59, &minutes)) {
		return false;
	}
	*ret_offset_s = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return true;
}

/* Seconds and nanoseconds since 1970 as one number, clamped to the int64 range. */
static int64_t wall_of(int64_t s, int ns)
{
	int64_t wall;

	if (s < 0 && ns > 0) {
		/* Borrow a second, so that the product cannot overflow where the sum fits. */
		s++;
		ns -= (int)CLOCK_NS_PER_S;
	}
	if (__builtin_mul_overflow(s, CLOCK_NS_PER_S, &wall) ||
	    __builtin_add_overflow(wall, (int64_t)ns, &wall)) {
		return s < 0 ? INT64_MIN : INT64_MAX;
	}
	return wall;
}

int64_t clock_of_utc(const struct tm *utc)
{
	struct tm copy = *utc;

	return wall_of(timegm(&copy), 0);
}

/* Seconds since 1970; false: the date does not exist. */
static bool seconds_of(struct tm *utc, int64_t *ret)
{
	const int day = utc->tm_mday;

	*ret = timegm(utc);
	/* timegm normalizes: February 30 becomes a day in March. */
	return utc->tm_mday == day;
}

/* "2026-01-02T15:04:05"; timegm takes months from 0 and years from 1900. There are no leap seconds,
 * as in Go. */
static bool eat_civil(struct str *s, struct tm *ret)
{
	struct tm c = { 0 };

	if (!eat_digits(s, 4, 9999, &c.tm_year) || !eat(s, '-') ||
	    !eat_digits(s, 2, 12, &c.tm_mon) || !eat(s, '-') || !eat_digits(s, 2, 31, &c.tm_mday) ||
	    !eat(s, 'T') || !eat_digits(s, 2, 23, &c.tm_hour) || !eat(s, ':') ||
	    !eat_digits(s, 2, 59, &c.tm_min) || !eat(s, ':') || !eat_digits(s, 2, 59, &c.tm_sec) ||
	    c.tm_mon == 0) {
		return false;
	}
	c.tm_year -= 1900;
	c.tm_mon--;
	*ret = c;
	return true;
}

int clock_parse_time(struct str text, int64_t *ret_wall_ns)
{
	int ns = 0, offset;
	int64_t s;
	struct tm civil;

	if (!eat_civil(&text, &civil) || (eat(&text, '.') && !eat_fraction(&text, &ns)) ||
	    !eat_zone(&text, &offset) || text.len != 0 || !seconds_of(&civil, &s)) {
		return -ERR_INVALID;
	}
	*ret_wall_ns = wall_of(s - offset, ns);
	return 0;
}

/* The unit at the front, or 0. */
static int64_t eat_unit(struct str *s)
{
	/* Longer spellings before their prefixes; both code points of the micro sign. */
	static const struct {
		const char *text;
		int64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "\xc2\xb5s", 1000 },
		{ "\xce\xbcs", 1000 },
		{ "ms", CLOCK_NS_PER_MS },
		{ "s", CLOCK_NS_PER_S },
		{ "m", 60 * CLOCK_NS_PER_S },
		{ "h", 3600 * CLOCK_NS_PER_S },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (str_has_prefix(*s, units[i].text)) {
			s->p += strlen(units[i].text);
			s->len -= strlen(units[i].text);
			return units[i].ns;
		}
	}
	return 0;
}

/* One "12.5m"; adds to *sum. */
static bool eat_term(struct str *s, int64_t *sum)
{
	int64_t whole = 0, fraction = 0, scale = 1, unit, part;
	size_t digits = 0;

	for (; s->len > 0 && s->p[0] >= '0' && s->p[0] <= '9'; s->p++, s->len--, digits++) {
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (int64_t)(s->p[0] - '0'), &whole)) {
			return false;
		}
	}
	if (eat(s, '.')) {
		for (; s->len > 0 && s->p[0] >= '0' && s->p[0] <= '9'; s->p++, s->len--, digits++) {
			/* No unit is longer than 10^13 ns: further digits cannot matter. */
			if (scale < INT64_C(1000000000000000)) {
				fraction = fraction * 10 + (s->p[0] - '0');
				scale *= 10;
			}
		}
	}
	unit = digits == 0 ? 0 : eat_unit(s);
	if (unit == 0) {
		return false;
	}
	part = (int64_t)((__int128)fraction * unit / scale);
	return !__builtin_mul_overflow(whole, unit, &whole) &&
	       !__builtin_add_overflow(whole, part, &whole) &&
	       !__builtin_add_overflow(*sum, whole, sum);
}

int clock_parse_duration(struct str text, int64_t *ret_ns)
{
	int64_t sum = 0;

	eat(&text, '+');
	if (str_eq_c(text, "0")) {
		*ret_ns = 0;
		return 0;
	}
	if (text.len == 0) {
		return -ERR_INVALID;
	}
	while (text.len > 0) {
		if (!eat_term(&text, &sum)) {
			return -ERR_INVALID;
		}
	}
	*ret_ns = sum;
	return 0;
}
