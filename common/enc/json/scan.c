#include "enc/json/scan.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/attrs.h"
#include "base/utf8.h"

static const char too_deep[] = "nested too deeply";

static const char *fail(struct scan_error *e, const char *at, const char *what)
{
	e->at = at;
	e->what = what;
	return NULL;
}

/* Bytes inside a string that end a plain run: quote, backslash, control, non-ASCII. */
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

const char *scan_escape(const char *p, const char *end, uint32_t *ret_char, struct scan_error *e)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *name;
	int high, low;

	if (end - p < 2) {
		return fail(e, end, "unterminated string");
	}
	if (p[1] != 'u') {
		/* memchr, because strchr would also find the terminating NUL. */
		name = memchr(names, p[1], sizeof(names) - 1);
		if (name == NULL) {
			return fail(e, p, "unknown escape in string");
		}
		*ret_char = (uint32_t)bytes[name - names];
		return p + 2;
	}
	high = hex4(p + 2, end);
	if (high < 0) {
		return fail(e, p, "bad \\u escape in string");
	}
	*ret_char = (uint32_t)high;
	if (high < 0xd800 || high > 0xdfff) {
		return p + 6;
	}
	*ret_char = UTF8_REPLACEMENT_CHARACTER;
	low = end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, end) : -1;
	if (high > 0xdbff || low < 0xdc00 || low > 0xdfff) {
		return p + 6;
	}
	*ret_char = 0x10000 + (((uint32_t)high - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
	return p + 12;
}

/* A function of its own: the address of a local would cost scan_string a stack guard for each
 * string. */
static NOINLINE const char *skip_escape(const char *p, const char *end, struct scan_error *e)
{
	uint32_t c;

	return scan_escape(p, end, &c, e);
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
			p = skip_escape(p, end, e);
			if (p == NULL) {
				return NULL;
			}
		} else if ((unsigned char)*p < 0x20) {
			return fail(e, p, "control character in string");
		} else {
			n = utf8_len(p, end);
			if (n == 0) {
				return fail(e, p, "invalid UTF-8 in string");
			}
			p += n;
		}
	}
}

const char *scan_string_end(const char *p, const char *end)
{
	for (;;) {
		p = skip_plain(p, end);
		if (UNLIKELY(p == end)) {
			return NULL;
		}
		if (LIKELY(*p == '"')) {
			return p;
		}
		p += *p == '\\' && p + 1 < end ? 2 : 1;
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

/* Moves from a member name to its value. */
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

/* After a value: closes the arrays and objects that end here, and moves over the comma to the next
 * value. *level becomes 0 when the outermost value is complete. */
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

/* A value with all that is in it. The closing brackets that are still due stand in `closer` (room
 * for `depth` of them) instead of on the stack of a recursion, which a text of many brackets would
 * exhaust. Each round:
 *   1. moves into an array or object, to its first value; an empty one is complete at once;
 *   2. or moves over a scalar;
 *   3. after a complete value, closes what ends there and moves to the next value. */
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

/* A function of its own, since locals are initialised and few values need so much room. */
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

/* The result is never longer than s: an escape of 2 bytes gives 1, one of 6 gives 3 at most, a pair
 * of 12 gives 4. */
bool scan_unescape(struct str s, char *out, size_t *ret_len)
{
	const char *p = s.p, *end = s.p + s.len;
	struct scan_error e;
	uint32_t c;
	size_t n = 0;

	while (p < end) {
		if (*p != '\\') {
			out[n++] = *p++;
			continue;
		}
		p = scan_escape(p, end, &c, &e);
		if (p == NULL) {
			return false;
		}
		n += utf8_put(c, out + n);
	}
	*ret_len = n;
	return true;
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
