#include "scheduler/workloads/writes/workload_counts.h"

#include "base/attrs.h"
#include "lib/unit.h"
#include "lib/workloads/admission_cycle_fixture.h"

static const char world[] =
	"cohort all\n"
	"queue a cohort=all\n"
	"queue b cohort=all\n"
	"queue empty cohort=all\n"
	"quota a default cpu nominal=10\n"
	"quota b default cpu nominal=10\n"
	"local ns/a1 queue=a\n"
	"local ns/a2 queue=a\n"
	"local ns/b1 queue=b\n"
	"local ns/none queue=a\n"
	"workload ns/one queue=a local=a1 cpu=4 holds=default reserved=-60s admitted\n"
	"workload ns/two queue=a local=a2 cpu=1 holds=default reserved=-60s\n"
	"workload ns/three queue=a local=a2 cpu=1\n"
	"workload ns/four queue=a local=a1 cpu=1\n"
	"workload ns/five queue=a local=a1 cpu=1 requeue=10s\n"
	"workload ns/six queue=b local=b1 cpu=2 holds=default reserved=-60s admitted\n"
	"workload ns/done queue=b local=b1 cpu=2 finished\n";

static void expect(const char *name, const struct workload_counts_of *t, const int64_t want[5],
		   uint32_t pair)
{
	const int64_t have[5] = { t->pending, t->reserving, t->admitted,
				  quota_amounts_get(&t->reserved, pair),
				  quota_amounts_get(&t->used, pair) };

	for (size_t i = 0; i < ARRAY_LEN(have); i++) {
		if (have[i] != want[i]) {
			fail_msg("%s: number %zu is %lld", name, i, (long long)have[i]);
		}
	}
}

static void expect_all(const struct workload_counts *t, const struct quota_world *w, bool six)
{
	static const struct {
		const char *queue; /* with a namespace: a LocalQueue */
		int64_t want[5];   /* waiting, reserving, admitted, milli-CPU reserved and used */
	} rows[] = {
		{ "a", { 3, 2, 1, 5000, 4000 } },     { "empty", { 0, 0, 0, 0, 0 } },
		{ "ns/a1", { 2, 1, 1, 4000, 4000 } }, { "ns/a2", { 1, 1, 0, 1000, 0 } },
		{ "ns/none", { 0, 0, 0, 0, 0 } },
	};
	static const int64_t b[][5] = { { 0, 0, 0, 0, 0 }, { 0, 1, 1, 2000, 2000 } };
	uint32_t cpu = quota_world_pair(w, "default", "cpu");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct local_queue *l = quota_local_find(w->q, str_of(rows[i].queue));

		unit_row(rows[i].queue);
		expect(rows[i].queue,
		       l != NULL ? &t->locals.v[l->id]
				 : &t->nodes.v[quota_world_id(w, rows[i].queue)],
		       rows[i].want, cpu);
	}
	expect("b", &t->nodes.v[quota_world_id(w, "b")], b[six], cpu);
	expect("ns/b1", &t->locals.v[quota_local_find(w->q, STR_LIT("ns/b1"))->id], b[six], cpu);
}

static void each_queue_has_its_own(void **state)
{
	struct admission_cycle_fixture f;
	struct workload_counts t = { 0 };

	(void)state;
	admission_cycle_fixture_init(&f, world);
	workload_counts_sum(&t, f.w.q);
	expect_all(&t, &f.w, true);
	/* Nothing is left of the time before, and there is room for what is new. */
	admission_cycle_fixture_delete(&f, "six");
	admission_cycle_fixture_add(&f, "queue more cohort=all\nlocal ns/more queue=more\n"
					"workload ns/seven queue=more local=more cpu=1\n");
	workload_counts_sum(&t, f.w.q);
	expect_all(&t, &f.w, false);
	assert_int_equal(t.nodes.v[quota_world_id(&f.w, "more")].pending, 1);
	workload_counts_finish(&t);
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_queue_has_its_own),
	};

	return cmocka_run_group_tests_name("workloads/writes/workload_counts", tests, NULL, NULL);
}
