#include "scheduler/orchestrate/orchestrate_conf.h"

#include "lib/unit.h"

#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "scheduler/orchestrate/orchestrate.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define S CLOCK_NS_PER_S

static void read_options(const char *yaml, struct orchestrate_options *ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *conf = NULL;

	assert_int_equal(yaml_parse(str_of(yaml), &doc, NULL), 0);
	assert_int_equal(kueue_conf_read_strict(doc, NULL, NULL, &conf, NULL), 0);
	orchestrate_conf_options(&conf->multikueue, ret);
}

/* The file and the orchestrator each have defaults, which must be the same. */
static void an_empty_file_has_the_defaults(void **state UNUSED)
{
	struct orchestrate_options defaults, read;

	orchestrate_defaults(&defaults);
	read_options("multiKueue: {}\n", &read);
	assert_int_equal(read.mode, defaults.mode);
	assert_int_equal(read.window_ns, defaults.window_ns);
	assert_int_equal(read.timeout_ns, defaults.timeout_ns);
	assert_int_equal(read.progress_ns, defaults.progress_ns);
	assert_int_equal(read.probe_ns, defaults.probe_ns);
	assert_int_equal(read.ahead_ns, defaults.ahead_ns);
	assert_int_equal(read.pause_ns, defaults.pause_ns);
}

static void each_field_is_read(void **state UNUSED)
{
	struct orchestrate_options read;

	read_options("multiKueue:\n"
		     "  singleClusterPreemptionTimeout: 1m\n"
		     "  orchestratedPreemption:\n"
		     "    {order: FirstSignal, collectionWindow: 3s, progressTimeout: 4m, "
		     "reactionTimeout: 9s}\n",
		     &read);
	assert_int_equal(read.mode, ORCHESTRATE_COMPAT);
	assert_int_equal(read.window_ns, 3 * S);
	assert_int_equal(read.timeout_ns, 60 * S);
	assert_int_equal(read.progress_ns, 240 * S);
	assert_int_equal(read.probe_ns, 9 * S);
}

static void orders(void **state UNUSED)
{
	static const struct {
		const char *yaml;
		enum orchestrate_mode mode;
	} rows[] = {
		{ "multiKueue: {orchestratedPreemption: {order: FirstSignal}}",
		  ORCHESTRATE_COMPAT },
		{ "multiKueue: {orchestratedPreemption: {order: ConfigOrder}}", ORCHESTRATE_ORDER },
		{ "multiKueue: {orchestratedPreemption: {order: Cost}}", ORCHESTRATE_COST },
	};
	struct orchestrate_options read;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].yaml);
		read_options(rows[i].yaml, &read);
		assert_int_equal(read.mode, rows[i].mode);
	}
}

static void victims_on_their_way_out_shorten_no_attempt(void **state UNUSED)
{
	struct orchestrate_options read;

	read_options("multiKueue: {singleClusterPreemptionTimeout: 1h}", &read);
	assert_int_equal(read.timeout_ns, 3600 * S);
	assert_int_equal(read.progress_ns, 3600 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_file_has_the_defaults),
		cmocka_unit_test(each_field_is_read),
		cmocka_unit_test(orders),
		cmocka_unit_test(victims_on_their_way_out_shorten_no_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
