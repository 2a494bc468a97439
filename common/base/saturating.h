/* common/base/saturating.h: int64 arithmetic that stays at INT64_MIN or INT64_MAX instead of
 * wrapping. Any thread. */
#ifndef COMMON_BASE_SATURATING_H
#define COMMON_BASE_SATURATING_H

#include <stdint.h>

static inline int64_t saturating_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum)) {
		return b > 0 ? INT64_MAX : INT64_MIN;
	}
	return sum;
}

static inline int64_t saturating_sub(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference)) {
		return b < 0 ? INT64_MAX : INT64_MIN;
	}
	return difference;
}

#endif
