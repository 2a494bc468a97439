#include "scheduler/ctl/sim/simulated_api.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "enc/json/jdoc.h"

#define KEY STR_LIT("team/w")

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &d, NULL), 0);
	return d;
}

static int64_t put(struct simulated_api *a, const char *text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = parse(text);

	return simulated_api_put(a, KEY, d);
}

static int64_t apply(struct simulated_api *a, const char *text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = parse(text);

	return simulated_api_write(a, KEY, d);
}

static void assert_stored(const struct simulated_api *a, const char *text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = parse(text);

	assert_true(jdoc_equal(simulated_api_get(a, KEY), d));
}

static void an_update_keeps_the_status_that_it_does_not_name(void **state)
{
	struct simulated_api *a = simulated_api_create();

	(void)state;
	assert_null(simulated_api_get(a, KEY));
	assert_int_equal(put(a, "{\"spec\":{\"x\":1},\"status\":{\"reclaimablePods\":[1],"
				"\"conditions\":[{\"type\":\"A\",\"status\":\"True\"}]}}"),
			 1);
	assert_int_equal(put(a, "{\"spec\":{\"x\":2},\"status\":{\"admissionChecks\":[2],"
				"\"conditions\":[{\"type\":\"B\"},{\"type\":\"A\",\"status\":"
				"\"False\"}]}}"),
			 2);
	assert_stored(a, "{\"spec\":{\"x\":2},\"metadata\":{\"resourceVersion\":\"2\"},"
			 "\"status\":{\"reclaimablePods\":[1],\"admissionChecks\":[2],"
			 "\"conditions\":[{\"type\":\"A\",\"status\":\"False\"},{\"type\":\"B\"}]"
			 "}}");
	simulated_api_remove(a, KEY);
	assert_null(simulated_api_get(a, KEY));
	assert_int_equal(apply(a, "{}"), 0);
	simulated_api_destroy(a);
}

static void what_is_applied_no_more_goes_away(void **state)
{
	struct simulated_api *a = simulated_api_create();

	(void)state;
	(void)put(a, "{\"status\":{\"reclaimablePods\":[1],\"conditions\":[{\"type\":\"Foreign\"}]"
		     "}}");
	assert_int_equal(apply(a, "{\"status\":{\"admission\":{\"q\":1},\"conditions\":["
				  "{\"type\":\"Evicted\"},{\"type\":\"QuotaReserved\"}]}}"),
			 2);
	assert_int_equal(apply(a, "{\"status\":{\"conditions\":[{\"type\":\"Evicted\"}]}}"), 3);
	assert_stored(a, "{\"metadata\":{\"resourceVersion\":\"3\"},\"status\":{"
			 "\"reclaimablePods\":[1],\"conditions\":[{\"type\":\"Foreign\"},"
			 "{\"type\":\"Evicted\"}]}}");
	simulated_api_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_update_keeps_the_status_that_it_does_not_name),
		cmocka_unit_test(what_is_applied_no_more_goes_away),
	};

	return cmocka_run_group_tests_name("simulated_api", tests, NULL, NULL);
}
