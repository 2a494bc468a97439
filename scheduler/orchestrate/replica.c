#include "scheduler/orchestrate/replica.h"

#include <stddef.h>

enum replica_class replica_class(const struct replica *r)
{
	if (!r->reachable) {
		return REPLICA_UNREACHABLE;
	}
	if (r->uid == NULL) {
		return REPLICA_UNEVALUATED;
	}
	if (r->admitted) {
		return REPLICA_ADMITTED;
	}
	if (r->reserved) {
		return REPLICA_RESERVED;
	}
	switch (r->answer) {
	case REPLICA_IS_PREEMPTING:
		return REPLICA_PREEMPTING;
	case REPLICA_DOES_NOT_FIT:
		return REPLICA_CANNOT;
	case REPLICA_NO_ANSWER:
		return REPLICA_UNEVALUATED;
	case REPLICA_GATED:
		break;
	}
	/* A worker may say that it is gated without the signal: it has not been written yet. */
	if (!r->signals) {
		return REPLICA_UNEVALUATED;
	}
	return r->has_gate && !r->other_gate ? REPLICA_CANDIDATE : REPLICA_HELD_BACK;
}

const char *replica_class_name(enum replica_class c)
{
	static const char *const names[REPLICA_CLASS_COUNT_] = {
		[REPLICA_UNREACHABLE] = "Unreachable", [REPLICA_UNEVALUATED] = "Unevaluated",
		[REPLICA_CANNOT] = "Cannot",           [REPLICA_HELD_BACK] = "HeldBack",
		[REPLICA_CANDIDATE] = "Candidate",     [REPLICA_PREEMPTING] = "Preempting",
		[REPLICA_RESERVED] = "Reserved",       [REPLICA_ADMITTED] = "Admitted",
	};

	return names[c];
}
