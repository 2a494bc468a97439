#include "lib/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "obs/exposition.h"
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

void recorded_series(struct metric_registry *r, const char *title, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct str rest;

	exposition_render(r, &text);
	strbuf_printf(out, "== %s\n", title);
	rest = strbuf_str(&text);
	while (rest.p != NULL) {
		struct str line = str_next(&rest, '\n');

		if (line.len > 0 && line.p[0] != '#' && !str_has_prefix(line, "kueue_build_info") &&
		    memmem(line.p, line.len, "_bucket{", 8) == NULL) {
			strbuf_printf(out, STR_FMT "\n", STR_ARG(line));
		}
	}
}
