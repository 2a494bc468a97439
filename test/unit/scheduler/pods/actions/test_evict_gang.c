#include "scheduler/pods/actions/evict_gang.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "collections/intern.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/session/statement.h"

static const char conf[] = "actions: gangpreempt\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: priority\n"
			   "  - name: gang\n"
			   "  - name: conformance\n"
			   "- plugins:\n"
			   "  - name: predicates\n"
			   "  - name: capacity\n";

struct fixture {
	struct core_fixture core;
	struct cluster *c;
	struct victims *v;
	struct evict_gang_tried tried;
};

static void start(struct fixture *f)
{
	*f = (struct fixture){ .v = NULL };
	core_fixture_init(&f->core, conf);
	f->c = f->core.f.cluster;
	cluster_fixture_queue(f->c, "q", NULL, -1);
}

static void finish(struct fixture *f)
{
	vec_finish(&f->tried.in_vain);
	victims_finish(f->v);
	core_fixture_finish(&f->core);
}

/* A gang that needs all but `spare` of its pods, which are on nodes of their own: "a0" on "a0". */
static struct podgroup *gang(struct fixture *f, const char *name, int pods, int spare,
			     int32_t priority, int64_t cpu)
{
	struct podgroup *g = evict_fixture_podgroup(f->c, name, "q", pods - spare, priority);

	for (int i = 0; i < pods; i++) {
		char pod[16];

		snprintf(pod, sizeof(pod), "%s%d", name, i);
		evict_fixture_running(f->c, pod, g, cpu, cluster_fixture_node(f->c, pod, cpu));
	}
	return g;
}

static struct podgroup *preemptor(struct fixture *f, const char *name, int pods, int64_t cpu)
{
	struct podgroup *g = evict_fixture_podgroup(f->c, name, "q", pods, 9);

	g->phase = PODGROUP_INQUEUE;
	for (int i = 0; i < pods; i++) {
		char pod[16];

		snprintf(pod, sizeof(pod), "%s%d", name, i);
		cluster_fixture_task(f->c, pod, g, cpu);
	}
	return g;
}

static const char *serve(struct fixture *f, const struct podgroup *g)
{
	const struct queue *q = queue_find(f->c, STR_LIT("q"));
	struct evict_work *w;
	bool served;

	if (f->v == NULL) {
		core_fixture_open(&f->core);
		f->v = victims_of_queue(f->core.s, q);
		victims_spare_gangs(f->v);
	}
	w = evict_step_collect(f->core.s, q, g);
	assert_non_null(w);
	served = evict_gang_serve(f->core.s, w, f->v, &f->tried);
	if (!served) {
		/* Nothing has changed. */
		assert_int_equal(w->next, w->n);
		assert_string_equal(core_fixture_decisions(&f->core), "");
	}
	return served ? core_fixture_decisions(&f->core) : "none";
}

static void pods_that_gangs_can_spare_go_first(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	gang(&f, "low", 2, 0, 1, 1000);
	gang(&f, "mid", 3, 1, 5, 1000);
	/* Though the other gang has the lower priority. */
	assert_string_equal(serve(&f, preemptor(&f, "p", 1, 1000)), "Evict mid0; Await p0 mid0");
	finish(&f);
}

static void then_a_gang_as_a_whole(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	gang(&f, "mid", 3, 1, 5, 1000);
	gang(&f, "low", 2, 0, 1, 1000);
	assert_string_equal(serve(&f, preemptor(&f, "p", 3, 1000)),
			    "Evict low0; Evict low1; Evict mid0; Await p0 low0; Await p1 low1; "
			    "Await p2 mid0");
	finish(&f);
}

/* As few as are enough: the first one, which is smaller, does not help the second one. */
/* Of a PodGroup with a pod that did not opt in, those that did get quota, and are those for which a
 * gang goes. */
static void in_the_name_of_a_pod_that_is_served(void **state)
{
	struct podgroup *p;
	struct fixture f;

	(void)state;
	start(&f);
	queue_find(f.c, STR_LIT("q"))->capability.v[RES_CPU] = 2000;
	gang(&f, "low", 2, 0, 1, 1000);
	p = preemptor(&f, "p", 1, 1000);
	cluster_fixture_task(f.c, "p1", p, 1000)->flags |= TASK_OPTED_IN | TASK_OUR_GATE;
	assert_non_null(strstr(serve(&f, p), "AwaitQuota p1"));
	for (size_t i = 0; i < f.core.s->decisions.n; i++) {
		const struct decision *d = &f.core.s->decisions.v[i];

		if (d->kind == DECISION_EVICT) {
			assert_string_equal(f.c->tasks.v[d->by]->name, "p1");
		}
	}
	finish(&f);
}

static void superfluous_gangs_are_spared(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	gang(&f, "low", 2, 0, 1, 500);
	gang(&f, "mid", 2, 0, 5, 1000);
	gang(&f, "top", 2, 0, 7, 1000);
	assert_string_equal(serve(&f, preemptor(&f, "p", 2, 1000)),
			    "Evict mid0; Evict mid1; Await p0 mid0; Await p1 mid1");
	finish(&f);
}

static void what_protects_a_gang(void **state)
{
	static const struct {
		const char *what;
		uint32_t flag;
		int32_t priority;
		bool rival, evicted;
	} rows[] = {
		{ "nothing", 0, 1, false, true },
		{ "its priority", 0, 9, false, false },
		{ "one critical pod", TASK_CRITICAL, 1, false, false },
		{ "pods were evicted for it", 0, 1, true, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct podgroup *p;
		struct fixture f;

		print_message("%s\n", rows[i].what);
		start(&f);
		gang(&f, "low", 2, 0, rows[i].priority, 1000);
		f.c->tasks.v[1]->flags |= rows[i].flag;
		p = preemptor(&f, "p", 1, 1000);
		if (rows[i].rival) {
			cluster_podgroup_note_rival(f.c, p,
						    cluster_podgroup_find(f.c, STR_LIT("ns/low")));
		}
		assert_string_equal(serve(&f, p), rows[i].evicted
							  ? "Evict low0; Evict low1; Await p0 low0"
							  : "none");
		finish(&f);
	}
}

/* One of two workers can be spared, the master cannot; and a gang that lacks members is no worse
 * without more of them. */
static void pods_of_a_role_that_has_too_few_are_not_spared(void **state)
{
	struct podgroup_role_min min = { .min = 1 };
	struct podgroup *g;
	struct fixture f;

	(void)state;
	start(&f);
	g = gang(&f, "low", 3, 1, 1, 1000);
	g->min_member = 2;
	min.role = intern_id(f.c->names, STR_LIT("master"));
	vec_push(&g->role_min, min);
	f.c->tasks.v[0]->role = min.role;
	assert_string_equal(serve(&f, preemptor(&f, "p", 1, 1000)), "Evict low1; Await p0 low1");
	finish(&f);
	start(&f);
	g = gang(&f, "low", 2, 0, 1, 1000);
	g->min_member = 3;
	assert_string_equal(serve(&f, preemptor(&f, "p", 1, 1000)), "Evict low0; Await p0 low0");
	finish(&f);
}

/* The second one, which is equal, is not tried; one that needs less is. */
static void equal_ones_are_tried_once(void **state)
{
	struct podgroup *p, *q, *small;
	struct fixture f;

	(void)state;
	start(&f);
	gang(&f, "low", 2, 0, 1, 1000);
	p = preemptor(&f, "p", 3, 1000);
	q = preemptor(&f, "q", 3, 1000);
	small = preemptor(&f, "s", 2, 1000);
	assert_string_equal(serve(&f, p), "none");
	assert_int_equal(f.tried.in_vain.n, 1);
	assert_string_equal(serve(&f, q), "none");
	assert_int_equal(f.tried.in_vain.n, 1);
	assert_string_equal(serve(&f, small),
			    "Evict low0; Evict low1; Await s0 low0; Await s1 low1");
	assert_int_equal(f.tried.in_vain.n, 0);
	finish(&f);
}

static void the_argument(void **state)
{
	static const struct {
		const char *value; /* NULL: without the argument */
		enum evict_gangs mode;
		const char *error;
	} rows[] = {
		{ NULL, EVICT_GANGS_WHOLE, NULL },
		{ "true", EVICT_GANGS_WHOLE, NULL },
		{ "False", EVICT_GANGS_SPARED, NULL },
		{ "no", EVICT_GANGS_WHOLE,
		  "action gangpreempt: allowWholeBundle: \"no\" is not true or false" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct conf_arg arg = { "allowWholeBundle", rows[i].value };
		struct fixture f;
		struct err err;

		unit_row_number(i);
		start(&f);
		core_fixture_open(&f.core);
		f.core.f.conf->actions[0].args = &arg;
		f.core.f.conf->actions[0].nargs = rows[i].value != NULL;
		assert_int_equal(evict_gang_check(&f.core.f.conf->actions[0], &err),
				 rows[i].error == NULL ? 0 : -ERR_INVALID);
		if (rows[i].error != NULL) {
			assert_string_equal(err.text, rows[i].error);
		}
		assert_int_equal(evict_gang_mode(f.core.s, "gangpreempt"), rows[i].mode);
		assert_int_equal(evict_gang_mode(f.core.s, "gangreclaim"), EVICT_GANGS_WHOLE);
		f.core.f.conf->actions[0].nargs = 0;
		finish(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_that_gangs_can_spare_go_first),
		cmocka_unit_test(then_a_gang_as_a_whole),
		cmocka_unit_test(in_the_name_of_a_pod_that_is_served),
		cmocka_unit_test(superfluous_gangs_are_spared),
		cmocka_unit_test(what_protects_a_gang),
		cmocka_unit_test(pods_of_a_role_that_has_too_few_are_not_spared),
		cmocka_unit_test(equal_ones_are_tried_once),
		cmocka_unit_test(the_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
