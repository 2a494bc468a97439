#include "api/core/limit_range.h"
#include "api/core/runtime_class.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

static void add(struct from_kueue_rules *r, const char *text)
{
	struct api_limit_range lr;

	decode_fixture(&limit_range_fields, text, &lr);
	from_kueue_rules_limits(r, &lr);
}

static int64_t milli(const struct field_resources *list, const char *name)
{
	const struct quantity *q = field_resources_get(list, name);

	return q == NULL ? -1 : quantity_milli(*q);
}

/* Lowest maximum, highest minimum, first default by name of the LimitRange. */
static void test_summary(void **state)
{
	struct from_kueue_rules *r = from_kueue_rules_create(NULL);
	struct arena *arena = arena_create(0);
	struct from_kueue_limits s;

	(void)state;
	from_kueue_rules_summary(r, STR_LIT("ns"), FROM_KUEUE_LIMIT_CONTAINER, arena, &s);
	assert_false(s.found);
	add(r,
	    "{'metadata':{'name':'b','namespace':'ns'},'spec':{'limits':[{'type':'Container','max':"
	    "{'cpu':'4','memory':'1'},'min':{'cpu':'1'},'default':{'cpu':'3','x':'1'},'"
	    "defaultRequest':{'cpu':'2'}}]}}");
	add(r,
	    "{'metadata':{'name':'a','namespace':'ns'},'spec':{'limits':[{'type':'Container','max':"
	    "{'cpu':'5','gpu':'2'},'min':{'cpu':'2'},'default':{'cpu':'1'}},{'type':'Pod','max':{'"
	    "cpu':'7'}}]}}");
	from_kueue_rules_summary(r, STR_LIT("ns"), FROM_KUEUE_LIMIT_CONTAINER, arena, &s);
	assert_true(s.found);
	assert_int_equal(milli(&s.max, "cpu"), 4000);
	assert_int_equal(milli(&s.max, "gpu"), 2000);
	assert_int_equal(milli(&s.max, "memory"), 1000);
	assert_int_equal(milli(&s.min, "cpu"), 2000);
	assert_int_equal(milli(&s.default_, "cpu"), 1000);
	assert_int_equal(milli(&s.default_, "x"), 1000);
	assert_int_equal(milli(&s.default_request, "cpu"), 2000);
	from_kueue_rules_summary(r, STR_LIT("ns"), FROM_KUEUE_LIMIT_POD, arena, &s);
	assert_int_equal(milli(&s.max, "cpu"), 7000);
	from_kueue_rules_summary(r, STR_LIT("other"), FROM_KUEUE_LIMIT_POD, arena, &s);
	assert_false(s.found);
	/* Replaced, then gone. */
	add(r, "{'metadata':{'name':'a','namespace':'ns'},'spec':{'limits':[]}}");
	from_kueue_rules_summary(r, STR_LIT("ns"), FROM_KUEUE_LIMIT_CONTAINER, arena, &s);
	assert_int_equal(milli(&s.default_, "cpu"), 3000);
	from_kueue_rules_no_limits(r, STR_LIT("ns/b"));
	from_kueue_rules_no_limits(r, STR_LIT("ns/b"));
	from_kueue_rules_no_limits(r, STR_LIT("nowhere/b"));
	from_kueue_rules_summary(r, STR_LIT("ns"), FROM_KUEUE_LIMIT_CONTAINER, arena, &s);
	assert_false(s.found);
	arena_destroy(arena);
	from_kueue_rules_destroy(r);
	from_kueue_rules_destroy(NULL);
}

static void test_runtime_classes(void **state)
{
	struct from_kueue_rules *r = from_kueue_rules_create(NULL);
	struct api_runtime_class rc;

	(void)state;
	assert_null(from_kueue_rules_overhead(r, "gvisor"));
	assert_null(from_kueue_rules_overhead(r, NULL));
	decode_fixture(&runtime_class_fields,
		       "{'metadata':{'name':'gvisor'},'overhead':{'podFixed':{'cpu':'250m'}}}",
		       &rc);
	from_kueue_rules_runtime(r, &rc);
	assert_int_equal(milli(from_kueue_rules_overhead(r, "gvisor"), "cpu"), 250);
	decode_fixture(&runtime_class_fields, "{'metadata':{'name':'gvisor'}}", &rc);
	from_kueue_rules_runtime(r, &rc);
	assert_int_equal(from_kueue_rules_overhead(r, "gvisor")->n, 0);
	from_kueue_rules_no_runtime(r, STR_LIT("gvisor"));
	assert_null(from_kueue_rules_overhead(r, "gvisor"));
	from_kueue_rules_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_runtime_classes),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
