/* The class of a replica follows from its conditions. */
#include "scheduler/orchestrate/replica.h"

#include "lib/unit.h"

#include "base/attrs.h"

static const struct {
	const char *name;
	struct replica r;
	enum replica_class class;
} rows[] = {
	{ "no connection, whatever was seen last",
	  { .uid = "u", .admitted = true },
	  REPLICA_UNREACHABLE },
	{ "not created", { .reachable = true }, REPLICA_UNEVALUATED },
	{ "no condition", { .reachable = true, .uid = "u" }, REPLICA_UNEVALUATED },
	{ "admitted",
	  { .reachable = true, .uid = "u", .admitted = true, .reserved = true },
	  REPLICA_ADMITTED },
	{ "has quota; the signal is left from before",
	  { .reachable = true, .uid = "u", .reserved = true, .signals = true },
	  REPLICA_RESERVED },
	{ "victims leave",
	  { .reachable = true, .uid = "u", .answer = REPLICA_IS_PREEMPTING, .signals = true },
	  REPLICA_PREEMPTING },
	{ "the signal is stale",
	  { .reachable = true,
	    .uid = "u",
	    .has_gate = true,
	    .answer = REPLICA_DOES_NOT_FIT,
	    .signals = true },
	  REPLICA_CANNOT },
	{ "a status that a cycle is about to write",
	  { .reachable = true, .uid = "u", .has_gate = true, .signals = true },
	  REPLICA_UNEVALUATED },
	{ "gated, the signal is still to come",
	  { .reachable = true, .uid = "u", .has_gate = true, .answer = REPLICA_GATED },
	  REPLICA_UNEVALUATED },
	{ "asks for the gate",
	  { .reachable = true,
	    .uid = "u",
	    .has_gate = true,
	    .answer = REPLICA_GATED,
	    .signals = true },
	  REPLICA_CANDIDATE },
	{ "asks for a gate that is not the manager's",
	  { .reachable = true, .uid = "u", .answer = REPLICA_GATED, .signals = true },
	  REPLICA_HELD_BACK },
	{ "asks for two gates",
	  { .reachable = true,
	    .uid = "u",
	    .has_gate = true,
	    .other_gate = true,
	    .answer = REPLICA_GATED,
	    .signals = true },
	  REPLICA_HELD_BACK },
};

static void classes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_string_equal(replica_class_name(replica_class(&rows[i].r)),
				    replica_class_name(rows[i].class));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(classes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
