#include "api/core/lease.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"

static void test_as_client_go_writes_it(void **state)
{
	const char *text = "{\"spec\":{\"acquireTime\":\"2026-01-02T03:04:05.123456Z\","
			   "\"holderIdentity\":\"a_1\",\"leaseDurationSeconds\":15,"
			   "\"leaseTransitions\":3,\"renewTime\":\"2026-01-02T03:04:06.000001Z\"}}";
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_lease l;
	(void)state;

	assert_int_equal(decode_text(&lease_fields, str_of(text), &l, arena, NULL), 0);
	assert_string_equal(l.spec.holder, "a_1");
	assert_int_equal(l.spec.duration_s, 15);
	assert_int_equal(l.spec.transitions, 3);
	assert_true(l.spec.renewed - l.spec.acquired == 876545000);
	encode_text(&lease_fields, &l, &out);
	assert_string_equal(out.p, text);
}

static void test_released(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct api_lease l;
	(void)state;

	assert_int_equal(decode_text(&lease_fields, STR_LIT("{\"spec\":{\"holderIdentity\":\"\"}}"),
				     &l, arena, NULL),
			 0);
	assert_null(l.spec.holder);
	assert_true(l.spec.renewed == FIELD_NO_TIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_client_go_writes_it),
		cmocka_unit_test(test_released),
	};

	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
