/* Go durations: nothing negative, and more text never means less time. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_finish) struct strbuf longer = STRBUF_INIT;
	int64_t ns, more;

	if (clock_parse_duration((struct str){ (const char *)data, size }, &ns) < 0) {
		return 0;
	}
	if (ns < 0) {
		abort();
	}
	strbuf_add(&longer, data, size);
	strbuf_add_c(&longer, "1ns");
	if (clock_parse_duration(strbuf_str(&longer), &more) == 0 && more != ns + 1) {
		abort();
	}
	return 0;
}
