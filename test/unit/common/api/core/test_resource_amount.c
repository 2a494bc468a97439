#include "api/core/resource_amount.h"

#include "base/attrs.h"
#include "lib/unit.h"

static void as_text(void **state)
{
	static const struct {
		const char *resource;
		int64_t amount;
		const char *text;
	} rows[] = {
		{ "cpu", 1500, "1500m" },         { "cpu", 2000, "2" },
		{ "memory", 1 << 30, "1Gi" },     { "ephemeral-storage", 2048, "2Ki" },
		{ "nvidia.com/gpu", 2000, "2k" }, { "pods", 0, "0" },
	};
	char text[QUANTITY_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		quantity_format(resource_amount_quantity(rows[i].resource, rows[i].amount), text);
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),
	};

	return cmocka_run_group_tests_name("core/resource_amount", tests, NULL, NULL);
}
