#include "scheduler/workloads/forest/amount.h"

#include "scheduler/workloads/model/quota_model.h"

/* QUOTA_UNLIMITED absorbs whatever is added to it, so no request may become it, however large. */
int64_t amount_mul(int64_t a, int64_t times)
{
	int64_t product;

	if (__builtin_mul_overflow(a, times, &product)) {
		return (a < 0) == (times < 0) ? AMOUNT_REQUEST_MAX : INT64_MIN;
	}
	return product == QUOTA_UNLIMITED ? AMOUNT_REQUEST_MAX : product;
}
