#include "base/quote.h"

#include "base/strbuf.h"
#include "base/utf8.h"

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

static inline bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void quote_json(struct strbuf *out, struct str s)
{
	const char *p = s.p, *end = s.p + s.len, *run = s.p;
	size_t n;

	strbuf_add_ch(out, '"');
	while (p < end) {
		unsigned char c = (unsigned char)*p;

		if (is_plain(c)) {
			p++;
			continue;
		}
		n = c >= 0x80 ? utf8_len(p, end) : 0;
		if (n > 0) {
			p += n;
			continue;
		}
		strbuf_add(out, run, (size_t)(p - run));
		if (utf8_is_nul(p, end)) {
			escape(out, '\0');
			p++;
		} else if (c >= 0x80) {
			strbuf_add_c(out, UTF8_REPLACEMENT);
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
