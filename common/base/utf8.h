/* common/base/utf8.h: UTF-8 as RFC 3629 has it: no overlong form, no surrogate, nothing beyond
 * U+10FFFF. Any thread. */
#ifndef COMMON_BASE_UTF8_H
#define COMMON_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX 4                        /* bytes of one character */
#define UTF8_REPLACEMENT_CHARACTER 0xfffd /* in place of malformed bytes, as in Go */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"   /* its bytes */

/* Strings in memory end with a NUL, but JSON has \u0000, which the API server accepts. It is stored
 * as two bytes that valid UTF-8 never contains (the overlong form that Java uses in class files),
 * so that such a string equals no other. */
#define UTF8_NUL "\xc0\x80"

/* Length of the well-formed sequence at p (1..4, an ASCII byte included); 0: malformed, or p is the
 * end. */
size_t utf8_len(const char *p, const char *end);
/* Writes character c (<= U+10FFFF), U+0000 as UTF8_NUL; the number of bytes. */
size_t utf8_put(uint32_t c, char out[UTF8_MAX]);
/* The number of characters of well-formed text; UTF8_NUL is one. */
size_t utf8_count(const char *p, const char *end);
/* Whether the bytes at p are UTF8_NUL. */
static inline bool utf8_is_nul(const char *p, const char *end)
{
	return end - p >= 2 && p[0] == UTF8_NUL[0] && p[1] == UTF8_NUL[1];
}

#endif
