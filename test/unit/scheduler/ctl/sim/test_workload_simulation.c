#include "scheduler/ctl/sim/workload_simulation.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

#define LOW QUOTA_SIM_WORKLOAD("low", "4", "0", QUOTA_SIM_HOLDS("4"))
#define HIGH QUOTA_SIM_WORKLOAD("high", "2", "10", "")

static const struct quota_model *model_of(const struct workload_simulation *s)
{
	return forest_model(workload_simulation_forest(s));
}

static void preemption_until_the_victim_is_deleted(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s =
		workload_sim_fixture_create(QUOTA_SIM_CLUSTER LOW HIGH, NULL);
	const struct workload_step *steps;
	size_t n;

	(void)state;
	assert_true(workload_simulation_run_cycle(s));
	/* The victim is the same: no further step. */
	assert_false(workload_simulation_run_cycle(s));
	assert_int_equal(workload_simulation_cycles(s), 2);
	assert_true(workload_simulation_delete(s, SCHED_WORKLOADS, STR_LIT("team/low")));
	assert_false(workload_simulation_delete(s, SCHED_WORKLOADS, STR_LIT("team/low")));
	assert_true(workload_simulation_run_cycle(s));
	assert_false(workload_simulation_run_cycle(s));
	steps = workload_simulation_steps(s, &n);
	assert_int_equal(n, 5);
	assert_int_equal(steps[0].kind, QUOTA_DECIDE_PREEMPT);
	assert_false(steps[0].ongoing);
	assert_true(steps[2].ongoing);
	assert_int_equal(steps[4].kind, QUOTA_DECIDE_ADMIT);
	assert_int_equal(steps[4].cycle, 3);
}

static void victims_stop_and_wait_again(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s =
		workload_sim_fixture_create(QUOTA_SIM_CLUSTER LOW HIGH, NULL);
	const struct workload_status *status;
	const struct workload *low;

	(void)state;
	assert_false(workload_simulation_stop_victims(s));
	assert_true(workload_simulation_run_cycle(s));
	assert_true(workload_simulation_stop_victims(s));
	assert_false(workload_simulation_stop_victims(s));
	low = quota_workload_find(model_of(s), STR_LIT("team/low"));
	assert_int_equal(low->holding.node, MODEL_NONE);
	assert_int_equal(low->pending.where, QUOTA_HEAP);
	assert_null(workload_simulation_admission(s, low));
	status = workload_simulation_status(s, low);
	assert_true(workload_status_is_true(status, "Evicted"));
	assert_true(workload_status_is_true(status, "Requeued"));
	assert_false(workload_status_is_true(status, "QuotaReserved"));
	assert_true(workload_simulation_run_cycle(s));
	assert_int_not_equal(quota_workload_find(model_of(s), STR_LIT("team/high"))->holding.node,
			     MODEL_NONE);
}

static void statuses_and_events_follow(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s =
		workload_sim_fixture_create(QUOTA_SIM_CLUSTER LOW HIGH, NULL);
	const struct workload_simulation_event *events;
	const struct workload *low;
	size_t n;

	(void)state;
	(void)workload_simulation_run_cycle(s);
	low = quota_workload_find(model_of(s), STR_LIT("team/low"));
	assert_true(workload_status_is_true(workload_simulation_status(s, low), "Evicted"));
	assert_non_null(workload_simulation_admission(s, low));
	events = workload_simulation_events(s, &n);
	assert_int_equal(n, 4);
	assert_string_equal(events[0].reason, "Preempted");
	assert_string_equal(events[0].workload, "team/low");
	assert_string_equal(events[3].reason, "WaitingForPreemptedWorkloads");
	assert_true(events[3].warning);
}

static void events_outlive_their_workload(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(QUOTA_SIM_CLUSTER HIGH, NULL);
	const struct workload_simulation_event *events;
	size_t n;

	(void)state;
	(void)workload_simulation_run_cycle(s);
	assert_true(workload_simulation_delete(s, SCHED_WORKLOADS, STR_LIT("team/high")));
	assert_true(workload_simulation_delete(s, SCHED_LOCAL_QUEUES, STR_LIT("team/lq")));
	assert_true(workload_simulation_delete(s, SCHED_CLUSTER_QUEUES, STR_LIT("cq")));
	assert_false(workload_simulation_run_cycle(s));
	events = workload_simulation_events(s, &n);
	assert_int_equal(n, 2);
	assert_string_equal(events[0].workload, "team/high");
	assert_string_equal(events[1].reason, "Admitted");
	assert_string_equal(events[1].message, "Admitted by ClusterQueue cq");
}

/* Workloads that a removal makes worth a retry are tried in the next cycle, not before. */
static void nothing_moves_after_the_last_cycle(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("run", "4", "50", QUOTA_SIM_HOLDS("4")) HIGH,
		NULL);
	const struct workload *high = quota_workload_find(model_of(s), STR_LIT("team/high"));

	(void)state;
	assert_false(workload_simulation_run_cycle(s));
	assert_int_equal(high->pending.where, QUOTA_INADMISSIBLE);
	assert_true(workload_simulation_delete(s, SCHED_WORKLOADS, STR_LIT("team/run")));
	assert_int_equal(high->pending.where, QUOTA_INADMISSIBLE);
	assert_true(workload_simulation_run_cycle(s));
	assert_int_equal(high->holding.node, quota_queue_find(model_of(s), STR_LIT("cq"))->id);
}

static void other_objects_can_be_deleted(void **state)
{
	static const struct {
		enum sched_resource kind;
		const char *key;
		bool is_queued; /* afterwards */
	} rows[] = {
		{ SCHED_FLAVORS, "f", true },
		{ SCHED_LOCAL_QUEUES, "team/lq", false },
		{ SCHED_CLUSTER_QUEUES, "cq", false },
		{ SCHED_NAMESPACES, "team", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(workload_simulation_destroyp)
		struct workload_simulation *s =
			workload_sim_fixture_create(QUOTA_SIM_CLUSTER HIGH, NULL);
		const struct workload *w = quota_workload_find(model_of(s), STR_LIT("team/high"));

		unit_row_number(i);
		assert_true(workload_simulation_delete(s, rows[i].kind, str_of(rows[i].key)));
		assert_false(workload_simulation_delete(s, rows[i].kind, str_of(rows[i].key)));
		assert_int_equal(w->pending.where, rows[i].is_queued ? QUOTA_HEAP : QUOTA_NOWHERE);
		assert_false(workload_simulation_run_cycle(s));
	}
}

static void a_cohort_and_a_check_can_be_deleted(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		QUOTA_SIM_CLUSTER "{" QUOTA_SIM_API "kind: Cohort, metadata: {name: all}}\n---\n"
				  "{" QUOTA_SIM_API "kind: AdmissionCheck, metadata: {name: k}}\n",
		NULL);

	(void)state;
	assert_true(workload_simulation_delete(s, SCHED_COHORTS, STR_LIT("all")));
	assert_false(workload_simulation_delete(s, SCHED_COHORTS, STR_LIT("all")));
	assert_true(workload_simulation_delete(s, SCHED_ADMISSION_CHECKS, STR_LIT("k")));
	assert_false(workload_simulation_delete(s, SCHED_ADMISSION_CHECKS, STR_LIT("k")));
	assert_false(workload_simulation_delete(s, SCHED_PODS, STR_LIT("team/p")));
}

static void the_configuration_decides(void **state)
{
	static const char world_text[] =
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("gated", "2", "10", "")
			QUOTA_SIM_WORKLOAD("low", "4", "0", QUOTA_SIM_HOLDS("4"));

	(void)state;
	for (int i = 0; i < 2; i++) {
		CLEANUP(workload_simulation_destroyp)
		struct workload_simulation *s = workload_sim_fixture_create(
			world_text, i == 0 ? NULL : "fairSharing: {}\n");

		assert_int_equal(model_of(s)->options.fair_sharing, i);
		assert_true(workload_simulation_run_cycle(s));
	}
}

static void errors_name_the_object(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	workload_sim_fixture_refused(
		"{" QUOTA_SIM_API
		"kind: ClusterQueue, metadata: {name: cq}, spec: {resourceGroups: "
		"[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: "
		"cpu, nominalQuota: 1x}]}]}]}}\n",
		&err);
	assert_true(str_has_prefix(str_of(err.text), "f: document 1: ClusterQueue cq: "));
	assert_true(str_has_suffix(str_of(err.text), "invalid quantity \"1x\""));
	workload_sim_fixture_refused(
		"{" QUOTA_SIM_API "kind: Cohort, metadata: {name: co}, spec: "
		"{resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, "
		"resources: [{name: cpu, nominalQuota: -1}]}]}]}}\n",
		&err);
	assert_string_equal(err.text, "f: document 1: Cohort co: spec.resourceGroups[0].flavors[0]."
				      "resources[0].nominalQuota: negative");
	workload_sim_fixture_refused("{" QUOTA_SIM_API "kind: Workload, metadata: {name: w, "
				     "namespace: team}, spec: {podSets: [{count: -1}]}}\n",
				     &err);
	assert_string_equal(err.text,
			    "f: document 1: Workload team/w: spec.podSets[0].count: negative");
}

static void keep_warning(void *ctx, const char *text)
{
	strbuf_printf(ctx, "%s\n", text);
}

static void bad_objects_can_be_left_out(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf said = STRBUF_INIT;
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *s = NULL;
	const struct workload_simulation_options opt = { .warn = keep_warning,
							 .ctx = &said,
							 .lenient = true };

	(void)state;
	assert_int_equal(sim_input_add(in, "f",
				       STR_LIT(QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("bad", "1x",
										    "0", "") HIGH),
				       NULL),
			 0);
	assert_int_equal(workload_simulation_create(in, &opt, &s, NULL), 0);
	assert_string_equal(said.p, "f: document 5: Workload team/bad: "
				    "spec.podSets[0].template.spec.containers[0].resources."
				    "requests.cpu: invalid quantity \"1x\"\n");
	assert_null(quota_workload_find(model_of(s), STR_LIT("team/bad")));
	assert_int_equal(quota_workload_find(model_of(s), STR_LIT("team/high"))->pending.where,
			 QUOTA_HEAP);
}

/* One that is refused holds what can be read of its status; one that holds nothing is left out. */
static void an_unreadable_workload_holds_its_quota(void **state)
{
	static const char *const texts[] = {
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("w", "much", "3", QUOTA_SIM_HOLDS("2")),
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("w", "1", "3", QUOTA_SIM_HOLDS("much")),
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("w", "much", "3", ""),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
		CLEANUP(workload_simulation_destroyp) struct workload_simulation *s = NULL;
		const struct workload_simulation_options opt = { .lenient = true };
		const struct workload *w;

		unit_row(texts[i]);
		assert_int_equal(sim_input_add(in, "f", str_of(texts[i]), NULL), 0);
		assert_int_equal(workload_simulation_create(in, &opt, &s, NULL), 0);
		w = quota_workload_find(model_of(s), STR_LIT("team/w"));
		if (i == 2) {
			assert_null(w);
			continue;
		}
		assert_true(w->object.unreadable);
		assert_int_equal(w->object.usage_unknown, i == 1);
		assert_int_equal(w->holding.node, quota_queue_find(model_of(s), STR_LIT("cq"))->id);
	}
}

static void statuses_are_shown_as_they_were_given(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD(
			"done", "2", "3",
			", status: {conditions: [{type: Finished, status: \"True\", reason: R, "
			"message: M}, {type: Other, status: Unknown}]}")
			QUOTA_SIM_WORKLOAD("holds", "2", "3", QUOTA_SIM_HOLDS("2")),
		NULL);
	const struct workload *done = quota_workload_find(model_of(s), STR_LIT("team/done"));
	const struct workload *holds = quota_workload_find(model_of(s), STR_LIT("team/holds"));
	const struct workload_status *c = workload_simulation_status(s, done);

	(void)state;
	assert_int_equal(c->conditions.n, 2);
	assert_string_equal(c->conditions.v[0].message, "M");
	assert_string_equal(c->conditions.v[1].status, "Unknown");
	assert_null(workload_simulation_admission(s, done));
	assert_string_equal(workload_simulation_admission(s, holds),
			    "{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":\"main\","
			    "\"count\":1,\"flavors\":{\"cpu\":\"f\"},\"resourceUsage\":"
			    "{\"cpu\":2}}]}");
}

static const struct workload *find(const struct workload_simulation *s, const char *key)
{
	return quota_workload_find(model_of(s), str_of(key));
}

static void apply_all(struct workload_simulation *s, const char *yaml, int expected)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct sim_object *const *objects;
	size_t n;

	assert_int_equal(sim_input_add(in, "f", str_of(yaml), NULL), 0);
	objects = sim_input_objects(in, &n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(workload_simulation_apply(s, objects[i], NULL), expected);
	}
}

/* The cache reads back its own writes as from a watch, and then updates of users. */
static void objects_arrive_and_change(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *s = NULL;
	struct workload_simulation_options opt = { .updates = true };

	(void)state;
	assert_int_equal(sim_input_add(in, "f", STR_LIT(QUOTA_SIM_CLUSTER HIGH), NULL), 0);
	opt.now = sim_input_youngest(in);
	assert_int_equal(workload_simulation_create(in, &opt, &s, NULL), 0);
	assert_true(workload_simulation_run_cycle(s));
	/* A manifest without a status takes no quota away; the priority counts. */
	apply_all(s,
		  QUOTA_SIM_WORKLOAD("high", "2", "7", "") QUOTA_SIM_WORKLOAD("more", "3", "0", ""),
		  0);
	assert_int_not_equal(find(s, "team/high")->holding.node, MODEL_NONE);
	assert_int_equal(find(s, "team/high")->object.priority, 7);
	assert_false(workload_simulation_run_cycle(s));
	assert_int_equal(find(s, "team/more")->holding.node, MODEL_NONE);
	workload_simulation_advance(s, 1000);
	apply_all(s,
		  QUOTA_SIM_WORKLOAD("high", "2", "7",
				     ", status: {conditions: [{type: Finished, status: \"True\", "
				     "reason: Succeeded, message: m}]}"),
		  0);
	assert_true(workload_simulation_run_cycle(s));
	assert_int_not_equal(find(s, "team/more")->holding.node, MODEL_NONE);
	apply_all(s,
		  "{" QUOTA_SIM_API "kind: Workload, metadata: {name: bad, namespace: team}, "
		  "spec: {podSets: 3}}",
		  -ERR_INVALID);
}

/* Half of what a LocalQueue has used counts after one half-life. */
static void usage_fades_as_time_passes(void **state)
{
	static const char lq[] =
		"{" QUOTA_SIM_API
		"kind: ClusterQueue, metadata: {name: cq}, spec: {admissionScope: "
		"{admissionMode: UsageBasedAdmissionFairSharing}}}\n---\n"
		"{" QUOTA_SIM_API "kind: LocalQueue, metadata: {name: lq, namespace: team, "
		"creationTimestamp: \"2026-01-15T09:00:00Z\"}, spec: {clusterQueue: cq}, status: "
		"{fairSharing: {admissionFairSharingStatus: {lastUpdate: \"2026-01-15T09:00:00Z\", "
		"consumedResources: {cpu: 8}}}}}";
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = workload_sim_fixture_create(
		lq, "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, "
		    "admissionFairSharing: {usageHalfLifeTime: 5m, usageSamplingInterval: 5m}}");
	const struct local_queue *local = quota_local_find(model_of(s), STR_LIT("team/lq"));

	(void)state;
	workload_simulation_advance(s, 0);
	assert_true(local->usage == 8);
	workload_simulation_advance(s, INT64_C(240000000000));
	assert_true(local->usage == 8);
	workload_simulation_advance(s, INT64_C(60000000000));
	assert_true(local->usage > 3.99 && local->usage < 4.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(preemption_until_the_victim_is_deleted),
		cmocka_unit_test(victims_stop_and_wait_again),
		cmocka_unit_test(statuses_and_events_follow),
		cmocka_unit_test(events_outlive_their_workload),
		cmocka_unit_test(nothing_moves_after_the_last_cycle),
		cmocka_unit_test(other_objects_can_be_deleted),
		cmocka_unit_test(a_cohort_and_a_check_can_be_deleted),
		cmocka_unit_test(the_configuration_decides),
		cmocka_unit_test(errors_name_the_object),
		cmocka_unit_test(bad_objects_can_be_left_out),
		cmocka_unit_test(an_unreadable_workload_holds_its_quota),
		cmocka_unit_test(statuses_are_shown_as_they_were_given),
		cmocka_unit_test(objects_arrive_and_change),
		cmocka_unit_test(usage_fades_as_time_passes),
	};

	return cmocka_run_group_tests_name("ctl/sim/workload_simulation", tests, NULL, NULL);
}
