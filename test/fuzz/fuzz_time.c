/* RFC 3339: whatever is accepted survives a round trip. */
#include <stdlib.h>

#include "base/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char out[CLOCK_RFC3339_MAX];
	int64_t ns, back;

	if (clock_parse_time((struct str){ (const char *)data, size }, &ns) < 0) {
		return 0;
	}
	clock_format_micro(ns, out);
	if (clock_parse_time(str_of(out), &back) < 0 || back > ns || ns - back >= 1000) {
		abort();
	}
	return 0;
}
