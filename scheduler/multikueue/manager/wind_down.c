#include "scheduler/multikueue/manager/wind_down.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/pass.h"
#include "scheduler/multikueue/manager/winner.h"

/* The cluster where the Job is. The core clears clusterName with the eviction. */
static size_t find_runner(const struct pass *p)
{
	size_t i = pass_recorded(p);

	if (i != PASS_NONE && pass_has_job(&p->view->clusters[i])) {
		return i;
	}
	for (i = 0; i < p->view->n; i++) {
		if (pass_has_job(&p->view->clusters[i])) {
			return i;
		}
	}
	return PASS_NONE;
}

/* The worker stops it as it stops its own, and the last status is copied; then the core releases
 * the quota. */
static void stop(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];
	const struct api_workload *r = pass_replica(c);
	const struct api_condition *why =
		meta_condition(&p->local->status.conditions, KUEUE_EVICTED);

	if (r == NULL) {
		pass_take_back(p, i); /* nothing there would stop the Job */
		return;
	}
	if (pass_has_finished(r)) {
		winner_finish(p, i);
		return;
	}
	if (!kueue_workload_is_true(r, KUEUE_EVICTED) &&
	    !kueue_workload_is_true(r, KUEUE_DEACTIVATION_TARGET) && kueue_workload_is_active(r)) {
		pass_add(p, MANAGER_EVICT_REPLICA, i)->message =
			arena_printf(p->arena, "Evicted on manager: %s",
				     why->message == NULL ? "" : why->message);
	}
	winner_mirror(p, i);
}

static bool may_have_job(const struct manager_cluster *c)
{
	for (size_t k = 0; k < c->njobs; k++) {
		if (c->jobs[k].object != NULL || c->jobs[k].sent) {
			return true;
		}
	}
	return false;
}

static bool may_run_there(const struct pass *p, const struct manager_cluster *c)
{
	const char *recorded = p->local->status.cluster_name;

	if (recorded != NULL) {
		return str_streq(recorded, c->name);
	}
	return c->link == MANAGER_NEVER || c->replica != NULL || may_have_job(c);
}

/* A cluster that can be reached has object k: its status is copied. */
static bool is_reported(const struct pass *p, size_t k)
{
	for (size_t i = 0; i < p->view->n; i++) {
		const struct manager_cluster *c = &p->view->clusters[i];

		if (c->link == MANAGER_UP && c->jobs[k].object != NULL) {
			return true;
		}
	}
	return false;
}

/* The core waits until no pod is active. When no cluster is left that could report it, the copied
 * status would say forever that some are (Kueue #15682). */
static void reset_jobs(struct pass *p)
{
	int64_t at = INT64_MIN;

	for (size_t i = 0; i < p->view->n; i++) {
		const struct manager_cluster *c = &p->view->clusters[i];

		if (c->link != MANAGER_UP && may_run_there(p, c)) {
			at = clock_later(at, pass_lost_at(p->view, c));
		}
	}
	for (size_t k = 0; k < p->view->njobs; k++) {
		if (!p->view->kind->is_active(p->view->jobs[k].object) || is_reported(p, k)) {
			continue;
		}
		if (at > p->view->now) {
			pass_look_again(p, at);
		} else {
			pass_add_job(p, MANAGER_RESET_JOB, PASS_NONE, k);
		}
	}
}

void wind_down(struct pass *p)
{
	size_t runner = find_runner(p);

	pass_take_back_others(p, runner);
	if (runner != PASS_NONE) {
		stop(p, runner);
	}
	reset_jobs(p);
}
