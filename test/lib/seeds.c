#include "lib/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

bool seeds_parse(const char *text, struct seeds *ret)
{
	const char *dots = strstr(text, "..");

	*ret = (struct seeds){ .usual = false };
	return dots != NULL &&
	       str_to_u64((struct str){ text, (size_t)(dots - text) }, &ret->first) &&
	       str_to_u64(str_of(dots + 2), &ret->last) && ret->first <= ret->last;
}

struct seeds seeds_of_run(uint64_t usual)
{
	const char *range = getenv("SEEDS");
	struct seeds s = { .first = 1, .last = usual, .usual = true };

	if (range != NULL && !seeds_parse(range, &s)) {
		fprintf(stderr, "SEEDS=%s is not FIRST..LAST\n", range);
		exit(2);
	}
	return s;
}

struct seeds seeds_of_sampled_run(uint64_t usual)
{
	const char *sample = getenv("FLEET_WORLDS");
	uint64_t n = usual;
	struct seeds s;

	if (sample != NULL && (!str_to_u64(str_of(sample), &n) || n == 0)) {
		fprintf(stderr, "FLEET_WORLDS=%s is not a number of worlds\n", sample);
		exit(2);
	}
	s = seeds_of_run(n);
	s.usual = s.usual && n >= usual;
	return s;
}
