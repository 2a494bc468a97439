#include "scheduler/workloads/assign/assign_reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/forest/amount.h"

#define TEXT_MAX 1024 /* of one reason: names have at most 253 bytes */

static void add(struct assign_reasons *r, const char *text)
{
	if (r->n == r->cap) {
		size_t cap = r->cap == 0 ? 8 : 2 * r->cap;
		const char **v = arena_alloc(r->arena, cap * sizeof(v[0]));

		if (r->n > 0) {
			memcpy(v, r->v, r->n * sizeof(v[0]));
		}
		r->v = v;
		r->cap = cap;
	}
	r->v[r->n++] = text;
}

void assign_reason_add(struct assign_reasons *r, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	add(r, arena_dup(r->arena, text));
}

void assign_reason_add_parts(struct assign_reasons *r, const char *const *parts, size_t n)
{
	add(r, arena_join(r->arena, parts, n));
}

static int text_cmp(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Sorted, so that the message does not change with the order of flavors or resources: a status is
 * written when its message changes. */
const char *assign_reason_join(struct assign_reasons *r)
{
	const char **parts;
	size_t n = 0;

	if (r->n <= 1) {
		return r->n == 0 ? NULL : r->v[0];
	}
	qsort(r->v, r->n, sizeof(r->v[0]), text_cmp);
	parts = arena_alloc(r->arena, 2 * r->n * sizeof(parts[0]));
	for (size_t i = 0; i < r->n; i++) {
		if (i > 0 && strcmp(r->v[i], r->v[i - 1]) == 0) {
			continue;
		}
		if (i > 0) {
			parts[n++] = ", ";
		}
		parts[n++] = r->v[i];
	}
	return arena_join(r->arena, parts, n);
}

/* Kueue's order of severity; reasons that are not about flavors are below all. */
static int severity(enum nofit_reason r)
{
	static const enum nofit_reason order[] = { QUOTA_TOPOLOGY_PLACEMENT_FAILED,
						   QUOTA_WAITING_FOR_QUOTA, QUOTA_EXCEEDS_MAX_QUOTA,
						   QUOTA_NO_MATCHING_FLAVOR };

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		if (order[i] == r) {
			return (int)i + 1;
		}
	}
	return 0;
}

enum nofit_reason assign_reason_both(enum nofit_reason a, enum nofit_reason b)
{
	return severity(b) > severity(a) ? b : a;
}

enum nofit_reason assign_reason_either(enum nofit_reason a, enum nofit_reason b)
{
	/* NONE: nothing has been tried yet. */
	if (a == QUOTA_REASON_NONE || b == QUOTA_REASON_NONE) {
		return a == QUOTA_REASON_NONE ? b : a;
	}
	return severity(b) < severity(a) ? b : a;
}

static bool is_in_bytes(const char *resource)
{
	return strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0 ||
	       strncmp(resource, "hugepages-", strlen("hugepages-")) == 0;
}

/* As snprintf, but faster: every cycle formats many amounts. */
static void put_number(int64_t value, const char *unit, char out[ASSIGN_REASON_AMOUNT_MAX])
{
	char digits[ASSIGN_REASON_AMOUNT_MAX];
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	size_t n = 0, at = 0;

	do {
		digits[n++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0) {
		out[at++] = '-';
	}
	while (n > 0) {
		out[at++] = digits[--n];
	}
	memcpy(out + at, unit, strlen(unit) + 1);
}

/* The largest round amount below the end of what is counted: milli-CPUs, bytes, or units, as 63
 * bits hold them. */
static const char *largest_round(const char *resource)
{
	if (strcmp(resource, "cpu") == 0) {
		return "9P";
	}
	return is_in_bytes(resource) ? "7Ei" : "9E";
}

void assign_reason_amount(const char *resource, int64_t amount, char out[ASSIGN_REASON_AMOUNT_MAX])
{
	static const char *const binary[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi" };
	size_t unit = 0;

	if (amount == QUOTA_UNLIMITED) {
		snprintf(out, ASSIGN_REASON_AMOUNT_MAX, "unlimited");
	} else if (amount == AMOUNT_REQUEST_MAX || amount == INT64_MIN) {
		snprintf(out, ASSIGN_REASON_AMOUNT_MAX, "%s%s",
			 amount > 0 ? "more than " : "less than -", largest_round(resource));
	} else if (strcmp(resource, "cpu") == 0) {
		bool whole = amount % 1000 == 0;

		put_number(whole ? amount / 1000 : amount, whole ? "" : "m", out);
	} else {
		/* Only units that divide the amount: nothing is rounded. */
		while (is_in_bytes(resource) && amount != 0 && amount % 1024 == 0 &&
		       unit + 1 < ARRAY_LEN(binary)) {
			amount /= 1024;
			unit++;
		}
		put_number(amount, binary[unit], out);
	}
}
