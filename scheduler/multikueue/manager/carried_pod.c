#include "scheduler/multikueue/manager/carried_pod.h"

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "scheduler/multikueue/manager/mirror.h"
#include "scheduler/multikueue/manager/replica_body.h"

#define SCHEDULED "PodScheduled"

static const struct api_meta *meta(const void *object)
{
	const struct api_pod *pod = object;

	return &pod->meta;
}

/* Without the gate it may run on this cluster as well. */
static const char *refusal(const void *local, struct arena *arena)
{
	const struct api_pod *pod = local;

	return pod_is_finished(pod) || pod->meta.deleted != FIELD_NO_TIME ||
			       pod_has_gate(pod, KUEUE_GATE_ADMISSION)
		       ? NULL
		       : arena_printf(arena,
				      "Pod \"%s\" has no scheduling gate \"" KUEUE_GATE_ADMISSION
				      "\": it may run on this cluster",
				      pod->meta.name);
}

static bool has_ended(const void *object)
{
	return pod_is_finished(object);
}

static bool is_active(const void *local)
{
	const struct api_pod *pod = local;

	return str_streq(pod->status.phase, "Running");
}

static bool was_stopped(const struct api_pod *pod)
{
	return !str_streq(pod->status.phase, "Succeeded") &&
	       (pod->meta.deleted != FIELD_NO_TIME ||
		meta_condition_is_true(&pod->status.conditions, KUEUE_TERMINATION_TARGET));
}

static enum carried_due due(const struct carried_object *local, const struct carried_object *remote)
{
	const struct api_pod *here = local->object, *there = remote->object;

	if (here->meta.deleted != FIELD_NO_TIME || pod_is_finished(here) || was_stopped(there) ||
	    local->digest == remote->digest) {
		return CARRIED_DUE_NOTHING;
	}
	return CARRIED_DUE_STATUS;
}

/* --- the status --------------------------------------------------------------------------------*/

static const char *const kept[] = { "nominatedNodeName", "resourceClaimStatuses",
				    "extendedResourceClaimStatus", "qosClass",
				    "observedGeneration" };

static bool is_scheduled(const struct jdoc *condition)
{
	return jdoc_is_str(jdoc_get(condition, "status"), "True");
}

/* Adds the conditions of `of`, but PodScheduled unless it is True. True: it was. */
static bool add_conditions(const struct jdoc *of, struct jdoc *list)
{
	const struct jdoc *from = jdoc_path(of, "status.conditions");
	bool scheduled = false;

	for (const struct jdoc *c = jdoc_first(from); c != NULL; c = jdoc_next(c)) {
		bool is_it = jdoc_is_str(jdoc_get(c, "type"), SCHEDULED);

		if (!is_it || is_scheduled(c)) {
			jdoc_append_take(list, jdoc_copy(c));
		}
		scheduled |= is_it && is_scheduled(c);
	}
	return scheduled;
}

/* The caller owns it. */
static struct jdoc *status_of(const struct jdoc *object, bool *ret_scheduled)
{
	const struct jdoc *from = jdoc_get(object, "status");
	struct jdoc *status = replica_body_map(from);
	struct jdoc *conditions = jdoc_set_take(status, "conditions", jdoc_new_array());

	*ret_scheduled = add_conditions(object, conditions);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		(void)jdoc_remove(status, kept[i]);
	}
	return status;
}

static uint64_t digest(const struct jdoc *object)
{
	bool scheduled;
	CLEANUP(jdoc_destroyp) struct jdoc *status = status_of(object, &scheduled);

	return mirror_digest(status);
}

/* As the API server wrote it when the pod was created; it stays unless it says that the pod has a
 * node. */
static void add_gated(const struct jdoc *local, struct jdoc *conditions)
{
	const struct jdoc *from = jdoc_path(local, "status.conditions");
	struct jdoc *c;

	for (const struct jdoc *m = jdoc_first(from); m != NULL; m = jdoc_next(m)) {
		if (jdoc_is_str(jdoc_get(m, "type"), SCHEDULED) && !is_scheduled(m)) {
			jdoc_append_take(conditions, jdoc_copy(m));
			return;
		}
	}
	c = jdoc_append_take(conditions, jdoc_new_object());
	jdoc_set_str(c, "type", SCHEDULED);
	jdoc_set_str(c, "status", "False");
	jdoc_set_str(c, "reason", "SchedulingGated");
	jdoc_set_str(c, "message", "Scheduling is blocked due to non-empty scheduling gates");
}

/* Takes `to`, which becomes the status but for what is kept. */
static void format_patch(const struct jdoc *local, struct jdoc *to, struct strbuf *out)
{
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = mirror_patch(local, &status);

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const struct jdoc *own = jdoc_get(jdoc_get(local, "status"), kept[i]);

		if (own != NULL) {
			jdoc_set_take(to, kept[i], jdoc_copy(own));
		}
	}
	mirror_difference(jdoc_get(local, "status"), to, status);
	jdoc_format(patch, out);
	jdoc_destroy(to);
}

static void reset(const struct jdoc *local, struct strbuf *out)
{
	struct jdoc *to = jdoc_new_object();

	jdoc_set_str(to, "phase", "Pending");
	add_gated(local, jdoc_ensure_array(to, "conditions"));
	format_patch(local, to, out);
}

static const struct jdoc *find_container(const struct jdoc *list, const char *name)
{
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "name"), name)) {
			return c;
		}
	}
	return NULL;
}

/* The API server refuses a container that has ended and runs again. */
static bool runs_again(const struct jdoc *local, const struct jdoc *remote, const char *list)
{
	const struct jdoc *here = jdoc_get(jdoc_get(local, "status"), list);
	const struct jdoc *there = jdoc_get(jdoc_get(remote, "status"), list);
	const char *policy = jdoc_str_or(jdoc_path(local, "spec.restartPolicy"), "Always");

	for (const struct jdoc *c = jdoc_first(here); c != NULL; c = jdoc_next(c)) {
		const struct jdoc *end = jdoc_path(c, "state.terminated");
		const struct jdoc *now =
			find_container(there, jdoc_str_or(jdoc_get(c, "name"), ""));
		bool may = str_streq(policy, "Always") ||
			   (str_streq(policy, "OnFailure") &&
			    jdoc_int(jdoc_get(end, "exitCode"), 0) != 0);

		if (end != NULL && now != NULL && jdoc_path(now, "state.terminated") == NULL &&
		    !may) {
			return true;
		}
	}
	return false;
}

static void sync(const struct jdoc *local, const struct jdoc *remote, enum carried_due what UNUSED,
		 int64_t now UNUSED, struct strbuf *out)
{
	bool scheduled;
	struct jdoc *to;

	if (runs_again(local, remote, "containerStatuses") ||
	    runs_again(local, remote, "initContainerStatuses")) {
		reset(local, out);
		return;
	}
	to = status_of(remote, &scheduled);
	if (!scheduled) {
		add_gated(local, jdoc_ensure_array(to, "conditions"));
	}
	format_patch(local, to, out);
}

/* --- the remote pod ----------------------------------------------------------------------------*/

static void create(const struct jdoc *local, const struct jdoc *workload,
		   const struct replica_body_manager *by, struct strbuf *out)
{
	static const char *const computed[] = { "nodeName", "priority", "preemptionPolicy" };
	CLEANUP(jdoc_destroyp) struct jdoc *d = replica_body_object("v1", "Pod", local);
	struct jdoc *labels = replica_body_map(jdoc_path(local, "metadata.labels"));
	struct jdoc *notes = replica_body_map(jdoc_path(local, "metadata.annotations"));
	struct jdoc *spec = jdoc_set_take(d, "spec", replica_body_map(jdoc_get(local, "spec")));

	for (size_t i = 0; i < ARRAY_LEN(computed); i++) {
		(void)jdoc_remove(spec, computed[i]);
	}
	jdoc_set_str(notes, REPLICA_BODY_FOR, jdoc_str_or(jdoc_path(local, "metadata.uid"), ""));
	replica_body_name(workload, by, labels, notes, d);
	jdoc_format(d, out);
}

const struct carried_kind carried_pod_kind = {
	.api_version = "v1",
	.kind = "Pod",
	.resource = SCHED_PODS,
	.meta = meta,
	.refusal = refusal,
	.has_ended = has_ended,
	.is_ending = has_ended,
	.is_active = is_active,
	.digest = digest,
	.due = due,
	.sync = sync,
	.reset = reset,
	.create = create,
};
