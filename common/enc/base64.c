#include "enc/base64.h"

#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct str bytes, struct strbuf *out)
{
	const unsigned char *p = (const unsigned char *)bytes.p;

	strbuf_reserve(out, (bytes.len + 2) / 3 * 4);
	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t left = bytes.len - i;
		uint32_t v = (uint32_t)p[i] << 16;
		char four[4];

		v |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
		v |= left > 2 ? (uint32_t)p[i + 2] : 0;
		four[0] = alphabet[v >> 18];
		four[1] = alphabet[(v >> 12) & 63];
		four[2] = left > 1 ? alphabet[(v >> 6) & 63] : '=';
		four[3] = left > 2 ? alphabet[v & 63] : '=';
		strbuf_add(out, four, sizeof(four));
	}
}

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z') {
		return c - 'A';
	}
	if (c >= 'a' && c <= 'z') {
		return c - 'a' + 26;
	}
	if (c >= '0' && c <= '9') {
		return c - '0' + 52;
	}
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Appends the bytes of the last, shorter group: n digits, then pad equal signs. */
static bool put_tail(uint32_t v, unsigned n, unsigned pad, struct strbuf *out)
{
	if (n == 0 && pad == 0) {
		return true;
	}
	if (n < 2 || n + pad != 4) {
		return false;
	}
	/* Bits that belong to no byte must be zero, so that each text has one meaning. */
	if ((n == 2 && (v & 0xf) != 0) || (n == 3 && (v & 3) != 0)) {
		return false;
	}
	if (n == 2) {
		strbuf_add_ch(out, (char)(v >> 4));
	} else {
		strbuf_add_ch(out, (char)(v >> 10));
		strbuf_add_ch(out, (char)(v >> 2));
	}
	return true;
}

int base64_decode(struct str text, struct strbuf *out, struct err *err)
{
	size_t before = out->len;
	uint32_t v = 0;
	unsigned n = 0, pad = 0;

	strbuf_reserve(out, text.len / 4 * 3 + 2);
	for (size_t i = 0; i < text.len; i++) {
		int d = value_of(text.p[i]);

		if (is_blank(text.p[i])) {
			continue;
		}
		if (text.p[i] == '=' && pad < 2) {
			pad++;
			continue;
		}
		if (d < 0 || pad > 0) {
			strbuf_truncate(out, before);
			return err_set(err, ERR_INVALID, "invalid base64 at byte %zu", i + 1);
		}
		v = (v << 6) | (uint32_t)d;
		if (++n == 4) {
			char three[3] = { (char)(v >> 16), (char)(v >> 8), (char)v };

			strbuf_add(out, three, sizeof(three));
			v = 0;
			n = 0;
		}
	}
	if (!put_tail(v, n, pad, out)) {
		strbuf_truncate(out, before);
		return err_set(err, ERR_INVALID, "invalid base64: it is cut off");
	}
	return 0;
}
