/* common/base/str.h: borrowed byte slices and small string helpers. Any thread, no allocation.
 * A struct str does not own its bytes and need not be NUL-terminated; {NULL, 0} is "absent". */
#ifndef COMMON_BASE_STR_H
#define COMMON_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t len;
};

#define STR_LIT(literal) ((struct str){ (literal), sizeof(literal) - 1 })
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).len, (s).p

static inline struct str str_of(const char *text) /* NULL gives the absent slice */
{
	return (struct str){ text, text == NULL ? 0 : strlen(text) };
}

bool str_eq(struct str a, struct str b);
bool str_eq_c(struct str a, const char *b);
int str_cmp(struct str a, struct str b); /* bytewise, shorter first */
bool str_has_prefix(struct str s, const char *prefix);
bool str_has_suffix(struct str s, const char *suffix);
bool str_streq(const char *a, const char *b); /* NULL equals only NULL */
/* Stable across runs and machines, for hashes that are written or compared. Tables use hash_of
 * (collections/hash.h). */
uint64_t str_hash(struct str s);

/* Splits at the first sep: returns the part before it and moves *rest behind it.
 * At the end *rest becomes absent (p == NULL). An absent *rest returns absent. */
struct str str_next(struct str *rest, char sep);
struct str str_trim(struct str s); /* blanks, tabs, CR and LF at both ends */

/* Decimal without sign, blanks or overflow; false leaves *ret untouched. */
bool str_to_u64(struct str s, uint64_t *ret);
bool str_to_i64(struct str s, int64_t *ret); /* optional leading '-' */
/* A finite decimal number of at most 128 bytes: no blanks, hexadecimal, "inf" or "nan". */
bool str_to_double(struct str s, double *ret);

#endif
