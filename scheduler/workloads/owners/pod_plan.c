#include "scheduler/workloads/owners/pod_plan.h"

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "collections/strmap.h"
#include "kube/rest.h"
#include "scheduler/workloads/owners/kueue_pod_group.h"
#include "scheduler/workloads/owners/owner_status.h"
#include "scheduler/workloads/owners/pod_podset.h"
#include "scheduler/workloads/owners/pod_start.h"

#define MANY_ROLES "A pod group cannot have more than 18 roles"

struct planning {
	const struct pod_plan_of *of;
	const struct owner_plan_env *env;
	struct owner_plan *plan;
	const struct api_pod *first; /* the one with the labels that count */
	bool group;
	struct owner_spec spec; /* without pod sets */
	/* Of the Workload that stands for them. */
	struct kueue_pod_group_split split;
};

/* --- writes about pods -------------------------------------------------------------------------
 */

static struct owner_write *add_pod(struct planning *p, enum owner_write_kind kind,
				   const struct api_pod *pod, const struct strbuf *body)
{
	struct owner_write *w = owner_plan_add(p->plan, kind, NULL, body);

	w->about = (struct owner_write_object){ pod->meta.name, pod->meta.uid };
	return w;
}

static void plan_pod_drop_finalizer(struct planning *p, const struct api_pod *pod)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (owner_plan_has_finalizer(&pod->meta, KUEUE_POD_FINALIZER)) {
		pod_start_drop_finalizer(pod, &body);
		(void)add_pod(p, OWNER_POD_DROP_FINALIZER, pod, &body);
	}
}

static void plan_pods_drop_finalizers(struct planning *p)
{
	for (size_t i = 0; i < p->of->n; i++) {
		plan_pod_drop_finalizer(p, p->of->pods[i]);
	}
}

static void plan_pod_delete(struct planning *p, const struct api_pod *pod, const char *event,
			    const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	rest_delete_options(pod->meta.uid, NULL, &body);
	owner_plan_set_event(add_pod(p, OWNER_POD_DELETE, pod, &body), event, message);
}

/* Writes the reason on the pod first; deletes the pod when it is there. */
static void plan_pod_end(struct planning *p, const struct api_pod *pod, const char *reason,
			 const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (meta_condition_is_true(&pod->status.conditions, KUEUE_TERMINATION_TARGET)) {
		plan_pod_delete(p, pod, "Stopped", message);
		return;
	}
	pod_start_end(pod, reason, message == NULL ? "" : message, p->env->now, &body);
	(void)add_pod(p, OWNER_POD_END, pod, &body);
}

/* A write that removes the gate may be in flight. Any write to the pod makes that one fail, as it
 * names the version that was seen. */
static void plan_pod_stay(struct planning *p, const struct api_pod *pod)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	pod_start_stay(pod, p->env->now, &body);
	(void)add_pod(p, OWNER_POD_END, pod, &body);
}

/* Stops the pods that were started; all: also those that are still gated or have ended. */
static void plan_stop(struct planning *p, const char *reason, const char *message, bool all)
{
	for (size_t i = 0; i < p->of->n; i++) {
		const struct api_pod *pod = p->of->pods[i];

		if (pod->meta.deleted != FIELD_NO_TIME) {
			continue;
		}
		if (all || !kueue_pod_group_is_held(pod)) {
			plan_pod_end(p, pod, reason, message);
		} else if (p->of->starting != NULL && p->of->starting[i]) {
			plan_pod_stay(p, pod);
		}
	}
}

/* Releases and then deletes a pod that is one too many for its group. */
static void plan_excess(struct planning *p, const struct api_pod *pod)
{
	if (owner_plan_has_finalizer(&pod->meta, KUEUE_POD_FINALIZER)) {
		plan_pod_drop_finalizer(p, pod); /* planned again when that is done */
	} else if (pod->meta.deleted == FIELD_NO_TIME) {
		plan_pod_delete(p, pod, "ExcessPodDeleted", "Excess pod deleted");
	}
}

/* --- progress ----------------------------------------------------------------------------------
 */

static bool any(const struct planning *p, bool (*is)(const struct api_pod *pod))
{
	for (size_t i = 0; i < p->of->n; i++) {
		if (is(p->of->pods[i])) {
			return true;
		}
	}
	return false;
}

static bool is_active(const struct api_pod *pod)
{
	return !pod_is_finished(pod);
}

static int32_t count_succeeded(const struct planning *p, const char *role)
{
	int32_t n = 0;

	for (size_t i = 0; i < p->of->n; i++) {
		const struct api_pod *pod = p->of->pods[i];

		n += str_streq(pod->status.phase, "Succeeded") &&
		     (role == NULL || str_streq(kueue_pod_group_role(pod), role));
	}
	return n;
}

static bool ends_alone(const struct planning *p, struct owner_status *s)
{
	const struct api_pod *pod = p->first;

	if (!pod_is_finished(pod)) {
		return false;
	}
	s->finished_reason = str_streq(pod->status.phase, "Succeeded") ? "Succeeded" : "Failed";
	s->finished_message = pod->status.message == NULL ? "" : pod->status.message;
	return true;
}

/* All have succeeded, or those that failed are not to be replaced. */
static bool ends_together(const struct planning *p, struct owner_status *s)
{
	int32_t total = kueue_pod_group_total(p->first), n = count_succeeded(p, NULL);

	if (total == 0 || kueue_pod_group_is_serving(p->first) ||
	    (n < total && (any(p, is_active) || !any(p, kueue_pod_group_is_unretriable)))) {
		return false;
	}
	s->finished_reason = "Succeeded";
	s->finished_message = arena_printf(p->plan->arena, "Pods succeeded: %d/%d.", n, total);
	return true;
}

static bool is_over(const struct planning *p, struct owner_status *s)
{
	return p->group ? ends_together(p, s) : ends_alone(p, s);
}

static bool are_ready(const struct planning *p)
{
	/* Pods of a group that are not there yet are not ready. */
	if (p->group && (int64_t)p->of->n < kueue_pod_group_total(p->first)) {
		return false;
	}
	for (size_t i = 0; i < p->of->n; i++) {
		if (!kueue_pod_group_is_ready(p->of->pods[i])) {
			return false;
		}
	}
	return true;
}

/* reason: the one of Finished, whatever the pods say; NULL: as the pods say. */
static void plan_status(struct planning *p, const struct api_workload *w, const char *reason,
			const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	size_t n = w->spec.pod_sets.n;
	struct owner_status_pods *pods = arena_zero(p->plan->arena, n + 1, sizeof(*pods));
	struct owner_status s = { .pods_ready = p->env->pods_ready,
				  .ready = are_ready(p),
				  .replaces = p->group,
				  .misses_pods = p->split.absent > 0,
				  .pods = pods,
				  .npods = n,
				  .now = p->env->now };

	for (size_t i = 0; i < n; i++) {
		const struct api_pod_set *set = &w->spec.pod_sets.v[i];

		pods[i].podset = set->name == NULL ? OWNER_SPEC_MAIN : set->name;
		if (p->group && !kueue_pod_group_is_serving(p->first)) {
			pods[i].reclaimable = count_succeeded(p, set->name);
		}
	}
	if (reason != NULL) {
		s.finished_reason = reason;
		s.finished_message = message;
	} else {
		(void)is_over(p, &s);
	}
	if (owner_status_apply(&s, w, &body)) {
		owner_plan_status(p->plan, w, &body, s.finished_reason != NULL);
	}
}

/* Pods have no spec.managedBy: those that MultiKueue has sent to another cluster keep their gate.
 * The cluster is recorded before the Workload is admitted. */
static void plan_start(struct planning *p, const struct api_workload *w)
{
	if (w->status.cluster_name != NULL) {
		return;
	}
	for (size_t i = 0; i < p->split.kept.n; i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		const struct api_pod *pod = p->split.kept.v[i];
		const char *podset = p->group ? kueue_pod_group_role(pod) : OWNER_SPEC_MAIN;
		struct err err = ERR_INIT;
		int r;

		/* Let go before, or being deleted. */
		if (!pod_has_gate(pod, KUEUE_GATE_ADMISSION) ||
		    pod->meta.deleted != FIELD_NO_TIME) {
			continue;
		}
		r = pod_start_patch(pod, w, podset, &p->env->flavors, &body, &err);
		if (r == -ERR_INVALID) {
			plan_status(p, w, "FailedToStart", arena_dup(p->plan->arena, err.text));
		}
		if (r < 0) {
			return; /* planned again when the flavor comes */
		}
		owner_plan_set_event(add_pod(p, OWNER_POD_START, pod, &body), "Started",
				     arena_printf(p->plan->arena, "Admitted by clusterQueue %s",
						  w->status.admission->cluster_queue));
	}
}

/* --- the Workload ------------------------------------------------------------------------------
 */

static bool has_limit(const struct planning *p, const struct api_workload *w)
{
	return w->spec.max_execution_time ==
	       (p->spec.max_execution > 0 ? p->spec.max_execution : FIELD_NO_I32);
}

static bool matches_alone(const struct planning *p, const struct api_workload *w)
{
	const struct api_pod_set *set = w->spec.pod_sets.v;
	bool placed =
		!pod_has_gate(p->first, KUEUE_GATE_ADMISSION) || kueue_workload_is_reserving(w);

	return owner_plan_is_owned_by(w, &p->first->meta) && w->spec.pod_sets.n == 1 &&
	       has_limit(p, w) &&
	       owner_spec_same_pods(&p->first->spec, &set->template_.spec, !placed);
}

/* The kept pods are in pod sets of the Workload by how they were chosen; there must be some. */
static bool matches_together(struct planning *p, const struct api_workload *w)
{
	if (!has_limit(p, w)) {
		return false;
	}
	kueue_pod_group_split(p->of->pods, p->of->n, w, p->env->now, &p->split);
	return p->split.kept.n > 0;
}

static const struct api_workload *choose(struct planning *p, const struct api_workload **ret_other)
{
	*ret_other = NULL;
	for (size_t i = 0; i < p->of->nworkloads; i++) {
		const struct api_workload *w = p->of->workloads[i];

		if (p->group ? matches_together(p, w) : matches_alone(p, w)) {
			return w;
		}
		if (!p->group && !owner_plan_is_owned_by(w, &p->first->meta)) {
			owner_plan_drop_finalizer(p->plan, w); /* of an earlier pod of this name */
		} else {
			*ret_other = w;
		}
	}
	return NULL;
}

/* Pods that came later are owners as well, so that the Workload lives as long as any of them. */
static void plan_owners(struct planning *p, const struct api_workload *w)
{
	size_t n = w->meta.owners.n + p->split.kept.n, fresh = 0;
	struct owner_write_object *v = arena_zero(p->plan->arena, n + 1, sizeof(*v));
	struct owner_plan_refs refs = { .api_version = "v1", .kind = "Pod", .v = v };
	/* This is asked at each change of a pod of the group, which may have thousands. */
	struct strmap *uids = strmap_create(NULL);

	for (size_t i = 0; i < w->meta.owners.n; i++) {
		v[refs.n++] = (struct owner_write_object){ w->meta.owners.v[i].name,
							   w->meta.owners.v[i].uid };
		strmap_set(uids, str_of(w->meta.owners.v[i].uid), p);
	}
	for (size_t i = 0; i < p->split.kept.n; i++) {
		const struct api_meta *m = &p->split.kept.v[i]->meta;

		if (!strmap_has(uids, str_of(m->uid))) {
			strmap_set(uids, str_of(m->uid), p);
			v[refs.n++] = (struct owner_write_object){ m->name, m->uid };
			fresh++;
		}
	}
	strmap_destroy(uids);
	if (fresh > 0) {
		owner_plan_adopt(p->plan, &refs, w);
	}
}

/* The Workload holds no quota and has not begun, so it may be changed to what the pods are. */
static bool may_change(const struct api_workload *w)
{
	return !kueue_workload_is_reserving(w) && !kueue_workload_is_true(w, KUEUE_FINISHED) &&
	       w->meta.deleted == FIELD_NO_TIME;
}

static void note_mismatch(struct planning *p, const char *message)
{
	(void)owner_plan_note(p->plan, true, "ErrWorkloadCompose", message);
}

/* Collects the pods for the Workload; false: they make none, for a reason that was noted, or not
 * yet. */
static bool gather(struct planning *p)
{
	const struct pod_podset_of all = { p->of->pods, p->of->n };
	const char *wrong = p->group ? pod_podset_mismatch(&all, p->plan->arena) : NULL;
	struct pod_podset_of kept;

	if (wrong != NULL) {
		note_mismatch(p, wrong);
		return false;
	}
	kueue_pod_group_split_finish(&p->split);
	p->split = (struct kueue_pod_group_split){ .kept = VEC_INIT };
	kueue_pod_group_split_new(p->of->pods, p->of->n,
				  p->group ? kueue_pod_group_total(p->first) : 1, &p->split);
	for (size_t i = 0; i < p->split.replaced.n; i++) {
		if (p->split.replaced.v[i]->meta.deleted == FIELD_NO_TIME) {
			plan_pod_drop_finalizer(p, p->split.replaced.v[i]);
		}
	}
	kept = (struct pod_podset_of){ p->split.kept.v, p->split.kept.n };
	if (kept.n == 0 || (p->split.absent > 0 && !kueue_pod_group_is_fast(p->first))) {
		return false; /* planned again when the others come */
	}
	for (size_t i = 0; i < p->split.excess.n; i++) {
		plan_excess(p, p->split.excess.v[i]);
	}
	wrong = pod_podset_fill(&kept, p->plan->arena, &p->spec)
			? pod_podset_labels(&kept, p->env->label_keys, p->plan->arena, &p->spec)
			: MANY_ROLES;
	if (wrong == NULL) {
		wrong = pod_podset_notes(&kept, p->env->annotation_keys, p->plan->arena, &p->spec);
	}
	if (wrong != NULL) {
		note_mismatch(p, wrong);
	}
	return wrong == NULL;
}

static void plan_create(struct planning *p)
{
	struct owner_plan_refs refs = { .api_version = "v1",
					.kind = "Pod",
					.controller = !p->group };
	struct owner_write_object *v;

	v = arena_zero(p->plan->arena, p->split.kept.n + 1, sizeof(*v));
	for (size_t i = 0; i < p->split.kept.n; i++) {
		const struct api_meta *m = &p->split.kept.v[i]->meta;

		v[refs.n++] = (struct owner_write_object){ m->name, m->uid };
	}
	refs.v = v;
	owner_plan_create(p->plan, &p->spec, &refs, p->group);
}

/* Terminating pods without replacements lose our finalizer. */
static void drop_finalizers_of_terminating(struct planning *p)
{
	for (size_t i = 0; i < p->of->n; i++) {
		const struct api_pod *pod = p->of->pods[i];

		if (pod->meta.deleted != FIELD_NO_TIME) {
			plan_pod_drop_finalizer(p, pod);
		}
	}
}

static bool stays(const struct api_pod *pod)
{
	return pod->meta.deleted == FIELD_NO_TIME ||
	       owner_plan_has_finalizer(&pod->meta, KUEUE_POD_FINALIZER);
}

/* --- the order ---------------------------------------------------------------------------------
 */

/* 1. Where the pods have ended, they are let go, and a Workload that does not match them is
 *    deleted.
 * 2. Without a Workload nothing holds quota for pods that run: they are stopped.
 * 3. A Workload that differs is changed if it holds nothing yet and pods wait; else it is deleted,
 *    and the name is free for another.
 * 4. A new one is made when enough pods are there. */
static void plan_without(struct planning *p, const struct api_workload *other)
{
	struct owner_status end = { .now = p->env->now };
	bool held = any(p, kueue_pod_group_is_held);

	if (is_over(p, &end)) {
		plan_pods_drop_finalizers(p);
		if (other != NULL) {
			owner_plan_delete(p->plan, other);
		}
		return;
	}
	drop_finalizers_of_terminating(p); /* also when a Workload was deleted before its pods */
	plan_stop(p, "NoMatchingWorkload", "No matching Workload", false);
	if (other != NULL && !(held && may_change(other))) {
		owner_plan_delete(p->plan, other);
	} else if (held && gather(p)) {
		if (other != NULL) {
			owner_plan_update(p->plan, &p->spec, other);
		} else {
			plan_create(p);
		}
	}
}

/* Releases pods that have replacements, and those that are too many. */
static void plan_others(struct planning *p, const struct api_workload *w)
{
	if (!p->group) {
		vec_push(&p->split.kept, p->first);
		return;
	}
	plan_owners(p, w);
	for (size_t i = 0; i < p->split.excess.n; i++) {
		plan_excess(p, p->split.excess.v[i]);
	}
	for (size_t i = 0; i < p->split.replaced.n; i++) {
		plan_pod_drop_finalizer(p, p->split.replaced.v[i]);
	}
}

/* The Workload loses its finalizer last: without it, pods of a group that keep theirs would wait
 * for replacements. */
static void plan_deleted(struct planning *p, const struct api_workload *w)
{
	plan_stop(p, "WorkloadDeleted", "Workload is deleted", true);
	drop_finalizers_of_terminating(p);
	if (!any(p, stays)) {
		owner_plan_drop_finalizer(p->plan, w);
	}
}

/* An event on pods that came after the end of their group, or too late to stand in for others: as
 * in Kueue they stay gated. */
static void note_late(struct planning *p)
{
	for (size_t i = 0; i < p->of->n && p->group; i++) {
		const struct api_pod *pod = p->of->pods[i];
		const struct api_meta *m = &pod->meta;

		if (kueue_pod_group_is_held(pod) && is_active(pod) && m->deleted == FIELD_NO_TIME) {
			owner_plan_note(p->plan, true, "GroupFinished",
					"The group of this pod has finished: the pod will not be "
					"let go")
				->about = (struct owner_write_object){ m->name, m->uid };
		}
	}
}

/* An event on every pod with the checks that it waits for. */
static void note_checks(struct planning *p, const struct api_workload *w)
{
	const char *message = kueue_workload_is_reserving(w) ? owner_plan_checks(p->plan, w) : NULL;

	for (size_t i = 0; message != NULL && i < p->split.kept.n; i++) {
		const struct api_meta *m = &p->split.kept.v[i]->meta;
		struct owner_write *note =
			owner_plan_note(p->plan, false, "UpdatedAdmissionCheck", message);

		note->about = (struct owner_write_object){ m->name, m->uid };
	}
}

static void plan_with(struct planning *p, const struct api_workload *w)
{
	const struct api_condition *evicted;
	struct owner_status end = { .now = p->env->now };

	if (kueue_workload_is_true(w, KUEUE_FINISHED)) {
		plan_pods_drop_finalizers(p);
		note_late(p);
		owner_plan_drop_finalizer(p->plan, w);
		return;
	}
	if (w->meta.deleted != FIELD_NO_TIME) {
		plan_deleted(p, w);
		return;
	}
	plan_others(p, w);
	plan_status(p, w, NULL, NULL);
	if (is_over(p, &end)) {
		return; /* planned again when the status is written */
	}
	if (!kueue_pod_group_is_serving(p->first)) {
		owner_plan_sync(p->plan, &p->spec, w);
	}
	evicted = meta_condition(&w->status.conditions, KUEUE_EVICTED);
	if (kueue_workload_is_true(w, KUEUE_EVICTED)) {
		plan_stop(p, "WorkloadEvicted", evicted->message, false);
	} else if (owner_plan_is_admitted(w)) {
		if (owner_plan_may_start(p->env, w)) {
			plan_start(p, w);
		}
	} else {
		/* Stops pods that another client ungated, though others of the group have their
		 * gate. */
		plan_stop(p, "NotAdmitted", "Not admitted by cluster queue", false);
		note_checks(p, w);
	}
}

static bool is_managed(const struct planning *p)
{
	return !p->of->elsewhere && owner_plan_is_managed(p->env, &p->first->meta);
}

/* A Workload of another owner has the name: the group can never queue, but its pods lose
 * their finalizers. */
static void plan_conflict(struct planning *p)
{
	note_mismatch(p,
		      arena_printf(p->plan->arena,
				   "A Workload named \"%s\" exists and is not one of a pod group",
				   kueue_pod_group_name(p->first)));
	for (size_t i = 0; i < p->of->n; i++) {
		if (!kueue_pod_group_counts(p->of->pods[i])) {
			plan_pod_drop_finalizer(p, p->of->pods[i]);
		}
	}
}

/* The prebuilt Workload that a pod without group names: it must match, and the pod becomes its
 * owner. */
static const struct api_workload *choose_prebuilt(struct planning *p)
{
	const struct api_workload *w = p->of->prebuilt;

	if (w == NULL) {
		plan_stop(p, "NoMatchingWorkload", "The prebuilt Workload does not exist", false);
		return NULL;
	}
	if (meta_controller(&w->meta) == NULL) {
		struct owner_write_object self = { p->first->meta.name, p->first->meta.uid };
		struct owner_plan_refs refs = { "v1", "Pod", true, &self, 1 };

		owner_plan_adopt(p->plan, &refs, w);
		return NULL;
	}
	if (!owner_plan_is_owned_by(w, &p->first->meta)) {
		plan_stop(p, "NoMatchingWorkload", "The prebuilt Workload belongs to another owner",
			  false);
		return NULL;
	}
	if (!kueue_workload_is_true(w, KUEUE_FINISHED) && w->meta.deleted == FIELD_NO_TIME &&
	    !matches_alone(p, w)) {
		plan_status(p, w, "OutOfSync", "The prebuilt workload is out of sync with its job");
		plan_stop(p, "NoMatchingWorkload", "The prebuilt Workload is out of sync", false);
		return NULL;
	}
	return w;
}

static void plan_prebuilt(struct planning *p)
{
	const struct api_workload *match = choose_prebuilt(p);

	if (match != NULL) {
		plan_with(p, match);
	} else if (pod_is_finished(p->first)) {
		plan_pods_drop_finalizers(p);
	}
}

static void plan_group_or_pod(struct planning *p)
{
	const struct api_workload *match, *other;

	if (p->of->name_taken) {
		plan_conflict(p);
		return;
	}
	if (!p->group && owner_spec_prebuilt(&p->first->meta) != NULL) {
		plan_prebuilt(p);
		return;
	}
	match = choose(p, &other);
	if (match != NULL) {
		plan_with(p, match);
	} else {
		plan_without(p, other);
	}
}

static void plan_managed(struct planning *p)
{
	const struct api_pod *pod = p->first;

	if (owner_spec_read(&pod->meta, pod->spec.priority_class_name, &p->env->classes,
			    &p->spec)) {
		plan_group_or_pod(p);
	} else {
		owner_plan_note_class(p->plan, &pod->meta, pod->spec.priority_class_name);
		if (p->of->nworkloads == 0) {
			drop_finalizers_of_terminating(p);
		}
	}
}

void pod_plan(const struct pod_plan_of *of, const struct owner_plan_env *env,
	      struct owner_plan *ret)
{
	struct planning p = { .of = of, .env = env, .plan = ret };
	bool gone = of->n == 0;

	ret->pods = true;
	if (!gone) {
		p.first = of->pods[0];
		p.group = kueue_pod_group_name(p.first) != NULL;
		ret->namespace_ = p.first->meta.namespace_;
		ret->about = (struct owner_write_object){ p.first->meta.name, p.first->meta.uid };
		/* A pod alone ends with its deletion; a group lives on in others. */
		gone = !p.group && p.first->meta.deleted != FIELD_NO_TIME;
	}
	if (gone) {
		for (size_t i = 0; i < of->nworkloads; i++) {
			owner_plan_drop_finalizer(ret, of->workloads[i]);
		}
		plan_pods_drop_finalizers(&p);
		return;
	}
	if (of->ending && is_managed(&p)) {
		/* Pods are deleted before the Workload, which waits for them. */
		drop_finalizers_of_terminating(&p);
	} else if (is_managed(&p)) {
		plan_managed(&p);
	}
	kueue_pod_group_split_finish(&p.split);
}
