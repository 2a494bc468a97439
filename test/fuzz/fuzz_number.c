/* Numbers: what is accepted as an integer reads back the same, and is a double as well. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { (const char *)data, size };
	char text[32];
	uint64_t u;
	int64_t i, back;
	double d;

	if (str_to_u64(s, &u) && u <= INT64_MAX && (!str_to_i64(s, &i) || (uint64_t)i != u)) {
		abort();
	}
	if (str_to_i64(s, &i)) {
		snprintf(text, sizeof(text), "%" PRId64, i);
		if (!str_to_i64(str_of(text), &back) || back != i) {
			abort();
		}
		if (size <= 128 && (!str_to_double(s, &d) || d != (double)i)) {
			abort();
		}
	}
	if (str_to_double(s, &d) && !(d - d == 0)) {
		abort(); /* not finite */
	}
	return 0;
}
