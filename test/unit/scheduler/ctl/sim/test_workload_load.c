#include "scheduler/ctl/sim/workload_load.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"
#include "enc/yaml.h"
#include "lib/workload_sim_fixture.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/model/quota_store.h"

struct fixture {
	struct workload_load l;
	struct kueue_conf *conf;
	struct sim_input *in;
};

static void init(struct fixture *f, const char *yaml)
{
	struct err err = ERR_INIT;

	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &f->conf, NULL), 0);
	f->l = (struct workload_load){ quota_create(), from_kueue_rules_create(&f->conf->resources),
				       f->conf };
	f->in = sim_input_create(NULL, NULL);
	if (sim_input_add(f->in, "f", str_of(yaml), &err) < 0) {
		fail_msg("%s", err.text);
	}
}

static void finish(struct fixture *f)
{
	sim_input_destroyp(&f->in);
	from_kueue_rules_destroy(f->l.rules);
	quota_destroy(f->l.q);
	kueue_conf_destroy(f->conf);
}

static void objects_of_both_groups(void **state)
{
	struct fixture f;
	struct sim_object *const *v;
	size_t n;

	(void)state;
	init(&f, QUOTA_SIM_CLUSTER
	     "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: r}, handler: "
	     "h}\n---\n"
	     "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: team}}\n---\n"
	     "{" QUOTA_SIM_API "kind: Topology, metadata: {name: t}}\n---\n"
	     "{" QUOTA_SIM_API "kind: Cohort, metadata: {name: c}}\n---\n"
	     "{" QUOTA_SIM_API "kind: AdmissionCheck, metadata: {name: k}}\n---\n"
	     "{" QUOTA_SIM_API "kind: WorkloadPriorityClass, metadata: {name: p}, value: 7}\n---\n"
	     "{kind: Pod, metadata: {name: not-ours}}\n");
	v = sim_input_objects(f.in, &n);
	assert_int_equal(n, 11);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(workload_load_object(&f.l, v[i], NULL), 0);
	}
	assert_true(quota_queue_find(f.l.q, STR_LIT("cq"))->exists);
	assert_true(quota_cohort_find(f.l.q, STR_LIT("c"))->exists);
	assert_true(quota_flavor_find(f.l.q, STR_LIT("f"))->exists);
	assert_non_null(quota_local_find(f.l.q, STR_LIT("team/lq")));
	assert_non_null(quota_namespace_find(f.l.q, STR_LIT("team")));
	assert_non_null(quota_check_find(f.l.q, STR_LIT("k")));
	finish(&f);
}

static void the_status_of_a_workload_is_kept(void **state)
{
	struct fixture f;
	struct workload_load_status *s = NULL;
	struct workload *w = NULL;
	size_t n;

	(void)state;
	init(&f,
	     QUOTA_SIM_WORKLOAD(
		     "w", "2", "3",
		     ", status: {admission: {clusterQueue: cq, podSetAssignments: [{name: main, "
		     "flavors: {cpu: f}, resourceUsage: {cpu: 2}}]}, conditions: [{type: "
		     "QuotaReserved, status: \"True\"}, {type: Other, status: Unknown, reason: R, "
		     "message: M, lastTransitionTime: \"2026-01-15T09:00:00Z\"}], "
		     "admissionChecks: [{name: c, state: Retry, retryCount: 2}], "
		     "preemptionGates: [{name: g, position: Open}, {name: h, state: Closed}], "
		     "schedulingStats: {evictions: [{reason: Preempted, count: 4}]}}"));
	assert_int_equal(workload_load_workload(&f.l, sim_input_objects(f.in, &n)[0], &w, &s, NULL),
			 0);
	assert_int_equal(w->priority, 3);
	assert_int_equal(w->holds, MODEL_NONE);
	assert_string_equal(s->queue, "cq");
	assert_string_equal(s->admission, "{\"clusterQueue\":\"cq\",\"podSetAssignments\":["
					  "{\"name\":\"main\",\"flavors\":{\"cpu\":\"f\"},"
					  "\"resourceUsage\":{\"cpu\":2}}]}");
	assert_int_equal(s->conditions.list.n, 2);
	assert_string_equal(s->conditions.list.v[0].reason, "");
	assert_string_equal(s->conditions.list.v[1].status, "Unknown");
	assert_int_equal(s->conditions.checks.v[0].state, QUOTA_CHECK_RETRY);
	assert_int_equal(s->conditions.checks.v[0].retries, 2);
	assert_true(s->conditions.gates.v[0].open);
	assert_false(s->conditions.gates.v[1].open);
	assert_int_equal(s->conditions.evictions.v[0].count, 4);
	assert_true(s->conditions.has_admission);
	workload_load_status_destroy(s);
	finish(&f);
}

static void without_a_reservation_it_holds_nothing(void **state)
{
	struct fixture f;
	struct workload_load_status *s = NULL;
	struct workload *w = NULL;
	size_t n;

	(void)state;
	init(&f, QUOTA_SIM_WORKLOAD("w", "2", "3", ""));
	assert_int_equal(workload_load_workload(&f.l, sim_input_objects(f.in, &n)[0], &w, &s, NULL),
			 0);
	assert_null(s->queue);
	assert_null(s->admission);
	assert_false(s->conditions.has_admission);
	workload_load_status_destroy(s);
	finish(&f);
}

static void errors_name_object_and_field(void **state)
{
	struct fixture f;
	struct workload_load_status *s = NULL;
	struct workload *w = NULL;
	struct err err = ERR_INIT;
	size_t n;

	(void)state;
	init(&f, QUOTA_SIM_WORKLOAD("w", "much", "3", ""));
	assert_int_equal(workload_load_workload(&f.l, sim_input_objects(f.in, &n)[0], &w, &s, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text,
			    "Workload team/w: spec.podSets[0].template.spec.containers[0]."
			    "resources.requests.cpu: invalid quantity \"much\"");
	assert_null(w);
	assert_null(s);
	workload_load_status_destroy(NULL);
	finish(&f);
}

/* One that is refused holds what can be read of its status; one that holds nothing is left out. */
static void what_cannot_be_read_holds_its_quota(void **state)
{
	static const char *const texts[] = {
		QUOTA_SIM_WORKLOAD("w", "much", "3", QUOTA_SIM_HOLDS("2")),
		QUOTA_SIM_WORKLOAD("w", "1", "3", QUOTA_SIM_HOLDS("much")),
		QUOTA_SIM_WORKLOAD("w", "much", "3", ""),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct fixture f;
		struct workload_load_status *s = NULL;
		struct workload *w = NULL;
		int want = i == 2 ? -ERR_NOT_FOUND : 0;
		size_t n;

		init(&f, texts[i]);
		assert_int_equal(
			workload_load_workload_keep(&f.l, sim_input_objects(f.in, &n)[0], &w, &s),
			want);
		if (want == 0) {
			assert_string_equal(s->queue, "cq");
			assert_true(w->unreadable);
			assert_int_equal(w->usage_unknown, i == 1);
			assert_int_equal(w->usage.n, i == 0);
		}
		workload_load_status_destroy(s);
		finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_of_both_groups),
		cmocka_unit_test(the_status_of_a_workload_is_kept),
		cmocka_unit_test(without_a_reservation_it_holds_nothing),
		cmocka_unit_test(errors_name_object_and_field),
		cmocka_unit_test(what_cannot_be_read_holds_its_quota),
	};

	return cmocka_run_group_tests_name("ctl/sim/workload_load", tests, NULL, NULL);
}
