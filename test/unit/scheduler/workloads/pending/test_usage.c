#include "scheduler/workloads/pending/usage.h"

#include "base/attrs.h"
#include "lib/unit.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

#define MINUTE INT64_C(60000000000)
#define CPU INT64_C(1000000000) /* in nano */
#define ONE_EACH                                                                                   \
	"option admission_fair_sharing=true\nqueue q usage-based\nquota q f cpu nominal=4\n"

static struct admission_cycle_fixture f;

/* Sampled every hour, half forgotten in one hour. */
static void begin(const char *world)
{
	admission_cycle_fixture_init(&f, world);
	f.w.q->options.usage.half_life_ns = 60 * MINUTE;
	f.w.q->options.usage.sampling_ns = 60 * MINUTE;
}

static int end(void **state)
{
	(void)state;
	admission_cycle_fixture_finish(&f);
	return 0;
}

static struct local_queue *local(const char *name)
{
	return quota_local_find(f.w.q, str_of(name));
}

static void set_consumed(const char *name, const char *resource, __int128 nano)
{
	struct quota_consumed one = { quota_world_resource(&f.w, resource), nano };

	vec_push(&local(name)->consumed, one);
	usage_weigh(f.w.q, local(name));
}

static void test_alpha(void **state)
{
	static const struct {
		const char *name;
		int64_t elapsed, half_life;
		double alpha;
	} rows[] = {
		{ "no time", 0, MINUTE, 0 },
		{ "the clock went back", -MINUTE, MINUTE, 0 },
		{ "one half-life", MINUTE, MINUTE, 0.5 },
		{ "two half-lives", 2 * MINUTE, MINUTE, 0.75 },
		{ "half a half-life", MINUTE / 2, MINUTE, 0.2928932188134524 },
		{ "a long half-life", 5 * MINUTE, INT64_C(10080) * MINUTE, 0.0003437639058739 },
		{ "a long time", 1000000 * MINUTE, MINUTE, 1 },
		{ "a half-life of 0", MINUTE, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double off = usage_alpha(rows[i].elapsed, rows[i].half_life) - rows[i].alpha;

		unit_row(rows[i].name);
		assert_true(off < 1e-10 && off > -1e-10);
	}
}

static void test_usage_is_weighted(void **state)
{
	static const struct quota_usage_weight weights[] = { { "gpu", 10 }, { "memory", 0 } };

	(void)state;
	begin(ONE_EACH "local ns/a queue=q weight=2\n");
	f.w.q->options.usage.weights = weights;
	f.w.q->options.usage.nweights = ARRAY_LEN(weights);
	set_consumed("ns/a", "cpu", CPU * 3 / 2);
	set_consumed("ns/a", "gpu", CPU);
	set_consumed("ns/a", "memory", (__int128)5 << 60);
	assert_true(local("ns/a")->usage == 5.75);
	local("ns/a")->weight = 0;
	usage_weigh(f.w.q, local("ns/a"));
	assert_true(local("ns/a")->usage > 1e300);
	vec_clear(&local("ns/a")->consumed);
	usage_weigh(f.w.q, local("ns/a"));
	assert_true(local("ns/a")->usage > 1e300);
	local("ns/a")->weight = 1;
	usage_weigh(f.w.q, local("ns/a"));
	assert_true(local("ns/a")->usage == 0);
}

/* From 8 used to 4 held: 6 after a half-life, 5 after two, and in one step of two the same. */
static void test_samples_move_towards_what_is_held(void **state)
{
	static const struct {
		unsigned steps;
		int64_t apart;
	} rows[] = { { 2, 60 }, { 1, 120 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t now = 0;

		unit_row_number(i);
		begin(ONE_EACH "workload ns/w queue=q cpu=4 holds=f local=a\n");
		quota_world_workload(&f.w, "w")->flags.admitted = true;
		local("ns/a")->sampled_at = 0;
		set_consumed("ns/a", "cpu", 8 * CPU);
		for (unsigned k = 0; k < rows[i].steps; k++) {
			now += rows[i].apart * MINUTE;
			assert_int_equal(usage_sample(f.w.q, now), now + 60 * MINUTE);
			assert_int_equal(local("ns/a")->sampled_at, now);
		}
		assert_int_equal(local("ns/a")->consumed.v[0].nano, 5 * CPU);
		assert_true(local("ns/a")->usage == 5);
		admission_cycle_fixture_finish(&f);
	}
	begin(ONE_EACH);
}

/* Each resource moves towards what is held of it, one that was not used before and one that is not
 * used any more as well. */
static void test_each_resource_is_sampled(void **state)
{
	static const struct {
		const char *resource;
		__int128 nano;
	} after[] = { { "cpu", 6 * CPU }, { "gpu", CPU / 2 }, { "memory", CPU } };

	(void)state;
	begin("option admission_fair_sharing=true\nqueue q usage-based\nquota q f cpu nominal=4\n"
	      "quota q f gpu nominal=4\nworkload ns/w queue=q cpu=4 gpu=1 holds=f local=a\n");
	quota_world_workload(&f.w, "w")->flags.admitted = true;
	local("ns/a")->sampled_at = 0;
	set_consumed("ns/a", "memory", 2 * CPU);
	set_consumed("ns/a", "cpu", 8 * CPU);
	(void)usage_sample(f.w.q, 60 * MINUTE);
	assert_int_equal(local("ns/a")->consumed.n, ARRAY_LEN(after));
	for (size_t i = 0; i < ARRAY_LEN(after); i++) {
		uint32_t id = quota_world_resource(&f.w, after[i].resource);

		unit_row(after[i].resource);
		for (size_t k = 0; k < ARRAY_LEN(after); k++) {
			assert_true(local("ns/a")->consumed.v[k].resource != id ||
				    local("ns/a")->consumed.v[k].nano == after[i].nano);
		}
	}
}

static void test_nothing_is_sampled_before_its_time(void **state)
{
	(void)state;
	begin(ONE_EACH "local ns/a queue=q\nlocal ns/b queue=other\nqueue other\n");
	set_consumed("ns/a", "cpu", 8 * CPU);
	assert_int_equal(usage_sample(f.w.q, MINUTE), 61 * MINUTE);
	assert_int_equal(usage_sample(f.w.q, 61 * MINUTE - 1), 61 * MINUTE);
	assert_int_equal(local("ns/a")->consumed.v[0].nano, 8 * CPU);
	assert_int_equal(local("ns/b")->sampled_at, MODEL_TIME_NONE);
	/* The clock went back: from there on. */
	assert_int_equal(usage_sample(f.w.q, 0), 60 * MINUTE);
	assert_int_equal(local("ns/a")->consumed.v[0].nano, 8 * CPU);
}

/* A workload that holds quota and waits for its checks has no usage yet. */
static void test_only_admitted_ones_count(void **state)
{
	(void)state;
	begin(ONE_EACH "workload ns/w queue=q cpu=4 holds=f local=a\n");
	quota_world_workload(&f.w, "w")->flags.admitted = false;
	local("ns/a")->sampled_at = 0;
	(void)usage_sample(f.w.q, 60 * MINUTE);
	assert_int_equal(local("ns/a")->consumed.n, 0);
}

/* A thousandth of a cpu, sampled every five minutes for a week that half forgets it. */
static void test_small_amounts_are_not_lost(void **state)
{
	(void)state;
	begin(ONE_EACH "workload ns/w queue=q cpu=1m holds=f local=a\n");
	f.w.q->options.usage.half_life_ns = 10080 * MINUTE;
	f.w.q->options.usage.sampling_ns = 5 * MINUTE;
	quota_world_workload(&f.w, "w")->flags.admitted = true;
	local("ns/a")->sampled_at = 0;
	for (int64_t at = 5; at <= 10080; at += 5) {
		(void)usage_sample(f.w.q, at * MINUTE);
	}
	assert_true(local("ns/a")->consumed.v[0].nano > 495000);
	assert_true(local("ns/a")->consumed.v[0].nano <= 500000);
}

/* Rounded down, as in Kueue: the last billionths end as well, and 14 of weight 1 stays equal to or
 * above 7 of weight 1/2. */
static void test_the_rest_fades_too(void **state)
{
	int64_t now = 0;

	(void)state;
	begin(ONE_EACH "local ns/a queue=q\nlocal ns/b queue=q\n");
	f.w.q->options.usage.sampling_ns = 10 * MINUTE;
	local("ns/a")->sampled_at = 0;
	local("ns/b")->sampled_at = 0;
	set_consumed("ns/a", "cpu", 14 * CPU);
	set_consumed("ns/b", "cpu", 7 * CPU);
	while (now < 40 * 60 * MINUTE) {
		now += 10 * MINUTE;
		(void)usage_sample(f.w.q, now);
		assert_true(local("ns/a")->usage >= 2 * local("ns/b")->usage);
	}
	assert_int_equal(local("ns/a")->consumed.n, 0);
	assert_int_equal(local("ns/b")->consumed.n, 0);
}

static void test_without_half_life_nothing_is_remembered(void **state)
{
	(void)state;
	begin(ONE_EACH "workload ns/w queue=q cpu=4 holds=f local=a\n");
	f.w.q->options.usage.half_life_ns = 0;
	quota_world_workload(&f.w, "w")->flags.admitted = true;
	local("ns/a")->sampled_at = 0;
	set_consumed("ns/a", "cpu", 8 * CPU);
	(void)usage_sample(f.w.q, 60 * MINUTE);
	usage_enter(f.w.q, quota_world_workload(&f.w, "w"));
	assert_int_equal(local("ns/a")->consumed.n, 0);
	assert_true(local("ns/a")->usage == 0);
}

static void test_an_entry_is_taken_back(void **state)
{
	(void)state;
	begin(ONE_EACH "workload ns/w queue=q cpu=4 holds=f local=a\n");
	usage_enter(f.w.q, quota_world_workload(&f.w, "w"));
	assert_int_equal(local("ns/a")->consumed.v[0].nano, 2 * CPU);
	usage_revoke(f.w.q, quota_world_workload(&f.w, "w"));
	usage_revoke(f.w.q, quota_world_workload(&f.w, "w"));
	assert_int_equal(local("ns/a")->consumed.v[0].nano, 0);
	assert_true(local("ns/a")->usage == 0);
}

/* Between two samples, the queue that was just admitted from goes behind the other. */
static void test_local_queues_alternate(void **state)
{
	(void)state;
	begin("option admission_fair_sharing=true\nqueue q usage-based\nquota q f cpu nominal=4\n"
	      "workload ns/a1 queue=q cpu=1 local=a created=1s\n"
	      "workload ns/a2 queue=q cpu=1 local=a created=2s\n"
	      "workload ns/b1 queue=q cpu=1 local=b created=3s\n"
	      "workload ns/b2 queue=q cpu=1 local=b created=4s\n");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a1 a2 b1 b2 | ");
	assert_string_equal(admission_cycle_fixture_run(&f), "admit a1 to q cpu=f");
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "b1 b2 a2 | ");
	assert_string_equal(admission_cycle_fixture_run(&f), "admit b1 to q cpu=f");
	assert_string_equal(admission_cycle_fixture_run(&f), "admit a2 to q cpu=f");
	assert_string_equal(admission_cycle_fixture_run(&f), "admit b2 to q cpu=f");
}

/* Hours later, the one that used much before has rested long enough. */
static void test_a_sample_reorders(void **state)
{
	(void)state;
	begin(ONE_EACH "workload ns/h queue=q cpu=4 holds=f local=a\n"
		       "workload ns/a1 queue=q cpu=1 local=a created=1s\n"
		       "workload ns/b1 queue=q cpu=1 local=b created=3s\n");
	quota_world_workload(&f.w, "h")->flags.admitted = true;
	local("ns/a")->sampled_at = local("ns/b")->sampled_at = 0;
	set_consumed("ns/b", "cpu", 3 * CPU);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "a1 b1 | ");
	(void)usage_sample(f.w.q, 60 * MINUTE);
	assert_string_equal(admission_cycle_fixture_queue(&f, "q"), "b1 a1 | ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alpha),
		cmocka_unit_test_teardown(test_usage_is_weighted, end),
		cmocka_unit_test_teardown(test_samples_move_towards_what_is_held, end),
		cmocka_unit_test_teardown(test_each_resource_is_sampled, end),
		cmocka_unit_test_teardown(test_nothing_is_sampled_before_its_time, end),
		cmocka_unit_test_teardown(test_only_admitted_ones_count, end),
		cmocka_unit_test_teardown(test_small_amounts_are_not_lost, end),
		cmocka_unit_test_teardown(test_the_rest_fades_too, end),
		cmocka_unit_test_teardown(test_without_half_life_nothing_is_remembered, end),
		cmocka_unit_test_teardown(test_an_entry_is_taken_back, end),
		cmocka_unit_test_teardown(test_local_queues_alternate, end),
		cmocka_unit_test_teardown(test_a_sample_reorders, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
