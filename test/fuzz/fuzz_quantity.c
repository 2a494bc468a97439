/* An accepted quantity has a canonical text of the same value; arithmetic stays in range. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "enc/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct quantity check_text(struct quantity q)
{
	char first[QUANTITY_TEXT_MAX], second[QUANTITY_TEXT_MAX];
	struct quantity back;

	quantity_format(q, first);
	assert(quantity_parse(str_of(first), &back, NULL) == 0);
	assert(quantity_cmp(q, back) == 0);
	quantity_format(back, second);
	assert(strcmp(first, second) == 0);
	return back;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = { (const char *)data, size };
	struct quantity q, twice;

	if (quantity_parse(text, &q, NULL) == 0) {
		check_text(q);
		assert(quantity_value_floor(q) <= quantity_value(q) || q.nano < 0);
		twice = quantity_add(q, q);
		check_text(twice);
		assert(quantity_cmp(twice, q) == (q.nano > 0) - (q.nano < 0) ||
		       quantity_cmp(twice, q) == 0);
		(void)quantity_milli(q);
		(void)quantity_milli_floor(q);
	}
	return 0;
}
