#include "base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"

#define SECONDS_PER_DAY INT64_C(86400)

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

/* Days since 1970-01-01 of a date in the proleptic Gregorian calendar. Years are counted from
 * March, so that the leap day is the last of its year; 400 years have 146097 days. */
static int64_t days_of(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

struct civil {
	int64_t year;
	int month, day, hour, minute, second, ns;
};

static struct civil civil_of(int64_t wall_ns)
{
	int64_t ns = wall_ns % CLOCK_NS_PER_S;
	int64_t s = wall_ns / CLOCK_NS_PER_S;
	int64_t days, rest, era, of_era, year_of_era, of_year, shifted;
	struct civil c;

	if (ns < 0) {
		ns += CLOCK_NS_PER_S;
		s--;
	}
	days = s / SECONDS_PER_DAY;
	rest = s % SECONDS_PER_DAY;
	if (rest < 0) {
		rest += SECONDS_PER_DAY;
		days--;
	}
	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	of_era = days - era * 146097;
	year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	shifted = (5 * of_year + 2) / 153;
	c.day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
	c.month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
	c.year = era * 400 + year_of_era + (c.month <= 2 ? 1 : 0);
	c.hour = (int)(rest / 3600);
	c.minute = (int)(rest / 60 % 60);
	c.second = (int)(rest % 60);
	c.ns = (int)ns;
	return c;
}

void clock_format_time(int64_t wall_ns, char out[CLOCK_RFC3339_MAX])
{
	struct civil c = civil_of(wall_ns);

	snprintf(out, CLOCK_RFC3339_MAX, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)c.year, c.month,
		 c.day, c.hour, c.minute, c.second);
}

void clock_format_micro(int64_t wall_ns, char out[CLOCK_RFC3339_MAX])
{
	struct civil c = civil_of(wall_ns);

	snprintf(out, CLOCK_RFC3339_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", (int)c.year,
		 c.month, c.day, c.hour, c.minute, c.second, c.ns / 1000);
}

/* Takes one byte c off the front. */
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

static int month_days(int year, int month)
{
	static const signed char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (leap && month == 2 ? 1 : 0);
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

int clock_parse_time(struct str text, int64_t *ret_wall_ns)
{
	int year, month, day, hour, minute, second, offset;
	int ns = 0;
	int64_t s, wall;

	if (!eat_digits(&text, 4, 9999, &year) || !eat(&text, '-') ||
	    !eat_digits(&text, 2, 12, &month) || !eat(&text, '-') ||
	    !eat_digits(&text, 2, 31, &day) || !eat(&text, 'T') ||
	    !eat_digits(&text, 2, 23, &hour) || !eat(&text, ':') ||
	    !eat_digits(&text, 2, 59, &minute) || !eat(&text, ':') ||
	    !eat_digits(&text, 2, 59, &second)) {
		return -ERR_INVALID;
	}
	if (eat(&text, '.') && !eat_fraction(&text, &ns)) {
		return -ERR_INVALID;
	}
	if (!eat_zone(&text, &offset) || text.len != 0) {
		return -ERR_INVALID;
	}
	if (month == 0 || day == 0 || day > month_days(year, month)) {
		return -ERR_INVALID;
	}
	s = days_of(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second -
	    offset;
	if (s < 0 && ns > 0) {
		/* Borrow a second, so that the product cannot overflow where the sum fits. */
		s++;
		ns -= (int)CLOCK_NS_PER_S;
	}
	if (__builtin_mul_overflow(s, CLOCK_NS_PER_S, &wall) ||
	    __builtin_add_overflow(wall, (int64_t)ns, &wall)) {
		wall = s < 0 ? INT64_MIN : INT64_MAX;
	}
	*ret_wall_ns = wall;
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
