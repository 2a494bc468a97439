#include "scheduler/workloads/owners/owner_write.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

/* The template of the owner, "-": it has none. */
static void test_templates(void **state UNUSED)
{
	static const struct {
		bool pods;
		const char *owner, *want;
	} rows[] = {
		{ false,
		  "{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{"
		  "\"x\":1}}}}",
		  "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"x\":1}}" },
		{ false, "{\"spec\":{}}", "-" },
		/* Of a pod only what the Workload's requests follow from. */
		{ true, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"x\":1},\"status\":{}}",
		  "{\"spec\":{\"x\":1}}" },
		{ true, "{\"metadata\":{\"name\":\"p\"}}", "-" },
		{ true, "{\"spec\":\"text\"}", "-" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *owner = NULL;
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

		unit_row(rows[i].owner);
		assert_int_equal(0, jdoc_parse(str_of(rows[i].owner), &owner, NULL));
		if (owner_write_add_template(rows[i].pods, owner, &body)) {
			assert_string_equal(rows[i].want, body.p);
		} else {
			assert_string_equal(rows[i].want, "-");
			assert_int_equal(0, body.len);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_templates) };

	return cmocka_run_group_tests_name("owners/owner_write", tests, NULL, NULL);
}
