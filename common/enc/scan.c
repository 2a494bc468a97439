#include "enc/scan.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/attrs.h"

static const char too_deep[] = "nested too deeply";

static const char *fail(struct scan_error *e, const char *at, const char *what)
{
	e->at = at;
	e->what = what;
	return NULL;
}

/* Bytes inside a string that need a look: quote, backslash, control, non-ASCII. */
static inline bool is_special(unsigned char c)
{
	return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

#ifdef __SSE2__
/* Sixteen bytes at a time: nearly all of a pod's text is plain string content. */
static inline const char *skip_plain(const char *p, const char *end)
{
	const __m128i quote = _mm_set1_epi8('"');
	const __m128i slash = _mm_set1_epi8('\\');
	const __m128i low = _mm_set1_epi8(0x20);

	while (end - p >= 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* A signed compare with 0x20 finds control bytes and those with the top bit. */
		__m128i bad = _mm_or_si128(
			_mm_cmplt_epi8(v, low),
			_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)));
		unsigned mask = (unsigned)_mm_movemask_epi8(bad);

		if (mask != 0) {
			return p + __builtin_ctz(mask);
		}
		p += 16;
	}
	while (p < end && !is_special((unsigned char)*p)) {
		p++;
	}
	return p;
}
#else
static inline const char *skip_plain(const char *p, const char *end)
{
	while (p < end && !is_special((unsigned char)*p)) {
		p++;
	}
	return p;
}
#endif

size_t scan_utf8(const char *p, const char *end)
{
	/* Allowed range of the second byte keeps out overlong forms, surrogates, > U+10FFFF. */
	unsigned char c = (unsigned char)*p, lo = 0x80, hi = 0xbf;
	size_t n;

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

/* Four hexadecimal digits at p, or -1. */
static int hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4) {
		return -1;
	}
	for (int i = 0; i < 4; i++) {
		char c = p[i];

		if (c >= '0' && c <= '9') {
			v = v * 16 + (c - '0');
		} else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
			v = v * 16 + ((c | 0x20) - 'a' + 10);
		} else {
			return -1;
		}
	}
	return v;
}

/* p is at the backslash; the result is behind the escape. */
static const char *scan_escape(const char *p, const char *end, struct scan_error *e)
{
	int high, low;

	if (end - p < 2) {
		return fail(e, end, "unterminated string");
	}
	if (p[1] != 'u') {
		/* memchr, since strchr would find the terminating NUL, too. */
		return memchr("\"\\/bfnrt", p[1], 8) != NULL
			       ? p + 2
			       : fail(e, p, "unknown escape in string");
	}
	high = hex4(p + 2, end);
	if (high < 0) {
		return fail(e, p, "bad \\u escape in string");
	}
	if (high < 0xd800 || high > 0xdfff) {
		return p + 6;
	}
	low = end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, end) : -1;
	if (high > 0xdbff || low < 0xdc00 || low > 0xdfff) {
		return fail(e, p, "lone surrogate in string");
	}
	return p + 12;
}

const char *scan_string(const char *p, const char *end, bool *ret_escaped, struct scan_error *e)
{
	bool escaped = false;
	size_t n;

	for (;;) {
		p = skip_plain(p, end);
		if (UNLIKELY(p == end)) {
			return fail(e, p, "unterminated string");
		}
		if (LIKELY(*p == '"')) {
			*ret_escaped = escaped;
			return p;
		}
		if (*p == '\\') {
			escaped = true;
			p = scan_escape(p, end, e);
			if (p == NULL) {
				return NULL;
			}
		} else if ((unsigned char)*p < 0x20) {
			return fail(e, p, "control character in string");
		} else {
			n = scan_utf8(p, end);
			if (n == 0) {
				return fail(e, p, "invalid UTF-8 in string");
			}
			p += n;
		}
	}
}

static inline bool is_digit(const char *p, const char *end)
{
	return p < end && *p >= '0' && *p <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
	while (is_digit(p, end)) {
		p++;
	}
	return p;
}

double scan_double(struct str s)
{
	char text[SCAN_NUMBER_MAX + 1];

	assert(s.len <= SCAN_NUMBER_MAX);
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	return strtod(text, NULL);
}

const char *scan_number(const char *p, const char *end, struct scan_error *e)
{
	const char *start = p;
	bool exponent = false;

	p += p < end && *p == '-';
	if (!is_digit(p, end)) {
		return fail(e, p, "digit expected");
	}
	p = *p == '0' ? p + 1 : skip_digits(p, end);
	if (is_digit(p, end)) {
		return fail(e, p, "number with a leading zero");
	}
	if (p < end && *p == '.') {
		if (!is_digit(++p, end)) {
			return fail(e, p, "digit expected");
		}
		p = skip_digits(p, end);
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		exponent = true;
		p++;
		p += p < end && (*p == '+' || *p == '-');
		if (!is_digit(p, end)) {
			return fail(e, p, "digit expected");
		}
		p = skip_digits(p, end);
	}
	if (p - start > SCAN_NUMBER_MAX) {
		return fail(e, start, "number is too long");
	}
	/* Without an exponent 63 digits cannot leave the range of double. */
	if (exponent && isinf(scan_double((struct str){ start, (size_t)(p - start) }))) {
		return fail(e, start, "number is out of range");
	}
	return p;
}

const char *scan_literal(const char *p, const char *end, const char *word, struct scan_error *e)
{
	size_t n = strlen(word);

	if ((size_t)(end - p) < n || memcmp(p, word, n) != 0) {
		return fail(e, p, "value expected");
	}
	return p + n;
}

static const char *scan_scalar(const char *p, const char *end, struct scan_error *e)
{
	bool escaped;

	switch (*p) {
	case '"':
		p = scan_string(p + 1, end, &escaped, e);
		return p == NULL ? NULL : p + 1;
	case 't':
		return scan_literal(p, end, "true", e);
	case 'f':
		return scan_literal(p, end, "false", e);
	case 'n':
		return scan_literal(p, end, "null", e);
	default:
		if (*p != '-' && (*p < '0' || *p > '9')) {
			return fail(e, p, "value expected");
		}
		return scan_number(p, end, e);
	}
}

/* From before a member name to before its value. */
static inline const char *scan_key(const char *p, const char *end, struct scan_error *e)
{
	bool escaped;

	p = scan_blank(p, end);
	if (UNLIKELY(p == end || *p != '"')) {
		return fail(e, p, "member name expected");
	}
	p = scan_string(p + 1, end, &escaped, e);
	if (UNLIKELY(p == NULL)) {
		return NULL;
	}
	p = scan_blank(p + 1, end);
	if (UNLIKELY(p == end || *p != ':')) {
		return fail(e, p, "':' expected");
	}
	return p + 1;
}

/* Behind a value: closes what ends here and moves over the comma to where the next value stands.
 * *level becomes 0 when the outermost value is complete. */
static inline const char *scan_after(const char *p, const char *end, const char *closer,
				     unsigned *level, struct scan_error *e)
{
	while (*level > 0) {
		p = scan_blank(p, end);
		if (UNLIKELY(p == end)) {
			return fail(e, p, "unexpected end of text");
		}
		if (*p == ',') {
			return closer[*level - 1] == '}' ? scan_key(p + 1, end, e) : p + 1;
		}
		if (UNLIKELY(*p != closer[*level - 1])) {
			return fail(e, p,
				    closer[*level - 1] == '}' ? "',' or '}' expected"
							      : "',' or ']' expected");
		}
		p++;
		--*level;
	}
	return p;
}

/* closer: room for depth brackets. */
static const char *scan_levels(const char *p, const char *end, char *closer, unsigned depth,
			       struct scan_error *e)
{
	unsigned level = 0;

	do {
		p = scan_blank(p, end);
		if (UNLIKELY(p == end)) {
			return fail(e, p, "unexpected end of text");
		}
		if (*p == '{' || *p == '[') {
			if (UNLIKELY(level == depth)) {
				return fail(e, p, too_deep);
			}
			closer[level++] = *p == '{' ? '}' : ']';
			p = scan_blank(p + 1, end);
			if (p == end || *p != closer[level - 1]) {
				p = closer[level - 1] == '}' ? scan_key(p, end, e) : p;
				if (UNLIKELY(p == NULL)) {
					return NULL;
				}
				continue;
			}
			p++;
			level--;
		} else {
			p = scan_scalar(p, end, e);
			if (UNLIKELY(p == NULL)) {
				return NULL;
			}
		}
		p = scan_after(p, end, closer, &level, e);
	} while (p != NULL && level > 0);
	return p;
}

/* Apart, since locals are initialised: few values need so much room. */
static NOINLINE const char *scan_deep(const char *p, const char *end, unsigned depth,
				      struct scan_error *e)
{
	char closer[SCAN_MAX_DEPTH];

	return scan_levels(p, end, closer, depth, e);
}

const char *scan_value(const char *p, const char *end, unsigned depth, struct scan_error *e)
{
	char closer[JDOC_MAX_DEPTH];
	const char *after;

	assert(depth <= SCAN_MAX_DEPTH);
	if (depth <= JDOC_MAX_DEPTH) {
		return scan_levels(p, end, closer, depth, e);
	}
	after = scan_levels(p, end, closer, JDOC_MAX_DEPTH, e);
	return after == NULL && e->what == too_deep ? scan_deep(p, end, depth, e) : after;
}

static size_t put_utf8(unsigned c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | (c >> 6));
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | (c >> 12));
		out[1] = (char)(0x80 | ((c >> 6) & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (c >> 18));
	out[1] = (char)(0x80 | ((c >> 12) & 0x3f));
	out[2] = (char)(0x80 | ((c >> 6) & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static size_t put_nul(char *out)
{
	memcpy(out, SCAN_NUL, 2);
	return 2;
}

size_t scan_unescape(struct str s, char *out)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *p = s.p, *end = s.p + s.len;
	size_t n = 0;
	unsigned c;

	while (p < end) {
		if (*p != '\\') {
			out[n++] = *p++;
		} else if (p[1] != 'u') {
			out[n++] = bytes[strchr(names, p[1]) - names];
			p += 2;
		} else {
			c = (unsigned)hex4(p + 2, end);
			p += 6;
			if (c >= 0xd800 && c <= 0xdfff) {
				c = 0x10000 + ((c - 0xd800) << 10) +
				    ((unsigned)hex4(p + 2, end) - 0xdc00);
				p += 6;
			}
			n += c == 0 ? put_nul(out + n) : put_utf8(c, out + n);
		}
	}
	return n;
}

void scan_position(const char *start, const char *at, size_t *ret_line, size_t *ret_column)
{
	const char *line = start, *nl;
	size_t n = 1;

	while ((nl = memchr(line, '\n', (size_t)(at - line))) != NULL) {
		line = nl + 1;
		n++;
	}
	*ret_line = n;
	*ret_column = (size_t)(at - line) + 1;
}
