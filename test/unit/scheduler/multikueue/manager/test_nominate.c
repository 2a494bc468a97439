/* To which clusters a Workload is offered, in the words of manager_fixture.h. */
#include "scheduler/multikueue/manager/nominate.h"

#include "lib/unit.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

#define S CLOCK_NS_PER_S

struct row {
	const char *name, *local, *clusters[6], *want; /* NULL ends the clusters */
};

/* "w1 w2", "!" before it when it is another set than the Workload has, " +N" when a round ends. */
static void expect(const struct manager_fixture *f, const char *want)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct nominate to;

	nominate_next(&f->view, arena, &to);
	strbuf_add_c(&text, to.changed ? "!" : "");
	for (size_t i = 0; i < to.names.n; i++) {
		strbuf_printf(&text, "%s%s", i == 0 ? "" : " ", to.names.v[i]);
	}
	if (to.at != CLOCK_NEVER) {
		strbuf_printf(&text, " +%" PRId64, (to.at - f->view.now) / S);
	}
	assert_string_equal(text.p, want);
}

static void all_at_once(void **state)
{
	static const struct row rows[] = {
		{ "all", "quota", { "", "", "" }, "!w1 w2 w3" },
		{ "those that are connected", "quota", { "", "lost=9", "never" }, "!w1" },
		{ "none", "quota", { "never" }, "" },
		{ "those that were, and are lost",
		  "quota nominated=w2,w1",
		  { "", "lost=9", "lost=9" },
		  "w1 w2" },
		{ "one was forgotten", "quota nominated=w1", { "", "" }, "!w1 w2" },
		{ "one is not configured any more",
		  "quota nominated=w1,w2",
		  { "", "unconfigured" },
		  "!w1" },
		{ "one is not known at all", "quota nominated=w1,w9", { "" }, "!w1" },
		{ "a namesake of the replica", "quota nominated=w1,w2", { "taken", "" }, "!w2" },
		{ "a namesake of the Job", "quota", { "jobtaken", "" }, "!w2" },
		{ "another one in its place", "quota nominated=w9", { "" }, "!w1" },
		{ "written twice", "quota nominated=w1,w1", { "" }, "!w1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct manager_fixture f;

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, rows[i].clusters);
		expect(&f, rows[i].want);
	}
}

static void in_the_order_of_names(void **state)
{
	struct manager_fixture f;
	struct manager_cluster first;

	(void)state;
	manager_fixture_make(&f, "quota", (const char *[]){ "", "", "", NULL });
	first = f.clusters[0];
	f.clusters[0] = f.clusters[2];
	f.clusters[2] = first;
	expect(&f, "!w1 w2 w3");
	/* By rounds it is the configured one. */
	f.opt.dispatcher = MANAGER_INCREMENTAL;
	expect(&f, "!w3 w2 w1");
}

static void external(void **state)
{
	struct manager_fixture f;

	(void)state;
	manager_fixture_make(&f, "quota nominated=w2,w9", (const char *[]){ "", "taken", NULL });
	f.opt.dispatcher = MANAGER_EXTERNAL;
	expect(&f, "w2 w9");
}

/* Two clusters a round; the last round began 100 s ago, one lasts 300 s. */
static void rounds(void **state)
{
	static const struct row rows[] = {
		{ "the first", "quota", { "", "", "" }, "!w1 w2" },
		{ "the second is later", "quota nominated=w1,w2", { "", "", "" }, "w1 w2 +200" },
		{ "fewer than a round", "quota", { "" }, "!w1" },
		{ "no more are left", "quota nominated=w1,w2", { "", "" }, "w1 w2" },
		/* Kueue lets a dead cluster take a place. */
		{ "dead clusters take no place", "quota", { "never", "", "lost=9", "" }, "!w2 w4" },
		{ "only a dead one is left", "quota nominated=w1", { "", "never" }, "w1" },
		{ "all of the round are lost: the next begins",
		  "quota nominated=w1,w2",
		  { "lost=1", "lost=1", "" },
		  "!w1 w2 w3" },
		{ "one of the round is lost",
		  "quota nominated=w1,w2",
		  { "lost=1", "", "" },
		  "w1 w2 +200" },
		{ "one of the round is taken",
		  "quota nominated=w1,w2",
		  { "taken", "", "" },
		  "!w2 +200" },
		{ "one of the round is not configured any more",
		  "quota nominated=w1,w2",
		  { "unconfigured", "", "" },
		  "!w2 +200" },
		{ "without gates a declined offer may still come true",
		  "quota nominated=w1",
		  { "declined", "" },
		  "w1 +200" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct manager_fixture f;

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, rows[i].clusters);
		f.opt.dispatcher = MANAGER_INCREMENTAL;
		f.opt.step_size = 2;
		f.view.round_at = f.view.now - 100 * S;
		expect(&f, rows[i].want);
	}
}

static void a_round_ends_by_time(void **state)
{
	struct manager_fixture f;

	(void)state;
	manager_fixture_make(&f, "quota nominated=w1",
			     (const char *[]){ "", "", "", "", "", NULL });
	f.opt.dispatcher = MANAGER_INCREMENTAL;
	f.view.round_at = f.view.now - 299 * S;
	expect(&f, "w1 +1");
	f.view.round_at = f.view.now - 300 * S;
	expect(&f, "!w1 w2 w3 w4");
	f.opt.step_size = 0; /* refused by the configuration; as 1 */
	expect(&f, "!w1 w2");
	f.view.round_at = f.view.now + 5000 * S; /* the clock was set back */
	expect(&f, "w1 +300");
}

/* Kueue keeps the beginning of a round in memory: after a restart the next one begins at once, with
 * each restart. Here the round counts from the restart. */
static void a_round_after_a_restart(void **state)
{
	struct manager_fixture f;

	(void)state;
	manager_fixture_make(&f, "quota nominated=w1", (const char *[]){ "", "", NULL });
	f.opt.dispatcher = MANAGER_INCREMENTAL;
	f.view.round_at = MANAGER_NOT_KNOWN;
	f.view.began = f.view.now - 60 * S;
	expect(&f, "w1 +240");
}

/* In Kueue a round takes its 5 minutes although each cluster of it has said that it would have to
 * preempt, and the gate of one may be opened while an empty cluster was not asked. Here such a
 * round is over. */
static void hole_5_27_rounds_with_gates(void **state)
{
	static const struct row rows[] = {
		{ "one needs preemption", "quota nominated=w1", { "gated", "" }, "!w1 w2" },
		{ "one has no room", "quota nominated=w1", { "declined", "" }, "!w1 w2" },
		{ "one has not answered",
		  "quota nominated=w1,w2",
		  { "gated", "replica", "" },
		  "w1 w2 +200" },
		{ "one has no replica yet", "quota nominated=w1", { "", "" }, "w1 +200" },
		{ "one is about to fit",
		  "quota nominated=w1,w2",
		  { "gated", "preempting", "" },
		  "w1 w2 +200" },
		{ "one has quota",
		  "quota nominated=w1,w2",
		  { "gated", "reserved", "" },
		  "w1 w2 +200" },
		{ "the others are lost",
		  "quota nominated=w1,w2",
		  { "gated", "lost=9 replica", "" },
		  "!w1 w2 w3" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct manager_fixture f;

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, rows[i].clusters);
		f.opt.dispatcher = MANAGER_INCREMENTAL;
		f.opt.gated = true;
		f.view.round_at = f.view.now - 100 * S;
		expect(&f, rows[i].want);
	}
}

static void names(void **state)
{
	struct manager_fixture f;

	(void)state;
	manager_fixture_make(&f, "quota nominated=w1",
			     (const char *[]){ "taken", "jobtaken", "", NULL });
	assert_true(nominate_has(&f.view, "w1"));
	assert_false(nominate_has(&f.view, "w2"));
	assert_true(nominate_is_taken(&f.clusters[0]));
	assert_true(nominate_is_taken(&f.clusters[1]));
	assert_false(nominate_is_taken(&f.clusters[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_at_once),
		cmocka_unit_test(in_the_order_of_names),
		cmocka_unit_test(external),
		cmocka_unit_test(rounds),
		cmocka_unit_test(a_round_ends_by_time),
		cmocka_unit_test(a_round_after_a_restart),
		cmocka_unit_test(hole_5_27_rounds_with_gates),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
