/* common/enc/scan.h: strict RFC 8259 scanner over text, shared by reader_of_text and jdoc_parse.
 * Functions move over one token or value and return the position behind it, or NULL with *e set.
 * Beyond the RFC these are refused, so that the tree and the pull reader accept the same texts:
 * invalid UTF-8, lone surrogates, NUL in strings, numbers longer than SCAN_NUMBER_MAX bytes or
 * beyond the range of double. Any thread, no allocation. */
#ifndef COMMON_ENC_SCAN_H
#define COMMON_ENC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "enc/jdoc.h"

#define SCAN_NUMBER_MAX 63

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
/* Any value, at most depth levels of arrays and objects (<= JDOC_MAX_DEPTH). */
const char *scan_value(const char *p, const char *end, unsigned depth, struct scan_error *e);
/* Bytes that scan_string has accepted, unescaped into out (at least s.len bytes); the length. */
size_t scan_unescape(struct str s, char *out);
/* A number that scan_number has accepted; HUGE_VAL when out of range. */
double scan_double(struct str s);
/* Line and column (in bytes, both from 1) of at. */
void scan_position(const char *start, const char *at, size_t *ret_line, size_t *ret_column);
/* Length of the well-formed UTF-8 sequence at p (2..4 for a lead byte >= 0x80); 0: malformed. */
size_t scan_utf8(const char *p, const char *end);

#endif
