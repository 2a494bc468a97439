/* common/api/core/resource_amount.h: whole numbers of a resource, as the engines count it, and
 * quantities. Any thread. */
#ifndef COMMON_API_CORE_RESOURCE_AMOUNT_H
#define COMMON_API_CORE_RESOURCE_AMOUNT_H

#include "enc/quantity.h"

/* amount: cpu in thousandths, everything else in whole units. Memory and ephemeral storage are
 * written with binary suffixes. */
struct quantity resource_amount_quantity(const char *resource, int64_t amount);

#endif
