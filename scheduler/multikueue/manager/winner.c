#include "scheduler/multikueue/manager/winner.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/pass.h"
#include "scheduler/multikueue/manager/replica_body.h"

/* The core resumes a Job within milliseconds of its check. After so long it seems to be unable to:
 * Kubernetes 1.36.0 and 1.36.1 refuse to change the template of a suspended Job without the
 * condition Suspended (kubernetes#139281). The time of the check is in whole seconds. */
#define RESUME_NS (3 * CLOCK_NS_PER_S)

static void retry_gone(struct pass *p)
{
	pass_retry_unless_ended(p, "Admitting remote no longer exists");
}

/* Seconds to wait before it is offered again after it was evicted on a worker cluster. */
static int32_t bounce_pause(const struct pass *p)
{
	int32_t count = p->check->retry_count;
	int64_t pause = p->view->opt->bounce_ns;

	if (count == FIELD_NO_I32 || count <= 0) {
		return 0;
	}
	for (int32_t i = 1; i < count && pause > 0 && pause < MANAGER_BOUNCE_MAX_NS; i++) {
		pause *= 2;
	}
	return (int32_t)(clock_earlier(pause, MANAGER_BOUNCE_MAX_NS) / CLOCK_NS_PER_S);
}

/* Pod sets that wait for the topology that the worker has assigned by now. */
static struct field_strs delayed_topologies(const struct pass *p, const struct api_workload *remote)
{
	const struct api_workload_admission *a = remote->status.admission;
	const char **names;
	size_t n = 0;

	if (a == NULL) {
		return (struct field_strs){ NULL, 0 };
	}
	names = arena_zero(p->arena, a->assignments.n, sizeof(*names));
	for (size_t i = 0; i < a->assignments.n; i++) {
		const struct api_pod_set_assignment *there = &a->assignments.v[i];
		const struct api_pod_set_assignment *here =
			kueue_workload_assignment(p->local, there->name);

		if (there->topology_assignment.p != NULL && here != NULL &&
		    str_streq(here->delayed_topology, "Pending")) {
			names[n++] = here->name;
		}
	}
	return (struct field_strs){ names, n };
}

static void record(struct pass *p, size_t i, struct field_strs topologies)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	struct manager_action *a = pass_add(p, MANAGER_SET_CLUSTER, i);

	a->message = arena_printf(p->arena, "The workload was admitted on \"%s\"", c->name);
	a->names = topologies;
	a->event = pass_check_is(p, KUEUE_CHECK_READY) ? NULL : a->message;
}

void winner_set(struct pass *p, size_t i)
{
	record(p, i, delayed_topologies(p, p->view->clusters[i].replica));
}

/* The status of local object k does not say all that the one there says. */
static bool is_due(const struct pass *p, size_t i, size_t k)
{
	const struct manager_cluster *c = &p->view->clusters[i];

	return c->jobs[k].object != NULL && !pass_is_stale(p, c, k) &&
	       p->view->kind->due(&p->view->jobs[k], &c->jobs[k]) != CARRIED_DUE_NOTHING;
}

static bool any_due(const struct pass *p, size_t i)
{
	for (size_t k = 0; k < p->view->njobs; k++) {
		if (is_due(p, i, k)) {
			return true;
		}
	}
	return false;
}

void winner_mirror(struct pass *p, size_t i)
{
	for (size_t k = 0; k < p->view->njobs; k++) {
		if (is_due(p, i, k)) {
			pass_add_job(p, MANAGER_SYNC_JOB, i, k);
		}
	}
}

static bool may_run(const struct pass *p, const struct manager_cluster *c)
{
	for (size_t k = 0; k < c->njobs; k++) {
		const struct carried_object *o = &c->jobs[k];

		if (o->sent || (o->object != NULL && !p->view->kind->has_ended(o->object))) {
			return true;
		}
	}
	return false;
}

/* When c, which has not won, holds back no more. A Job that is being deleted there goes within
 * seconds; one that does not go (the cluster may refuse that, or invent the Job) must not keep the
 * Workload from running forever. */
static int64_t released_at(const struct pass *p, const struct manager_cluster *c)
{
	const struct api_condition *q =
		meta_condition(&p->local->status.conditions, KUEUE_QUOTA_RESERVED);
	const struct manager_view *v = p->view;
	int64_t since = q->last_transition == FIELD_NO_TIME ? v->began : q->last_transition;

	if (!may_run(p, c) || c->link == MANAGER_NEVER) {
		return INT64_MIN;
	}
	return c->link == MANAGER_LOST ? pass_lost_at(v, c)
				       : clock_earlier(since, v->now) + v->opt->worker_lost_ns;
}

/* The Job may still run on a cluster where it ran before. */
static bool is_held_back(struct pass *p, size_t winner)
{
	int64_t at = INT64_MIN;

	for (size_t i = 0; i < p->view->n; i++) {
		if (i != winner) {
			at = clock_later(at, released_at(p, &p->view->clusters[i]));
		}
	}
	if (at > p->view->now) {
		pass_look_again(p, at);
	}
	return at > p->view->now;
}

/* Creates what is missing there, but what has ended or is being deleted here. */
static void start(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	bool held = false, asked = false;

	for (size_t k = 0; k < p->view->njobs; k++) {
		if (c->jobs[k].object != NULL ||
		    p->view->kind->is_ending(p->view->jobs[k].object) ||
		    pass_is_deleted(p->view->jobs[k].meta)) {
			continue;
		}
		held = asked ? held : is_held_back(p, i);
		asked = true;
		if (!held) {
			pass_add_job(p, MANAGER_CREATE_JOB, i, k);
		}
	}
}

/* Those of which the local objects have gone, or are being deleted. */
static void remove_others(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];

	for (size_t k = 0; k < c->njobs; k++) {
		bool wanted = k < p->view->njobs && !pass_is_stale(p, c, k) &&
			      !pass_is_deleted(p->view->jobs[k].meta);

		if (!wanted && c->jobs[k].object != NULL && !pass_is_deleted(c->jobs[k].meta)) {
			pass_add_job(p, MANAGER_DELETE_JOB, i, k);
		}
	}
}

static bool is_about_to_start(const struct pass *p, size_t i)
{
	const struct carried_kind *kind = p->view->kind;
	const struct manager_cluster *c = &p->view->clusters[i];

	for (size_t k = 0; k < p->view->njobs; k++) {
		const void *local = p->view->jobs[k].object, *there = c->jobs[k].object;

		if (kind->is_held != NULL && kind->is_held(local) && !kind->is_active(local) &&
		    there != NULL && !kind->has_ended(there)) {
			return true;
		}
	}
	return false;
}

/* The core resumes the local Job by a patch of the version that it has seen: a status written at
 * that moment would make the API server refuse one of the two. The status is copied when the Job
 * has been resumed. */
static bool awaits_start(struct pass *p, size_t i)
{
	int64_t since = p->check->last_transition, at;

	if (!pass_check_is(p, KUEUE_CHECK_READY) || since == FIELD_NO_TIME ||
	    !is_about_to_start(p, i)) {
		return false;
	}
	at = clock_earlier(since, p->view->now) + RESUME_NS;
	if (at > p->view->now) {
		pass_look_again(p, at);
	}
	return at > p->view->now;
}

static void run_job(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];

	if (pass_is_job_taken(c)) {
		pass_retry_unless_ended(p,
					arena_printf(p->arena,
						     "The %s of this name on worker cluster \"%s\" "
						     "is not of this manager",
						     p->view->kind->kind, c->name));
		return;
	}
	if (c->kind_problem != NULL) {
		pass_retry(p,
			   pass_with_previous(p, arena_printf(p->arena, "Worker cluster \"%s\": %s",
							      c->name, c->kind_problem)));
		return;
	}
	if (!pass_has_job(c) && pass_job_is_ending(p)) {
		pass_say_ended(p);
		return;
	}
	start(p, i);
	if (!awaits_start(p, i)) {
		winner_mirror(p, i);
	}
	remove_others(p, i);
}

static bool has_stale(const struct pass *p, const struct manager_cluster *c)
{
	for (size_t k = 0; k < p->view->njobs; k++) {
		if (pass_is_stale(p, c, k)) {
			return true;
		}
	}
	return false;
}

/* Workload and job are watched apart: the last status of a job that does not show its end may still
 * be on its way. A write to the object as it was read is accepted only when there is none. False:
 * that write is due. */
static bool is_seen_to_end(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	bool seen = true;

	for (size_t k = 0; k < c->njobs; k++) {
		const struct api_meta *m = c->jobs[k].meta;

		if (c->jobs[k].object != NULL && !pass_is_deleted(m) &&
		    !field_map_is(&m->annotations, REPLICA_BODY_ENDED, c->replica->meta.uid)) {
			pass_add_job(p, MANAGER_END_JOB, i, k);
			seen = false;
		}
	}
	return seen;
}

/* Some pods of the group have gone there before their end was copied, and the others have ended:
 * nothing will say any more how those ended. */
static bool has_lost_some(const struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	bool lost = false;

	for (size_t k = 0; k < p->view->njobs; k++) {
		const struct carried_object *o = &c->jobs[k];

		if (o->object != NULL && !p->view->kind->has_ended(o->object)) {
			return false;
		}
		lost |= o->object == NULL && !o->sent;
	}
	return lost;
}

/* 1. The end of the Job is copied before the local Workload is finished: then everything on the
 * cluster is deleted.
 * 2. A Job that has not been seen to end yet is waited for: Workloads and Jobs are watched apart.
 * 3. The core finishes the Workload of a Job that has ended here; a write of this manager besides
 *    would be refused, or would make the core's be refused.
 * 4. Without the Job, or with a part of the pods, the replica alone says how it ended; that is
 * better than to run it again. */
void winner_finish(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	const struct api_condition *f =
		meta_condition(&c->replica->status.conditions, KUEUE_FINISHED);
	bool unseen = p->view->kind->ends_unseen && pass_has_job(c);
	bool ended = unseen || pass_job_has_ended(p);
	struct manager_action *a;

	if (pass_has_job(c) && has_stale(p, c)) {
		remove_others(p, i);
		return;
	}
	if (pass_has_job(c) && (any_due(p, i) || (!ended && !has_lost_some(p, i)))) {
		winner_mirror(p, i);
		return;
	}
	if (unseen && !is_seen_to_end(p, i)) {
		return;
	}
	if (!ended && pass_is_job_taken(c)) {
		pass_say(p,
			 arena_printf(p->arena,
				      "The %s on worker cluster \"%s\" is not of this manager: its "
				      "status cannot be copied",
				      p->view->kind->kind, c->name));
		return;
	}
	if (!ended && str_streq(f->reason, KUEUE_REASON_OWNER_NOT_FOUND)) {
		retry_gone(p); /* it was deleted there before it ended */
		return;
	}
	if (ended && p->view->kind->core_finishes) {
		return;
	}
	a = pass_add(p, MANAGER_FINISH, i);
	a->reason = f->reason;
	a->message = f->message;
	if (!ended) {
		a->event = arena_printf(p->arena,
					"The %s on worker cluster \"%s\" is gone: its status was "
					"not copied",
					p->view->kind->kind, c->name);
		a->warning = true;
	}
}

/* The worker's job reconciler gives the replica the priority of the Job, so that a write to the
 * replica would be undone again and again: the Job has to follow. */
static void update_class(struct pass *p, size_t i)
{
	for (size_t k = 0; k < p->view->njobs; k++) {
		const struct carried_object *there = &p->view->clusters[i].jobs[k];
		const struct api_meta *here = p->view->jobs[k].meta;

		if (there->object != NULL &&
		    !str_streq(field_map_get(&here->labels, KUEUE_PRIORITY_CLASS),
			       field_map_get(&there->meta->labels, KUEUE_PRIORITY_CLASS))) {
			pass_add_job(p, MANAGER_UPDATE_JOB, i, k);
		}
	}
}

static void keep_running(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	struct field_strs topologies = delayed_topologies(p, c->replica);

	if (pass_knows_job(c)) {
		update_class(p, i);
	} else if (c->sync == SPEC_SYNC_PRIORITY) {
		pass_add(p, MANAGER_UPDATE_REPLICA, i);
	}
	if (!pass_check_is(p, KUEUE_CHECK_READY) || topologies.n > 0) {
		record(p, i, topologies);
	}
	run_job(p, i);
}

static void follow_winner(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	const struct api_workload *r = pass_replica(c);

	if (r == NULL) {
		pass_take_back(p, i);
		retry_gone(p);
		return;
	}
	if (pass_finished_as(r, KUEUE_REASON_OUT_OF_SYNC)) {
		pass_retry(p, pass_with_previous(
				      p, arena_printf(p->arena,
						      "Remote workload on worker cluster \"%s\" is "
						      "out of sync with its user job, resetting "
						      "for re-dispatch",
						      c->name)));
		return;
	}
	if (pass_has_finished(r)) {
		winner_finish(p, i);
		return;
	}
	if (kueue_workload_is_true(r, KUEUE_EVICTED)) {
		struct manager_action *a =
			pass_retry(p, arena_printf(p->arena,
						   "Workload evicted on worker cluster: \"%s\", "
						   "resetting for re-admission. Previously: \"%s\"",
						   c->name, pass_state(p)));

		a->warning = false;
		a->requeue_after = bounce_pause(p);
		return;
	}
	if (c->sync == SPEC_SYNC_OTHER) {
		pass_take_back(p, i);
		retry_gone(p);
	} else if (!c->configured || !kueue_workload_is_true(r, KUEUE_ADMITTED)) {
		retry_gone(p);
	} else {
		keep_running(p, i);
	}
}

void winner_follow(struct pass *p)
{
	size_t i = pass_recorded(p);
	int64_t at;

	pass_take_back_others(p, i);
	if (pass_check_is(p, KUEUE_CHECK_RETRY)) {
		return; /* the core is about to evict it */
	}
	if (i == PASS_NONE) {
		retry_gone(p);
		return;
	}
	if (p->view->clusters[i].link == MANAGER_UP) {
		follow_winner(p, i);
		return;
	}
	at = pass_lost_at(p->view, &p->view->clusters[i]);
	if (at > p->view->now) {
		pass_look_again(p, at);
	} else {
		pass_retry_unless_ended(p, "Admitting remote lost");
	}
}
