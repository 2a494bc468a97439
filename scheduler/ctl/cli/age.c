#include "scheduler/ctl/cli/age.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

#define MINUTE INT64_C(60)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define YEAR (365 * DAY)

/* As kubectl writes ages (HumanDuration): for spans below each limit, the one or two units in
 * which they are written; a second unit of 0 is left out. */
static const struct {
	int64_t below, unit, rest;
	const char *unit_name, *rest_name;
} rows[] = {
	{ 2 * MINUTE, 1, 0, "s", "" },    { 10 * MINUTE, MINUTE, 1, "m", "s" },
	{ 3 * HOUR, MINUTE, 0, "m", "" }, { 8 * HOUR, HOUR, MINUTE, "h", "m" },
	{ 2 * DAY, HOUR, 0, "h", "" },    { 8 * DAY, DAY, HOUR, "d", "h" },
	{ 2 * YEAR, DAY, 0, "d", "" },    { 8 * YEAR, YEAR, DAY, "y", "d" },
	{ INT64_MAX, YEAR, 0, "y", "" },
};

const char *age_format(int64_t ns, char out[AGE_MAX])
{
	/* An object from the future has the clock of another machine: 0s. */
	int64_t s = ns > 0 ? ns / CLOCK_NS_PER_S : 0, rest;
	size_t i = 0;

	while (s >= rows[i].below) {
		i++;
	}
	rest = rows[i].rest == 0 ? 0 : s % rows[i].unit / rows[i].rest;
	if (rest == 0) {
		snprintf(out, AGE_MAX, "%" PRId64 "%s", s / rows[i].unit, rows[i].unit_name);
	} else {
		snprintf(out, AGE_MAX, "%" PRId64 "%s%" PRId64 "%s", s / rows[i].unit,
			 rows[i].unit_name, rest, rows[i].rest_name);
	}
	return out;
}
