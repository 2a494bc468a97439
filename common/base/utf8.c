#include "base/utf8.h"

#include <string.h>

size_t utf8_len(const char *p, const char *end)
{
	/* The range of the second byte keeps out overlong forms, surrogates and > U+10FFFF. */
	unsigned char c = p < end ? (unsigned char)*p : 0xff, lo = 0x80, hi = 0xbf;
	size_t n;

	if (c < 0x80) {
		return 1;
	}
	if (c >= 0xc2 && c <= 0xdf) {
		n = 2;
	} else if (c >= 0xe0 && c <= 0xef) {
		n = 3;
		lo = c == 0xe0 ? 0xa0 : 0x80;
		hi = c == 0xed ? 0x9f : 0xbf;
	} else if (c >= 0xf0 && c <= 0xf4) {
		n = 4;
		lo = c == 0xf0 ? 0x90 : 0x80;
		hi = c == 0xf4 ? 0x8f : 0xbf;
	} else {
		return 0;
	}
	if ((size_t)(end - p) < n || (unsigned char)p[1] < lo || (unsigned char)p[1] > hi) {
		return 0;
	}
	for (size_t i = 2; i < n; i++) {
		if (((unsigned char)p[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	return n;
}

size_t utf8_count(const char *p, const char *end)
{
	size_t n = 0;

	/* All bytes of a sequence but its first one continue it. */
	for (; p < end; p++) {
		n += ((unsigned char)*p & 0xc0) != 0x80;
	}
	return n;
}

size_t utf8_put(uint32_t c, char out[UTF8_MAX])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	if (c == 0) {
		memcpy(out, UTF8_NUL, 2);
		return 2;
	}
	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	out[0] = (char)(lead[n] | c);
	return n;
}
