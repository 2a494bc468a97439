/* common/enc/quantity.h: Kubernetes resource.Quantity, exact.
 * Forms: [+-]digits[.digits] with suffix n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or exponent
 * e/E[+-]digits. The value is held as an integer count of nano units when that fits and saturates
 * beyond (as apimachinery caps at 2^63-1); sub-nano digits round away from zero. Any thread. */
#ifndef COMMON_ENC_QUANTITY_H
#define COMMON_ENC_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define QUANTITY_TEXT_MAX 64 /* longest accepted text; also enough for any formatted one */

struct arena;
struct err;

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

struct quantity {
	__int128 nano; /* value * 10^9, |nano| <= (2^63 - 1) * 10^9 */
	enum quantity_format format;
};

/* -ERR_INVALID with `invalid quantity "1x"`. */
int quantity_parse(struct str text, struct quantity *ret, struct err *err);
/* Canonical text as apimachinery prints it: no needless zeros, largest suffix that keeps it exact.
 */
void quantity_format(struct quantity q, char out[QUANTITY_TEXT_MAX]);
int quantity_cmp(struct quantity a, struct quantity b);
struct quantity quantity_add(struct quantity a, struct quantity b); /* saturates; format of a */
bool quantity_is_zero(struct quantity q);
int64_t quantity_value(struct quantity q); /* units, rounded up (away from zero) as Value() */
int64_t quantity_milli(struct quantity q); /* thousandths, rounded up as MilliValue(), saturates */
int64_t quantity_value_floor(struct quantity q); /* units, rounded down: for limits */
int64_t quantity_milli_floor(struct quantity q);
struct quantity quantity_of(int64_t units, enum quantity_format format);
struct quantity quantity_of_milli(int64_t milli);
/* A copy in the arena. */
const struct quantity *quantity_dup(struct quantity q, struct arena *arena);

#endif
