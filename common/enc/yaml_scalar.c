#include "enc/yaml_scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static bool is_one_of(struct str s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq_c(s, words[i])) {
			return true;
		}
	}
	return false;
}

static const char *const null_words[] = { "", "~", "null", "Null", "NULL" };
static const char *const true_words[] = { "true", "True", "TRUE" };
static const char *const false_words[] = { "false", "False", "FALSE" };
/* JSON has no numbers for these. */
static const char *const special_floats[] = { ".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF",
					      "-.inf", "-.Inf", "-.INF", ".nan",  ".NaN",  ".NAN" };
/* Booleans of YAML 1.1. */
static const char *const old_bools[] = { "y",  "Y",  "yes", "Yes", "YES", "n",   "N",   "no",
					 "No", "NO", "on",  "On",  "ON",  "off", "Off", "OFF" };

static struct str without_sign(struct str s)
{
	if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
		s.p++;
		s.len--;
	}
	return s;
}

static bool all_digits(struct str s, int base)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		int d = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;

		if (((c < '0' || c > '9') && ((c | 0x20) < 'a' || (c | 0x20) > 'f')) || d >= base) {
			return false;
		}
	}
	return s.len > 0;
}

/* The base of an integer and its digits; 0: not an integer. 0644 is octal, as in YAML 1.1:
 * Kubernetes' reader keeps that rule. */
static int int_base(struct str s, struct str *ret_digits)
{
	struct str digits = without_sign(s);
	int base = 10;

	if (digits.len > 2 && digits.p[0] == '0' && (digits.p[1] == 'x' || digits.p[1] == 'o')) {
		base = digits.p[1] == 'x' ? 16 : 8;
		digits.p += 2;
		digits.len -= 2;
	} else if (digits.len > 1 && digits.p[0] == '0' && all_digits(digits, 8)) {
		base = 8;
	}
	if (!all_digits(digits, base)) {
		return 0;
	}
	*ret_digits = digits;
	return base;
}

static double int_value(struct str digits, int base)
{
	double n = 0;

	if (base == 10) {
		struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;

		strbuf_add_str(&text, digits);
		return strtod(text.p, NULL);
	}
	for (size_t i = 0; i < digits.len; i++) {
		char c = digits.p[i];

		n = n * base + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return n;
}

static size_t count_digits(struct str s)
{
	size_t n = 0;

	while (n < s.len && s.p[n] >= '0' && s.p[n] <= '9') {
		n++;
	}
	return n;
}

static struct str drop(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.len - n };
}

static bool is_float(struct str text)
{
	struct str s = without_sign(text);
	size_t whole = count_digits(s), fraction = 0, n;

	s = drop(s, whole);
	if (s.len > 0 && s.p[0] == '.') {
		s = drop(s, 1);
		fraction = count_digits(s);
		s = drop(s, fraction);
	}
	if (whole + fraction == 0) {
		return false;
	}
	if (s.len > 0 && (s.p[0] == 'e' || s.p[0] == 'E')) {
		s = without_sign(drop(s, 1));
		n = count_digits(s);
		if (n == 0) {
			return false;
		}
		s = drop(s, n);
	}
	return s.len == 0;
}

static struct jdoc *number_or_null(double n)
{
	return isfinite(n) ? jdoc_new_num(n) : NULL;
}

struct jdoc *yaml_scalar_resolve(struct str text)
{
	struct strbuf copy CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct str digits;
	int base;

	if (is_one_of(text, null_words, ARRAY_LEN(null_words))) {
		return jdoc_new_null();
	}
	if (is_one_of(text, true_words, ARRAY_LEN(true_words))) {
		return jdoc_new_bool(true);
	}
	if (is_one_of(text, false_words, ARRAY_LEN(false_words))) {
		return jdoc_new_bool(false);
	}
	if (is_one_of(text, special_floats, ARRAY_LEN(special_floats))) {
		return NULL;
	}
	base = int_base(text, &digits);
	if (base != 0) {
		double n = int_value(digits, base);

		return number_or_null(text.p[0] == '-' ? -n : n);
	}
	if (is_float(text)) {
		strbuf_add_str(&copy, text);
		return number_or_null(strtod(copy.p, NULL));
	}
	return jdoc_new_str_n(text);
}

/* A date or timestamp (2026-01-02...), or 12:30:45, a base-60 number in YAML 1.1. */
static bool is_time_like(struct str s)
{
	size_t n = count_digits(s);

	if (n == 0 || n == s.len || (s.p[n] != ':' && (n != 4 || s.p[n] != '-'))) {
		return false;
	}
	for (size_t i = n; i < s.len; i++) {
		if ((s.p[i] < '0' || s.p[i] > '9') && memchr("-:.+TtZz ", s.p[i], 9) == NULL) {
			return false;
		}
	}
	return true;
}

static bool is_number_like(struct str text)
{
	struct strbuf plain CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct str s, digits;

	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] != '_') {
			strbuf_add_ch(&plain, text.p[i]);
		}
	}
	s = strbuf_str(&plain);
	digits = without_sign(s);
	return int_base(s, &digits) != 0 || is_float(s) ||
	       (str_has_prefix(digits, "0b") && all_digits(drop(digits, 2), 2));
}

/* Quotes whatever a reader of YAML 1.1 or 1.2 could take for something else than a string. */
bool yaml_scalar_needs_quotes(struct str text)
{
	return is_one_of(text, null_words, ARRAY_LEN(null_words)) ||
	       is_one_of(text, true_words, ARRAY_LEN(true_words)) ||
	       is_one_of(text, false_words, ARRAY_LEN(false_words)) ||
	       is_one_of(text, special_floats, ARRAY_LEN(special_floats)) ||
	       is_one_of(text, old_bools, ARRAY_LEN(old_bools)) || str_eq_c(text, "<<") ||
	       str_eq_c(text, "=") || is_time_like(text) || is_number_like(text);
}
