#include "lib/recorded.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "process/file.h"

#define MAX_BYTES (1u << 20)

void recorded_check(const char *path, const struct strbuf *got)
{
	CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
	struct str is = strbuf_str(got), was;

	if (getenv("WRITE_OUTPUTS") != NULL) {
		assert_int_equal(file_write_atomic(path, is, 0644, NULL), 0);
	}
	assert_int_equal(file_read_all(path, MAX_BYTES, &want, NULL), 0);
	was = strbuf_str(&want);
	for (unsigned line = 1; is.p != NULL || was.p != NULL; line++) {
		struct str a = str_next(&is, '\n'), b = str_next(&was, '\n');

		if (!str_eq(a, b)) {
			fail_msg("%s:%u: is \"" STR_FMT "\", was \"" STR_FMT "\"", path, line,
				 STR_ARG(a), STR_ARG(b));
		}
	}
}
