#include "scheduler/multikueue/observe.h"

#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/str.h"

void observe_init(struct observed *o, const char *cluster)
{
	*o = (struct observed){ .replica = { .cluster = cluster,
					     .signal_seen = REPLICA_NOT_SEEN,
					     .open_seen = REPLICA_NOT_SEEN,
					     .ahead_seen = REPLICA_NOT_SEEN,
					     .cost = REPLICA_COST_UNKNOWN },
				.evicted_at = REPLICA_NOT_SEEN,
				.evicted_before = REPLICA_NOT_SEEN };
}

/* A worker writes one of the three, which its dialect says. */
static bool signals(const struct api_workload *w)
{
	for (unsigned d = PREEMPTION_GATE_KUEUE; d < PREEMPTION_GATE_DIALECT_COUNT_; d++) {
		if (kueue_workload_is_true(
			    w, preemption_gate_signal((enum preemption_gate_dialect)d, 0))) {
			return true;
		}
	}
	return false;
}

/* A gate of the spec without an entry in the status is closed (KEP-8303). */
static bool is_open(const struct api_workload *w, const char *gate)
{
	for (size_t i = 0; i < w->status.preemption_gates.n; i++) {
		const struct api_preemption_gate_state *s = &w->status.preemption_gates.v[i];

		if (str_streq(s->name, gate)) {
			return preemption_gate_read(s).open;
		}
	}
	return false;
}

static const char *find_closed(const struct api_workload *w, const char *gate, const char *except)
{
	for (size_t i = 0; i < w->spec.preemption_gates.n; i++) {
		const char *name = w->spec.preemption_gates.v[i].name;

		if (name != NULL && !str_streq(name, gate) && !str_streq(name, except) &&
		    !is_open(w, name)) {
			return name;
		}
	}
	return NULL;
}

const char *observe_other_gate(const struct api_workload *w, const char *gate)
{
	return find_closed(w, gate, gate);
}

const char *observe_other_gate_of_variant(const struct api_workload *w, const char *gate)
{
	return find_closed(w, gate, KUEUE_GATE_CONCURRENT_ADMISSION);
}

/* The gates of the spec count: Kueue removes an entry of the status that the spec does not name,
 * and a status alone keeps nothing from preempting. All gates must be open (KEP-8303), so that one
 * of another controller makes opening ours useless. */
static void read_gates(const struct api_workload *w, const char *gate, struct observation *o)
{
	o->has_gate = false;
	for (size_t i = 0; i < w->spec.preemption_gates.n; i++) {
		o->has_gate |= str_streq(w->spec.preemption_gates.v[i].name, gate);
	}
	o->is_open = o->has_gate && is_open(w, gate);
	o->other_gate = observe_other_gate(w, gate) != NULL;
}

static bool says(const struct api_condition *c, const char *text)
{
	return c->message != NULL && strstr(c->message, text) != NULL;
}

/* Kueue 0.19 takes the reason AdmissionGated for that of its annotation admission-gated-by. Where
 * there is no such annotation, it overwrites the answer of a cycle that found a preemption gate
 * closed. The signal stays. */
static bool was_gated(const struct api_workload *w, const struct api_condition *c)
{
	return str_streq(c->reason, "PendingEvaluation") && says(c, "AdmissionGatedBy cleared") &&
	       signals(w);
}

/* 1. The reason, where the worker has reasons of its own (UnadmittedWorkloadsObservability, Kueue
 * 0.19).
 * 2. Else the reason is Pending for everything, and the message says which.
 * 3. A reason that is not known is one of a later version. It counts as an answer, since a cycle
 * has looked at the replica: waiting for it would hold back the others. */
enum replica_answer observe_answer(const struct api_workload *w)
{
	static const struct {
		const char *reason;
		enum replica_answer answer;
	} reasons[] = {
		{ "PendingEvaluation", REPLICA_NO_ANSWER },
		{ "AdmissionGated", REPLICA_GATED },
		{ "WaitingForPreemptedWorkloads", REPLICA_IS_PREEMPTING },
		{ "WaitingForPodsReady",
		  REPLICA_IS_PREEMPTING }, /* it fits, after others have started */
	};
	const struct api_condition *c = meta_condition(&w->status.conditions, KUEUE_QUOTA_RESERVED);

	if (c == NULL) {
		return REPLICA_NO_ANSWER;
	}
	if (was_gated(w, c)) {
		return REPLICA_GATED;
	}
	/* No victim is on its way out: as long as that does not change, it is as if there were
	 * none. */
	if (says(c, "workload(s) failed, will retry")) {
		return REPLICA_DOES_NOT_FIT;
	}
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		if (str_streq(c->reason, reasons[i].reason)) {
			return reasons[i].answer;
		}
	}
	if (!str_streq(c->reason, "Pending") && !str_streq(c->reason, "Waiting")) {
		return REPLICA_DOES_NOT_FIT;
	}
	if (says(c, "it's gated")) {
		return REPLICA_GATED;
	}
	return says(c, "Pending the preemption of") ? REPLICA_IS_PREEMPTING : REPLICA_DOES_NOT_FIT;
}

/* The number that follows the text; 0: the text is not there, or no number that fits. */
static uint32_t number_after(const char *message, const char *text)
{
	const char *at = strstr(message, text);
	int64_t n = 0;

	for (at = at == NULL ? "" : at + strlen(text); *at >= '0' && *at <= '9'; at++) {
		n = 10 * n + (*at - '0');
		if (n > UINT32_MAX) {
			return 0;
		}
	}
	return (uint32_t)n;
}

/* How many Workloads a replica says that it preempts. */
static uint32_t count_victims(const struct api_workload *w)
{
	static const char *const texts[] = { "Pending the preemption of ", "waits for " };
	const struct api_condition *c = meta_condition(&w->status.conditions, KUEUE_QUOTA_RESERVED);
	uint32_t n = 0;

	if (c == NULL || c->message == NULL || observe_answer(w) != REPLICA_IS_PREEMPTING) {
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(texts) && n == 0; i++) {
		n = number_after(c->message, texts[i]);
	}
	return n;
}

static void since(bool is, int64_t now, int64_t *seen)
{
	if (!is) {
		*seen = REPLICA_NOT_SEEN;
	} else if (*seen == REPLICA_NOT_SEEN) {
		*seen = now;
	}
}

/* Another replica has no history. */
static void take_uid(struct observed *o, const char *uid)
{
	struct replica *r = &o->replica;

	if (strncmp(o->uid, uid, sizeof(o->uid) - 1) != 0) {
		snprintf(o->uid, sizeof(o->uid), "%s", uid);
		r->signal_seen = r->open_seen = r->ahead_seen = REPLICA_NOT_SEEN;
		r->refused = false;
		r->victims = o->victims = 0;
		o->seen = o->settled = false;
	}
	r->uid = o->uid[0] == '\0' ? NULL : o->uid;
}

/* After a restart it is not known of which attempt an eviction was. Taking it for an old one opens
 * the same gate once more at worst; taking it for a new one would end an attempt that goes on. */
static void take_evictions(struct observed *o, int64_t evicted_at)
{
	o->evicted_at = evicted_at;
	if (!o->seen) {
		o->evicted_before = evicted_at;
		o->seen = true;
	}
	o->replica.evicted =
		o->evicted_at != REPLICA_NOT_SEEN && o->evicted_at != o->evicted_before;
}

void observe_read(const struct api_workload *w, const char *gate, struct observation *ret)
{
	const struct api_condition *evicted = meta_condition(&w->status.conditions, KUEUE_EVICTED);

	read_gates(w, gate, ret);
	ret->stray = false;
	ret->signals = signals(w);
	ret->reserved = kueue_workload_is_true(w, KUEUE_QUOTA_RESERVED);
	/* One that has finished ran: no other cluster is to start it. */
	ret->admitted = kueue_workload_is_true(w, KUEUE_ADMITTED) ||
			kueue_workload_is_true(w, KUEUE_FINISHED);
	ret->answer = observe_answer(w);
	ret->victims = count_victims(w);
	ret->evicted_at = evicted != NULL && str_streq(evicted->status, "True")
				  ? evicted->last_transition
				  : REPLICA_NOT_SEEN;
}

void observe_replica(struct observed *o, const char *uid, const struct observation *seen,
		     int64_t now, uint64_t *numbers)
{
	struct replica *r = &o->replica;

	/* 1. Another UID is another replica, without the history of the one before.
	 * 2. Gates and conditions are taken as they are.
	 * 3. Of each state that decisions wait for, the time is kept at which it was first seen. */
	r->reachable = true;
	take_uid(o, seen == NULL || uid == NULL ? "" : uid);
	if (seen == NULL || r->uid == NULL) {
		r->has_gate = r->is_open = r->stray = r->other_gate = r->signals = false;
		r->evicted = r->reserved = r->admitted = false;
		r->answer = REPLICA_NO_ANSWER;
		return;
	}
	take_evictions(o, seen->evicted_at);
	r->has_gate = seen->has_gate;
	r->is_open = seen->is_open;
	r->stray = seen->stray;
	r->other_gate = seen->other_gate;
	r->signals = seen->signals;
	r->reserved = seen->reserved;
	r->admitted = seen->admitted;
	r->answer = seen->answer;
	o->victims = seen->victims;
	r->victims = seen->victims > r->victims ? seen->victims : r->victims;
	if (r->signals && r->signal_seen == REPLICA_NOT_SEEN) {
		r->signal_number = ++*numbers;
	}
	since(r->signals, now, &r->signal_seen);
	since(r->is_open, now, &r->open_seen);
	since(r->reserved || r->answer == REPLICA_IS_PREEMPTING, now, &r->ahead_seen);
}

/* Of a list that is not complete, a later part may show a later eviction that is as old. */
void observe_unreachable(struct observed *o)
{
	o->seen = o->settled;
	o->replica.reachable = false;
	o->replica.open_seen = REPLICA_NOT_SEEN;
}

void observe_reachable(struct observed *o, int64_t now)
{
	struct replica *r = &o->replica;

	r->reachable = true;
	o->settled = o->seen;
	since(r->is_open, now, &r->open_seen);
}

void observe_granted(struct observed *o)
{
	o->evicted_before = o->evicted_at;
	o->settled = o->seen;
	o->replica.evicted = o->replica.refused = false;
	o->replica.victims = o->victims;
}

void observe_refused(struct observed *o)
{
	o->replica.refused = true;
}
