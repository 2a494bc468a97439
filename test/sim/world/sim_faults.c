#include "sim/world/sim_faults.h"

#include "base/attrs.h"
#include "base/rng.h"

static const char *const names[SIM_FAULT_COUNT_] = {
	[SIM_REFUSED] = "refused",
	[SIM_DROP_BEFORE] = "drop-before",
	[SIM_DROP_AFTER] = "drop-after",
	[SIM_TIMEOUT_BEFORE] = "timeout-before",
	[SIM_TIMEOUT_AFTER] = "timeout-after",
	[SIM_TIMEOUT_LATE] = "timeout-late",
	[SIM_STATUS_429] = "status-429",
	[SIM_STATUS_500] = "status-500",
	[SIM_STATUS_500_DONE] = "status-500-done",
	[SIM_STATUS_409] = "status-409",
	[SIM_STATUS_403] = "status-403",
	[SIM_CRASH_BEFORE] = "crash-before",
	[SIM_CRASH_AFTER] = "crash-after",
	[SIM_CRASH_IDLE] = "crash-idle",
	[SIM_TERMINATE] = "terminate",
	[SIM_PAUSE] = "pause",
	[SIM_WATCH_TRUNCATED] = "watch-truncated",
	[SIM_WATCH_DUPLICATE] = "watch-duplicate",
	[SIM_WATCH_CLOSED] = "watch-closed",
	[SIM_WATCH_GONE] = "watch-gone",
	[SIM_WATCH_LATE] = "watch-late",
	[SIM_CLOCK_STEP] = "clock-step",
	[SIM_COMPACTED] = "compacted",
};

const char *sim_faults_name(enum sim_fault f)
{
	return names[f];
}

void sim_faults_strike(struct sim_faults *f, enum sim_fault which, int64_t now)
{
	f->struck[which]++;
	f->last_at = now;
}

bool sim_faults_of_request(struct sim_faults *f, enum sim_request_kind what, enum sim_fault *ret)
{
	static const enum sim_fault kinds[] = {
		SIM_REFUSED,       SIM_DROP_BEFORE,  SIM_DROP_AFTER,  SIM_TIMEOUT_BEFORE,
		SIM_TIMEOUT_AFTER, SIM_TIMEOUT_LATE, SIM_STATUS_429,  SIM_STATUS_500,
		SIM_STATUS_409,    SIM_CRASH_BEFORE, SIM_CRASH_AFTER, SIM_STATUS_500_DONE,
		SIM_STATUS_403,
	};
	unsigned per_mille = what == SIM_REQUEST_POD ? 4 * f->per_mille : f->per_mille;
	enum sim_fault kind;

	if (!f->on || rng_below(f->rng, 1000) >= per_mille) {
		return false;
	}
	kind = kinds[rng_below(f->rng, ARRAY_LEN(kinds))];
	if (kind == SIM_STATUS_409 && what == SIM_REQUEST_OTHER) {
		kind = SIM_STATUS_500;
	}
	if ((kind == SIM_CRASH_BEFORE || kind == SIM_CRASH_AFTER) && rng_below(f->rng, 2) == 0) {
		kind = SIM_REFUSED;
	}
	*ret = kind;
	return true;
}

bool sim_faults_of_stream(struct sim_faults *f, enum sim_fault *ret)
{
	static const enum sim_fault kinds[] = { SIM_WATCH_TRUNCATED, SIM_WATCH_DUPLICATE,
						SIM_WATCH_CLOSED, SIM_WATCH_GONE, SIM_WATCH_LATE };

	if (!f->on || rng_below(f->rng, 1000) >= f->per_mille) {
		return false;
	}
	*ret = kinds[rng_below(f->rng, ARRAY_LEN(kinds))];
	return true;
}
