#include "scheduler/multikueue/manager/local_body.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "scheduler/multikueue/manager/condition_text.h"
#include "scheduler/multikueue/manager/manager.h"

/* The members of status that "kueue-admission" keeps, besides conditions. */
static const char *const members[] = {
	"admission",
	"requeueState",
	"resourceRequests",
	"accumulatedPastExecutionTimeSeconds",
	"schedulingStats",
	"clusterName",
	"nominatedClusterNames",
	"unhealthyNodes",
	"preemptionGates",
	"admissionChecks",
};

static bool is_kept(const char *condition)
{
	static const char *const types[] = { KUEUE_QUOTA_RESERVED, KUEUE_ADMITTED,
					     KUEUE_EVICTED,        KUEUE_PREEMPTED,
					     KUEUE_REQUEUED,       KUEUE_DEACTIVATION_TARGET,
					     KUEUE_FINISHED,       KUEUE_PODS_READY };

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (str_streq(condition, types[i])) {
			return true;
		}
	}
	for (unsigned d = PREEMPTION_GATE_KUEUE; d < PREEMPTION_GATE_DIALECT_COUNT_; d++) {
		if (str_streq(condition,
			      preemption_gate_signal((enum preemption_gate_dialect)d, 0))) {
			return true;
		}
	}
	return false;
}

/* The object as it was seen, with an empty status; the caller owns it. */
static struct jdoc *new_apply(const struct jdoc *local, struct jdoc **ret_status)
{
	static const char *const same[] = { "name", "namespace", "uid", "resourceVersion" };
	struct jdoc *d = jdoc_new_object(), *meta;

	jdoc_set_str(d, "apiVersion", KUEUE_API_VERSION);
	jdoc_set_str(d, "kind", "Workload");
	meta = jdoc_ensure_object(d, "metadata");
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		const char *text = jdoc_str(jdoc_get(jdoc_get(local, "metadata"), same[i]));

		if (text != NULL) {
			jdoc_set_str(meta, same[i], text);
		}
	}
	*ret_status = jdoc_ensure_object(d, "status");
	return d;
}

static void copy_kept(const struct jdoc *from, struct jdoc *to)
{
	const struct jdoc *conditions = jdoc_get(from, "conditions");

	for (const struct jdoc *c = jdoc_first(conditions); c != NULL; c = jdoc_next(c)) {
		if (is_kept(jdoc_str(jdoc_get(c, "type")))) {
			jdoc_append_take(jdoc_ensure_array(to, "conditions"), jdoc_copy(c));
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct jdoc *m = jdoc_get(from, members[i]);

		if (m != NULL) {
			jdoc_set_take(to, members[i], jdoc_copy(m));
		}
	}
}

static struct jdoc *find_named(struct jdoc *list, const char *name)
{
	for (size_t i = 0; i < jdoc_count(list); i++) {
		struct jdoc *item = jdoc_at_mut(list, i);

		if (jdoc_is_str(jdoc_get(item, "name"), name)) {
			return item;
		}
	}
	return NULL;
}

static void set_message(struct jdoc *of, const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	condition_text_message(message, &text);
	jdoc_set_str(of, "message", text.p);
}

static void set_time(struct jdoc *of, int64_t now)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_time(now, text);
	jdoc_set_str(of, "lastTransitionTime", text);
}

/* The time of the entry is that of its state. */
static void set_check(struct jdoc *status, const struct local_body *of,
		      const struct manager_action *a)
{
	const char *state = a->act == MANAGER_SET_CLUSTER ? KUEUE_CHECK_READY : a->state;
	struct jdoc *entry = find_named(jdoc_get_mut(status, "admissionChecks"), of->check);

	if (entry == NULL) {
		return; /* the core adds entries, for the checks of its queue */
	}
	if (!jdoc_is_str(jdoc_get(entry, "state"), state)) {
		jdoc_set_str(entry, "state", state);
		set_time(entry, of->now);
	}
	set_message(entry, a->message);
	(void)jdoc_remove(entry, "podSetUpdates");
	(void)jdoc_remove(entry, "requeueAfterSeconds");
	if (a->requeue_after > 0) {
		jdoc_set_int(entry, "requeueAfterSeconds", a->requeue_after);
	}
}

static void set_cluster(struct jdoc *status, const struct local_body *of,
			const struct manager_action *a)
{
	struct jdoc *sets = jdoc_get_mut(jdoc_get_mut(status, "admission"), "podSetAssignments");

	jdoc_set_str(status, "clusterName", of->cluster);
	/* The API server refuses both at once. Left out, the list would stay if an external
	 * dispatcher owns it. */
	jdoc_set_take(status, "nominatedClusterNames", jdoc_new_array());
	for (size_t i = 0; i < a->names.n; i++) {
		struct jdoc *set = find_named(sets, a->names.v[i]);

		if (set != NULL) {
			jdoc_set_str(set, "delayedTopologyRequest", "Ready");
		}
	}
}

static void set_nominated(struct jdoc *status, const struct field_strs *names)
{
	struct jdoc *list = jdoc_set_take(status, "nominatedClusterNames", jdoc_new_array());

	for (size_t i = 0; i < names->n; i++) {
		jdoc_append_take(list, jdoc_new_str(names->v[i]));
	}
}

void local_body_admission(const struct local_body *of, const struct manager_action *a,
			  struct strbuf *out)
{
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *d = new_apply(of->local, &status);

	copy_kept(jdoc_get(of->local, "status"), status);
	if (a->act == MANAGER_NOMINATE) {
		set_nominated(status, &a->names);
	} else {
		set_check(status, of, a);
	}
	if (a->act == MANAGER_SET_CLUSTER) {
		set_cluster(status, of, a);
	}
	jdoc_format(d, out);
}

void local_body_finished(const struct local_body *of, const struct manager_action *a,
			 struct strbuf *out)
{
	struct jdoc *status, *c;
	CLEANUP(jdoc_destroyp) struct jdoc *d = new_apply(of->local, &status);

	c = jdoc_append_take(jdoc_ensure_array(status, "conditions"), jdoc_new_object());
	jdoc_set_str(c, "type", KUEUE_FINISHED);
	jdoc_set_str(c, "status", "True");
	jdoc_set_str(c, "reason", condition_text_reason(a->reason));
	set_message(c, a->message);
	set_time(c, of->now);
	jdoc_format(d, out);
}
