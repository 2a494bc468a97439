#include "sim/oracles/sim_quota_oracle.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "sim/controllers/sim_checks.h"
#include "sim/controllers/sim_jobs.h"
#include "sim/oracles/sim_quota_rules.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

#define PASTS 16

struct past { /* quotas as they were */
	struct sim_tree tree;
	int64_t until; /* healthy ns */
	uint64_t step; /* the same in half steps */
};

struct sim_quota_oracle {
	struct sim_world *world;
	struct sim_tree now;
	struct past past[PASTS];
	unsigned npast;
	struct strmap *touched; /* "resource/key" -> healthy ns of the last change by others, + 1 */
	struct strmap *revived; /* key of a Workload that others made hold its quota again ->
				   healthy ns, + 1 */
	struct strmap *preempted;  /* key of a Workload that holds quota -> UID of the one that it
				      was last preempted for, ours */
	struct strmap *given;      /* key of a Workload that was given quota -> half step, + 1 */
	struct strmap *edited;     /* UID of a Workload of which a user has edited the status, or of
				      a Job from which one has taken its Workload -> healthy ns of
				      the last time, + 1 */
	struct strmap *unadmitted; /* UID of a Job that runs without quota -> healthy ns, + 1 */
	uint64_t admitted_at;      /* changes of the view after which no Job did, + 1 */
	int64_t changed_at;
	uint64_t seen[SIM_QUOTA_EVENT_COUNT_];
};

/* The name in the statistics, and the condition and reason that are counted. */
static const struct {
	const char *name, *type, *reason;
} events[SIM_QUOTA_EVENT_COUNT_] = {
	[SIM_QUOTA_ADMISSION] = { "admissions", NULL, NULL },
	[SIM_QUOTA_BORROWED] = { "borrowing", NULL, NULL },
	[SIM_QUOTA_PARTIAL] = { "partial", NULL, NULL },
	[SIM_QUOTA_CAME_BACK] = { "came back", NULL, NULL },
	[SIM_QUOTA_WITHDRAWN] = { "withdrawn", NULL, NULL },
	[SIM_QUOTA_STARTED] = { "Jobs started", NULL, NULL },
	[SIM_QUOTA_RECLAIMABLE] = { "reclaimable pods", NULL, NULL },
	[SIM_QUOTA_IN_QUEUE] = { "preempted", KUEUE_PREEMPTED, "InClusterQueue" },
	[SIM_QUOTA_RECLAIMED] = { "preempted", KUEUE_PREEMPTED, "InCohortReclamation" },
	[SIM_QUOTA_WHILE_BORROWING] = { "preempted", KUEUE_PREEMPTED,
					"InCohortReclaimWhileBorrowing" },
	[SIM_QUOTA_FAIR] = { "preempted", KUEUE_PREEMPTED, "InCohortFairSharing" },
	[SIM_QUOTA_EVICTED_PREEMPTED] = { "evicted", KUEUE_EVICTED, "Preempted" },
	[SIM_QUOTA_EVICTED_CHECK] = { "evicted", KUEUE_EVICTED, "AdmissionCheck" },
	[SIM_QUOTA_EVICTED_QUEUE_STOPPED] = { "evicted", KUEUE_EVICTED, "ClusterQueueStopped" },
	[SIM_QUOTA_EVICTED_LOCAL_STOPPED] = { "evicted", KUEUE_EVICTED, "LocalQueueStopped" },
	[SIM_QUOTA_EVICTED_PODS_READY] = { "evicted", KUEUE_EVICTED, "PodsReadyTimeout" },
	[SIM_QUOTA_DEACTIVATED] = { "evicted", KUEUE_EVICTED, "Deactivated" },
	[SIM_QUOTA_DEACTIVATED_CHECK] = { "evicted", KUEUE_EVICTED,
					  "DeactivatedDueToAdmissionCheck" },
	[SIM_QUOTA_DEACTIVATED_TIME] = { "evicted", KUEUE_EVICTED,
					 "DeactivatedDueToMaximumExecutionTimeExceeded" },
	[SIM_QUOTA_DEACTIVATED_RETRIES] = { "evicted", KUEUE_EVICTED,
					    "DeactivatedDueToRequeuingLimitExceeded" },
	[SIM_QUOTA_SUCCEEDED] = { "finished", KUEUE_FINISHED, "Succeeded" },
	[SIM_QUOTA_FAILED] = { "finished", KUEUE_FINISHED, "Failed" },
	[SIM_QUOTA_LOST_ADMISSION] = { "died over an admission", NULL, NULL },
};

const char *sim_quota_oracle_event_name(enum sim_quota_event e)
{
	return events[e].reason == NULL ? events[e].name : events[e].reason;
}

static void on_change(void *ctx, const struct sim_change *change);

struct sim_quota_oracle *sim_quota_oracle_create(struct sim_world *w)
{
	struct sim_quota_oracle *o = xmalloc_zero(1, sizeof(*o));

	o->world = w;
	o->touched = strmap_create(NULL);
	o->revived = strmap_create(NULL);
	o->preempted = strmap_create(free);
	o->given = strmap_create(NULL);
	o->edited = strmap_create(NULL);
	o->unadmitted = strmap_create(NULL);
	sim_view_listen(w->view, on_change, o);
	return o;
}

void sim_quota_oracle_destroy(struct sim_quota_oracle *o)
{
	strmap_destroy(o->touched);
	strmap_destroy(o->revived);
	strmap_destroy(o->preempted);
	strmap_destroy(o->given);
	strmap_destroy(o->edited);
	strmap_destroy(o->unadmitted);
	free(o);
}

int64_t sim_quota_oracle_changed_at(const struct sim_quota_oracle *o)
{
	return o->changed_at;
}

uint64_t sim_quota_oracle_count(const struct sim_quota_oracle *o, enum sim_quota_event e)
{
	return e == SIM_QUOTA_LOST_ADMISSION ? o->world->lost_admissions : o->seen[e];
}

/* --- recent changes by others ------------------------------------------------------------------*/

static void touch(struct sim_quota_oracle *o, enum sim_resource r, const char *key)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("%d/%s", (int)r, key);

	strmap_set(o->touched, str_of(name), (void *)(uintptr_t)(o->world->healthy_ns + 1));
}

static bool is_recent(const struct sim_quota_oracle *o, uintptr_t at)
{
	return at != 0 && o->world->healthy_ns - (int64_t)(at - 1) <= SIM_QUOTA_GRACE_NS;
}

static bool was_touched(const struct sim_quota_oracle *o, enum sim_resource r, const char *key)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("%d/%s", (int)r, key);

	return is_recent(o, (uintptr_t)strmap_get(o->touched, str_of(name)));
}

static void note_edit(struct sim_quota_oracle *o, const char *uid)
{
	strmap_set(o->edited, str_of(uid), (void *)(uintptr_t)(o->world->healthy_ns + 1));
}

static uintptr_t edited_at(const struct sim_quota_oracle *o, const struct jdoc *object)
{
	return (uintptr_t)strmap_get(o->edited, str_of(sim_workload_uid(object)));
}

/* Not the cost of a preemption, which is for others to write. */
static bool is_edit(const struct sim_change *change)
{
	static const char *const members[] = {
		"status.conditions",       "status.admission",
		"status.admissionChecks",  "status.requeueState",
		"status.reclaimablePods",  "status.schedulingStats",
		"status.clusterName",      "status.preemptionGates",
		"status.resourceRequests", "status.nominatedClusterNames",
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct jdoc *a = jdoc_path(change->old, members[i]);
		const struct jdoc *b = jdoc_path(change->now, members[i]);

		if ((a == NULL) != (b == NULL) || (a != NULL && !jdoc_equal(a, b))) {
			return change->actor == SIM_USER && change->old != NULL &&
			       change->now != NULL;
		}
	}
	return false;
}

static bool loses_job(const struct sim_change *change)
{
	const char *old = sim_workload_owner(change->old);

	return old[0] != '\0' && !str_streq(old, sim_workload_owner(change->now));
}

static bool job_was_touched(const struct sim_quota_oracle *o, const struct jdoc *job)
{
	CLEANUP(xmalloc_freep)
	char *key = sim_workload_key(job);

	return was_touched(o, SIM_JOBS, key);
}

/* --- quota -------------------------------------------------------------------------------------*/

static void take_tree(struct sim_quota_oracle *o)
{
	struct sim_tree fresh;

	sim_tree_read(&fresh, o->world->view);
	if (!sim_tree_same(&fresh, &o->now)) {
		o->past[o->npast++ % PASTS] =
			(struct past){ o->now, o->world->healthy_ns, o->world->steps };
		o->now = fresh;
	}
}

/* Takes off the usage of Workloads that became active again before the scheduler had released their
 * quota: while they were deactivated they were not charged, so others were rightly given that
 * quota. */
static void uncharge_revived(const struct sim_quota_oracle *o, struct sim_tree *t)
{
	for (size_t i = 0; i < sim_view_count(o->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(o->world->view, SIM_WORKLOADS, i);
		int at = sim_workload_holds(w) ? sim_tree_find(t, sim_workload_queue(w)) : -1;
		CLEANUP(xmalloc_freep)
		char *key = sim_workload_key(w);
		struct sim_tree_amounts usage;

		if (at >= 0 && is_recent(o, (uintptr_t)strmap_get(o->revived, str_of(key)))) {
			sim_tree_usage_of(w, &usage);
			sim_tree_add(t, at, &usage, -1);
		}
	}
}

void sim_quota_oracle_preempted(struct sim_quota_oracle *o, const char *victim, const char *uid)
{
	strmap_set(o->preempted, str_of(victim), xmalloc_dup(uid));
}

/* Takes off the usage of victims of other preemptors, from the decision on. Victims of w itself
 * stay charged: either it waits for them, or it fits beside them, in another flavor. */
static void uncharge_victims(const struct sim_quota_oracle *o, struct sim_tree *t,
			     const struct jdoc *w)
{
	for (size_t i = 0; i < sim_view_count(o->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *victim = sim_view_at(o->world->view, SIM_WORKLOADS, i);
		int at = sim_workload_holds(victim) ? sim_tree_find(t, sim_workload_queue(victim))
						    : -1;
		CLEANUP(xmalloc_freep)
		char *key = sim_workload_key(victim);
		const char *by = strmap_get(o->preempted, str_of(key));
		struct sim_tree_amounts usage;

		if (at >= 0 && victim != w && by != NULL && !str_streq(by, sim_workload_uid(w))) {
			sim_tree_usage_of(victim, &usage);
			sim_tree_add(t, at, &usage, -1);
		}
	}
}

/* Takes off the usage that others were given after half step `until`: the write for w may have been
 * decided before, and come late. */
static void uncharge_later(const struct sim_quota_oracle *o, struct sim_tree *t,
			   const struct jdoc *w, uint64_t until)
{
	for (size_t i = 0; i < sim_view_count(o->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *other = sim_view_at(o->world->view, SIM_WORKLOADS, i);
		int at = sim_workload_holds(other) ? sim_tree_find(t, sim_workload_queue(other))
						   : -1;
		CLEANUP(xmalloc_freep)
		char *key = sim_workload_key(other);
		uintptr_t given = (uintptr_t)strmap_get(o->given, str_of(key));
		struct sim_tree_amounts usage;

		if (at >= 0 && other != w && given != 0 && given - 1 > until) {
			sim_tree_usage_of(other, &usage);
			sim_tree_add(t, at, &usage, -1);
		}
	}
}

/* Whether w fitted, with these quotas. later: without the victims of others. As in Kueue, a
 * Workload that fits at the beginning of a cycle is admitted in it although preemptors of the same
 * cycle were given the room: until their victims are gone, more is held than the quota. until: half
 * step at which the quotas changed. */
static bool was_there(const struct sim_quota_oracle *o, const struct sim_tree *quotas,
		      const struct jdoc *w, bool later, uint64_t until)
{
	struct sim_tree t = *quotas;
	int at = sim_tree_find(&t, sim_workload_queue(w));
	struct sim_tree_amounts usage;

	if (at < 0) {
		return false;
	}
	sim_tree_usage_of(w, &usage);
	sim_tree_charge(&t, o->world->view);
	uncharge_revived(o, &t);
	uncharge_later(o, &t, w, until);
	if (later) {
		uncharge_victims(o, &t, w);
	}
	for (size_t p = 0; p < SIM_TREE_PAIRS; p++) {
		if (usage.v[p] > 0 && !sim_tree_is_within(&t, at, p, false)) {
			return false;
		}
	}
	return true;
}

static void check_quota(struct sim_quota_oracle *o, const char *key, const struct jdoc *w)
{
	bool fits = was_there(o, &o->now, w, false, UINT64_MAX) ||
		    was_there(o, &o->now, w, true, UINT64_MAX);

	for (unsigned i = 0; !fits && i < PASTS && i < o->npast; i++) {
		fits = o->world->healthy_ns - o->past[i].until <= SIM_QUOTA_GRACE_NS &&
		       was_there(o, &o->past[i].tree, w, false, o->past[i].step);
	}
	if (!fits) {
		sim_world_fail(o->world, "%s: it is given more quota than %s has left", key,
			       sim_workload_queue(w));
	}
}

/* --- Workloads ---------------------------------------------------------------------------------*/

static void count_admission(struct sim_quota_oracle *o, const struct jdoc *w)
{
	const struct jdoc *podset = jdoc_at(jdoc_path(w, "spec.podSets"), 0);
	const struct jdoc *a = jdoc_at(jdoc_path(w, "status.admission.podSetAssignments"), 0);
	struct sim_tree t = o->now;
	int at = sim_tree_find(&t, sim_workload_queue(w));
	bool borrows = false;

	sim_tree_charge(&t, o->world->view);
	for (size_t p = 0; at >= 0 && p < SIM_TREE_PAIRS; p++) {
		borrows |= sim_tree_is_borrowing(&t, at, p);
	}
	o->seen[SIM_QUOTA_ADMISSION]++;
	o->seen[SIM_QUOTA_BORROWED] += borrows;
	o->seen[SIM_QUOTA_PARTIAL] +=
		jdoc_int(jdoc_get(a, "count"), 1) < jdoc_int(jdoc_get(podset, "count"), 1);
	o->seen[SIM_QUOTA_CAME_BACK] += sim_quota_rules_evictions(w) > 0;
}

static void count_conditions(struct sim_quota_oracle *o, const struct sim_change *change)
{
	for (size_t i = 0; i < SIM_QUOTA_EVENT_COUNT_; i++) {
		const char *type = events[i].type;

		o->seen[i] += type != NULL && sim_workload_is(change->now, type) &&
			      !sim_workload_is(change->old, type) &&
			      str_streq(sim_workload_reason(change->now, type), events[i].reason);
	}
	o->seen[SIM_QUOTA_RECLAIMABLE] +=
		jdoc_path(change->now, "status.reclaimablePods") != NULL &&
		jdoc_path(change->old, "status.reclaimablePods") == NULL;
}

static bool is_stopped(const struct jdoc *object)
{
	const char *policy = jdoc_path_str(object, "spec.stopPolicy");

	return policy != NULL && !str_streq(policy, KUEUE_STOP_NONE);
}

static bool needs_check(const struct jdoc *queue)
{
	return jdoc_count(jdoc_path(queue, "spec.admissionChecksStrategy.admissionChecks")) > 0;
}

/* The ClusterQueue has a check, and the check is not active. */
static bool is_inactive(const struct sim_quota_oracle *o, const struct jdoc *cq)
{
	const struct jdoc *check = sim_view_get(o->world->view, SIM_CHECKS, SIM_CHECKS_NAME);

	return needs_check(cq) && !sim_workload_is(check, "Active") &&
	       !was_touched(o, SIM_CHECKS, SIM_CHECKS_NAME);
}

/* The ClusterQueue is open to the namespace: a selector of a run names one team or none. */
static bool is_open_to(const struct jdoc *cq, const struct jdoc *w)
{
	const char *team = jdoc_path_str(cq, "spec.namespaceSelector.matchLabels.team");

	/* The only namespace with a label is that of the tenant of its name. */
	return team == NULL || str_streq(team, jdoc_path_str(w, "metadata.namespace"));
}

/* The queues admit Workloads, and w is active. */
static void check_place(struct sim_quota_oracle *o, const char *key, const struct jdoc *w)
{
	const char *queue = sim_workload_queue(w), *where = sim_workload_where(o->world, w);
	const struct jdoc *cq = sim_view_get(o->world->view, SIM_CLUSTER_QUEUES, queue);
	CLEANUP(xmalloc_freep)
	char *local = xmalloc_printf("%s/%s", jdoc_path_str(w, "metadata.namespace"),
				     jdoc_str_or(jdoc_path(w, "spec.queueName"), ""));
	const struct jdoc *lq = sim_view_get(o->world->view, SIM_LOCAL_QUEUES, local);

	if (!was_touched(o, SIM_LOCAL_QUEUES, local) && !was_touched(o, SIM_WORKLOADS, key) &&
	    (!str_streq(where, queue) || is_stopped(lq))) {
		sim_world_fail(o->world, "%s: admitted to %s, but its LocalQueue %s", key, queue,
			       lq == NULL       ? "is gone"
			       : is_stopped(lq) ? "is stopped"
						: "names another ClusterQueue");
	}
	if (!was_touched(o, SIM_CLUSTER_QUEUES, queue) &&
	    (cq == NULL || is_stopped(cq) || sim_workload_is_deleting(cq) || !is_open_to(cq, w) ||
	     is_inactive(o, cq))) {
		sim_world_fail(o->world,
			       "%s: admitted to %s, which is gone, deleted, stopped or inactive, "
			       "or closed to its namespace",
			       key, queue);
	}
	if (!was_touched(o, SIM_WORKLOADS, key) &&
	    (!sim_workload_is_active(w) || sim_workload_is_deleting(w))) {
		sim_world_fail(o->world, "%s: admitted, but it is not active", key);
	}
}

/* A Job has one Workload that holds quota. Tenants write the owner of a Workload: one that names a
 * Job of another namespace, or one that is gone, is charged and starts nothing. */
static void check_alone(struct sim_quota_oracle *o, const char *key, const struct jdoc *w)
{
	const struct jdoc *job = sim_workload_job(o->world, w);

	for (size_t i = 0; job != NULL && i < sim_view_count(o->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *other = sim_view_at(o->world->view, SIM_WORKLOADS, i);

		if (other != w && sim_workload_holds(other) &&
		    sim_workload_job(o->world, other) == job) {
			sim_world_fail(o->world, "%s: admitted twice: %s has the same Job", key,
				       jdoc_path_str(other, "metadata.name"));
		}
	}
}

static void check_admitted(struct sim_quota_oracle *o, const char *key, const struct jdoc *w)
{
	const char *queue = sim_workload_queue(w);

	if (needs_check(sim_view_get(o->world->view, SIM_CLUSTER_QUEUES, queue)) &&
	    !was_touched(o, SIM_CLUSTER_QUEUES, queue) &&
	    jdoc_count(jdoc_path(w, "status.admissionChecks")) == 0) {
		sim_world_fail(o->world, "%s: Admitted without the check that %s asks for", key,
			       queue);
	}
}

/* The Workload has released its quota: its Job must have stopped. */
static void check_released(struct sim_quota_oracle *o, const char *key, const struct jdoc *w)
{
	const struct jdoc *job = sim_workload_job(o->world, w);

	if (job == NULL || sim_workload_job_is_finished(job) || job_was_touched(o, job)) {
		return;
	}
	if (!sim_workload_job_is_suspended(job)) {
		sim_world_fail(o->world, "%s: its quota is released while its Job runs", key);
	} else if (sim_jobs_live(o->world, job) > 0) {
		sim_world_fail(o->world, "%s: its quota is released before its pods are gone", key);
	}
}

/* How many pods a Job will still have at the same time. */
static int64_t pods_of(const struct jdoc *job)
{
	int64_t most = jdoc_int(jdoc_path(job, "spec.parallelism"), 1);
	int64_t left = jdoc_int(jdoc_path(job, "spec.completions"), 1) -
		       jdoc_int(jdoc_path(job, "status.succeeded"), 0);

	return left < most ? left : most;
}

static int64_t reclaimed(const struct jdoc *w)
{
	return jdoc_int(jdoc_path(jdoc_at(jdoc_path(w, "status.reclaimablePods"), 0), "count"), 0);
}

/* Pods that are reported as reclaimable are not needed for the rest of the Job. */
static void check_reclaimed(struct sim_quota_oracle *o, const struct sim_change *change)
{
	const struct jdoc *w = change->now, *job = sim_workload_job(o->world, w);
	const struct jdoc *a = jdoc_at(jdoc_path(w, "status.admission.podSetAssignments"), 0);
	int64_t n = reclaimed(w);
	int64_t given = jdoc_int(jdoc_get(a, "count"), 1);

	if (job == NULL || a == NULL || n <= reclaimed(change->old) ||
	    sim_workload_job_is_suspended(job) || sim_workload_job_is_finished(job) ||
	    jdoc_int(jdoc_path(job, "spec.parallelism"), 1) > given) {
		return;
	}
	if (given - n < pods_of(job)) {
		sim_world_fail(o->world,
			       "%s: %lld pods are reclaimable, but its Job still needs %lld",
			       change->key, (long long)n, (long long)pods_of(job));
	}
}

static void check_workload(struct sim_quota_oracle *o, const struct sim_change *change)
{
	const struct jdoc *old = change->old, *w = change->now;
	bool had = sim_workload_is(old, KUEUE_QUOTA_RESERVED);
	bool has = sim_workload_is(w, KUEUE_QUOTA_RESERVED);
	const char *wrong = NULL;

	/* The rules compare one status of the scheduler with the next. One that a user has edited
	 * may say anything, and the scheduler leaves some of that as it is. */
	if (edited_at(o, w) == 0) {
		wrong = sim_quota_rules_breach(old, w, clock_wall(&o->world->clock.base),
					       o->world->machine.slack_ns);
	}
	if (wrong != NULL) {
		sim_workload_print("old", jdoc_path(old, "status"));
		sim_workload_print("new", jdoc_path(w, "status"));
		sim_world_fail(o->world, "%s: from %s to %s: %s", change->key,
			       sim_quota_rules_state_name(sim_quota_rules_state(old)),
			       sim_quota_rules_state_name(sim_quota_rules_state(w)), wrong);
	}
	if (!had && has) {
		check_quota(o, change->key, w);
		strmap_set(o->given, str_of(change->key), (void *)(uintptr_t)(o->world->steps + 1));
		check_place(o, change->key, w);
		check_alone(o, change->key, w);
		count_admission(o, w);
	}
	if (!sim_workload_is(old, KUEUE_ADMITTED) && sim_workload_is(w, KUEUE_ADMITTED)) {
		check_admitted(o, change->key, w);
	}
	if (had && !has) {
		check_released(o, change->key, w);
		(void)strmap_remove(o->preempted, str_of(change->key));
		o->seen[SIM_QUOTA_WITHDRAWN] += !sim_workload_is(old, KUEUE_EVICTED);
	}
	check_reclaimed(o, change);
	count_conditions(o, change);
}

static void on_workload(struct sim_quota_oracle *o, const struct sim_change *change)
{
	if (change->now == NULL) {
		if (sim_workload_holds(change->old)) {
			check_released(o, change->key, change->old);
		}
	} else if (change->old != NULL && change->actor == SIM_SCHEDULER) {
		check_workload(o, change);
	}
}

/* --- Jobs --------------------------------------------------------------------------------------*/

static void check_start(struct sim_quota_oracle *o, const char *key, const struct jdoc *job)
{
	const struct jdoc *w = sim_workload_of(o->world, job);
	const struct jdoc *a = jdoc_at(jdoc_path(w, "status.admission.podSetAssignments"), 0);
	const char *flavor = jdoc_path_str(a, "flavors.cpu");
	const struct jdoc *selector = jdoc_path(job, "spec.template.spec.nodeSelector");

	o->seen[SIM_QUOTA_STARTED]++;
	if (is_recent(o, edited_at(o, w)) || is_recent(o, edited_at(o, job))) {
		return; /* the start may have been decided before */
	}
	if (!sim_workload_is(w, KUEUE_QUOTA_RESERVED) || !sim_workload_is(w, KUEUE_ADMITTED)) {
		sim_world_fail(o->world, "%s: started without an admitted Workload", key);
	} else if (flavor == NULL || !jdoc_is_str(jdoc_get(selector, "type"), flavor)) {
		sim_world_fail(o->world, "%s: started on other nodes than those of its flavor",
			       key);
	} else if (pods_of(job) > jdoc_int(jdoc_get(a, "count"), 1)) {
		sim_world_fail(o->world, "%s: started with more pods than were admitted", key);
	}
}

/* A Job is stopped only for its Workload: it holds no quota, or is on its way out. */
static void check_stop(struct sim_quota_oracle *o, const char *key, const struct jdoc *job)
{
	const struct jdoc *w = sim_workload_of(o->world, job);
	CLEANUP(xmalloc_freep) char *workload = sim_workload_key(w);

	if (sim_workload_holds(w) && sim_workload_is(w, KUEUE_ADMITTED) &&
	    !sim_workload_is(w, KUEUE_EVICTED) && !sim_workload_is_deleting(w) &&
	    !was_touched(o, SIM_WORKLOADS, workload) && !job_was_touched(o, job)) {
		sim_world_fail(o->world, "%s: stopped, although its Workload is admitted", key);
	}
}

static void on_job(struct sim_quota_oracle *o, const struct sim_change *change)
{
	if (change->now == NULL || change->old == NULL || change->actor != SIM_SCHEDULER) {
		return;
	}
	if (sim_workload_job_is_suspended(change->old) &&
	    !sim_workload_job_is_suspended(change->now)) {
		check_start(o, change->key, change->now);
	} else if (!sim_workload_job_is_suspended(change->old) &&
		   sim_workload_job_is_suspended(change->now)) {
		check_stop(o, change->key, change->now);
	}
}

/* The Job runs without an admitted Workload. */
static bool runs_unadmitted(const struct sim_quota_oracle *o, const struct jdoc *job)
{
	const struct jdoc *w;

	if (sim_workload_job_is_suspended(job) || sim_workload_job_is_finished(job) ||
	    sim_workload_is_deleting(job)) {
		return false;
	}
	w = sim_workload_of(o->world, job);
	return !sim_workload_is(w, KUEUE_QUOTA_RESERVED) || !sim_workload_is(w, KUEUE_ADMITTED);
}

void sim_quota_oracle_check(struct sim_quota_oracle *o)
{
	bool all_admitted = true;

	if (o->admitted_at == sim_view_changes(o->world->view) + 1) {
		return;
	}
	for (size_t i = 0; i < sim_view_count(o->world->view, SIM_JOBS); i++) {
		const struct jdoc *job = sim_view_at(o->world->view, SIM_JOBS, i);
		struct str uid = str_of(sim_workload_uid(job));
		uintptr_t since = (uintptr_t)strmap_get(o->unadmitted, uid);

		if (!runs_unadmitted(o, job)) {
			(void)strmap_remove(o->unadmitted, uid);
			continue;
		}
		all_admitted = false;
		if (since == 0) {
			strmap_set(o->unadmitted, uid,
				   (void *)(uintptr_t)(o->world->healthy_ns + 1));
		} else if (!is_recent(o, since)) {
			sim_world_fail(o->world, "Job %s runs without an admitted Workload",
				       jdoc_path_str(job, "metadata.name"));
		}
	}
	o->admitted_at = all_admitted ? sim_view_changes(o->world->view) + 1 : 0;
}

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_quota_oracle *o = ctx;

	if (change->resource < SIM_BASIC_COUNT_ && change->resource != SIM_PODS) {
		return;
	}
	o->changed_at = o->world->clock.mono_ns;
	sim_workload_trace(o->world, change);
	if (change->actor != SIM_SCHEDULER) {
		touch(o, change->resource, change->key);
		if (change->resource == SIM_WORKLOADS && is_edit(change)) {
			note_edit(o, sim_workload_uid(change->now));
		}
		if (change->resource == SIM_WORKLOADS && loses_job(change)) {
			note_edit(o, sim_workload_owner(change->old));
		}
		if (change->resource == SIM_WORKLOADS && !sim_workload_holds(change->old) &&
		    sim_workload_holds(change->now)) {
			strmap_set(o->revived, str_of(change->key),
				   (void *)(uintptr_t)(o->world->healthy_ns + 1));
		}
	}
	if (change->resource == SIM_WORKLOADS) {
		on_workload(o, change);
	} else if (change->resource == SIM_JOBS) {
		on_job(o, change);
	} else if (change->resource == SIM_CLUSTER_QUEUES || change->resource == SIM_COHORTS) {
		take_tree(o);
	}
}
