#include "enc/json_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "enc/scan.h"

#define NUL_ESCAPE "\\u0000"
#define EXACT_INT 9007199254740992.0 /* 2^53 */

static void escape(struct strbuf *out, unsigned char c)
{
	switch (c) {
	case '"':
		strbuf_add(out, "\\\"", 2);
		break;
	case '\\':
		strbuf_add(out, "\\\\", 2);
		break;
	case '\n':
		strbuf_add(out, "\\n", 2);
		break;
	case '\r':
		strbuf_add(out, "\\r", 2);
		break;
	case '\t':
		strbuf_add(out, "\\t", 2);
		break;
	default:
		strbuf_printf(out, "\\u%04x", c);
	}
}

void json_text_quote(struct strbuf *out, struct str s)
{
	const char *p = s.p, *end = s.p + s.len, *run = s.p;
	size_t n;

	strbuf_add_ch(out, '"');
	while (p < end) {
		unsigned char c = (unsigned char)*p;

		if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
			p++;
			continue;
		}
		n = c >= 0x80 ? scan_utf8(p, end) : 0;
		if (n > 0) {
			p += n;
			continue;
		}
		strbuf_add(out, run, (size_t)(p - run));
		if (scan_is_nul(p, end)) {
			strbuf_add_c(out, NUL_ESCAPE);
			p++;
		} else if (c >= 0x80) {
			strbuf_add(out, "\xef\xbf\xbd", 3);
		} else {
			escape(out, c);
		}
		run = ++p;
	}
	if (p > run) {
		strbuf_add(out, run, (size_t)(p - run));
	}
	strbuf_add_ch(out, '"');
}

struct str json_text_with_nul(struct str text, struct strbuf *out)
{
	const char *p = text.p, *end = text.p + text.len, *run = p;

	if (memmem(text.p, text.len, NUL_ESCAPE, strlen(NUL_ESCAPE)) == NULL) {
		return text;
	}
	while ((p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		if (!str_has_prefix((struct str){ p, (size_t)(end - p) }, NUL_ESCAPE)) {
			p += 2;
			continue;
		}
		strbuf_add(out, run, (size_t)(p - run));
		strbuf_add_c(out, SCAN_NUL);
		p += strlen(NUL_ESCAPE);
		run = p;
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
	if (n == trunc(n) && fabs(n) <= EXACT_INT) {
		strbuf_printf(out, "%lld", (long long)n);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, n);
		if (strtod(text, NULL) == n) {
			break;
		}
	}
	strbuf_add_c(out, text);
}
