#include "scheduler/multikueue/manager/manager.h"

#include <string.h>

#include "api/core/batch.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "scheduler/multikueue/manager/mirror.h"
#include "scheduler/multikueue/manager/nominate.h"
#include "scheduler/multikueue/manager/spec_sync.h"

#define NONE SIZE_MAX
#define ACTIONS_PER_CLUSTER 2
#define ACTIONS_BESIDES 8

void manager_defaults(struct manager_options *ret)
{
	*ret = (struct manager_options){
		.worker_lost_ns = 15 * 60 * CLOCK_NS_PER_S,
		.dispatcher = MANAGER_ALL_AT_ONCE,
		.step_size = 3,
		.round_ns = 5 * 60 * CLOCK_NS_PER_S,
		.bounce_ns = 10 * CLOCK_NS_PER_S,
	};
}

/* One call. */
struct pass {
	const struct manager_view *view;
	const struct api_workload *local;
	const struct api_check_state *check; /* of MultiKueue; NULL: the Workload has none */
	struct arena *arena;
	struct manager_action *v;
	size_t n;
	int64_t at;
	struct strbuf spec; /* of local, as spec_sync compares it; "": not needed yet */
};

static struct manager_action *add(struct pass *p, enum manager_act act, size_t cluster)
{
	struct manager_action *a = &p->v[p->n++];

	*a = (struct manager_action){ .act = act, .cluster = cluster };
	return a;
}

static void look_again(struct pass *p, int64_t at)
{
	p->at = clock_earlier(p->at, at);
}

/* --- reading -----------------------------------------------------------------------------------*/

static bool is_true(const struct api_workload *w, const char *type)
{
	return kueue_condition_is_true(&w->status.conditions, type);
}

static bool is_deleted(const struct api_meta *m)
{
	return m->deleted != FIELD_NO_TIME;
}

static bool finished_as(const struct api_workload *w, const char *reason)
{
	const struct api_condition *c = meta_condition(&w->status.conditions, KUEUE_FINISHED);

	return c != NULL && str_streq(c->status, "True") && str_streq(c->reason, reason);
}

/* It did its work, or failed at it. */
static bool has_finished(const struct api_workload *w)
{
	return is_true(w, KUEUE_FINISHED) && !finished_as(w, KUEUE_REASON_OUT_OF_SYNC);
}

static bool check_is(const struct pass *p, const char *state)
{
	return str_streq(p->check->state, state);
}

/* The replica on a cluster that can be reached, unless it is on its way out. */
static const struct api_workload *replica_of(const struct manager_cluster *c)
{
	return c->link == MANAGER_UP && c->replica != NULL && !is_deleted(&c->replica->meta)
		       ? c->replica
		       : NULL;
}

static bool has_job(const struct manager_cluster *c)
{
	return c->link == MANAGER_UP && c->job != NULL;
}

static enum spec_sync sync_of(struct pass *p, const struct api_workload *replica)
{
	if (p->spec.len == 0) {
		spec_sync_text(p->local, &p->spec);
	}
	return spec_sync_of(p->local, &p->spec, replica);
}

static size_t find_recorded(const struct pass *p)
{
	const char *name = p->local->status.cluster_name;

	for (size_t i = 0; name != NULL && i < p->view->n; i++) {
		if (str_streq(p->view->clusters[i].name, name)) {
			return i;
		}
	}
	return NONE;
}

/* When a cluster that cannot be reached counts as lost for good. Of a clock that was set back, no
 * wait grows beyond its length. */
static int64_t lost_for_good_at(const struct manager_view *v, const struct manager_cluster *c)
{
	int64_t since = c->link == MANAGER_LOST ? c->lost_at : v->began;

	return clock_earlier(since, v->now) + v->opt->worker_lost_ns;
}

/* --- taking back -------------------------------------------------------------------------------*/

static bool holds_finalizer(const struct api_meta *m)
{
	for (size_t i = 0; i < m->finalizers.n; i++) {
		if (str_streq(m->finalizers.v[i], KUEUE_FINALIZER)) {
			return true;
		}
	}
	return false;
}

/* Deletes everything of the Workload there that is not on its way out already. A replica that is
 * being deleted needs another write as long as it holds our finalizer. */
static void take_back(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	bool job = has_job(c) && !is_deleted(&c->job->meta);

	if (job || replica_of(c) != NULL ||
	    (c->link == MANAGER_UP && c->replica != NULL && holds_finalizer(&c->replica->meta))) {
		add(p, MANAGER_DELETE_REPLICA, i);
	}
}

static void take_back_others(struct pass *p, size_t keep)
{
	for (size_t i = 0; i < p->view->n; i++) {
		if (i != keep) {
			take_back(p, i);
		}
	}
}

/* --- the check ---------------------------------------------------------------------------------*/

static struct manager_action *set_check(struct pass *p, const char *state, const char *message)
{
	struct manager_action *a = add(p, MANAGER_SET_CHECK, NONE);

	a->state = state;
	a->message = message;
	return a;
}

static const char *state_of(const struct pass *p)
{
	return p->check->state == NULL ? "" : p->check->state;
}

static const char *with_previous(struct pass *p, const char *text)
{
	return arena_printf(p->arena, "%s, Previously: \"%s\"", text, state_of(p));
}

/* A state that no write of the manager can change: the message of the check says so, once. */
static void say(struct pass *p, const char *text)
{
	if (!str_streq(p->check->message, text)) {
		set_check(p, p->check->state, text);
	}
}

static void reject(struct pass *p, const char *text)
{
	set_check(p, KUEUE_CHECK_REJECTED, with_previous(p, text));
}

/* The core evicts the Workload, and offers it again. */
static struct manager_action *retry(struct pass *p, const char *message)
{
	struct manager_action *a = set_check(p, KUEUE_CHECK_RETRY, message);

	a->event = message;
	a->warning = true;
	return a;
}

static void say_ended(struct pass *p)
{
	if (batch_finished(p->view->job) == NULL) {
		say(p, "By its last status the Job has ended or was about to, and its cluster or "
		       "its remote Job is gone; it is not run again");
	}
}

/* The Job runs nowhere any more, so far as is known. One that has ended is not run again (Kueue
 * does): the job reconciler finishes the Workload, or an operator has to look. */
static void retry_unless_ended(struct pass *p, const char *text)
{
	if (mirror_has_ended(p->view->job)) {
		say_ended(p);
	} else {
		retry(p, with_previous(p, text));
	}
}

static void retry_gone(struct pass *p)
{
	retry_unless_ended(p, "Admitting remote no longer exists");
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

/* --- the winner --------------------------------------------------------------------------------*/

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

static void set_cluster(struct pass *p, size_t i, struct field_strs topologies)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	struct manager_action *a = add(p, MANAGER_SET_CLUSTER, i);

	a->state = KUEUE_CHECK_READY;
	a->message = arena_printf(p->arena, "The workload was admitted on \"%s\"", c->name);
	a->names = topologies;
	a->event = check_is(p, KUEUE_CHECK_READY) ? NULL : a->message;
}

static void mirror_job(struct pass *p, size_t i)
{
	if (mirror_due(p->view->job, p->view->clusters[i].job) != MIRROR_NOTHING) {
		add(p, MANAGER_SYNC_JOB, i);
	}
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
	bool may_run = c->job_sent || (c->job != NULL && batch_finished(c->job) == NULL);

	if (!may_run || c->link == MANAGER_NEVER) {
		return INT64_MIN;
	}
	return c->link == MANAGER_LOST ? lost_for_good_at(v, c)
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
		look_again(p, at);
	}
	return at > p->view->now;
}

static void start_job(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];

	if (c->job_taken) {
		retry_unless_ended(p, arena_printf(p->arena,
						   "The Job of this name on worker cluster \"%s\" "
						   "is not of this manager",
						   c->name));
	} else if (mirror_has_ended(p->view->job)) {
		say_ended(p);
	} else if (!is_held_back(p, i)) {
		add(p, MANAGER_CREATE_JOB, i);
	}
}

/* 1. The end of the Job is copied before the local Workload is finished: then everything on the
 * cluster is deleted.
 * 2. A Job that has not been seen to end yet is waited for: Workloads and Jobs are watched apart.
 * 3. Without the Job, the replica alone says how it ended; that is better than to run it again. */
static void finish(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	const struct api_condition *f =
		meta_condition(&c->replica->status.conditions, KUEUE_FINISHED);
	bool ended = batch_finished(p->view->job) != NULL;
	struct manager_action *a;

	if (has_job(c) && (mirror_due(p->view->job, c->job) != MIRROR_NOTHING || !ended)) {
		mirror_job(p, i);
		return;
	}
	if (!ended && c->job_taken) {
		say(p, arena_printf(p->arena,
				    "The Job on worker cluster \"%s\" is not of this manager: its "
				    "status cannot be copied",
				    c->name));
		return;
	}
	if (!ended && str_streq(f->reason, KUEUE_REASON_OWNER_NOT_FOUND)) {
		retry_gone(p); /* it was deleted there before it ended */
		return;
	}
	a = add(p, MANAGER_FINISH, i);
	a->reason = f->reason;
	a->message = f->message;
	if (!ended) {
		a->event = arena_printf(p->arena,
					"The Job on worker cluster \"%s\" is gone: its status was "
					"not copied",
					c->name);
		a->warning = true;
	}
}

static void keep_running(struct pass *p, size_t i, enum spec_sync sync)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	struct field_strs topologies = delayed_topologies(p, c->replica);

	if (sync == SPEC_SYNC_PRIORITY) {
		add(p, MANAGER_UPDATE_REPLICA, i);
	}
	if (!check_is(p, KUEUE_CHECK_READY) || topologies.n > 0) {
		set_cluster(p, i, topologies);
	}
	if (c->job == NULL) {
		start_job(p, i);
	} else {
		mirror_job(p, i);
	}
}

static void follow_winner(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	const struct api_workload *r = replica_of(c);
	enum spec_sync sync;

	if (r == NULL) {
		take_back(p, i);
		retry_gone(p);
		return;
	}
	if (finished_as(r, KUEUE_REASON_OUT_OF_SYNC)) {
		retry(p,
		      with_previous(p, arena_printf(p->arena,
						    "Remote workload on worker cluster \"%s\" is "
						    "out of sync with its user job, resetting "
						    "for re-dispatch",
						    c->name)));
		return;
	}
	if (has_finished(r)) {
		finish(p, i);
		return;
	}
	if (is_true(r, KUEUE_EVICTED)) {
		struct manager_action *a =
			retry(p, arena_printf(p->arena,
					      "Workload evicted on worker cluster: \"%s\", "
					      "resetting for re-admission. Previously: \"%s\"",
					      c->name, state_of(p)));

		a->warning = false;
		a->requeue_after = bounce_pause(p);
		return;
	}
	sync = sync_of(p, r);
	if (sync == SPEC_SYNC_OTHER) {
		take_back(p, i);
		retry_gone(p);
	} else if (!c->configured || !is_true(r, KUEUE_ADMITTED)) {
		retry_gone(p);
	} else {
		keep_running(p, i, sync);
	}
}

/* The recorded cluster is the only one on which it may run, whatever another one says (Kueue takes
 * the one that was admitted first, and is stuck when a lost one comes back). */
static void follow(struct pass *p)
{
	size_t i = find_recorded(p);
	int64_t at;

	take_back_others(p, i);
	if (check_is(p, KUEUE_CHECK_RETRY)) {
		return; /* the core is about to evict it */
	}
	if (i == NONE) {
		retry_gone(p);
		return;
	}
	if (p->view->clusters[i].link == MANAGER_UP) {
		follow_winner(p, i);
		return;
	}
	at = lost_for_good_at(p->view, &p->view->clusters[i]);
	if (at > p->view->now) {
		look_again(p, at);
	} else {
		retry_unless_ended(p, "Admitting remote lost");
	}
}

/* --- an eviction on the manager ----------------------------------------------------------------*/

/* The cluster where the Job is. The core clears clusterName with the eviction. */
static size_t find_runner(const struct pass *p)
{
	size_t i = find_recorded(p);

	if (i != NONE && has_job(&p->view->clusters[i])) {
		return i;
	}
	for (i = 0; i < p->view->n; i++) {
		if (has_job(&p->view->clusters[i])) {
			return i;
		}
	}
	return NONE;
}

/* The worker stops it as it stops its own, and the last status is copied; then the core releases
 * the quota. */
static void stop(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	const struct api_workload *r = replica_of(c);
	const struct api_condition *why =
		meta_condition(&p->local->status.conditions, KUEUE_EVICTED);

	if (r == NULL) {
		take_back(p, i); /* nothing there would stop the Job */
		return;
	}
	if (has_finished(r)) {
		finish(p, i);
		return;
	}
	if (!is_true(r, KUEUE_EVICTED) && !is_true(r, KUEUE_DEACTIVATION_TARGET) &&
	    kueue_workload_is_active(r)) {
		add(p, MANAGER_EVICT_REPLICA, i)->message =
			arena_printf(p->arena, "Evicted on manager: %s",
				     why->message == NULL ? "" : why->message);
	}
	mirror_job(p, i);
}

static bool may_run_there(const struct pass *p, const struct manager_cluster *c)
{
	const char *recorded = p->local->status.cluster_name;

	if (recorded != NULL) {
		return str_streq(recorded, c->name);
	}
	return c->link == MANAGER_NEVER || c->replica != NULL || c->job != NULL || c->job_sent;
}

/* The core waits until no pod is active. When no cluster is left that could report it, the copied
 * status would say forever that some are (Kueue #15682). */
static void reset_job(struct pass *p)
{
	int64_t at = INT64_MIN;

	if (p->view->job->status.active == 0) {
		return;
	}
	for (size_t i = 0; i < p->view->n; i++) {
		const struct manager_cluster *c = &p->view->clusters[i];

		if (c->link != MANAGER_UP && may_run_there(p, c)) {
			at = clock_later(at, lost_for_good_at(p->view, c));
		}
	}
	if (at > p->view->now) {
		look_again(p, at);
	} else {
		add(p, MANAGER_RESET_JOB, NONE);
	}
}

static void wind_down(struct pass *p)
{
	size_t runner = find_runner(p);

	take_back_others(p, runner);
	if (runner != NONE) {
		stop(p, runner);
	} else {
		reset_job(p);
	}
}

/* --- the offer ---------------------------------------------------------------------------------*/

/* It may be recorded as the winner. The webhook of Workloads allows only clusters that are
 * nominated. */
static bool may_win(struct pass *p, const struct manager_cluster *c)
{
	const struct api_workload *r = replica_of(c);

	return r != NULL && c->configured && !nominate_is_taken(c) &&
	       nominate_has(p->view, c->name) && is_true(r, KUEUE_ADMITTED) &&
	       !is_true(r, KUEUE_EVICTED) && !is_true(r, KUEUE_FINISHED) &&
	       sync_of(p, r) != SPEC_SYNC_OTHER;
}

/* The first in configured order: times of workers are of other clocks. One that runs the Job
 * already, for a manager before this one, goes before all. */
static size_t find_admitted(struct pass *p)
{
	size_t found = NONE;

	for (size_t i = 0; i < p->view->n; i++) {
		const struct manager_cluster *c = &p->view->clusters[i];

		if ((found == NONE || (c->job != NULL && p->view->clusters[found].job == NULL)) &&
		    may_win(p, c)) {
			found = i;
		}
	}
	return found;
}

/* A replica that ended although no winner is recorded: it ran for a manager that creates the Job
 * first. */
static size_t find_finished(const struct pass *p)
{
	for (size_t i = 0; i < p->view->n; i++) {
		const struct manager_cluster *c = &p->view->clusters[i];
		const struct api_workload *r = replica_of(c);

		if (r != NULL && has_finished(r) &&
		    (c->job != NULL || check_is(p, KUEUE_CHECK_READY))) {
			return i;
		}
	}
	return NONE;
}

static bool others_are_ready(const struct pass *p)
{
	for (size_t i = 0; i < p->local->status.admission_checks.n; i++) {
		const struct api_check_state *k = &p->local->status.admission_checks.v[i];

		if (k != p->check && !str_streq(k->state, KUEUE_CHECK_READY)) {
			return false;
		}
	}
	return true;
}

static bool is_wanted(const struct nominate *to, const struct manager_cluster *c)
{
	for (size_t i = 0; i < to->names.n; i++) {
		if (str_streq(to->names.v[i], c->name)) {
			return c->configured && !nominate_is_taken(c);
		}
	}
	return false;
}

static void offer_to(struct pass *p, const struct nominate *to, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	const struct api_workload *r = replica_of(c);
	enum spec_sync sync;

	if (!is_wanted(to, c)) {
		take_back(p, i);
		return;
	}
	if (c->link != MANAGER_UP || !nominate_has(p->view, c->name)) {
		return; /* later */
	}
	if (c->replica == NULL && c->job == NULL) {
		add(p, MANAGER_CREATE_REPLICA, i);
		return;
	}
	sync = r == NULL ? SPEC_SYNC_OTHER : sync_of(p, r);
	if (sync == SPEC_SYNC_OTHER || is_true(r, KUEUE_FINISHED)) {
		take_back(p, i); /* a new one is made when nothing is left */
	} else if (sync == SPEC_SYNC_PRIORITY) {
		add(p, MANAGER_UPDATE_REPLICA, i);
	}
}

/* It can be offered nowhere, because other objects have the name. */
static void say_taken(struct pass *p, const struct nominate *to)
{
	const struct manager_cluster *taken = NULL;

	for (size_t i = 0; i < p->view->n; i++) {
		const struct manager_cluster *c = &p->view->clusters[i];

		if (is_wanted(to, c)) {
			return;
		}
		if (taken == NULL && c->configured && nominate_is_taken(c)) {
			taken = c;
		}
	}
	if (taken != NULL) {
		say(p, arena_printf(p->arena,
				    "Worker cluster \"%s\" has a %s of this name that is not of "
				    "this manager",
				    taken->name, taken->replica_taken ? "Workload" : "Job"));
	}
}

static void nominate(struct pass *p)
{
	struct nominate to;

	nominate_next(p->view, p->arena, &to);
	look_again(p, to.at);
	if (to.changed) {
		add(p, MANAGER_NOMINATE, NONE)->names = to.names;
	}
	for (size_t i = 0; i < p->view->n; i++) {
		offer_to(p, &to, i);
	}
	say_taken(p, &to);
}

/* No winner is recorded. */
static void offer(struct pass *p)
{
	size_t i;

	if (check_is(p, KUEUE_CHECK_RETRY)) {
		return;
	}
	i = find_finished(p);
	if (i != NONE) {
		finish(p, i);
		return;
	}
	i = find_admitted(p);
	if (i != NONE) {
		set_cluster(p, i, delayed_topologies(p, p->view->clusters[i].replica));
		take_back_others(p, i);
	} else if (check_is(p, KUEUE_CHECK_READY)) {
		retry_unless_ended(p, "Admission check is Ready but no admitting cluster is "
				      "recorded; this is unexpected, please report it");
	} else if (mirror_has_ended(p->view->job)) {
		say_ended(p);
	} else if (others_are_ready(p)) {
		nominate(p);
	}
}

/* --- the owner ---------------------------------------------------------------------------------*/

/* Kinds of which the status can be copied, and that run elsewhere by spec.managedBy. */
static const struct {
	const char *api_version, *kind;
} kinds[] = {
	{ "batch/v1", "Job" },
};

static bool is_known(const struct api_owner *o)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (str_streq(o->api_version, kinds[i].api_version) &&
		    str_streq(o->kind, kinds[i].kind)) {
			return true;
		}
	}
	return false;
}

/* Rejects a Workload that can never be dispatched. False: that, or its Job is not there. */
static bool judge_owner(struct pass *p)
{
	const struct api_meta *m = &p->local->meta;
	const struct api_owner *o = meta_controller(m);
	const struct api_job *job = p->view->job;
	const char *by;

	o = o == NULL && m->owners.n > 0 ? m->owners.v : o;
	if (o == NULL) {
		reject(p, "No multikueue adapter found");
		return false;
	}
	if (!is_known(o)) {
		/* As Go prints a kind: one of the core group has an empty group. */
		reject(p, arena_printf(p->arena,
				       "No multikueue adapter found for owner kind \"%s%s, "
				       "Kind=%s\"",
				       o->api_version != NULL && strchr(o->api_version, '/') != NULL
					       ? ""
					       : "/",
				       o->api_version == NULL ? "" : o->api_version,
				       o->kind == NULL ? "" : o->kind));
		return false;
	}
	if (job == NULL || !str_streq(job->meta.uid, o->uid)) {
		return false;
	}
	by = job->spec.managed_by;
	if (!str_streq(by, KUEUE_MULTIKUEUE_CONTROLLER)) {
		reject(p, arena_printf(p->arena,
				       "The owner is not managed by Kueue: Expecting "
				       "spec.managedBy to be \"%s\" not \"%s\"",
				       KUEUE_MULTIKUEUE_CONTROLLER, by == NULL ? "" : by));
		return false;
	}
	return true;
}

/* --- the step ----------------------------------------------------------------------------------*/

/* A slice of an elastic Job that was replaced by the next one, or that is to replace one and has no
 * quota yet: what is on the workers is that of the other slice. */
static bool is_other_slices(const struct api_workload *w)
{
	if (!field_map_is(&w->meta.annotations, KUEUE_ELASTIC_JOB, "true")) {
		return false;
	}
	return finished_as(w, KUEUE_REASON_SLICE_REPLACED) ||
	       (!is_true(w, KUEUE_FINISHED) && !kueue_workload_is_reserving(w) &&
		field_map_get(&w->meta.annotations, KUEUE_SLICE_REPLACES) != NULL);
}

/* 1. A Workload that is gone or finished has nothing on any worker.
 * 2. One that can never be dispatched is rejected.
 * 3. Without quota it has nothing on any worker either.
 * 4. One that is evicted here is stopped where it runs.
 * 5. Once a winner is recorded, that is followed to its end or its loss.
 * 6. Otherwise it is offered to workers until one has admitted it. */
static void decide(struct pass *p)
{
	bool may_run;

	if (p->local == NULL || is_deleted(&p->local->meta)) {
		take_back_others(p, NONE);
		return;
	}
	if (is_other_slices(p->local)) {
		return;
	}
	if (is_true(p->local, KUEUE_FINISHED)) {
		take_back_others(p, NONE);
		return;
	}
	may_run = p->check != NULL && !check_is(p, KUEUE_CHECK_REJECTED) && judge_owner(p);
	if (!kueue_workload_is_reserving(p->local)) {
		take_back_others(p, NONE);
	} else if (!may_run) {
		return;
	} else if (is_true(p->local, KUEUE_EVICTED)) {
		wind_down(p);
	} else if (!p->view->has_config || !kueue_workload_is_active(p->local)) {
		return; /* deactivated: the core is about to evict it */
	} else if (p->local->status.cluster_name != NULL) {
		follow(p);
	} else {
		offer(p);
	}
}

void manager_next(const struct manager_view *view, struct arena *arena, struct manager_step *ret)
{
	const struct api_workload *local = view->local;
	struct pass p = {
		.view = view,
		.local = local,
		.check = local == NULL || view->check == NULL
				 ? NULL
				 : kueue_workload_check(local, view->check),
		.arena = arena,
		.v = arena_zero(arena, ACTIONS_PER_CLUSTER * view->n + ACTIONS_BESIDES,
				sizeof(struct manager_action)),
		.at = CLOCK_NEVER,
		.spec = STRBUF_INIT,
	};

	decide(&p);
	strbuf_finish(&p.spec);
	*ret = (struct manager_step){ p.v, p.n, p.at };
}

const char *manager_act_name(enum manager_act act)
{
	static const char *const names[MANAGER_ACT_COUNT_] = {
		[MANAGER_CREATE_REPLICA] = "CreateReplica",
		[MANAGER_UPDATE_REPLICA] = "UpdateReplica",
		[MANAGER_DELETE_REPLICA] = "DeleteReplica",
		[MANAGER_EVICT_REPLICA] = "EvictReplica",
		[MANAGER_CREATE_JOB] = "CreateJob",
		[MANAGER_SYNC_JOB] = "SyncJob",
		[MANAGER_RESET_JOB] = "ResetJob",
		[MANAGER_NOMINATE] = "Nominate",
		[MANAGER_SET_CLUSTER] = "SetCluster",
		[MANAGER_SET_CHECK] = "SetCheck",
		[MANAGER_FINISH] = "Finish",
	};

	return names[act];
}
