#include "scheduler/ctl/cli/age.h"

#include "lib/unit.h"

#include "base/clock.h"

#define S CLOCK_NS_PER_S
#define M (60 * S)
#define H (60 * M)
#define D (24 * H)

static void test_spans(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{ -5 * S, "0s" },
		{ 0, "0s" },
		{ S - 1, "0s" },
		{ 119 * S, "119s" },
		{ 2 * M, "2m" },
		{ 5 * M + 30 * S, "5m30s" },
		{ 10 * M + 30 * S, "10m" },
		{ 3 * H - 1, "179m" },
		{ 3 * H + 20 * M, "3h20m" },
		{ 8 * H + 20 * M, "8h" },
		{ 2 * D + 5 * H, "2d5h" },
		{ 8 * D + 5 * H, "8d" },
		{ 2 * 365 * D + 35 * D, "2y35d" },
		{ 9 * 365 * D, "9y" },
		{ INT64_MAX, "292y" },
	};
	char out[AGE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(age_format(rows[i].ns, out), rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
