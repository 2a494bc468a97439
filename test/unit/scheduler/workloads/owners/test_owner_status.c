#include "scheduler/workloads/owners/owner_status.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

#define C JOB_FIXTURE_CONDITION
#define HOLDS JOB_FIXTURE_ADMISSION ",'conditions':[" C("QuotaReserved", "True", "q")
#define ADMITTED HOLDS "," C("Admitted", "True", "a")

/* Statuses of Jobs are tested in test_job_status.c; here those that only pods have. */
static const struct {
	const char *name;
	struct owner_status s;
	const char *w;    /* status */
	const char *want; /* "Type=Status/Reason!message ..." and "podset:n", NULL: nothing new */
} cases[] = {
	{ .name = "nothing is missing, and never was", .s = { .replaces = true } },
	{ .name = "pods failed",
	  .s = { .replaces = true, .misses_pods = true },
	  .w = ADMITTED "]",
	  .want = "WaitingForReplacementPods=True/PodsFailed!Some Failed pods need replacement " },
	{ .name = "they were ended by an eviction",
	  .s = { .replaces = true, .misses_pods = true },
	  .w = HOLDS "," C("Evicted", "True", "Preempted") "]",
	  .want = "WaitingForReplacementPods=True/Preempted!m " },
	{ .name = "the reason stays when the eviction is over",
	  .s = { .replaces = true, .misses_pods = true },
	  .w = "'conditions':[" C("Evicted", "False", "QuotaReserved") "," C(
		  "WaitingForReplacementPods", "True", "Preempted") "]" },
	{ .name = "they were replaced",
	  .s = { .replaces = true },
	  .w = "'conditions':[" C("WaitingForReplacementPods", "True", "Preempted") "]",
	  .want = "WaitingForReplacementPods=False/PodsReady!No pods need replacement " },
	{ .name = "the condition of another controller is left alone",
	  .s = { .replaces = false },
	  .w = "'conditions':[" C("WaitingForReplacementPods", "True", "Preempted") "]" },
	{ .name = "no readiness while checks are waited for",
	  .s = { .pods_ready = true },
	  .w = HOLDS "," C("Admitted", "False", "UnsatisfiedAdmissionChecks") "]" },
	{ .name = "admitted by another core, which left it out",
	  .s = { .pods_ready = true },
	  .w = ADMITTED "]",
	  .want = "PodsReady=False/WaitForStart!Not all pods are ready or succeeded " },
	{ .name = "an apply has the fields that stay besides the new ones",
	  .s = { .replaces = true,
		 .pods_ready = true,
		 .ready = true,
		 .finished_reason = "Succeeded",
		 .finished_message = "m" },
	  .w = ADMITTED "," C("PodsReady", "True", "Started") "," C("WaitingForReplacementPods",
								    "False", "PodsReady") "]",
	  .want = "PodsReady=True/Started!m WaitingForReplacementPods=False/PodsReady!No pods need "
		  "replacement "
		  "Finished=True/Succeeded!m " },
};

static void describe(struct str body, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const struct jdoc *list;

	assert_int_equal(jdoc_parse(body, &d, NULL), 0);
	list = jdoc_path(d, "status.conditions");
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		strbuf_printf(out, "%s=%s/%s!%s ", jdoc_path_str(c, "type"),
			      jdoc_path_str(c, "status"), jdoc_path_str(c, "reason"),
			      jdoc_path_str(c, "message"));
	}
	list = jdoc_path(d, "status.reclaimablePods");
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		strbuf_printf(out, "%s:%d ", jdoc_path_str(c, "name"),
			      (int)jdoc_int(jdoc_get(c, "count"), -1));
	}
}

static void expect(const struct owner_status *s, const char *status, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf have = STRBUF_INIT;
	const struct job_fixture_workload f = { .status = status };
	struct api_workload w;

	job_fixture_workload(&f, &w);
	assert_int_equal(owner_status_apply(s, &w, &body), want != NULL);
	if (want != NULL) {
		describe(strbuf_str(&body), &have);
		assert_string_equal(have.p, want);
	} else {
		assert_int_equal(body.len, 0);
	}
}

static void conditions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row(cases[i].name);
		expect(&cases[i].s, cases[i].w, cases[i].want);
	}
}

static void pods_of_several_pod_sets(void **state)
{
	static const struct owner_status_pods pods[] = { { "r1", 2 }, { "r2", 0 }, { "r3", 1 } };
	const struct owner_status s = { .pods = pods, .npods = ARRAY_LEN(pods) };

	(void)state;
	expect(&s, ADMITTED "]", "r1:2 r3:1 ");
	/* Never fewer while quota is held. */
	expect(&s, ADMITTED "],'reclaimablePods':[{'name':'r2','count':4},{'name':'r1','count':1}]",
	       "r1:2 r2:4 r3:1 ");
	expect(&s, ADMITTED "],'reclaimablePods':[{'name':'r1','count':2},{'name':'r3','count':1}]",
	       NULL);
}

/* The API server refuses more, and an owner may have had more when it was let go. */
static void no_more_than_the_pod_set_has(void **state)
{
	static const struct owner_status_pods pods[] = { { "main", 4 } };
	const struct owner_status s = { .pods = pods, .npods = ARRAY_LEN(pods) };

	(void)state;
	expect(&s, ADMITTED "]", "main:3 ");
	expect(&s, ADMITTED "],'reclaimablePods':[{'name':'main','count':3}]", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions),
		cmocka_unit_test(pods_of_several_pod_sets),
		cmocka_unit_test(no_more_than_the_pod_set_has),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
