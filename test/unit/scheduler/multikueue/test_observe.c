/* From a Workload as a worker's API server has it to what is known about the replica. */
#include "scheduler/multikueue/observe.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/decode.h"

#define GATE KUEUE_GATE_MULTIKUEUE

struct fixture {
	struct observed o;
	uint64_t numbers;
	int64_t now;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .now = 100 };
	observe_init(&f->o, "w1");
}

/* NULL: it is gone. */
static void see_object(struct fixture *f, const struct api_workload *w)
{
	struct observation seen;

	if (w != NULL) {
		observe_read(w, GATE, &seen);
	}
	observe_replica(&f->o, w == NULL ? NULL : w->meta.uid, w == NULL ? NULL : &seen, f->now,
			&f->numbers);
}

/* NULL: it is gone. status: members. */
static void see(struct fixture *f, const char *uid, const char *status)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct api_workload w;

	if (uid == NULL) {
		see_object(f, NULL);
		return;
	}
	strbuf_printf(
		&text,
		"{\"metadata\":{\"uid\":\"%s\"},\"spec\":{\"preemptionGates\":[{\"name\":\"" GATE
		"\"}]},\"status\":{%s}}",
		uid, status);
	decode_init(&kueue_workload_fields, &w);
	assert_int_equal(decode_text(&kueue_workload_fields, strbuf_str(&text), &w, arena, NULL),
			 0);
	see_object(f, &w);
}

#define CONDITION(type, status, reason, message)                                                   \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason                    \
	"\",\"message\":\"" message "\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"
#define CONDITIONS(list) "\"conditions\":[" list "]"
#define WAITS(reason, message) CONDITION("QuotaReserved", "False", reason, message)
#define GATED WAITS("AdmissionGated", "")
#define CLEARED                                                                                    \
	WAITS("PendingEvaluation", "AdmissionGatedBy cleared, waiting for quota reservation")

static const struct {
	const char *name, *status;
	enum replica_class class;
} stages[] = {
	{ "just created", "", REPLICA_UNEVALUATED },
	{ "not looked at", CONDITIONS(WAITS("PendingEvaluation", "")), REPLICA_UNEVALUATED },
	{ "asks as Kueue does",
	  CONDITIONS(GATED
		     "," CONDITION("BlockedOnPreemptionGates", "True", "PreemptionGated", "")),
	  REPLICA_CANDIDATE },
	{ "asks as KEP-8303 does",
	  CONDITIONS(GATED "," CONDITION("PreemptionBlocked", "True", "PreemptionGated", "")),
	  REPLICA_CANDIDATE },
	{ "asks as its draft does",
	  CONDITIONS(GATED "," CONDITION("QuotaReservationBlocked", "True", "PreemptionGated", "")),
	  REPLICA_CANDIDATE },
	{ "asks, and its answer was overwritten",
	  CONDITIONS(CLEARED
		     "," CONDITION("BlockedOnPreemptionGates", "True", "PreemptionGated", "")),
	  REPLICA_CANDIDATE },
	{ "its annotation was taken away", CONDITIONS(CLEARED), REPLICA_UNEVALUATED },
	{ "waits for the next cycle after it asked",
	  CONDITIONS(WAITS("PendingEvaluation", "") "," CONDITION("BlockedOnPreemptionGates",
								  "True", "PreemptionGated", "")),
	  REPLICA_UNEVALUATED },
	{ "the signal was taken back",
	  CONDITIONS(GATED "," CONDITION("BlockedOnPreemptionGates", "False", "Preempted", "")),
	  REPLICA_UNEVALUATED },
	{ "the signal is stale",
	  CONDITIONS(WAITS("WaitingForQuota", "") "," CONDITION("BlockedOnPreemptionGates", "True",
								"PreemptionGated", "")),
	  REPLICA_CANNOT },
	{ "no flavor", CONDITIONS(WAITS("NoMatchingFlavor", "")), REPLICA_CANNOT },
	{ "a reason of a later version", CONDITIONS(WAITS("Whatever", "")), REPLICA_CANNOT },
	{ "victims leave", CONDITIONS(WAITS("WaitingForPreemptedWorkloads", "")),
	  REPLICA_PREEMPTING },
	{ "its evictions are refused",
	  CONDITIONS(WAITS("WaitingForPreemptedWorkloads",
			   "no quota. Preempting 2 workload(s) failed, will retry.")),
	  REPLICA_CANNOT },
	{ "a worker without reasons asks",
	  CONDITIONS(WAITS("Pending", "Workload requires preemption, but it's gated") "," CONDITION(
		  "BlockedOnPreemptionGates", "True", "PreemptionGated", "")),
	  REPLICA_CANDIDATE },
	{ "a worker without reasons preempts",
	  CONDITIONS(WAITS("Pending", "no quota. Pending the preemption of 2 workload(s)")),
	  REPLICA_PREEMPTING },
	{ "a worker without reasons has its evictions refused",
	  CONDITIONS(WAITS("Pending", "no quota. Preempting 2 workload(s) failed, will retry.")),
	  REPLICA_CANNOT },
	{ "a worker without reasons has no room", CONDITIONS(WAITS("Pending", "no quota")),
	  REPLICA_CANNOT },
	{ "has quota", CONDITIONS(CONDITION("QuotaReserved", "True", "QuotaReserved", "")),
	  REPLICA_RESERVED },
	{ "runs",
	  CONDITIONS(CONDITION("QuotaReserved", "True", "QuotaReserved",
			       "") "," CONDITION("Admitted", "True", "Admitted", "")),
	  REPLICA_ADMITTED },
	{ "has ended", CONDITIONS(CONDITION("Finished", "True", "Succeeded", "")),
	  REPLICA_ADMITTED },
};

static void classes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		struct fixture f;

		unit_row(stages[i].name);
		begin(&f);
		see(&f, "u1", stages[i].status);
		assert_string_equal(replica_class_name(replica_class(&f.o.replica)),
				    replica_class_name(stages[i].class));
	}
}

#define ENTRY(field, value)                                                                        \
	"\"preemptionGates\":[{\"name\":\"" GATE "\",\"" field "\":\"" value "\"}]"

static void gates(void **state)
{
	static const struct {
		const char *name, *status;
		bool open;
	} rows[] = {
		{ "no entry: closed", "", false },
		{ "as Kueue writes it", ENTRY("position", "Open"), true },
		{ "as KEP-8303 has it", ENTRY("state", "Open"), true },
		{ "closed", ENTRY("position", "Closed"), false },
		{ "the entry of another gate",
		  "\"preemptionGates\":[{\"name\":\"x\",\"position\":\"Open\"}]", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row(rows[i].name);
		begin(&f);
		see(&f, "u1", rows[i].status);
		assert_true(f.o.replica.has_gate);
		assert_int_equal(f.o.replica.is_open, rows[i].open);
		assert_true(f.o.replica.open_seen == (rows[i].open ? 100 : REPLICA_NOT_SEEN));
	}
}

static void other_gates_of_the_spec(void **state)
{
	static const struct {
		const char *name, *spec, *status;
		bool has;
		const char *other;
	} rows[] = {
		{ "none", "[]", "[]", false, NULL },
		{ "another one, closed", "[{\"name\":\"" GATE "\"},{\"name\":\"x\"}]", "[]", true,
		  "x" },
		{ "the first one that is closed",
		  "[{\"name\":\"y\"},{\"name\":\"z\"},{\"name\":\"" GATE "\"}]",
		  "[{\"name\":\"y\",\"position\":\"Open\"}]", true, "z" },
		{ "another one, open", "[{\"name\":\"" GATE "\"},{\"name\":\"x\"}]",
		  "[{\"name\":\"x\",\"state\":\"Open\"}]", true, NULL },
		{ "ours is missing", "[{\"name\":\"x\"}]", "[]", false, "x" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct api_workload w;
		struct fixture f;

		unit_row(rows[i].name);
		strbuf_printf(&text,
			      "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"preemptionGates\":%s},"
			      "\"status\":{\"preemptionGates\":%s}}",
			      rows[i].spec, rows[i].status);
		decode_init(&kueue_workload_fields, &w);
		assert_int_equal(
			decode_text(&kueue_workload_fields, strbuf_str(&text), &w, arena, NULL), 0);
		begin(&f);
		see_object(&f, &w);
		assert_int_equal(f.o.replica.has_gate, rows[i].has);
		assert_int_equal(f.o.replica.other_gate, rows[i].other != NULL);
		assert_true(str_streq(observe_other_gate(&w, GATE), rows[i].other));
	}
}

#define ASKS                                                                                       \
	CONDITIONS(GATED "," CONDITION("BlockedOnPreemptionGates", "True", "PreemptionGated", ""))

/* The worker's clock may be anywhere: a signal is as old as the manager has known it. */
static void times_are_those_of_the_manager(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "u1", ASKS);
	assert_true(f.o.replica.signal_seen == 100);
	assert_int_equal(f.o.replica.signal_number, 1);
	f.now = 200;
	see(&f, "u1", ASKS);
	assert_true(f.o.replica.signal_seen == 100);
	see(&f, "u1", "");
	assert_true(f.o.replica.signal_seen == REPLICA_NOT_SEEN);
	f.now = 300;
	see(&f, "u1", ASKS);
	assert_true(f.o.replica.signal_seen == 300);
	assert_int_equal(f.o.replica.signal_number, 2);
	f.now = 400;
	see(&f, "u2", ASKS); /* another replica asks for the first time */
	assert_true(f.o.replica.signal_seen == 400);
	assert_int_equal(f.o.replica.signal_number, 3);
}

static void a_lost_connection_keeps_what_was_seen(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(replica_class(&f.o.replica), REPLICA_UNREACHABLE);
	see(&f, "u1", ENTRY("position", "Open"));
	observe_unreachable(&f.o);
	assert_int_equal(replica_class(&f.o.replica), REPLICA_UNREACHABLE);
	assert_true(f.o.replica.is_open);
	assert_string_equal(f.o.replica.uid, "u1");
	see(&f, NULL, NULL);
	assert_int_equal(replica_class(&f.o.replica), REPLICA_UNEVALUATED);
	assert_null(f.o.replica.uid);
	assert_false(f.o.replica.is_open);
}

/* The time in which a worker is to react to an open gate begins again when it is back. */
static void an_open_gate_is_seen_again_after_a_loss(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "u1", ENTRY("position", "Open"));
	assert_true(f.o.replica.open_seen == 100);
	observe_unreachable(&f.o);
	observe_reachable(&f.o, 200);
	assert_true(f.o.replica.open_seen == 200);
	observe_reachable(&f.o, 300);
	assert_true(f.o.replica.open_seen == 200);
	observe_unreachable(&f.o);
	see(&f, "u1", ENTRY("position", "Closed"));
	observe_unreachable(&f.o);
	observe_reachable(&f.o, 400);
	assert_true(f.o.replica.open_seen == REPLICA_NOT_SEEN);
}

#define EVICTED(at)                                                                                \
	CONDITIONS("{\"type\":\"Evicted\",\"status\":\"True\",\"reason\":\"Preempted\","           \
		   "\"lastTransitionTime\":\"" at "\"}")

/* The condition stays True until quota is reserved again, also while a second attempt is made. */
static void evictions_of_this_attempt(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "u1", "");
	see(&f, "u1", EVICTED("2026-01-01T00:00:00Z"));
	assert_true(f.o.replica.evicted);
	observe_granted(&f.o);
	assert_false(f.o.replica.evicted);
	see(&f, "u1", EVICTED("2026-01-01T00:00:00Z"));
	assert_false(f.o.replica.evicted);
	see(&f, "u1", EVICTED("2025-01-01T00:00:00Z")); /* the worker's clock was set back */
	assert_true(f.o.replica.evicted);
	begin(&f); /* after a restart, the eviction that is found is of no attempt */
	see(&f, "u1", EVICTED("2026-01-01T00:00:00Z"));
	assert_false(f.o.replica.evicted);
}

/* Kueue and Headgate say how many they wait for. */
static void victims_of_this_attempt(void **state)
{
	static const struct {
		const char *name, *status;
		uint32_t victims;
	} rows[] = {
		{ "Kueue",
		  CONDITIONS(WAITS("WaitingForPreemptedWorkloads",
				   "no quota. Pending the preemption of 12 workload(s)")),
		  12 },
		{ "Headgate",
		  CONDITIONS(WAITS("WaitingForPreemptedWorkloads",
				   "no quota; waits for 3 workloads to stop")),
		  3 },
		{ "Headgate, one",
		  CONDITIONS(WAITS("WaitingForPreemptedWorkloads", "waits for 1 workload to stop")),
		  1 },
		{ "without reasons",
		  CONDITIONS(WAITS("Pending", "no. Pending the preemption of 2 workload(s)")), 2 },
		{ "of others", CONDITIONS(WAITS("WaitingForPreemptedWorkloads", "it fits then")),
		  0 },
		{ "no number", CONDITIONS(WAITS("WaitingForPreemptedWorkloads", "waits for some")),
		  0 },
		{ "absurd",
		  CONDITIONS(WAITS("WaitingForPreemptedWorkloads",
				   "waits for 99999999999999999999999 workloads to stop")),
		  0 },
		{ "it waits for something else",
		  CONDITIONS(WAITS("WaitingForQuota", "waits for 3 workloads")), 0 },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		begin(&f);
		see(&f, "u1", rows[i].status);
		assert_int_equal(f.o.replica.victims, rows[i].victims);
	}
	begin(&f);
	see(&f, "u1", rows[0].status);
	see(&f, "u1", rows[1].status); /* some have stopped */
	assert_int_equal(f.o.replica.victims, 12);
	observe_granted(&f.o); /* those that have not stopped are of this attempt */
	assert_int_equal(f.o.replica.victims, 3);
	see(&f, "u1", rows[1].status);
	assert_int_equal(f.o.replica.victims, 3);
	see(&f, "u2", "");
	assert_int_equal(f.o.replica.victims, 0);
}

static void refusals_of_this_attempt(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "u1", "");
	observe_refused(&f.o);
	see(&f, "u1", "");
	assert_true(f.o.replica.refused);
	observe_granted(&f.o);
	assert_false(f.o.replica.refused);
	observe_refused(&f.o);
	see(&f, "u2", "");
	assert_false(f.o.replica.refused);
}

static struct observation evicted(int64_t at)
{
	return (struct observation){ .evicted_at = at,
				     .answer = REPLICA_IS_PREEMPTING,
				     .victims = 3 };
}

/* Of a list that is not complete, no eviction is one of the attempt: a later part may show a later
 * one. */
static void test_evictions_of_a_list(void **state UNUSED)
{
	struct observation early = evicted(3), late = evicted(5), later = evicted(7);
	struct fixture f;

	begin(&f);
	observe_replica(&f.o, "a", &early, 1, &f.numbers);
	observe_unreachable(&f.o);
	observe_replica(&f.o, "a", &late, 1, &f.numbers);
	assert_false(f.o.replica.evicted);
	observe_reachable(&f.o, 1);
	/* The connection is lost, and it was evicted meanwhile. */
	observe_unreachable(&f.o);
	observe_replica(&f.o, "a", &later, 1, &f.numbers);
	observe_unreachable(&f.o);
	observe_replica(&f.o, "a", &later, 1, &f.numbers);
	assert_true(f.o.replica.evicted);
}

/* A gate that is found open is granted while its victims are leaving. */
static void test_victims_of_an_adopted_gate(void **state UNUSED)
{
	struct observation seen = evicted(3);
	struct fixture f;

	begin(&f);
	observe_replica(&f.o, "a", &seen, 1, &f.numbers);
	observe_granted(&f.o);
	assert_int_equal(f.o.replica.victims, 3);
	/* Those of an earlier attempt do not count. */
	seen.victims = 0;
	observe_replica(&f.o, "a", &seen, 1, &f.numbers);
	assert_int_equal(f.o.replica.victims, 3);
	observe_granted(&f.o);
	assert_int_equal(f.o.replica.victims, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_evictions_of_a_list),
		cmocka_unit_test(test_victims_of_an_adopted_gate),
		cmocka_unit_test(classes),
		cmocka_unit_test(gates),
		cmocka_unit_test(other_gates_of_the_spec),
		cmocka_unit_test(times_are_those_of_the_manager),
		cmocka_unit_test(a_lost_connection_keeps_what_was_seen),
		cmocka_unit_test(an_open_gate_is_seen_again_after_a_loss),
		cmocka_unit_test(evictions_of_this_attempt),
		cmocka_unit_test(victims_of_this_attempt),
		cmocka_unit_test(refusals_of_this_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
