#include "scheduler/multikueue/records/fleet_managed.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "lib/multikueue/fleet_fixture.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/manager/replica_body.h"
#include "scheduler/multikueue/records/fleet_clusters.h"

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
	*w = (struct world){ .k = { .carried[CARRIED_JOBS] = strmap_create(free_job) } };
	w->g = fleet_managed_create();
	w->t = fleet_managed_there(w->g, &w->k);
	assert_ptr_equal(fleet_managed_there(w->g, &w->k), w->t);
	assert_ptr_equal(fleet_managed_find(w->g, &w->k), w->t);
}

static void end(struct world *w)
{
	fleet_managed_destroy(w->g);
	strmap_destroy(w->k.carried[CARRIED_JOBS]);
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
	strmap_set(w->k.carried[CARRIED_JOBS], str_of(key), m);
	return m;
}

static void test_replicas(void **state UNUSED)
{
	struct world w;

	begin(&w);
	assert_true(fleet_managed_is_gone(w.g));
	replica(&w, 3, "{'metadata':{" OURS "}}", 1);
	assert_non_null(w.t->replica.object);
	assert_false(w.t->replica.foreign);
	assert_false(fleet_managed_is_gone(w.g));
	w.k.is_gone = true; /* nothing can be removed there */
	assert_true(fleet_managed_is_gone(w.g));
	w.k.is_gone = false;
	replica(&w, 4,
		"{'metadata':{" OURS ",'annotations':{'headgate.io/multikueue-manager':'u2'}}}", 1);
	assert_null(w.t->replica.object);
	assert_true(w.t->replica.foreign);
	w.t->replica.taken = true;
	fleet_managed_set_replica(w.t, NULL, &by, 1);
	assert_false(w.t->replica.foreign);
	assert_true(w.t->replica.taken); /* by an object that the watch does not show */
	replica(&w, 5, "{'metadata':{" OURS "}}", 1);
	assert_false(w.t->replica.taken);
	end(&w);
}

/* After a deletion the object is waited for to go; a list shows only what has taken its place. */
static void test_another_in_its_place(void **state UNUSED)
{
	struct fleet_part *part;
	struct world w;

	begin(&w);
	replica(&w, 3, "{'metadata':{'uid':'a'," OURS "}}", 1);
	w.t->replica.write = (struct fleet_write){ .act = MANAGER_DELETE_REPLICA,
						   .written = INT64_MAX,
						   .done_at = S };
	replica(&w, 4, "{'metadata':{'uid':'a'," OURS "}}", 1); /* of before */
	assert_true(fleet_managed_awaits(&w.t->replica.write, 4, S));
	replica(&w, 5, "{'metadata':{'uid':'b'," OURS "}}", 1);
	assert_false(fleet_managed_awaits(&w.t->replica.write, 5, S));

	part = fleet_managed_part(w.t, SCHED_JOBS, str_of("ns/j"), true);
	(void)add_job(&w, "ns/j",
		      "{'metadata':{'uid':'a','namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_see(w.t, part, "ns/w", &by);
	part->o.write = (struct fleet_write){ .act = MANAGER_DELETE_JOB,
					      .written = INT64_MAX,
					      .done_at = S };
	fleet_managed_see(w.t, part, "ns/w", &by);
	assert_true(fleet_managed_awaits(&part->o.write, 5, S));
	(void)add_job(&w, "ns/j",
		      "{'metadata':{'uid':'b','namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_see(w.t, part, "ns/w", &by);
	assert_false(fleet_managed_awaits(&part->o.write, 5, S));
	end(&w);
}

/* An object counts if it names the Workload. */
static void test_parts(void **state UNUSED)
{
	struct fleet_part *part;
	struct sched_msg *m;
	struct world w;

	begin(&w);
	assert_null(fleet_managed_part(w.t, SCHED_JOBS, str_of("ns/j"), false));
	part = fleet_managed_part(w.t, SCHED_JOBS, str_of("ns/j"), true);
	part->sent = part->o.taken = true;
	m = add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_see(w.t, part, "ns/w", &by);
	assert_ptr_equal(part->o.object, m);
	assert_false(part->sent || part->o.taken);
	assert_false(fleet_managed_is_gone(w.g));

	(void)add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("x") "}}");
	fleet_managed_see(w.t, part, "ns/w", &by);
	assert_null(part->o.object);
	assert_true(part->o.foreign);
	(void)add_job(&w, "ns/j", "{'metadata':{'namespace':'no'," OURS "," NAMES("w") "}}");
	fleet_managed_see(w.t, part, "ns/w", &by);
	assert_null(part->o.object); /* of another namespace than its key says */

	m = add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_see(w.t, part, "ns/w", &by);
	assert_non_null(part->o.object);
	fleet_managed_drop(part, m);
	assert_null(part->o.object);
	end(&w);
}

/* One that names the Workload but has no manager, or of another manager of the same origin, is
 * neither changed nor deleted. */
static void test_parts_of_others(void **state UNUSED)
{
	static const char *const rows[] = {
		"{'metadata':{'namespace':'ns'," NAMES("w") "}}",
		"{'metadata':{'namespace':'ns','labels':{'kueue.x-k8s.io/"
		"multikueue-origin':'x'}," NAMES("w") "}}",
		"{'metadata':{'namespace':'ns'," OURS
		",'annotations':{'kueue.x-k8s.io/prebuilt-workload-name':'w',"
		"'headgate.io/multikueue-manager':'u2'}}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fleet_part *part;
		struct world w;

		unit_row(rows[i]);
		begin(&w);
		part = fleet_managed_part(w.t, SCHED_JOBS, str_of("ns/j"), true);
		(void)add_job(&w, "ns/j", rows[i]);
		fleet_managed_see(w.t, part, "ns/w", &by);
		assert_null(part->o.object);
		assert_true(part->o.foreign);
		end(&w);
	}
}

static bool is_wanted(const void *ctx, const struct fleet_part *part)
{
	return strcmp(part->key, ctx) == 0;
}

/* Names are in order, each once; those that nothing is known of are forgotten. */
static void test_names(void **state UNUSED)
{
	static const char *const keys[] = { "ns/c", "ns/a", "ns/d", "ns/b", "ns/a" };
	struct world w;

	begin(&w);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		(void)fleet_managed_part(w.t, SCHED_JOBS, str_of(keys[i]), true);
	}
	assert_int_equal(w.t->parts.n, 4);
	assert_string_equal(w.t->parts.v[0]->key, "ns/a");
	assert_string_equal(w.t->parts.v[3]->key, "ns/d");
	w.t->parts.v[1]->sent = true;
	w.t->parts.v[2]->o.write.in_flight = true;
	fleet_managed_tidy(w.t, is_wanted, "ns/d");
	assert_int_equal(w.t->parts.n, 3);
	assert_string_equal(w.t->parts.v[0]->key, "ns/b");
	end(&w);
}

static void test_connections(void **state UNUSED)
{
	struct fleet_part *part;
	struct world w;

	begin(&w);
	replica(&w, 3, "{'metadata':{" OURS "}}", 1);
	part = fleet_managed_part(w.t, SCHED_JOBS, str_of("ns/j"), true);
	(void)add_job(&w, "ns/j", "{'metadata':{'namespace':'ns'," OURS "," NAMES("w") "}}");
	fleet_managed_see(w.t, part, "ns/w", &by);
	w.t->replica.write.in_flight = part->o.write.in_flight = part->sent = true;
	w.t->tries.failures = 3;
	fleet_managed_lose(w.t);
	assert_false(w.t->replica.write.in_flight || part->o.write.in_flight);
	assert_true(part->sent); /* it may have arrived */
	assert_int_equal(w.t->tries.failures, 0);
	fleet_managed_reach(w.t, 1);
	assert_non_null(w.t->replica.object);
	assert_non_null(part->o.object);
	assert_false(part->sent);
	fleet_managed_reach(w.t, 2); /* which has not shown them */
	assert_null(w.t->replica.object);
	assert_null(part->o.object);
	end(&w);
}

/* A create without an answer may take effect for a while. */
static void test_sent(void **state UNUSED)
{
	struct fleet_part part = { .key = NULL };
	int64_t last = 5 * S + FLEET_MANAGED_SENT_NS;

	assert_false(fleet_managed_is_sent(&part, 5 * S));
	fleet_managed_note_sent(&part, 5 * S);
	assert_true(fleet_managed_is_sent(&part, last));
	assert_false(fleet_managed_is_sent(&part, last + 1));
	assert_false(fleet_managed_is_sent(&part, 4 * S)); /* the clock was set back */
	part.o.write.in_flight = true;
	assert_true(fleet_managed_is_sent(&part, last + 1));
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
	w.t->replica.write.written = 9;
	fleet_managed_set_replica(w.t, NULL, &by, 1);
	assert_int_equal(w.t->replica.write.written, 9);
	replica(&w, 9, "{'metadata':{" OURS "}}", 1);
	w.t->replica.write.written = 10; /* of its deletion */
	fleet_managed_set_replica(w.t, NULL, &by, 1);
	assert_int_equal(w.t->replica.write.written, 0);
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

/* The comparison of specs is forgotten with either of the objects: generations of another one count
 * from 1 again. */
static void test_compared(void **state UNUSED)
{
	struct world w;

	begin(&w);
	replica(&w, 5, "{'metadata':{'uid':'r'," OURS "}}", 1);
	w.t->compared = (struct fleet_compared){ 1, 1, SPEC_SYNC_SAME };
	replica(&w, 6, "{'metadata':{'uid':'r'," OURS "}}", 1);
	assert_int_equal(w.t->compared.here, 1);
	replica(&w, 7, "{'metadata':{'uid':'s'," OURS "}}", 1);
	assert_int_equal(w.t->compared.here, 0);
	w.t->compared.here = 1;
	fleet_managed_set_replica(w.t, NULL, &by, 1);
	assert_int_equal(w.t->compared.here, 0);
	w.t->compared.here = 1;
	fleet_managed_renew(w.g);
	assert_int_equal(w.t->compared.here, 0);
	end(&w);
}

/* Made once for each version of an object. */
static void test_digests(void **state UNUSED)
{
	struct fleet_digest d = { .of = 0 };
	struct sched_msg *m = fleet_fixture_object(SCHED_PODS, "ns/p", 5, "{'metadata':{}}");
	uint64_t first;

	assert_int_equal(fleet_managed_digest(&d, m), 0); /* its text is not kept */
	m->json = str_of("{\"status\":{\"phase\":\"Running\"}}");
	first = fleet_managed_digest(&d, m);
	assert_true(first != 0);
	m->json = str_of("{\"status\":{\"phase\":\"Pending\"}}");
	assert_true(fleet_managed_digest(&d, m) == first);
	m->resource_version++;
	assert_true(fleet_managed_digest(&d, m) != first);
	message_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replicas), cmocka_unit_test(test_another_in_its_place),
		cmocka_unit_test(test_parts),    cmocka_unit_test(test_parts_of_others),
		cmocka_unit_test(test_names),    cmocka_unit_test(test_digests),
		cmocka_unit_test(test_sent),     cmocka_unit_test(test_connections),
		cmocka_unit_test(test_effects),  cmocka_unit_test(test_deletions),
		cmocka_unit_test(test_pauses),   cmocka_unit_test(test_compared),
	};

	return cmocka_run_group_tests_name("fleet/managed", tests, NULL, NULL);
}
