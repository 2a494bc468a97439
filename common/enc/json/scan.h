/* common/enc/json/scan.h: strict RFC 8259 scanner over text, shared by reader_of_text, jdoc_parse
 * and cut. Functions move over one token or value and return the position behind it, or NULL with
 * *e set. Beyond the RFC these are refused, which the API server never sends, so that the tree and
 * the pull reader accept the same texts: invalid UTF-8, numbers longer than SCAN_NUMBER_MAX bytes
 * or beyond the range of double, more than SCAN_MAX_DEPTH levels (as Go's decoder).
 *
 * Half of a surrogate pair ("\ud800") encodes no character. It is read as U+FFFD, like Go's decoder
 * in the API server does: text from users means the same to the API server, to headgatectl and to
 * the embedded server. The escape \u0000 is read as UTF8_NUL, which quote_json writes as the escape
 * again. Any thread, no allocation. */
#ifndef COMMON_ENC_JSON_SCAN_H
#define COMMON_ENC_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "enc/json/jdoc.h"

#define SCAN_NUMBER_MAX 63
#define SCAN_MAX_DEPTH 10000

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

/* p is after the opening quote; the result is the closing quote. */
const char *scan_string(const char *p, const char *end, bool *ret_escaped, struct scan_error *e);
const char *scan_number(const char *p, const char *end, struct scan_error *e);
const char *scan_literal(const char *p, const char *end, const char *word, struct scan_error *e);
/* Any value, at most depth levels of arrays and objects (<= SCAN_MAX_DEPTH). */
const char *scan_value(const char *p, const char *end, unsigned depth, struct scan_error *e);
/* p is at the backslash of an escape. */
const char *scan_escape(const char *p, const char *end, uint32_t *ret_char, struct scan_error *e);
/* Like scan_string, but finds the end without validating the contents; NULL: there is no closing
 * quote. */
const char *scan_string_end(const char *p, const char *end);
/* The text between two quotes, unescaped into out (at least s.len bytes). False: a broken escape;
 * this cannot happen for text accepted by scan_string. */
bool scan_unescape(struct str s, char *out, size_t *ret_len);
/* A number that scan_number has accepted; HUGE_VAL when out of range. */
double scan_double(struct str s);
/* Line and column (in bytes, both from 1) of at. */
void scan_position(const char *start, const char *at, size_t *ret_line, size_t *ret_column);

#endif
