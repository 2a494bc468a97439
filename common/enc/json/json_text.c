#include "enc/json/json_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "enc/json/scan.h"

#define BEYOND_INT64 9223372036854775808.0 /* 2^63 */

/* cJSON ends a string at a NUL and refuses a lone surrogate. */
static bool is_unlike_cjson(uint32_t c)
{
	return c == 0 || c == UTF8_REPLACEMENT_CHARACTER;
}

struct str json_text_for_cjson(struct str text, struct strbuf *out)
{
	const char *p = text.p, *end = text.p + text.len, *run = p, *after;
	char bytes[UTF8_MAX];
	struct scan_error e;
	uint32_t c;

	while ((p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		after = scan_escape(p, end, &c, &e);
		assert(after != NULL);
		if (is_unlike_cjson(c)) {
			strbuf_add(out, run, (size_t)(p - run));
			strbuf_add(out, bytes, utf8_put(c, bytes));
			run = after;
		}
		p = after;
	}
	if (run == text.p) {
		return text;
	}
	strbuf_add(out, run, (size_t)(end - run));
	return strbuf_str(out);
}

void json_text_number(struct strbuf *out, double n)
{
	char text[40];

	if (!isfinite(n)) {
		strbuf_add_c(out, "null");
		return;
	}
	if (n == trunc(n) && n >= -BEYOND_INT64 && n < BEYOND_INT64) {
		strbuf_printf(out, "%lld", (long long)n);
		return;
	}
	/* The greatest int64, for which a share without bound stands (Kueue), was read as 2^63. */
	if (n == BEYOND_INT64) {
		strbuf_printf(out, "%" PRId64, INT64_MAX);
		return;
	}
	/* The shortest text that reads back as the same double: 17 digits always do. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, n);
		if (strtod(text, NULL) == n) {
			break;
		}
	}
	strbuf_add_c(out, text);
}
