#include "enc/quantity.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

#define NANO ((__int128)1000000000)
#define NANO_MAX ((__int128)INT64_MAX * NANO)
#define NANO_DIGITS 28 /* NANO_MAX has this many */
#define EXPONENT_CAP 10000

/* A parsed quantity: digits before and after the point, and the meaning of the suffix. */
struct parts {
	bool negative;
	struct str whole, fraction;
	int exponent; /* of ten, or of two when binary */
	bool binary;
	enum quantity_format format;
};

static const char si_suffix[] = "num kMGTPE"; /* from 10^-9 in steps of three */
static const char binary_suffix[] = "KMGTPE"; /* from 2^10 in steps of ten */

static struct str eat_digits(struct str *s)
{
	struct str digits = { s->p, 0 };

	while (digits.len < s->len && s->p[digits.len] >= '0' && s->p[digits.len] <= '9') {
		digits.len++;
	}
	s->p += digits.len;
	s->len -= digits.len;
	return digits;
}

/* "e3", "E-6": after the letter a sign is allowed and a digit required. */
static bool parse_exponent(struct str s, struct parts *p)
{
	bool negative = s.len > 0 && s.p[0] == '-';
	struct str digits;
	int n = 0;

	if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
		s.p++;
		s.len--;
	}
	digits = eat_digits(&s);
	if (digits.len == 0 || s.len > 0) {
		return false;
	}
	for (size_t i = 0; i < digits.len; i++) {
		n = n * 10 + (digits.p[i] - '0');
		/* Beyond this the value is capped or rounds to one nano unit in any case. */
		n = n > EXPONENT_CAP ? EXPONENT_CAP : n;
	}
	p->exponent = negative ? -n : n;
	p->format = QUANTITY_DECIMAL_EXPONENT;
	return true;
}

static bool parse_suffix(struct str s, struct parts *p)
{
	const char *at;

	p->format = QUANTITY_DECIMAL_SI;
	if (s.len == 0) {
		return true;
	}
	if (s.len == 2 && s.p[1] == 'i') {
		at = memchr(binary_suffix, s.p[0], sizeof(binary_suffix) - 1);
		if (at == NULL) {
			return false;
		}
		p->binary = true;
		p->format = QUANTITY_BINARY_SI;
		p->exponent = 10 * (int)(at - binary_suffix + 1);
		return true;
	}
	if (s.len == 1) {
		at = s.p[0] == ' ' ? NULL : memchr(si_suffix, s.p[0], sizeof(si_suffix) - 1);
		if (at == NULL) {
			return false;
		}
		p->exponent = 3 * (int)(at - si_suffix) - 9;
		return true;
	}
	return (s.p[0] == 'e' || s.p[0] == 'E') &&
	       parse_exponent((struct str){ s.p + 1, s.len - 1 }, p);
}

static bool take_apart(struct str s, struct parts *p)
{
	if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
		p->negative = s.p[0] == '-';
		s.p++;
		s.len--;
	}
	p->whole = eat_digits(&s);
	p->fraction = (struct str){ s.p, 0 };
	if (s.len > 0 && s.p[0] == '.') {
		s.p++;
		s.len--;
		p->fraction = eat_digits(&s);
	}
	if (p->whole.len + p->fraction.len == 0) {
		return false;
	}
	while (p->whole.len > 0 && p->whole.p[0] == '0') {
		p->whole.p++;
		p->whole.len--;
	}
	return parse_suffix(s, p);
}

static int digit_at(const struct parts *p, size_t i)
{
	return (i < p->whole.len ? p->whole.p[i] : p->fraction.p[i - p->whole.len]) - '0';
}

/* All digits as one integer times 10^shift, rounded up, capped. */
static __int128 decimal_nano(const struct parts *p)
{
	size_t n = p->whole.len + p->fraction.len, first = 0, kept;
	int shift = 9 + p->exponent - (int)p->fraction.len;
	bool rest = false;
	__int128 v = 0;

	while (first < n && digit_at(p, first) == 0) {
		first++;
	}
	if (first == n) {
		return 0;
	}
	/* More digits than the largest value: v cannot overflow below. */
	if ((int)(n - first) + shift > NANO_DIGITS) {
		return NANO_MAX;
	}
	kept = n;
	if (shift < 0) {
		kept = (size_t)-shift >= n - first ? first : n - (size_t)-shift;
	}
	for (size_t i = first; i < n; i++) {
		if (i < kept) {
			v = v * 10 + digit_at(p, i);
		} else {
			rest = rest || digit_at(p, i) != 0;
		}
	}
	for (; shift > 0; shift--) {
		v *= 10;
	}
	return v + rest;
}

/* whole * 2^e + fraction * 2^e in nano units, rounded up, capped. The fraction is summed from its
 * last digit (Horner), so that nothing overflows; any remainder on the way means "not exact". */
static __int128 binary_nano(const struct parts *p)
{
	__int128 unit = NANO << p->exponent, whole = 0, part = 0;
	bool rest = false;

	for (size_t i = 0; i < p->whole.len; i++) {
		whole = whole * 10 + (p->whole.p[i] - '0');
		if (whole > NANO_MAX / unit) {
			return NANO_MAX;
		}
	}
	for (size_t i = p->fraction.len; i > 0; i--) {
		part += (p->fraction.p[i - 1] - '0') * unit;
		rest = rest || part % 10 != 0;
		part /= 10;
	}
	return whole * unit + part + rest;
}

static __int128 cap(__int128 v)
{
	if (v > NANO_MAX) {
		return NANO_MAX;
	}
	return v < -NANO_MAX ? -NANO_MAX : v;
}

int quantity_parse(struct str text, struct quantity *ret, struct err *err)
{
	struct parts p = { 0 };
	__int128 v;

	if (text.len > QUANTITY_TEXT_MAX - 1) {
		return err_set(err, ERR_INVALID, "invalid quantity: longer than %d bytes",
			       QUANTITY_TEXT_MAX - 1);
	}
	if (!take_apart(text, &p)) {
		return err_set(err, ERR_INVALID, "invalid quantity \"" STR_FMT "\"", STR_ARG(text));
	}
	v = cap(p.binary ? binary_nano(&p) : decimal_nano(&p));
	/* As apimachinery: a binary amount below one is shown in decimal. */
	if (p.binary && v > 0 && v < NANO) {
		p.format = QUANTITY_DECIMAL_SI;
	}
	*ret = (struct quantity){ p.negative ? -v : v, p.format };
	return 0;
}

static void put(char out[QUANTITY_TEXT_MAX], bool negative, __int128 v, const char *suffix)
{
	char digits[QUANTITY_TEXT_MAX];
	size_t n = sizeof(digits);

	digits[--n] = '\0';
	do {
		digits[--n] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v > 0);
	snprintf(out, QUANTITY_TEXT_MAX, "%s%s%s", negative ? "-" : "", digits + n, suffix);
}

/* Only of whole numbers from 1024 on; all others are printed in decimal, as apimachinery does. */
static bool put_binary(char out[QUANTITY_TEXT_MAX], bool negative, __int128 nano)
{
	char suffix[3] = "";
	__int128 v = nano / NANO;

	if (nano < 1024 * NANO || nano % NANO != 0) {
		return false;
	}
	for (int i = 0; binary_suffix[i] != '\0' && v % 1024 == 0; i++) {
		v /= 1024;
		suffix[0] = binary_suffix[i];
		suffix[1] = 'i';
	}
	put(out, negative, v, suffix);
	return true;
}

void quantity_format(struct quantity q, char out[QUANTITY_TEXT_MAX])
{
	bool negative = q.nano < 0;
	__int128 v = negative ? -q.nano : q.nano;
	char suffix[8] = "";
	int exponent = -9;

	if (v == 0) {
		memcpy(out, "0", 2);
		return;
	}
	if (q.format == QUANTITY_BINARY_SI && put_binary(out, negative, v)) {
		return;
	}
	while (v % 1000 == 0 && exponent < 18) {
		v /= 1000;
		exponent += 3;
	}
	if (exponent != 0 && q.format == QUANTITY_DECIMAL_EXPONENT) {
		snprintf(suffix, sizeof(suffix), "e%d", exponent);
	} else if (exponent != 0) {
		suffix[0] = si_suffix[(exponent + 9) / 3];
		suffix[1] = '\0';
	}
	put(out, negative, v, suffix);
}

int quantity_cmp(struct quantity a, struct quantity b)
{
	return (a.nano > b.nano) - (a.nano < b.nano);
}

struct quantity quantity_add(struct quantity a, struct quantity b)
{
	/* The sum of two capped values fits into 128 bits. */
	return (struct quantity){ cap(a.nano + b.nano), a.format };
}

bool quantity_is_zero(struct quantity q)
{
	return q.nano == 0;
}

static int64_t saturate(__int128 v)
{
	if (v > INT64_MAX) {
		return INT64_MAX;
	}
	return v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static int64_t away(__int128 nano, __int128 unit)
{
	__int128 v = nano / unit, rest = nano % unit;

	return saturate(v + (rest > 0) - (rest < 0));
}

static int64_t down(__int128 nano, __int128 unit)
{
	return saturate(nano / unit - (nano % unit < 0));
}

int64_t quantity_value(struct quantity q)
{
	return away(q.nano, NANO);
}

int64_t quantity_milli(struct quantity q)
{
	return away(q.nano, NANO / 1000);
}

int64_t quantity_value_floor(struct quantity q)
{
	return down(q.nano, NANO);
}

int64_t quantity_milli_floor(struct quantity q)
{
	return down(q.nano, NANO / 1000);
}

struct quantity quantity_of(int64_t units, enum quantity_format format)
{
	return (struct quantity){ cap(units * NANO), format };
}

struct quantity quantity_of_milli(int64_t milli)
{
	return (struct quantity){ cap(milli * (NANO / 1000)), QUANTITY_DECIMAL_SI };
}

const struct quantity *quantity_dup(struct quantity q, struct arena *arena)
{
	struct quantity *copy = arena_alloc(arena, sizeof(*copy));

	*copy = q;
	return copy;
}
