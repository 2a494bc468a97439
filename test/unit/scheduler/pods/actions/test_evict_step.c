#include "scheduler/pods/actions/evict_step.h"

#include "lib/pods/core_fixture.h"
#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"

#include "collections/intern.h"

struct fixture {
	struct core_fixture core;
	struct podgroup *high;
	struct task *pod;
};

static void start(struct fixture *f)
{
	struct cluster *c;

	core_fixture_init(&f->core, evict_fixture_conf);
	c = f->core.f.cluster;
	cluster_fixture_queue(c, "q", NULL, -1);
	evict_fixture_running(c, "v", evict_fixture_podgroup(c, "low", "q", 1, 1), 1000,
			      cluster_fixture_node(c, "n", 1000));
	f->high = evict_fixture_podgroup(c, "high", "q", 1, 9);
	f->high->phase = PODGROUP_INQUEUE;
	f->pod = cluster_fixture_task(c, "p", f->high, 1000);
}

static void which_podgroups_starve(void **state)
{
	static const struct {
		const char *what;
		enum podgroup_phase phase;
		int32_t min_member;
		bool starving;
	} rows[] = {
		{ "not enqueued", PODGROUP_PENDING, 1, false },
		{ "enqueued", PODGROUP_INQUEUE, 1, true },
		{ "needs no pod", PODGROUP_INQUEUE, 0, false },
		{ "has too few pods", PODGROUP_INQUEUE, 2, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct queue *q;
		struct fixture f;

		print_message("%s\n", rows[i].what);
		start(&f);
		f.high->phase = (uint8_t)rows[i].phase;
		f.high->min_member = rows[i].min_member;
		core_fixture_open(&f.core);
		q = queue_find(f.core.f.cluster, STR_LIT("q"));
		assert_int_equal(evict_step_collect(f.core.s, q, f.high) != NULL, rows[i].starving);
		core_fixture_finish(&f.core);
	}
}

/* A pod for which evictions led to nothing pauses; its queue comes due when that ends. */
static void a_pause_is_kept(void **state)
{
	const struct queue *q;
	struct fixture f;

	(void)state;
	start(&f);
	f.pod->preempt_at = f.core.f.now + 1;
	core_fixture_open(&f.core);
	q = queue_find(f.core.f.cluster, STR_LIT("q"));
	assert_null(evict_step_collect(f.core.s, q, f.high));
	assert_true(f.core.s->timers[q->id] == f.core.f.now + 1);
	core_fixture_finish(&f.core);
}

/* A pod that the API server has refused to evict pauses as well; the queue of the pod that needs
 * its room comes due when that ends. */
static void the_pause_of_a_victim_is_kept(void **state)
{
	for (int i = 0; i < 2; i++) {
		bool parked = i == 1;
		const struct queue *q;
		struct evict_work *w;
		struct victims *v;
		struct fixture f;
		struct task *victim;

		(void)state;
		start(&f);
		victim = cluster_task_find(f.core.f.cluster, STR_LIT("ns/v"));
		assert_non_null(victim);
		cluster_task_set_retry(f.core.f.cluster, victim, f.core.f.now + 2);
		victim->flags |= parked ? TASK_PARKED : 0;
		core_fixture_open(&f.core);
		q = queue_find(f.core.f.cluster, STR_LIT("q"));
		w = evict_step_collect(f.core.s, q, f.high);
		assert_non_null(w);
		v = victims_of_queue(f.core.s, q);
		assert_false(evict_step_serve(f.core.s, w, v));
		assert_true(f.core.s->timers[q->id] == (parked ? INT64_MAX : f.core.f.now + 2));
		victims_finish(v);
		core_fixture_finish(&f.core);
	}
}

static void a_step_evicts_and_holds(void **state)
{
	const struct queue *q;
	struct evict_work *w;
	struct victims *v;
	struct fixture f;

	(void)state;
	start(&f);
	core_fixture_open(&f.core);
	q = queue_find(f.core.f.cluster, STR_LIT("q"));
	w = evict_step_collect(f.core.s, q, f.high);
	assert_non_null(w);
	v = victims_of_queue(f.core.s, q);
	assert_true(evict_step_serve(f.core.s, w, v));
	assert_string_equal(core_fixture_decisions(&f.core), "Evict v; Await p n");
	assert_int_equal(session_task_status(f.core.s, f.pod), TASK_PIPELINED);
	assert_int_equal(session_task_awaits(f.core.s, f.pod), f.core.f.cluster->nodes.v[0]->id);
	/* Nothing is left to do. */
	assert_false(evict_step_serve(f.core.s, w, v));
	victims_finish(v);
	core_fixture_finish(&f.core);
}

/* Without a master the gang is not complete: its quota comes before that of p, which is first by
 * name. */
static void pods_are_evicted_for_the_role_that_lacks(void **state)
{
	const uint32_t gated = TASK_OURS | TASK_OPTED_IN | TASK_OUR_GATE;
	struct podgroup_role_min min = { .min = 1 };
	const struct evict_work *w;
	struct fixture f;
	struct task *master;

	(void)state;
	start(&f);
	min.role = intern_id(f.core.f.cluster->names, STR_LIT("master"));
	vec_push(&f.high->role_min, min);
	master = cluster_fixture_task(f.core.f.cluster, "z", f.high, 1000);
	master->role = min.role;
	f.pod->flags |= gated;
	master->flags |= gated;
	core_fixture_open(&f.core);
	w = evict_step_collect(f.core.s, queue_find(f.core.f.cluster, STR_LIT("q")), f.high);
	assert_non_null(w);
	assert_ptr_equal(w->tasks[0], f.pod);
	assert_ptr_equal(evict_step_preemptor(f.core.s, w), master);
	core_fixture_finish(&f.core);
}

/* The victim is a pod of the gang itself, which then lacks its minimum: no pod is evicted. */
static void a_gang_is_counted_without_its_victims(void **state)
{
	struct core_fixture f;
	struct podgroup *g;
	struct victims *v;
	struct evict_work *w;
	struct queue *q;
	struct task *p;

	(void)state;
	core_fixture_init(&f, evict_fixture_conf);
	q = cluster_fixture_queue(f.f.cluster, "q", NULL, 1000);
	g = evict_fixture_podgroup(f.f.cluster, "g", "q", 2, 1);
	g->phase = PODGROUP_RUNNING;
	evict_fixture_running(f.f.cluster, "v", g, 1000,
			      cluster_fixture_node(f.f.cluster, "n", 1000));
	p = cluster_fixture_task(f.f.cluster, "p", g, 1000);
	p->priority = p->granted_priority = 9;
	p->flags |= TASK_OURS | TASK_OPTED_IN | TASK_OUR_GATE;
	core_fixture_open(&f);
	w = evict_step_collect(f.s, q, g);
	assert_non_null(w);
	v = victims_of_podgroup(f.s, g);
	assert_false(evict_step_serve(f.s, w, v));
	assert_string_equal(core_fixture_decisions(&f), "");
	victims_finish(v);
	core_fixture_finish(&f);
}

/* The first pod is left to allocate. For the second one a pod is evicted at once when each pod is
 * wanted; a gang that is complete with the first one has no need of that. */
static void pods_behind_one_that_fits(void **state)
{
	(void)state;
	for (int gang = 0; gang < 2; gang++) {
		const char *const expected = gang ? "" : "Evict v; Await p2 n";
		struct core_fixture f;
		struct podgroup *low, *high;
		struct victims *v;
		struct evict_work *w;
		struct queue *q;

		core_fixture_init(&f, gang ? evict_fixture_conf
					   : "actions: \"preempt, allocate\"\n"
					     "tiers:\n"
					     "- plugins:\n"
					     "  - name: priority\n"
					     "  - name: predicates\n");
		q = cluster_fixture_queue(f.f.cluster, "q", NULL, -1);
		low = evict_fixture_podgroup(f.f.cluster, "low", "q", 1, 1);
		evict_fixture_running(f.f.cluster, "v", low, 2000,
				      cluster_fixture_node(f.f.cluster, "n", 2000));
		cluster_fixture_node(f.f.cluster, "idle", 1000);
		high = evict_fixture_podgroup(f.f.cluster, "high", "q", 1, 9);
		high->phase = PODGROUP_INQUEUE;
		cluster_fixture_task(f.f.cluster, "p1", high, 1000);
		cluster_fixture_task(f.f.cluster, "p2", high, 2000);
		core_fixture_open(&f);
		v = victims_of_queue(f.s, q);
		w = evict_step_collect(f.s, q, high);
		while (w->next < w->n && evict_step_serve(f.s, w, v)) {
		}
		assert_string_equal(core_fixture_decisions(&f), expected);
		victims_finish(v);
		core_fixture_finish(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_is_counted_without_its_victims),
		cmocka_unit_test(pods_are_evicted_for_the_role_that_lacks),
		cmocka_unit_test(pods_behind_one_that_fits),
		cmocka_unit_test(which_podgroups_starve),
		cmocka_unit_test(a_pause_is_kept),
		cmocka_unit_test(the_pause_of_a_victim_is_kept),
		cmocka_unit_test(a_step_evicts_and_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
