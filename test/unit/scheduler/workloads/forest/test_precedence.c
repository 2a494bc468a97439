#include "scheduler/workloads/forest/precedence.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/quota/quota_world.h"

#define HOLDS " holds=f reserved=-60s\n"

static const char world_text[] = "cohort c\n"
				 "queue q cohort=c\nqueue r cohort=c\nqueue other\n"
				 "quota q f cpu nominal=9\nquota r f cpu nominal=9\n"
				 "quota other f cpu nominal=9\n"
				 "workload a queue=q cpu=1" HOLDS "workload b queue=r cpu=1" HOLDS
				 "workload c queue=r cpu=1" HOLDS "workload d queue=r cpu=1" HOLDS
				 "workload e queue=r cpu=1 holds=f evicted=-5s preempted=-5s\n"
				 "workload t queue=r cpu=1 holds=f evicted=-5s evicted-by=timeout\n"
				 "workload o queue=other cpu=1" HOLDS;

static struct workload *get(const struct quota_world *w, const char *key)
{
	return quota_world_workload(w, key);
}

/* "b c": the workloads that go before it. */
static void before(const struct quota_world *w, const char *key, const char *expected)
{
	struct predecessors list = VEC_INIT;
	struct strbuf text = STRBUF_INIT;

	precedence_collect(w->f, get(w, key), &list);
	for (size_t i = 0; i < list.n; i++) {
		strbuf_printf(&text, "%s%s", i > 0 ? " " : "",
			      w->q->workloads.v[list.v[i]]->key + strlen("ns/"));
	}
	assert_string_equal(text.len > 0 ? text.p : "", expected);
	strbuf_finish(&text);
	vec_finish(&list);
}

static void note(const struct quota_world *w, const char *by, const char *victim)
{
	precedence_record(w->f, get(w, by), get(w, victim));
}

static void release(const struct quota_world *w, const char *key)
{
	forest_release(w->f, get(w, key));
}

static void a_preemptor_goes_before_its_victim(void **state)
{
	struct quota_world w;

	(void)state;
	quota_world_init(&w, world_text);
	before(&w, "b", "");
	note(&w, "a", "b");
	before(&w, "b", "a");
	before(&w, "a", "");
	note(&w, "b", "c");
	note(&w, "d", "c");
	before(&w, "c", "b d a");
	before(&w, "d", "");
	/* Once more is the same thing. */
	note(&w, "d", "c");
	before(&w, "c", "b d a");
	quota_world_finish(&w);
}

/* Changes after a has preempted b. */
static void nothing(const struct quota_world *w)
{
	(void)w;
}

static void release_d(const struct quota_world *w)
{
	release(w, "d");
}

static void release_elsewhere(const struct quota_world *w)
{
	release(w, "o");
}

static void release_preempted(const struct quota_world *w)
{
	release(w, "e");
}

static void release_timed_out(const struct quota_world *w)
{
	release(w, "t");
}

static void lower_preemptor(const struct quota_world *w)
{
	get(w, "a")->object.priority--;
}

static void raise_victim(const struct quota_world *w)
{
	get(w, "b")->object.priority++;
}

static void edit_preemptor(const struct quota_world *w)
{
	get(w, "a")->object.generation++;
}

static void edit_victim(const struct quota_world *w)
{
	get(w, "b")->object.generation++;
}

static void edit_queues(const struct quota_world *w)
{
	quota_nodes_changed(w->q);
	forest_sync(w->f);
}

static void remove_preemptor(const struct quota_world *w)
{
	struct workload *a = get(w, "a");
	uint32_t id = a->id;

	a->flags.evicted = true;
	a->flags.evicted_at = a->flags.preempted_at = w->now;
	release(w, "a");
	quota_workload_remove(w->q, a);
	assert_int_equal(quota_workload_add(w->q, STR_LIT("ns/z"))->id, id);
}

static void it_ends_when_something_changes(void **state)
{
	static const struct {
		void (*change)(const struct quota_world *w);
		const char *expected; /* the workloads that go before b */
	} rows[] = {
		{ nothing, "a" },           { release_d, "" },         { release_elsewhere, "a" },
		{ release_preempted, "a" }, { release_timed_out, "" }, { lower_preemptor, "" },
		{ raise_victim, "" },       { edit_preemptor, "" },    { edit_victim, "" },
		{ edit_queues, "" },        { remove_preemptor, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quota_world w;

		unit_row_number(i);
		quota_world_init(&w, world_text);
		note(&w, "a", "b");
		rows[i].change(&w);
		before(&w, "b", rows[i].expected);
		quota_world_finish(&w);
	}
}

/* a and b in turns; each needs twice the changes of the one before. */
static void turning_on_each_other_takes_longer_each_time(void **state)
{
	struct quota_world w;
	const char *by = "a", *victim = "b";

	(void)state;
	quota_world_init(&w, world_text);
	for (unsigned turn = 0; turn < 5; turn++) {
		uint64_t *released = &w.q->nodes.v[quota_world_id(&w, "cohort/c")]->released;
		const char *swap = by;

		note(&w, by, victim);
		*released += (UINT64_C(1) << turn) - 1;
		before(&w, victim, by);
		*released += 1;
		before(&w, victim, "");
		by = victim;
		victim = swap;
	}
	quota_world_finish(&w);
}

static void in_vain_three_times_is_enough(void **state)
{
	struct quota_world w;

	(void)state;
	quota_world_init(&w, world_text);
	for (int i = 0; i < PRECEDENCE_TIMES_MAX; i++) {
		before(&w, "a", "");
		note(&w, "a", "b");
	}
	before(&w, "a", "b a"); /* neither preempts the other now */
	before(&w, "b", "a b");
	release(&w, "d");
	before(&w, "a", "");
	/* Changes in between begin the count again. */
	for (int i = 0; i < 2 * PRECEDENCE_TIMES_MAX; i++) {
		note(&w, "a", "b");
		before(&w, "a", "");
		w.q->nodes.v[quota_world_id(&w, "cohort/c")]->released++;
	}
	quota_world_finish(&w);
}

static void revoked_preemptions_do_not_count(void **state)
{
	struct quota_world w;

	(void)state;
	quota_world_init(&w, world_text);
	for (unsigned i = 0; i < 2 * PRECEDENCE_TIMES_MAX; i++) {
		note(&w, "a", "b");
		precedence_revoke(w.q, get(&w, "b"));
		before(&w, "b", "");
	}
	note(&w, "a", "b");
	w.q->cycle++;
	note(&w, "d", "b");
	precedence_revoke(w.q, get(&w, "b"));
	before(&w, "b", "a");
	note(&w, "a", "b");
	note(&w, "a", "b");
	before(&w, "a", "b a");
	precedence_revoke(w.q, get(&w, "b"));
	before(&w, "a", "");
	before(&w, "b", "a");
	quota_world_finish(&w);
}

static void of_two_preemptions_one_is_left_when_the_other_is_revoked(void **state)
{
	struct quota_world w;

	(void)state;
	quota_world_init(&w, world_text);
	note(&w, "a", "b");
	note(&w, "a", "b");
	precedence_revoke(w.q, get(&w, "b"));
	before(&w, "b", "a");
	precedence_revoke(w.q, get(&w, "b"));
	before(&w, "b", "");
	quota_world_finish(&w);
}

static void records_of_removed_workloads_are_dropped(void **state)
{
	struct quota_world w;

	(void)state;
	quota_world_init(&w, world_text);
	note(&w, "o", "b");
	note(&w, "a", "b");
	release(&w, "o");
	quota_workload_remove(w.q, get(&w, "o"));
	note(&w, "c", "b");
	assert_int_equal(get(&w, "b")->pending.preempted_by.n, 2);
	before(&w, "b", "a c");
	quota_world_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_preemptor_goes_before_its_victim),
		cmocka_unit_test(it_ends_when_something_changes),
		cmocka_unit_test(turning_on_each_other_takes_longer_each_time),
		cmocka_unit_test(in_vain_three_times_is_enough),
		cmocka_unit_test(revoked_preemptions_do_not_count),
		cmocka_unit_test(of_two_preemptions_one_is_left_when_the_other_is_revoked),
		cmocka_unit_test(records_of_removed_workloads_are_dropped),
	};

	return cmocka_run_group_tests_name("workloads/forest/precedence", tests, NULL, NULL);
}
