#include "quota/amount.h"

#include "model/quota_model.h"

int64_t amount_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (a == QUOTA_UNLIMITED || b == QUOTA_UNLIMITED) {
		return QUOTA_UNLIMITED;
	}
	if (__builtin_add_overflow(a, b, &sum)) {
		return a > 0 ? QUOTA_UNLIMITED : INT64_MIN;
	}
	return sum;
}

int64_t amount_sub(int64_t a, int64_t b)
{
	int64_t difference;

	if (a == QUOTA_UNLIMITED) {
		return b == QUOTA_UNLIMITED ? 0 : QUOTA_UNLIMITED;
	}
	if (b == QUOTA_UNLIMITED) {
		return INT64_MIN;
	}
	if (__builtin_sub_overflow(a, b, &difference)) {
		return b < 0 ? QUOTA_UNLIMITED : INT64_MIN;
	}
	return difference;
}

int64_t amount_mul(int64_t a, int64_t times)
{
	int64_t product;

	if (__builtin_mul_overflow(a, times, &product)) {
		return (a < 0) == (times < 0) ? QUOTA_UNLIMITED - 1 : INT64_MIN;
	}
	return product == QUOTA_UNLIMITED ? QUOTA_UNLIMITED - 1 : product;
}
