#include "scheduler/pods/search/rivals.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/evict_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/statement.h"

/* PodGroups a to d, each with a pod that runs ("a0") and one that waits ("a1"). */
struct fixture {
	struct core_fixture core;
	struct podgroup *g[4];
	struct task *running[4], *waiting[4];
};

static void start(struct fixture *f)
{
	struct cluster *c;

	core_fixture_init(&f->core, NULL);
	c = f->core.f.cluster;
	cluster_fixture_queue(c, "q", NULL, -1);
	for (int i = 0; i < 4; i++) {
		const char name[] = { (char)('a' + i), '\0' }, first[] = { name[0], '0', '\0' },
			   second[] = { name[0], '1', '\0' };

		f->g[i] = evict_fixture_podgroup(c, name, "q", 1, 0);
		f->running[i] = evict_fixture_running(c, first, f->g[i], 1000,
						      cluster_fixture_node(c, name, 1000));
		f->waiting[i] = cluster_fixture_task(c, second, f->g[i], 1000);
	}
}

static void evict(struct fixture *f, int victim, int by)
{
	statement_evict(f->core.s, f->running[victim], f->waiting[by], "");
}

/* "ba": the rivals of d, the nearest first. */
static void rivals_of_d(const struct fixture *f, const char *expected)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct predecessors list = VEC_INIT;

	rivals_collect(f->core.s, f->g[3], &list);
	for (size_t i = 0; i < list.n; i++) {
		strbuf_printf(&text, "%s", f->core.f.cluster->podgroups.v[list.v[i]]->name);
	}
	assert_string_equal(text.len > 0 ? text.p : "", expected);
	vec_finish(&list);
}

static void those_of_earlier_cycles(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	cluster_podgroup_note_rival(f.core.f.cluster, f.g[3], f.g[1]);
	cluster_podgroup_note_rival(f.core.f.cluster, f.g[1], f.g[0]);
	cluster_podgroup_note_rival(f.core.f.cluster, f.g[2], f.g[3]);
	core_fixture_open(&f.core);
	rivals_of_d(&f, "ba");
	assert_true(rivals_may_exist(f.core.s, f.g[3]));
	assert_false(rivals_may_exist(f.core.s, f.g[0]));
	core_fixture_finish(&f.core);
}

/* The record in the middle ends with its PodGroup. */
static void a_podgroup_that_is_gone(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	cluster_podgroup_note_rival(f.core.f.cluster, f.g[3], f.g[1]);
	cluster_podgroup_note_rival(f.core.f.cluster, f.g[1], f.g[0]);
	f.g[1]->uid[0]++;
	core_fixture_open(&f.core);
	rivals_of_d(&f, "");
	core_fixture_finish(&f.core);
}

/* Evictions of this session count at once, and no more when they are taken back. */
static void those_of_this_session(void **state)
{
	struct statement outer, inner;
	struct fixture f;

	(void)state;
	start(&f);
	cluster_podgroup_note_rival(f.core.f.cluster, f.g[1], f.g[0]);
	core_fixture_open(&f.core);
	rivals_of_d(&f, "");
	outer = statement_begin(f.core.s);
	evict(&f, 3, 1);
	rivals_of_d(&f, "ba");
	assert_true(rivals_may_exist(f.core.s, f.g[3]));
	inner = statement_begin(f.core.s);
	evict(&f, 0, 2);
	rivals_of_d(&f, "bac");
	statement_discard(f.core.s, inner);
	rivals_of_d(&f, "ba");
	statement_discard(f.core.s, outer);
	rivals_of_d(&f, "");
	assert_false(rivals_may_exist(f.core.s, f.g[3]));
	core_fixture_finish(&f.core);
}

/* Within a PodGroup, and for the sake of none. */
static void evictions_that_make_no_rivals(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	core_fixture_open(&f.core);
	evict(&f, 3, 3);
	decision_add(&f.core.s->decisions, DECISION_EVICT)->task = f.running[3]->id;
	rivals_of_d(&f, "");
	core_fixture_finish(&f.core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_earlier_cycles),
		cmocka_unit_test(a_podgroup_that_is_gone),
		cmocka_unit_test(those_of_this_session),
		cmocka_unit_test(evictions_that_make_no_rivals),
	};

	return cmocka_run_group_tests_name("pods/search/rivals", tests, NULL, NULL);
}
