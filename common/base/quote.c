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

/* U+0080 to U+009F: some terminals obey them as they obey ESC. */
static bool is_latin_control(const char *p, size_t n)
{
	return n == 2 && (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] < 0xa0;
}

void quote_plain(struct strbuf *out, struct str s)
{
	for (size_t i = 0; i < s.len;) {
		unsigned char c = (unsigned char)s.p[i];
		size_t n = c < 0x80 ? 1 : utf8_len(s.p + i, s.p + s.len);

		if (utf8_is_nul(s.p + i, s.p + s.len)) {
			escape(out, '\0');
			n = 2;
		} else if (c < 0x80 && (is_plain(c) || c == '"' || c == '\\')) {
			strbuf_add_ch(out, (char)c);
		} else if (c < 0x80) {
			escape(out, c);
		} else if (n == 0) {
			strbuf_add_c(out, UTF8_REPLACEMENT);
		} else if (is_latin_control(s.p + i, n)) {
			escape(out, (unsigned char)s.p[i + 1]);
		} else {
			strbuf_add(out, s.p + i, n);
		}
		i += n == 0 ? 1 : n;
	}
}
