/* Requests of the manager over embedded API servers in virtual time: how they end, and how often
 * they are sent. */
#include "scheduler/multikueue/fleet/fleet_carry.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_world.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "scheduler/orchestrate/orchestrate.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define MANAGER FLEET_WORLD_MANAGER
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"

static struct fleet_world *begin(unsigned workers)
{
	struct orchestrate_options o;
	struct manager_options mo;
	struct fleet_world *w;

	orchestrate_defaults(&o);
	manager_defaults(&mo);
	w = fleet_world_create(workers, &o, 1, 1);
	fleet_world_manage(w, &mo, 0);
	fleet_world_start(w);
	fleet_world_run(w, 3 * S);
	return w;
}

/* A sample of a metric, as its line begins; 0: there is none. */
static double metric(struct fleet_world *w, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, wanted = STRBUF_INIT;
	const char *at;

	strbuf_printf(&wanted, "\n%s ", line);
	exposition_render(fleet_world_metrics(w), &text);
	at = strstr(text.p, wanted.p);
	return at == NULL ? 0 : strtod(at + wanted.len, NULL);
}

static double requests(struct fleet_world *w, const char *request, const char *outcome)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;

	strbuf_printf(&line, "headgate_requests_total{request=\"%s\",outcome=\"%s\"}", request,
		      outcome);
	return metric(w, line.p);
}

/* Each object is written once for each step, and everything is counted. */
static void test_requests_of_a_life(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_world_report(w, 1, "a", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	fleet_jobs_core(w, "a");
	fleet_jobs_work(w, 1, "a");
	fleet_world_run(w, S);
	fleet_jobs_finish(w, 1, "a");
	fleet_world_run(w, S);
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	assert_true(metric(w, "multikueue_workloads_dispatched_total{cluster_queue=\"cq\","
			      "cluster=\"w0\",replica_role=\"leader\"}") == 1);
	assert_true(metric(w, "multikueue_workloads_admitted_total{cluster_queue=\"cq\","
			      "cluster=\"w1\",replica_role=\"leader\"}") == 1);
	assert_true(fleet_world_events(w, "MultiKueue", NULL,
				       "The workload was admitted on \"w1\"") > 0);
	/* Two creations and two deletions; one of a Job each. */
	assert_true(requests(w, "replica", "done") == 4);
	assert_true(requests(w, "replica_job", "done") == 2);
	/* Nominations and the winner; the core writes the end. */
	assert_true(requests(w, "dispatch", "done") == 2);
	assert_true(requests(w, "job_status", "done") <= 3);
	fleet_world_run(w, 10 * MINUTE);
	assert_true(requests(w, "dispatch", "done") == 2);
	fleet_world_destroy(w);
}

/* A refused write is reported, and sent again at growing intervals: its cluster alone waits. */
static void test_refused(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	double sent;

	fleet_world_refuse_creates(w, 0, 403);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, 10 * MINUTE);
	assert_true(fleet_jobs_has_replica(w, 1, "a"));
	assert_true(fleet_world_events(w, "MultiKueue", NULL, "CreateReplica on w0 was refused: ") >
		    0);
	sent = requests(w, "replica", "rejected");
	assert_true(sent >= 5 && sent <= 8); /* 5, 10, 20, ... 300 s */
	fleet_world_refuse_creates(w, 0, 0);
	fleet_world_run(w, 5 * MINUTE);
	assert_true(fleet_jobs_has_replica(w, 0, "a"));
	fleet_world_destroy(w);
}

/* A namespace that the worker does not have. */
static void test_no_namespace(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	fleet_world_refuse_creates(w, 0, 404);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, MINUTE);
	assert_true(fleet_world_events(w, "MultiKueue", NULL, "CreateReplica on w0 was refused: ") >
		    0);
	assert_true(requests(w, "replica", "gone") >= 2);
	fleet_world_destroy(w);
}

/* A failing API server is asked again after a second or so, then after longer. */
static void test_failures(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	fleet_world_refuse_creates(w, 0, 500);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, 40 * S);
	assert_true(requests(w, "replica", "unanswered") >= 4);
	assert_true(requests(w, "replica", "unanswered") <= 7);
	fleet_world_refuse_creates(w, 0, 0);
	fleet_world_run(w, MINUTE);
	assert_true(fleet_jobs_has_replica(w, 0, "a"));
	fleet_world_destroy(w);
}

/* The worker gives the priority of the Job to its Workload: the Job follows the local one. */
static void test_class_of_the_job(void **state UNUSED)
{
	struct fleet_world *w = begin(1);
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	double sent;

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_world_report(w, 0, "a", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	sent = requests(w, "replica_job", "done");
	assert_int_equal(fleet_world_patch(w, MANAGER, JOBS "/a",
					   "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/"
					   "priority-class\":\"high\"}}}"),
			 200);
	fleet_world_run(w, S);
	d = fleet_world_get(w, 0, JOBS "/a");
	assert_string_equal(jdoc_str_or(jdoc_get(jdoc_path(d, "metadata.labels"),
						 "kueue.x-k8s.io/priority-class"),
					""),
			    "high");
	assert_true(requests(w, "replica_job", "done") == sent + 1);
	fleet_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_of_a_life), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_namespace),       cmocka_unit_test(test_failures),
		cmocka_unit_test(test_class_of_the_job),
	};

	return cmocka_run_group_tests_name("fleet/carry", tests, NULL, NULL);
}
