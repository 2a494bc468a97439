/* common/enc/scan.h: strict RFC 8259 scanner over text, shared by reader_of_text and jdoc_parse.
 * Functions move over one token or value and return the position behind it, or NULL with *e set.
 * Beyond the RFC these are refused, which the API server never sends, so that the tree and the pull
 * reader accept the same texts: invalid UTF-8, lone surrogates, numbers longer than SCAN_NUMBER_MAX
 * bytes or beyond the range of double, more than SCAN_MAX_DEPTH levels (as Go's decoder).
 *
 * The escape \u0000 is a character like any other to the API server. In memory, where strings end
 * with a NUL, it stands as SCAN_NUL: two bytes that no UTF-8 text holds, so a string with it equals
 * no other one, and json_text_quote writes the escape again. Any thread, no allocation. */
#ifndef COMMON_ENC_SCAN_H
#define COMMON_ENC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "enc/jdoc.h"

#define SCAN_NUMBER_MAX 63
#define SCAN_MAX_DEPTH 10000
#define SCAN_NUL "\xc0\x80" /* U+0000 in the overlong form, as Java has it in class files */

struct scan_error {
	const char *at;   /* where the text is wrong */
	const char *what; /* static text */
};

/* First byte at or after p that is not blank; end when there is none. */
static inline const char *scan_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
		p++;
	}
	return p;
}

/* p is behind the opening quote; the result is the closing quote. */
const char *scan_string(const char *p, const char *end, bool *ret_escaped, struct scan_error *e);
const char *scan_number(const char *p, const char *end, struct scan_error *e);
const char *scan_literal(const char *p, const char *end, const char *word, struct scan_error *e);
/* Any value, at most depth levels of arrays and objects (<= SCAN_MAX_DEPTH). */
const char *scan_value(const char *p, const char *end, unsigned depth, struct scan_error *e);
/* Bytes that scan_string has accepted, unescaped into out (at least s.len bytes); the length. */
size_t scan_unescape(struct str s, char *out);
/* Whether SCAN_NUL stands at p. */
static inline bool scan_is_nul(const char *p, const char *end)
{
	return end - p >= 2 && (unsigned char)p[0] == 0xc0 && (unsigned char)p[1] == 0x80;
}
/* A number that scan_number has accepted; HUGE_VAL when out of range. */
double scan_double(struct str s);
/* Line and column (in bytes, both from 1) of at. */
void scan_position(const char *start, const char *at, size_t *ret_line, size_t *ret_column);
/* Length of the well-formed UTF-8 sequence at p (2..4 for a lead byte >= 0x80); 0: malformed. */
size_t scan_utf8(const char *p, const char *end);

#endif
