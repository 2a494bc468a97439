#include "api/core/resource_amount.h"

struct quantity resource_amount_quantity(const char *resource, int64_t amount)
{
	bool is_bytes = str_streq(resource, "memory") || str_streq(resource, "ephemeral-storage");

	return str_streq(resource, "cpu")
		       ? quantity_of_milli(amount)
		       : quantity_of(amount, is_bytes ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI);
}
