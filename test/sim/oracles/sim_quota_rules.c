#include "sim/oracles/sim_quota_rules.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "enc/json/jdoc.h"
#include "play/mirror.h"
#include "sim/world/sim_workload.h"

static const char *const types[] = {
	KUEUE_QUOTA_RESERVED, KUEUE_ADMITTED,   KUEUE_EVICTED,
	KUEUE_PREEMPTED,      KUEUE_REQUEUED,   KUEUE_DEACTIVATION_TARGET,
	KUEUE_FINISHED,       KUEUE_PODS_READY,
};

/* Rows: from; columns: to. */
static const bool allowed[SIM_QUOTA_STATE_COUNT_][SIM_QUOTA_STATE_COUNT_] = {
	[SIM_QUOTA_PENDING] = { [SIM_QUOTA_PENDING] = true,
				[SIM_QUOTA_RESERVING] = true,
				[SIM_QUOTA_ADMITTED] = true,
				/* Preempted before the admission was written: one write. */
				[SIM_QUOTA_EVICTING] = true,
				[SIM_QUOTA_FINISHED] = true },
	[SIM_QUOTA_RESERVING] = { [SIM_QUOTA_RESERVING] = true,
				  [SIM_QUOTA_ADMITTED] = true,
				  [SIM_QUOTA_EVICTING] = true,
				  [SIM_QUOTA_PENDING] = true, /* nothing runs: withdrawn */
				  [SIM_QUOTA_FINISHED] = true },
	[SIM_QUOTA_ADMITTED] = { [SIM_QUOTA_ADMITTED] = true,
				 [SIM_QUOTA_EVICTING] = true,
				 [SIM_QUOTA_FINISHED] = true },
	[SIM_QUOTA_EVICTING] = { [SIM_QUOTA_EVICTING] = true,
				 [SIM_QUOTA_PENDING] = true,
				 [SIM_QUOTA_FINISHED] = true },
	[SIM_QUOTA_FINISHED] = { [SIM_QUOTA_FINISHED] = true },
};

enum sim_quota_state sim_quota_rules_state(const struct jdoc *w)
{
	bool reserving = sim_workload_is(w, KUEUE_QUOTA_RESERVED);

	return sim_workload_is(w, KUEUE_FINISHED)                ? SIM_QUOTA_FINISHED
	       : reserving && sim_workload_is(w, KUEUE_EVICTED)  ? SIM_QUOTA_EVICTING
	       : reserving && sim_workload_is(w, KUEUE_ADMITTED) ? SIM_QUOTA_ADMITTED
	       : reserving                                       ? SIM_QUOTA_RESERVING
								 : SIM_QUOTA_PENDING;
}

const char *sim_quota_rules_state_name(enum sim_quota_state s)
{
	static const char *const names[SIM_QUOTA_STATE_COUNT_] = {
		"pending", "reserving", "admitted", "evicting", "finished",
	};

	return names[s];
}

int64_t sim_quota_rules_evictions(const struct jdoc *w)
{
	int64_t sum = 0;

	for (const struct jdoc *e = jdoc_first(jdoc_path(w, "status.schedulingStats.evictions"));
	     e != NULL; e = jdoc_next(e)) {
		sum += jdoc_int(jdoc_get(e, "count"), 0);
	}
	return sum;
}

static bool gained(const struct jdoc *old, const struct jdoc *w, const char *type)
{
	return sim_workload_is(w, type) && !sim_workload_is(old, type);
}

static bool lost(const struct jdoc *old, const struct jdoc *w, const char *type)
{
	return gained(w, old, type);
}

/* Contradictions within a status; NULL: none. */
static const char *inconsistency(const struct jdoc *w)
{
	bool reserving = sim_workload_is(w, KUEUE_QUOTA_RESERVED);

	if (reserving != (jdoc_path(w, "status.admission") != NULL)) {
		return reserving ? "QuotaReserved without an admission"
				 : "an admission without QuotaReserved";
	}
	if (sim_workload_is(w, KUEUE_ADMITTED) && !reserving) {
		return "Admitted without QuotaReserved";
	}
	if (sim_workload_is(w, KUEUE_PREEMPTED) && !sim_workload_is(w, KUEUE_EVICTED)) {
		return "Preempted, but not Evicted";
	}
	if (str_streq(sim_workload_status(w, KUEUE_QUOTA_RESERVED), "False") &&
	    sim_workload_reason(w, KUEUE_QUOTA_RESERVED)[0] == '\0') {
		return "QuotaReserved=False without a reason";
	}
	return NULL;
}

static const struct jdoc *check_named(const struct jdoc *w, const char *name)
{
	const struct jdoc *k = jdoc_first(jdoc_path(w, "status.admissionChecks"));

	while (k != NULL && !jdoc_is_str(jdoc_get(k, "name"), name)) {
		k = jdoc_next(k);
	}
	return k;
}

/* Checks that the queue demands since the admission do not count. */
static bool all_ready(const struct jdoc *old, const struct jdoc *w)
{
	for (const struct jdoc *k = jdoc_first(jdoc_path(w, "status.admissionChecks")); k != NULL;
	     k = jdoc_next(k)) {
		if (!jdoc_is_str(jdoc_get(k, "state"), KUEUE_CHECK_READY) &&
		    check_named(old, jdoc_str_or(jdoc_get(k, "name"), "")) != NULL) {
			return false;
		}
	}
	return true;
}

static const char *wrong_gain(const struct jdoc *old, const struct jdoc *w)
{
	if (gained(old, w, KUEUE_QUOTA_RESERVED)) {
		if (sim_workload_is(w, KUEUE_EVICTED) && sim_workload_is(old, KUEUE_EVICTED)) {
			return "it gets quota and stays Evicted";
		}
		if (str_streq(sim_workload_status(w, KUEUE_REQUEUED), "False")) {
			return "it gets quota although it is not requeued";
		}
	}
	if (gained(old, w, KUEUE_ADMITTED) && !all_ready(old, w) &&
	    !gained(old, w, KUEUE_EVICTED)) {
		return "Admitted, but not all its checks are Ready";
	}
	if (lost(old, w, KUEUE_EVICTED) && !gained(old, w, KUEUE_QUOTA_RESERVED)) {
		return "Evicted is reset, but it gets no quota";
	}
	if (gained(old, w, KUEUE_PREEMPTED) &&
	    !str_streq(sim_workload_reason(w, KUEUE_EVICTED), "Preempted") &&
	    !sim_workload_is(old, KUEUE_EVICTED)) {
		return "Preempted, but evicted for another reason";
	}
	return NULL;
}

static int64_t transition(const struct jdoc *c)
{
	int64_t at = 0;

	(void)clock_parse_time(str_of(jdoc_str_or(jdoc_get(c, "lastTransitionTime"), "")), &at);
	return at;
}

static int64_t moved_at(const struct jdoc *w, const char *type)
{
	return transition(mirror_pod_condition(w, type));
}

static int64_t more_evictions(const struct jdoc *old, const struct jdoc *w)
{
	return sim_quota_rules_evictions(w) - sim_quota_rules_evictions(old);
}

static bool waits_evicted(const struct jdoc *w)
{
	return sim_quota_rules_state(w) == SIM_QUOTA_PENDING && sim_workload_is(w, KUEUE_EVICTED);
}

/* Admitted and evicted again while the previous write was in flight: one write has both. If both
 * evictions are in the same second, the count shows it. */
static bool evicted_again(const struct jdoc *old, const struct jdoc *w)
{
	int64_t before = moved_at(old, KUEUE_EVICTED), now = moved_at(w, KUEUE_EVICTED);

	return waits_evicted(old) && waits_evicted(w) &&
	       (before < now || (before == now && more_evictions(old, w) == 1));
}

static const char *wrong_count(const struct jdoc *old, const struct jdoc *w)
{
	int64_t more = more_evictions(old, w);

	if (gained(old, w, KUEUE_EVICTED) || evicted_again(old, w)) {
		return more == 1 ? NULL : "an eviction is not counted exactly once";
	}
	return more == 0 ? NULL : "the count of evictions changes without an eviction";
}

/* States of checks are written by their controllers; an eviction resets all of them to Pending. */
static const char *wrong_checks(const struct jdoc *old, const struct jdoc *w)
{
	for (const struct jdoc *k = jdoc_first(jdoc_path(w, "status.admissionChecks")); k != NULL;
	     k = jdoc_next(k)) {
		const char *state = jdoc_str_or(jdoc_get(k, "state"), "");
		const struct jdoc *was = check_named(old, jdoc_str_or(jdoc_get(k, "name"), ""));
		bool reset = str_streq(state, KUEUE_CHECK_PENDING);

		if (was == NULL ? !reset : !jdoc_is_str(jdoc_get(was, "state"), state)) {
			if (!reset) {
				return "the scheduler writes the state of a check";
			}
			if (!gained(old, w, KUEUE_EVICTED) && !evicted_again(old, w)) {
				return "the state of a check is reset without an eviction";
			}
			if (jdoc_count(jdoc_get(k, "podSetUpdates")) > 0) {
				return "podSetUpdates of a check stay after its reset";
			}
		}
	}
	return NULL;
}

/* Two transitions in one write, because the first was not written before the second: the message of
 * a waiting Workload is written again when the answer to the first write is lost, and a backoff may
 * end before it was written. */
static bool may_be_two(const struct jdoc *old, const struct jdoc *now, const struct jdoc *condition)
{
	bool is_true = jdoc_is_str(jdoc_get(condition, "status"), "True");

	return sim_quota_rules_state(now) == SIM_QUOTA_PENDING &&
	       (!is_true || jdoc_is_str(jdoc_get(condition, "type"), KUEUE_REQUEUED) ||
		evicted_again(old, now));
}

static const char *wrong_times(const struct jdoc *old, const struct jdoc *w, int64_t now,
			       int64_t slack)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const struct jdoc *a = mirror_pod_condition(old, types[i]);
		const struct jdoc *b = mirror_pod_condition(w, types[i]);

		if (b == NULL) {
			continue;
		}
		if (transition(b) > now + slack) {
			return "lastTransitionTime is in the future";
		}
		if (a != NULL && may_be_two(old, w, b)) {
			continue;
		}
		if (a != NULL && (jdoc_equal(jdoc_get(a, "status"), jdoc_get(b, "status"))
					  ? transition(a) != transition(b)
					  : transition(a) > transition(b) + slack)) {
			return "lastTransitionTime does not agree with the change of status";
		}
	}
	return NULL;
}

/* While it is evicted, pods are replaced for that reason. An eviction in the same write, or just
 * before, may not have been known. */
static const char *wrong_replacement(const struct jdoc *old, const struct jdoc *w)
{
	const char *reason = sim_workload_reason(w, KUEUE_WAITING_FOR_REPLACEMENT);
	const char *evicted = sim_workload_reason(w, KUEUE_EVICTED);

	return sim_workload_is(w, KUEUE_WAITING_FOR_REPLACEMENT) &&
			       sim_workload_is(w, KUEUE_EVICTED) &&
			       sim_workload_is(old, KUEUE_EVICTED) &&
			       str_streq(sim_workload_reason(old, KUEUE_EVICTED), evicted) &&
			       !str_streq(sim_workload_reason(old, KUEUE_WAITING_FOR_REPLACEMENT),
					  reason) &&
			       !str_streq(reason, evicted)
		       ? "pods are to be replaced for another reason than the eviction"
		       : NULL;
}

const char *sim_quota_rules_breach(const struct jdoc *old, const struct jdoc *w, int64_t now,
				   int64_t slack)
{
	enum sim_quota_state from = sim_quota_rules_state(old), to = sim_quota_rules_state(w);
	const char *wrong = inconsistency(w);

	/* Its Job had not been started, and stopped at once: one write. */
	if (from == SIM_QUOTA_ADMITTED && to == SIM_QUOTA_PENDING &&
	    gained(old, w, KUEUE_EVICTED)) {
		from = SIM_QUOTA_EVICTING;
	}
	if (wrong == NULL && !allowed[from][to]) {
		wrong = "this transition is not allowed";
	}
	if (wrong == NULL && sim_workload_is(old, KUEUE_QUOTA_RESERVED) &&
	    sim_workload_is(w, KUEUE_QUOTA_RESERVED) &&
	    !jdoc_equal(jdoc_path(old, "status.admission"), jdoc_path(w, "status.admission"))) {
		wrong = "admitted twice: the admission changes while it holds quota";
	}
	/* The conditions of a finished Workload do not change. */
	if (wrong == NULL && from == SIM_QUOTA_FINISHED &&
	    !jdoc_equal(jdoc_path(old, "status.conditions"), jdoc_path(w, "status.conditions"))) {
		wrong = "a condition changes although it is finished";
	}
	wrong = wrong == NULL ? wrong_gain(old, w) : wrong;
	wrong = wrong == NULL ? wrong_count(old, w) : wrong;
	wrong = wrong == NULL ? wrong_checks(old, w) : wrong;
	wrong = wrong == NULL ? wrong_replacement(old, w) : wrong;
	return wrong == NULL ? wrong_times(old, w, now, slack) : wrong;
}
