#include "base/str.h"

#include <math.h>
#include <stdlib.h>

#define DOUBLE_TEXT_MAX 128

bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

bool str_eq_c(struct str a, const char *b)
{
	return str_eq(a, str_of(b));
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n == 0 ? 0 : memcmp(a.p, b.p, n);

	if (c != 0) {
		return c < 0 ? -1 : 1;
	}
	return (a.len > b.len) - (a.len < b.len);
}

bool str_has_prefix(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return n <= s.len && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_has_suffix(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return n <= s.len && (n == 0 || memcmp(s.p + s.len - n, suffix, n) == 0);
}

bool str_streq(const char *a, const char *b)
{
	if (a == NULL || b == NULL) {
		return a == b;
	}
	return strcmp(a, b) == 0;
}

/* FNV-1a, then a final mix so that the low bits depend on all bytes. */
uint64_t str_hash(struct str s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < s.len; i++) {
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	}
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	return h;
}

struct str str_next(struct str *rest, char sep)
{
	struct str part = *rest;
	const char *at;

	if (rest->p == NULL) {
		return part;
	}
	at = rest->len == 0 ? NULL : memchr(rest->p, sep, rest->len);
	if (at == NULL) {
		*rest = (struct str){ NULL, 0 };
		return part;
	}
	part.len = (size_t)(at - part.p);
	rest->p = at + 1;
	rest->len -= part.len + 1;
	return part;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.len > 0 && is_blank(s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len > 0 && is_blank(s.p[s.len - 1])) {
		s.len--;
	}
	return s;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
	uint64_t n = 0;

	if (s.len == 0) {
		return false;
	}
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(s.p[i] - '0'), &n)) {
			return false;
		}
	}
	*ret = n;
	return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
	bool negative = s.len > 0 && s.p[0] == '-';
	uint64_t n;

	if (!str_to_u64(negative ? (struct str){ s.p + 1, s.len - 1 } : s, &n)) {
		return false;
	}
	if (n > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
		return false;
	}
	/* Negated as unsigned: INT64_MIN has no positive counterpart. */
	*ret = (int64_t)(negative ? 0 - n : n);
	return true;
}

static size_t skip_digits(const char *text, size_t i)
{
	while (text[i] >= '0' && text[i] <= '9') {
		i++;
	}
	return i;
}

/* [+-] digits [. digits] [e [+-] digits]; at least one digit before the exponent. */
static bool is_decimal(const char *text, size_t len)
{
	size_t i = text[0] == '+' || text[0] == '-' ? 1 : 0;
	size_t start = i;
	size_t digits;

	i = skip_digits(text, i);
	digits = i - start;
	if (text[i] == '.') {
		start = ++i;
		i = skip_digits(text, i);
		digits += i - start;
	}
	if (digits == 0) {
		return false;
	}
	if (text[i] == 'e' || text[i] == 'E') {
		i++;
		i += text[i] == '+' || text[i] == '-' ? 1 : 0;
		start = i;
		i = skip_digits(text, i);
		if (i == start) {
			return false;
		}
	}
	return i == len;
}

bool str_to_double(struct str s, double *ret)
{
	char text[DOUBLE_TEXT_MAX + 1];
	double d;

	if (s.len == 0 || s.len > DOUBLE_TEXT_MAX) {
		return false;
	}
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	/* strtod alone would also take blanks, hexadecimal, "inf" and "nan". */
	if (!is_decimal(text, s.len)) {
		return false;
	}
	d = strtod(text, NULL);
	if (!isfinite(d)) {
		return false;
	}
	*ret = d;
	return true;
}
