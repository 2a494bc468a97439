#include "scheduler/multikueue/fleet/fleet_managed.h"

#include "lib/unit.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/fleet/fleet_clusters.h"
#include "scheduler/multikueue/manager/replica_body.h"
#include "unit/scheduler/multikueue/fleet/fleet_fixture.h"

#define S CLOCK_NS_PER_S
#define OURS "'labels':{'kueue.x-k8s.io/multikueue-origin':'multikueue'}"
#define NAMES(workload) "'annotations':{'kueue.x-k8s.io/prebuilt-workload-name':'" workload "'}"

static const struct replica_body_manager by = { "multikueue", "u1" };

static void free_job(void *m)
{
	message_free(m);
}

struct world {
	struct fleet_cluster k;
	struct fleet_managed *g;
	struct fleet_there *t;
};

static void begin(struct world *w)
{
	*w = (struct world){ .k = { .jobs = strmap_create(free_job) } };
	w->g = fleet_managed_create();
	w->t = fleet_managed_there(w->g, &w->k);
	assert_ptr_equal(fleet_managed_there(w->g, &w->k), w->t);
	assert_ptr_equal(fleet_managed_find(w->g, &w->k), w->t);
}

static void end(struct world *w)
{
	fleet_managed_destroy(w->g);
	strmap_destroy(w->k.jobs);
}

static void replica(struct world *w, int64_t version, const char *json, uint64_t source)
{
	struct sched_msg *m = fleet_fixture_object(SCHED_WORKLOADS, "ns/w", version, json);

	fleet_managed_set_replica(w->t, m, &by, source);
	message_free(m);
}

static struct sched_msg *add_job(struct world *w, const char *key, const char *json)
{
	struct sched_msg *m = fleet_fixture_object(SCHED_JOBS, key, 5, json);

	m->source = 1;
	strmap_set(w->k.jobs, str_of(key), m);
	return m;
}

static void test_replicas(void **state UNUSED)
{
	struct world w;

	begin(&w);
	assert_true(fleet_managed_is_gone(w.g));
	replica(&w, 3, "{'metadata':{" OURS "}}", 1);
	assert_non_null(w.t->replica);
	assert_false(w.t->replica_foreign);
	assert_false(fleet_managed_is_gone(w.g));
	w.k.is_gone = true; /* nothing can be removed there */
	assert_true(fleet_managed_is_gone(w.g));
	w.k.is_gone = false;
	replica(&w, 4,
		"{'metadata':{" OURS ",'annotations':{'headgate.io/multikueue-manager':'u2'}}}", 1);
	assert_null(w.t->replica);
	assert_true(w.t->replica_foreign);
	w.t->replica_taken = true;
	fleet_managed_set_replica(w.t, NULL, &by, 1);
	assert_false(w.t->replica_foreign);
	assert_true(w.t->replica_taken); /* by an object that the watch does not show */
	replica(&w, 5, "{'metadata':{" OURS "}}", 1);
	assert_false(w.t->replica_taken);
	end(&w);
}

/* The Job of the local one's name counts, if it names the Workload. */
static void test_jobs(void **state UNUSED)
{
	struct world w;
	struct sched_msg *m;

	begin(&w);
	w.t->job_sent = w.t->job_taken = true;
	m = add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_find_job(w.g, w.t, "ns/w", m, &by); /* the local Workload is not known */
	assert_ptr_equal(w.t->job, m);
	assert_false(w.t->job_sent || w.t->job_taken);
	fleet_managed_find_job(w.g, w.t, "ns/w", NULL, &by);
	assert_ptr_equal(w.t->job, m);

	w.g->job_key = xmalloc_dup("ns/other");
	fleet_managed_find_job(w.g, w.t, "ns/w", NULL, &by);
	assert_null(w.t->job);
	free(w.g->job_key);
	w.g->job_key = xmalloc_dup("ns/j");
	fleet_managed_find_job(w.g, w.t, "ns/w", NULL, &by);
	assert_ptr_equal(w.t->job, m);

	(void)add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("x") "}}");
	fleet_managed_find_job(w.g, w.t, "ns/w", NULL, &by);
	assert_null(w.t->job);
	assert_true(w.t->job_foreign);
	m = add_job(&w, "ns/j", "{'metadata':{'namespace':'no'," OURS "," NAMES("w") "}}");
	fleet_managed_find_job(w.g, w.t, "ns/w", NULL, &by);
	assert_null(w.t->job); /* of another namespace than its key says */

	m = add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_find_job(w.g, w.t, "ns/w", NULL, &by);
	assert_non_null(w.t->job);
	fleet_managed_drop_job(w.t, m);
	assert_null(w.t->job);
	end(&w);
}

static void test_connections(void **state UNUSED)
{
	struct world w;
	struct sched_msg *m;

	begin(&w);
	replica(&w, 3, "{'metadata':{" OURS "}}", 1);
	m = add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_find_job(w.g, w.t, "ns/w", m, &by);
	w.t->replica_write.in_flight = w.t->job_write.in_flight = w.t->job_sent = true;
	w.t->tries.failures = 3;
	fleet_managed_lose(w.t);
	assert_false(w.t->replica_write.in_flight || w.t->job_write.in_flight);
	assert_true(w.t->job_sent); /* it may have arrived */
	assert_int_equal(w.t->tries.failures, 0);
	fleet_managed_reach(w.t, 1);
	assert_non_null(w.t->replica);
	assert_non_null(w.t->job);
	assert_false(w.t->job_sent);
	fleet_managed_reach(w.t, 2); /* which has not shown them */
	assert_null(w.t->replica);
	assert_null(w.t->job);
	end(&w);
}

static void test_effects(void **state UNUSED)
{
	struct fleet_write w = { .in_flight = true };

	assert_true(fleet_managed_awaits(&w, 5, 0));
	w = (struct fleet_write){ .written = 6, .done_at = 10 * S };
	assert_true(fleet_managed_awaits(&w, 5, 10 * S));
	assert_true(fleet_managed_awaits(&w, 0, 69 * S));
	assert_false(fleet_managed_awaits(&w, 6, 10 * S));
	assert_false(fleet_managed_awaits(&w, 5, 70 * S)); /* it will never be seen */
	assert_false(fleet_managed_awaits(&w, 5, 9 * S));  /* the clock was set back */
}

/* The deletion of the object before is no news of the one that was created since. */
static void test_deletions(void **state UNUSED)
{
	struct world w;

	begin(&w);
	replica(&w, 3, "{'metadata':{" OURS "}}", 1);
	w.t->replica_write.written = 9;
	fleet_managed_set_replica(w.t, NULL, &by, 1);
	assert_int_equal(w.t->replica_write.written, 9);
	replica(&w, 9, "{'metadata':{" OURS "}}", 1);
	w.t->replica_write.written = 10; /* of its deletion */
	fleet_managed_set_replica(w.t, NULL, &by, 1);
	assert_int_equal(w.t->replica_write.written, 0);
	end(&w);
}

static void test_pauses(void **state UNUSED)
{
	struct fleet_tries t = { .until = 100 * S };
	struct world w;

	assert_true(fleet_managed_is_paused(&t, 99 * S));
	assert_false(fleet_managed_is_paused(&t, 100 * S));
	assert_true(fleet_managed_is_paused(&t, 100 * S - FLEET_MANAGED_MAX_PAUSE_NS));
	assert_false(fleet_managed_is_paused(&t, 99 * S - FLEET_MANAGED_MAX_PAUSE_NS));

	begin(&w);
	w.g->tries.idle = w.t->tries.idle = 1;
	fleet_managed_changed(w.g);
	assert_int_equal(w.g->tries.idle | w.t->tries.idle, 0);
	w.g->workload_write = (struct fleet_write){ .in_flight = true, .event = xmalloc_dup("e") };
	w.g->round_at = 5;
	fleet_managed_renew(w.g);
	assert_false(w.g->workload_write.in_flight);
	assert_true(w.g->round_at == MANAGER_NOT_KNOWN);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replicas),    cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_connections), cmocka_unit_test(test_effects),
		cmocka_unit_test(test_deletions),   cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests_name("fleet/managed", tests, NULL, NULL);
}
