/* Which of the Workloads of a replica counts. */
#include "scheduler/multikueue/variants.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/multikueue/fleet_fixture.h"
#include "scheduler/base/message.h"
#include "scheduler/base/sched_kinds.h"

#define CONDITION(type, status, reason)                                                            \
	"{'type':'" type "','status':'" status "','reason':'" reason                               \
	"','lastTransitionTime':'2026-01-01T00:00:00Z'}"
#define WAITS(reason) CONDITION("QuotaReserved", "False", reason)
#define ASKS WAITS("AdmissionGated") "," CONDITION("BlockedOnPreemptionGates", "True", "")
#define PREEMPTS WAITS("WaitingForPreemptedWorkloads")
#define NO_ROOM WAITS("WaitingForQuota")
#define RESERVED CONDITION("QuotaReserved", "True", "")
#define RUNS RESERVED "," CONDITION("Admitted", "True", "")
#define EVICTED NO_ROOM "," CONDITION("Evicted", "True", "")
#define OURS "{'name':'kueue.x-k8s.io/multikueue'}"
#define BOTH OURS ",{'name':'kueue.x-k8s.io/concurrent-admission'}"
#define FROZEN BOTH ",{'name':'team/freeze'}"
#define OPEN "{'name':'kueue.x-k8s.io/multikueue','position':'Open'}"

struct given {
	const char *name, *conditions, *gates, *open, *of;
	bool inactive;
};

static struct variant *make(const struct given *g, uint64_t source)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, key = STRBUF_INIT;
	struct variant *v;
	struct sched_msg *m;

	strbuf_printf(&key, "ns/%s", g->name);
	strbuf_printf(&json,
		      "{'metadata':{'name':'%s','namespace':'ns','uid':'u-%s','resourceVersion':"
		      "'7','labels':{'" KUEUE_VARIANTS_PARENT "':'%s'}",
		      g->name, g->name, g->of == NULL ? "true" : "false");
	if (g->of != NULL) {
		strbuf_printf(&json,
			      ",'ownerReferences':[{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':"
			      "'Workload','name':'w','uid':'%s','controller':true}]",
			      g->of);
	}
	strbuf_printf(&json,
		      "},'spec':{'active':%s,'preemptionGates':[%s]},'status':{'conditions':[%s],"
		      "'preemptionGates':[%s]}}",
		      g->inactive ? "false" : "true", g->gates == NULL ? OURS : g->gates,
		      g->conditions == NULL ? "" : g->conditions, g->open == NULL ? "" : g->open);
	m = fleet_fixture_object(SCHED_WORKLOADS, key.p, 7, json.p);
	v = variants_read(str_of(key.p), m->object, source);
	message_free(m);
	return v;
}

static const struct given parent = { "w", NULL, NULL, NULL, NULL, false };

static const struct {
	const char *name;
	struct given v[2];
	const char *counts;
	enum replica_class class;
	bool unanswered, closed;
	const char *stray; /* NULL: there is none */
} rows[] = {
	{ "asks, before one without room",
	  { { .name = "a", .conditions = NO_ROOM, .of = "u-w" },
	    { .name = "b", .conditions = ASKS, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANDIDATE,
	  false,
	  false,
	  NULL },
	{ "asks, while one has not been looked at",
	  { { .name = "a", .of = "u-w" }, { .name = "b", .conditions = ASKS, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANDIDATE,
	  true,
	  false,
	  NULL },
	{ "held back by Kueue's gate alone",
	  { { .name = "a", .conditions = NO_ROOM, .of = "u-w" },
	    { .name = "b", .conditions = ASKS, .gates = BOTH, .of = "u-w" } },
	  "ns/b",
	  REPLICA_HELD_BACK,
	  true,
	  false,
	  NULL },
	{ "held back by Kueue's gate and another one",
	  { { .name = "a", .conditions = NO_ROOM, .of = "u-w" },
	    { .name = "b", .conditions = ASKS, .gates = FROZEN, .of = "u-w" } },
	  "ns/b",
	  REPLICA_HELD_BACK,
	  false,
	  false,
	  NULL },
	{ "asks, before one that is held back",
	  { { .name = "a", .conditions = ASKS, .gates = BOTH, .of = "u-w" },
	    { .name = "b", .conditions = ASKS, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANDIDATE,
	  false,
	  false,
	  NULL },
	{ "both ask: the first that did",
	  { { .name = "b", .conditions = ASKS, .of = "u-w" },
	    { .name = "a", .conditions = ASKS, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANDIDATE,
	  false,
	  false,
	  NULL },
	{ "the gate is open",
	  { { .name = "a", .conditions = ASKS, .of = "u-w" },
	    { .name = "b", .conditions = ASKS, .open = OPEN, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANDIDATE,
	  false,
	  false,
	  NULL },
	{ "the gate is open, and it did not fit after all",
	  { { .name = "a", .conditions = ASKS, .of = "u-w" },
	    { .name = "b", .conditions = NO_ROOM, .open = OPEN, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANNOT,
	  false,
	  false,
	  NULL },
	{ "all gates are to be opened",
	  { { .name = "a", .conditions = NO_ROOM, .of = "u-w" },
	    { .name = "b", .conditions = PREEMPTS, .open = OPEN, .of = "u-w" } },
	  "ns/a",
	  REPLICA_CANNOT,
	  false,
	  true,
	  "ns/b" },
	{ "preempts, while the gate of another one is open",
	  { { .name = "a", .conditions = ASKS, .open = OPEN, .of = "u-w" },
	    { .name = "b", .conditions = PREEMPTS, .of = "u-w" } },
	  "ns/b",
	  REPLICA_PREEMPTING,
	  false,
	  false,
	  "ns/a" },
	{ "has quota, while the gate of another one is open",
	  { { .name = "a", .conditions = RESERVED, .of = "u-w" },
	    { .name = "b", .conditions = PREEMPTS, .open = OPEN, .of = "u-w" } },
	  "ns/a",
	  REPLICA_RESERVED,
	  false,
	  false,
	  "ns/b" },
	{ "runs, while the gate of another one is open",
	  { { .name = "a", .conditions = RUNS, .open = OPEN, .of = "u-w" },
	    { .name = "b", .conditions = ASKS, .open = OPEN, .of = "u-w" } },
	  "ns/a",
	  REPLICA_ADMITTED,
	  false,
	  false,
	  "ns/b" },
	{ "is switched off with an open gate",
	  { { .name = "a", .conditions = NO_ROOM, .open = OPEN, .of = "u-w", .inactive = true },
	    { .name = "b", .conditions = ASKS, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANDIDATE,
	  false,
	  false,
	  "ns/a" },
	{ "both gates are open",
	  { { .name = "a", .conditions = ASKS, .open = OPEN, .of = "u-w" },
	    { .name = "b", .conditions = ASKS, .open = OPEN, .of = "u-w" } },
	  "ns/a",
	  REPLICA_CANDIDATE,
	  false,
	  false,
	  "ns/b" },
	{ "an open gate of another replica's",
	  { { .name = "a", .conditions = ASKS, .open = OPEN, .of = "u-x" },
	    { .name = "b", .conditions = NO_ROOM, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANNOT,
	  false,
	  false,
	  NULL },
	{ "is switched off",
	  { { .name = "a", .conditions = RUNS, .of = "u-w", .inactive = true },
	    { .name = "b", .conditions = NO_ROOM, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANNOT,
	  false,
	  false,
	  NULL },
	{ "of another replica",
	  { { .name = "a", .conditions = RUNS, .of = "u-x" },
	    { .name = "b", .conditions = NO_ROOM, .of = "u-w" } },
	  "ns/b",
	  REPLICA_CANNOT,
	  false,
	  false,
	  NULL },
	{ "none of them counts",
	  { { .name = "a", .conditions = RUNS, .of = "u-x" },
	    { .name = "b", .conditions = ASKS, .of = "u-x" } },
	  "ns/w",
	  REPLICA_UNEVALUATED,
	  false,
	  false,
	  NULL },
};

static void test_the_furthest_counts(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct variants list = VEC_INIT;
		struct variant *self = make(&parent, 1), *counts;
		struct replica r = { .uid = "u-w", .reachable = true };
		struct observation seen;
		uint64_t signals = 0;
		bool unanswered;

		unit_row(rows[i].name);
		variants_adopt(&list, make(&rows[i].v[0], 1), NULL, &signals);
		variants_adopt(&list, make(&rows[i].v[1], 1), NULL, &signals);
		counts = variants_choose(&list, self, rows[i].closed, VARIANTS_NO_EPOCH);
		assert_string_equal(counts->key, rows[i].counts);
		seen = variants_observe(&list, self, counts, &unanswered);
		r.has_gate = seen.has_gate;
		r.other_gate = seen.other_gate;
		r.signals = seen.signals;
		r.reserved = seen.reserved;
		r.admitted = seen.admitted;
		r.answer = seen.answer;
		assert_string_equal(replica_class_name(replica_class(&r)),
				    replica_class_name(rows[i].class));
		assert_int_equal(unanswered, rows[i].unanswered);
		assert_int_equal(seen.stray, rows[i].stray != NULL);
		if (rows[i].stray != NULL) {
			assert_string_equal(variants_stray(&list, self, counts)->key,
					    rows[i].stray);
		}
		variants_free(self);
		variants_finish(&list);
	}
}

/* Without the label of the replica, which Kueue writes, a Workload that it owns is no part of it.
 */
static void test_only_of_a_parent(void **state UNUSED)
{
	static const struct given runs = { .name = "a", .conditions = RUNS, .of = "u-w" };
	struct variants list = VEC_INIT;
	struct variant *self = make(&parent, 1);
	uint64_t signals = 0;

	variants_adopt(&list, make(&runs, 1), NULL, &signals);
	assert_ptr_not_equal(variants_choose(&list, self, false, VARIANTS_NO_EPOCH), self);
	self->parent = false;
	assert_ptr_equal(variants_choose(&list, self, false, VARIANTS_NO_EPOCH), self);
	variants_free(self);
	variants_finish(&list);
}

/* The gate of one was opened and closed again: the other one has its turn. It is another one when
 * it has another UID. */
static void test_turns(void **state UNUSED)
{
	static const struct given a = { .name = "a", .conditions = ASKS, .of = "u-w" },
				  b = { .name = "b", .conditions = ASKS, .of = "u-w" };
	struct variants list = VEC_INIT;
	struct variant *self = make(&parent, 1), *again;
	uint64_t signals = 0;

	variants_adopt(&list, make(&a, 1), NULL, &signals);
	variants_adopt(&list, make(&b, 1), NULL, &signals);
	assert_int_equal(signals, 2);
	variants_choose(&list, self, false, VARIANTS_NO_EPOCH)->tried++;
	variants_adopt(&list, make(&a, 1), NULL, &signals);
	assert_int_equal(signals, 2); /* it asks all the time */
	assert_string_equal(variants_choose(&list, self, false, VARIANTS_NO_EPOCH)->key, "ns/b");
	again = make(&a, 1);
	again->uid[0] = 'v';
	variants_adopt(&list, again, NULL, &signals);
	assert_int_equal(signals, 3);
	assert_string_equal(variants_choose(&list, self, false, VARIANTS_NO_EPOCH)->key, "ns/b");
	variants_choose(&list, self, false, VARIANTS_NO_EPOCH)->tried++;
	assert_string_equal(variants_choose(&list, self, false, VARIANTS_NO_EPOCH)->key, "ns/a");
	variants_free(self);
	variants_finish(&list);
}

/* In the attempt that goes on, its gate may have to be opened once more. */
static void test_same_attempt(void **state UNUSED)
{
	static const struct given a = { .name = "a", .conditions = ASKS, .of = "u-w" },
				  b = { .name = "b", .conditions = ASKS, .of = "u-w" };
	struct variants list = VEC_INIT;
	struct variant *self = make(&parent, 1), *first;
	uint64_t signals = 0;

	variants_adopt(&list, make(&a, 1), NULL, &signals);
	variants_adopt(&list, make(&b, 1), NULL, &signals);
	first = variants_choose(&list, self, false, 3);
	first->tried = 1;
	first->tried_epoch = 3;
	assert_string_equal(variants_choose(&list, self, false, 3)->key, "ns/a");
	assert_string_equal(variants_choose(&list, self, false, VARIANTS_NO_EPOCH)->key, "ns/b");
	variants_adopt(&list, make(&a, 1), NULL, &signals);
	assert_string_equal(variants_choose(&list, self, false, 4)->key, "ns/b");
	variants_free(self);
	variants_finish(&list);
}

static void test_refused(void **state UNUSED)
{
	static const struct given a = { .name = "a", .conditions = ASKS, .of = "u-w" },
				  b = { .name = "b", .conditions = ASKS, .of = "u-w" };
	struct variants list = VEC_INIT;
	struct variant *self = make(&parent, 1);
	uint64_t signals = 0;

	variants_adopt(&list, make(&a, 1), NULL, &signals);
	variants_adopt(&list, make(&b, 1), NULL, &signals);
	list.v[0]->refused = 1;
	variants_adopt(&list, make(&a, 1), NULL, &signals);
	for (int closed = 0; closed < 2; closed++) {
		assert_string_equal(
			variants_choose(&list, self, closed == 1, VARIANTS_NO_EPOCH)->key, "ns/b");
	}
	list.v[1]->refused = 2;
	assert_string_equal(variants_choose(&list, self, true, VARIANTS_NO_EPOCH)->key, "ns/a");
	variants_free(self);
	variants_finish(&list);
}

/* More are not kept, unless they are the replica's and another one is not. */
static void test_limit(void **state UNUSED)
{
	struct given g = { .conditions = ASKS, .of = "u-w" };
	struct variants list = VEC_INIT;
	uint64_t signals = 0;
	char name[3] = "aa";

	g.name = name;
	for (unsigned i = 0; i < VARIANTS_MAX; i++) {
		name[1] = (char)('a' + i);
		g.of = i == 0 ? "u-x" : "u-w";
		assert_true(variants_adopt(&list, make(&g, 1), "u-w", &signals));
	}
	assert_int_equal(list.n, 16);
	name[0] = 'b';
	assert_false(variants_adopt(&list, make(&g, 1), NULL, &signals));
	assert_true(variants_adopt(&list, make(&g, 1), "u-w", &signals));
	assert_int_equal(list.n, 16);
	name[0] = 'c';
	assert_false(variants_adopt(&list, make(&g, 1), "u-w", &signals));
	name[0] = 'b';
	assert_true(variants_adopt(&list, make(&g, 1), "u-w", &signals));
	assert_int_equal(list.n, 16);
	variants_finish(&list);
}

/* The last eviction of any part of it. */
static void test_evictions(void **state UNUSED)
{
	static const struct given a = { .name = "a", .conditions = EVICTED, .of = "u-w" },
				  b = { .name = "b", .conditions = ASKS, .of = "u-w" };
	struct variants list = VEC_INIT;
	struct variant *self = make(&parent, 1), *counts;
	uint64_t signals = 0;
	bool unanswered;

	variants_adopt(&list, make(&a, 1), NULL, &signals);
	variants_adopt(&list, make(&b, 1), NULL, &signals);
	counts = variants_choose(&list, self, false, VARIANTS_NO_EPOCH);
	assert_string_equal(counts->key, "ns/b");
	assert_true(variants_observe(&list, self, counts, &unanswered).evicted_at !=
		    REPLICA_NOT_SEEN);
	variants_remove(&list, STR_LIT("ns/a"));
	variants_remove(&list, STR_LIT("ns/a"));
	assert_int_equal(variants_observe(&list, self, counts, &unanswered).evicted_at,
			 REPLICA_NOT_SEEN);
	variants_free(self);
	variants_finish(&list);
}

static void test_shown(void **state UNUSED)
{
	static const struct given a = { .name = "a", .of = "u-w" };
	struct variants list = VEC_INIT;
	uint64_t signals = 0;

	variants_adopt(&list, make(&a, 1), NULL, &signals);
	variants_show(&list, STR_LIT("ns/a"), 2);
	variants_show(&list, STR_LIT("ns/b"), 2);
	variants_keep(&list, 2);
	assert_int_equal(list.n, 1);
	variants_finish(&list);
}

static void test_other_connections(void **state UNUSED)
{
	static const struct given a = { .name = "a", .of = "u-w" },
				  b = { .name = "b", .of = "u-w" };
	struct variants list = VEC_INIT;
	uint64_t signals = 0;

	variants_adopt(&list, make(&a, 1), NULL, &signals);
	variants_adopt(&list, make(&b, 2), NULL, &signals);
	variants_keep(&list, 2);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.v[0]->key, "ns/b");
	variants_finish(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_furthest_counts),
		cmocka_unit_test(test_only_of_a_parent),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_same_attempt),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_evictions),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_other_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
