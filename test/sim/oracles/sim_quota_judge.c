#include "sim/oracles/sim_quota_judge.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/str.h"
#include "enc/json/jdoc.h"
#include "play/mirror.h"
#include "sim/actors/sim_actors.h"
#include "sim/controllers/sim_jobs.h"
#include "sim/oracles/sim_quota_rules.h"
#include "sim/oracles/sim_tree.h"
#include "sim/sim_quota.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

static const char *name_of(const struct jdoc *object)
{
	return jdoc_str_or(jdoc_path(object, "metadata.name"), "");
}

/* --- room in queues ----------------------------------------------------------------------------*/

struct fit {
	const struct sim_world *world;
	struct sim_tree tree; /* with usage */
};

static bool runs(const struct jdoc *queue)
{
	const char *policy = jdoc_path_str(queue, "spec.stopPolicy");

	return queue != NULL && !sim_workload_is_deleting(queue) &&
	       (policy == NULL || str_streq(policy, KUEUE_STOP_NONE));
}

/* It waits for a time. One that has passed stays in the status when a user wrote it. */
static bool is_put_off(const struct sim_world *world, const struct jdoc *w)
{
	const char *text = jdoc_path_str(w, "status.requeueState.requeueAt");
	int64_t at = 0;

	return text != NULL && (clock_parse_time(str_of(text), &at) < 0 ||
				at >= clock_wall(&world->clock.base) - world->machine.slack_ns ||
				(!world->statuses_edited &&
				 str_streq(sim_workload_status(w, KUEUE_REQUEUED), "False")));
}

/* Nothing but quota is missing. */
static bool is_candidate(const struct sim_world *world, const struct jdoc *w)
{
	return sim_quota_rules_state(w) == SIM_QUOTA_PENDING && sim_workload_is_active(w) &&
	       !sim_workload_is_deleting(w) && !sim_workload_is(w, KUEUE_WAITING_FOR_REPLACEMENT) &&
	       !str_streq(sim_workload_status(w, KUEUE_REQUEUED), "False") && !is_put_off(world, w);
}

static int64_t priority(const struct jdoc *w)
{
	return jdoc_int(jdoc_path(w, "spec.priority"), 0);
}

/* The time that orders it in its queue: its creation, or its eviction for PodsReadyTimeout or
 * AdmissionCheck. */
static const char *since(const struct jdoc *w)
{
	const char *reason = sim_workload_reason(w, KUEUE_EVICTED);

	return sim_workload_is(w, KUEUE_EVICTED) && (str_streq(reason, "PodsReadyTimeout") ||
						     str_streq(reason, "AdmissionCheck"))
		       ? jdoc_path_str(mirror_pod_condition(w, KUEUE_EVICTED), "lastTransitionTime")
		       : jdoc_str_or(jdoc_path(w, "metadata.creationTimestamp"), "");
}

/* Whether a comes before b in its queue. */
static bool is_before(const struct jdoc *a, const struct jdoc *b)
{
	int by_age = strcmp(since(a), since(b));

	if (priority(a) != priority(b)) {
		return priority(a) > priority(b);
	}
	return by_age != 0 ? by_age < 0 : strcmp(sim_workload_uid(a), sim_workload_uid(b)) < 0;
}

static bool is_head(const struct fit *f, const struct jdoc *w, const char *queue)
{
	for (size_t i = 0; i < sim_view_count(f->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *other = sim_view_at(f->world->view, SIM_WORKLOADS, i);

		if (other != w && is_candidate(f->world, other) &&
		    str_streq(sim_workload_where(f->world, other), queue) && is_before(other, w)) {
			return false;
		}
	}
	return true;
}

static bool is_strict(const struct jdoc *queue)
{
	const char *strategy = jdoc_path_str(queue, "spec.queueingStrategy");

	return strategy != NULL && str_streq(strategy, KUEUE_STRICT_FIFO);
}

/* A head with a status that says that preemption cannot help reserves its share against others in
 * the same cycle. */
static bool keeps_its_share(const struct jdoc *w, const struct jdoc *cq)
{
	const char *message =
		jdoc_path_str(mirror_pod_condition(w, KUEUE_QUOTA_RESERVED), "message");

	return !jdoc_is_str(jdoc_path(cq, "spec.preemption.reclaimWithinCohort"), "Any") &&
	       message != NULL && strstr(message, "preemption cannot make room for it") != NULL;
}

/* A Workload of another queue of the tree may reserve room: in each cycle the waiting head of a
 * StrictFIFO queue may reserve more than is idle, so that other queues lack part of their own
 * quota. A head of a BestEffortFIFO queue does so only in the cycles in which it is nominated. */
static bool is_kept_for_others(const struct fit *f, int node)
{
	int root = sim_tree_root(&f->tree, node);

	for (size_t i = 0; i < sim_view_count(f->world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(f->world->view, SIM_WORKLOADS, i);
		const char *queue = sim_workload_where(f->world, w);
		int at = queue == NULL ? -1 : sim_tree_find(&f->tree, queue);
		const struct jdoc *cq;

		if (at >= 0 && at != node && sim_tree_root(&f->tree, at) == root &&
		    is_candidate(f->world, w)) {
			cq = sim_view_get(f->world->view, SIM_CLUSTER_QUEUES, queue);
			if (is_strict(cq) || keeps_its_share(w, cq)) {
				return true;
			}
		}
	}
	return false;
}

static void request(const struct jdoc *podset, int64_t pods, size_t flavor,
		    struct sim_tree_amounts *ret)
{
	const struct jdoc *c = jdoc_at(jdoc_path(podset, "template.spec.containers"), 0);

	*ret = (struct sim_tree_amounts){ { 0 } };
	for (size_t r = 0; r < SIM_TREE_RESOURCES; r++) {
		const struct jdoc *q =
			jdoc_get(jdoc_path(c, "resources.requests"), sim_tree_resources[r]);

		ret->v[flavor * SIM_TREE_RESOURCES + r] =
			pods * sim_tree_amount(sim_tree_resources[r], jdoc_str(q));
	}
}

static bool fits_in(const struct fit *f, const struct jdoc *podset, int64_t pods, int node,
		    size_t flavor)
{
	const char *wanted = jdoc_path_str(podset, "template.spec.nodeSelector.type");
	bool within = wanted == NULL || str_streq(wanted, sim_tree_flavors[flavor]);
	struct sim_tree t = f->tree;
	struct sim_tree_amounts asks;

	request(podset, pods, flavor, &asks);
	sim_tree_add(&t, node, &asks, 1);
	for (size_t r = 0; r < SIM_TREE_RESOURCES && within; r++) {
		size_t p = flavor * SIM_TREE_RESOURCES + r;

		within = asks.v[p] == 0 ||
			 (t.v[node].has[p] && sim_tree_is_within(&t, node, p, true));
	}
	return within;
}

/* It fits in one of the flavors, with its minimum of pods. */
static bool fits(const struct fit *f, const struct jdoc *w, int node)
{
	const struct jdoc *podset = jdoc_at(jdoc_path(w, "spec.podSets"), 0);
	int64_t pods = jdoc_int(jdoc_get(podset, "count"), 1);

	for (size_t flavor = 0; flavor < SIM_TREE_FLAVORS; flavor++) {
		if (fits_in(f, podset, jdoc_int(jdoc_get(podset, "minCount"), pods), node,
			    flavor)) {
			return true;
		}
	}
	return false;
}

static bool is_alike(const struct jdoc *a, const struct jdoc *b)
{
	static const char *const parts[] = { "count", "minCount", "template.spec" };
	const struct jdoc *x = jdoc_at(jdoc_path(a, "spec.podSets"), 0);
	const struct jdoc *y = jdoc_at(jdoc_path(b, "spec.podSets"), 0);
	bool alike = priority(a) == priority(b);

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		alike &= jdoc_equal(jdoc_path(x, parts[i]), jdoc_path(y, parts[i]));
	}
	return alike;
}

/* An equal Workload of the queue was found inadmissible, and has a reason. */
static bool is_bypassed(const struct sim_world *world, const struct jdoc *w)
{
	for (size_t i = 0; i < sim_view_count(world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *other = sim_view_at(world->view, SIM_WORKLOADS, i);

		if (other != w && is_candidate(world, other) && is_alike(w, other) &&
		    str_streq(sim_workload_where(world, w), sim_workload_where(world, other)) &&
		    sim_workload_reason(other, KUEUE_QUOTA_RESERVED)[0] != '\0') {
			return true;
		}
	}
	return false;
}

/* Workloads behind the head were never nominated: the queue is StrictFIFO, or its head waits for
 * room that others reserve. */
static bool keeps_its_head(const struct fit *f, const struct jdoc *cq, int node)
{
	return is_strict(cq) || (node >= 0 && is_kept_for_others(f, node));
}

/* An administrator may have closed it for the namespaces of this cluster, which have no labels. */
static bool is_for_all(const struct jdoc *cq)
{
	return jdoc_path(cq, "spec.namespaceSelector.matchLabels.team") == NULL;
}

/* A client that may write statuses holds it back, as in Kueue: it is not to be requeued, or not
 * yet, or a check has failed of which the answer finds no quota any more. */
static bool is_held_back(const struct sim_world *world, const struct jdoc *w)
{
	const struct jdoc *k = jdoc_first(jdoc_path(w, "status.admissionChecks"));
	bool held =
		str_streq(sim_workload_status(w, KUEUE_REQUEUED), "False") || is_put_off(world, w);

	for (; k != NULL; k = jdoc_next(k)) {
		held |= jdoc_is_str(jdoc_get(k, "state"), KUEUE_CHECK_RETRY) ||
			jdoc_is_str(jdoc_get(k, "state"), KUEUE_CHECK_REJECTED);
	}
	return held && world->statuses_edited;
}

static void judge_waiting(struct sim_world *world, const struct fit *f, const struct jdoc *w)
{
	const char *queue = sim_workload_where(world, w);
	const struct jdoc *cq =
		queue == NULL ? NULL : sim_view_get(world->view, SIM_CLUSTER_QUEUES, queue);
	int node = queue == NULL ? -1 : sim_tree_find(&f->tree, queue);

	if (sim_workload_is(w, KUEUE_WAITING_FOR_REPLACEMENT) || is_held_back(world, w)) {
		return; /* it waits for pods or for a client, not for quota */
	}
	if (sim_workload_reason(w, KUEUE_QUOTA_RESERVED)[0] == '\0' &&
	    !(keeps_its_head(f, cq, node) && !is_head(f, w, queue)) && !is_bypassed(world, w)) {
		sim_workload_print("its status", jdoc_path(w, "status"));
		sim_world_fail(world, "end: %s waits in %s without a reason", name_of(w),
			       queue == NULL ? "no queue" : queue);
	}
	if (is_candidate(world, w) && runs(cq) && is_for_all(cq) && node >= 0 &&
	    (!is_strict(cq) || is_head(f, w, queue)) && !is_kept_for_others(f, node) &&
	    fits(f, w, node)) {
		sim_world_fail(world, "end: %s waits although %s has room", name_of(w), queue);
	}
}

/* --- Workloads and Jobs ------------------------------------------------------------------------*/

static bool has_note(const struct jdoc *object)
{
	return jdoc_get(jdoc_path(object, "metadata.annotations"), SIM_QUOTA_NOTE) != NULL;
}

/* It was given flavors by hand of which the nodes are not those that its pods ask for. */
static bool cannot_start(const struct jdoc *w)
{
	return str_streq(sim_workload_message(w, KUEUE_QUOTA_RESERVED), SIM_ACTORS_MESSAGE) &&
	       str_streq(sim_workload_reason(w, KUEUE_FINISHED), "FailedToStart");
}

static void judge_workload(struct sim_world *world, const struct fit *f, const struct jdoc *w)
{
	const struct jdoc *job = sim_workload_job(world, w);
	enum sim_quota_state state = sim_quota_rules_state(w);
	bool suspended = sim_workload_job_is_suspended(job);
	bool of_pods = sim_workload_is_of_pods(w); /* sim_groups judges them */

	if (job == NULL && !of_pods) {
		sim_world_fail(world, "end: Workload %s has no Job", name_of(w));
		return;
	}
	if (sim_workload_is_deleting(w)) {
		sim_world_fail(world, "end: Workload %s is still being deleted", name_of(w));
	}
	if (sim_quota_copies_note(world) && has_note(job) && !has_note(w)) {
		sim_world_fail(world, "end: %s lacks the annotation of its Job", name_of(w));
	}
	switch (state) {
	case SIM_QUOTA_PENDING:
		judge_waiting(world, f, w);
		if (!of_pods && !suspended) {
			sim_world_fail(world, "end: %s waits, but its Job runs", name_of(w));
		}
		break;
	case SIM_QUOTA_RESERVING:
		sim_world_fail(world, "end: %s is not admitted, all checks are Ready", name_of(w));
		break;
	case SIM_QUOTA_ADMITTED:
		if (suspended) {
			sim_world_fail(world, "end: %s is admitted, but its Job is suspended",
				       name_of(w));
		}
		break;
	case SIM_QUOTA_EVICTING:
		sim_world_fail(world, "end: %s is evicted and keeps its quota", name_of(w));
		break;
	case SIM_QUOTA_FINISHED:
		if (!of_pods && !sim_workload_job_is_finished(job) && !cannot_start(w)) {
			sim_world_fail(world, "end: %s is finished, but its Job is not",
				       name_of(w));
		}
		break;
	case SIM_QUOTA_STATE_COUNT_:
		break;
	}
}

/* A suspended Job has the pod template and parallelism that its user wrote. */
static void judge_job(struct sim_world *world, const struct jdoc *job)
{
	const struct jdoc *w = sim_workload_of(world, job);
	const struct jdoc *podset = jdoc_at(jdoc_path(w, "spec.podSets"), 0);

	if (w == NULL) {
		/* A user may have started it, and it finished before the scheduler saw it. */
		if (!sim_workload_job_is_finished(job)) {
			sim_world_fail(world, "end: Job %s has no Workload", name_of(job));
		}
		return;
	}
	if (sim_workload_job_is_finished(job) && !sim_workload_is(w, KUEUE_FINISHED)) {
		sim_world_fail(world, "end: Job %s is finished, but its Workload is not",
			       name_of(job));
	}
	if (sim_workload_job_is_finished(job) || !sim_workload_job_is_suspended(job)) {
		return;
	}
	if (jdoc_get(jdoc_path(job, "metadata.annotations"), KUEUE_STOPPING) != NULL) {
		sim_world_fail(world, "end: Job %s is still being stopped", name_of(job));
	} else if (!jdoc_equal(jdoc_path(job, "spec.template.spec.nodeSelector.type"),
			       jdoc_path(podset, "template.spec.nodeSelector.type")) ||
		   jdoc_int(jdoc_path(job, "spec.parallelism"), 1) <
			   jdoc_int(jdoc_get(podset, "count"), 1)) {
		sim_workload_print("the Job's", jdoc_path(job, "spec"));
		sim_workload_print("the Workload's", jdoc_path(w, "spec"));
		sim_world_fail(world, "end: Job %s is not as its user wrote it", name_of(job));
	}
}

/* --- queues ------------------------------------------------------------------------------------*/

static void judge_count(struct sim_world *world, const struct jdoc *queue, const char *path,
			int64_t n)
{
	int64_t reported = jdoc_int(jdoc_path(queue, path), 0);

	if (reported != n) {
		sim_world_fail(world, "end: %s has %s %lld, but there are %lld", name_of(queue),
			       path, (long long)reported, (long long)n);
	}
}

/* local: queue is a LocalQueue. */
static void judge_counts(struct sim_world *world, const struct jdoc *queue, bool local)
{
	int64_t reserving = 0, admitted = 0;

	for (size_t i = 0; i < sim_view_count(world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(world->view, SIM_WORKLOADS, i);
		const char *in = local ? jdoc_path_str(w, "spec.queueName") : sim_workload_queue(w);

		if (sim_workload_holds(w) && str_streq(in, name_of(queue))) {
			reserving++;
			admitted += sim_workload_is(w, KUEUE_ADMITTED);
		}
	}
	judge_count(world, queue, "status.reservingWorkloads", reserving);
	judge_count(world, queue, "status.admittedWorkloads", admitted);
}

/* Compares status.flavorsReservation of a ClusterQueue with the usage of its Workloads. */
static void judge_usage(struct sim_world *world, const struct fit *f, const struct jdoc *queue)
{
	int at = sim_tree_find(&f->tree, name_of(queue));
	const struct jdoc *list = jdoc_path(queue, "status.flavorsReservation");

	for (const struct jdoc *e = jdoc_first(list); e != NULL; e = jdoc_next(e)) {
		for (const struct jdoc *r = jdoc_first(jdoc_get(e, "resources")); r != NULL;
		     r = jdoc_next(r)) {
			const char *resource = jdoc_str_or(jdoc_get(r, "name"), "");
			int64_t reported =
				sim_tree_amount(resource, jdoc_str_or(jdoc_get(r, "total"), "0"));

			for (size_t p = 0; at >= 0 && p < SIM_TREE_PAIRS; p++) {
				if (jdoc_is_str(jdoc_get(e, "name"),
						sim_tree_flavors[p / SIM_TREE_RESOURCES]) &&
				    str_streq(resource,
					      sim_tree_resources[p % SIM_TREE_RESOURCES]) &&
				    reported != f->tree.v[at].used[p]) {
					sim_world_fail(world,
						       "end: %s reports %lld of %s as reserved, "
						       "but it is %lld",
						       name_of(queue), (long long)reported,
						       resource, (long long)f->tree.v[at].used[p]);
				}
			}
		}
	}
}

void sim_quota_judge_end(struct sim_world *w)
{
	struct fit f = { .world = w };

	sim_tree_read(&f.tree, w->view);
	sim_tree_charge(&f.tree, w->view);
	for (size_t i = 0; i < sim_view_count(w->view, SIM_WORKLOADS); i++) {
		judge_workload(w, &f, sim_view_at(w->view, SIM_WORKLOADS, i));
	}
	for (size_t i = 0; i < sim_view_count(w->view, SIM_JOBS); i++) {
		judge_job(w, sim_view_at(w->view, SIM_JOBS, i));
	}
	for (size_t i = 0; i < sim_view_count(w->view, SIM_CLUSTER_QUEUES); i++) {
		const struct jdoc *queue = sim_view_at(w->view, SIM_CLUSTER_QUEUES, i);

		judge_counts(w, queue, false);
		judge_usage(w, &f, queue);
	}
	for (size_t i = 0; i < sim_view_count(w->view, SIM_LOCAL_QUEUES); i++) {
		judge_counts(w, sim_view_at(w->view, SIM_LOCAL_QUEUES, i), true);
	}
}

void sim_quota_judge_empty(struct sim_world *w)
{
	static const enum sim_resource all[] = { SIM_JOBS,         SIM_WORKLOADS,
						 SIM_LOCAL_QUEUES, SIM_CLUSTER_QUEUES,
						 SIM_COHORTS,      SIM_FLAVORS };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (sim_view_count(w->view, all[i]) > 0) {
			sim_world_fail(w, "end: %s cannot be deleted",
				       name_of(sim_view_at(w->view, all[i], 0)));
		}
	}
}

bool sim_quota_judge_must_wait(const struct sim_world *w)
{
	for (size_t i = 0; i < sim_view_count(w->view, SIM_WORKLOADS); i++) {
		const struct jdoc *one = sim_view_at(w->view, SIM_WORKLOADS, i);

		/* Of one that holds quota the time has no meaning: a user wrote it. */
		if (sim_workload_is_active(one) && !sim_workload_is(one, KUEUE_FINISHED) &&
		    !sim_workload_holds(one) && is_put_off(w, one)) {
			return true;
		}
	}
	return false;
}
