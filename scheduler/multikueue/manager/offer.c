#include "scheduler/multikueue/manager/offer.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/nominate.h"
#include "scheduler/multikueue/manager/pass.h"
#include "scheduler/multikueue/manager/winner.h"

/* It may be recorded as the winner. The webhook of Workloads allows only clusters that are
 * nominated. */
static bool may_win(const struct pass *p, const struct manager_cluster *c)
{
	const struct api_workload *r = pass_replica(c);

	return r != NULL && c->configured && !nominate_is_taken(c) &&
	       nominate_has(p->view, c->name) && kueue_workload_is_true(r, KUEUE_ADMITTED) &&
	       !kueue_workload_is_true(r, KUEUE_EVICTED) &&
	       !kueue_workload_is_true(r, KUEUE_FINISHED) && c->sync != SPEC_SYNC_OTHER;
}

/* The first in configured order: times of workers are of other clocks. One that runs the Job
 * already, for a manager before this one, goes before all. */
static size_t find_admitted(const struct pass *p)
{
	size_t found = PASS_NONE;

	for (size_t i = 0; i < p->view->n; i++) {
		const struct manager_cluster *c = &p->view->clusters[i];

		if ((found == PASS_NONE ||
		     (pass_knows_job(c) && !pass_knows_job(&p->view->clusters[found]))) &&
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
		const struct api_workload *r = pass_replica(c);

		if (r != NULL && pass_has_finished(r) &&
		    (pass_knows_job(c) || pass_check_is(p, KUEUE_CHECK_READY))) {
			return i;
		}
	}
	return PASS_NONE;
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
	const struct api_workload *r = pass_replica(c);

	if (!is_wanted(to, c)) {
		pass_take_back(p, i);
		return;
	}
	if (c->link != MANAGER_UP || !nominate_has(p->view, c->name)) {
		return; /* later */
	}
	if (c->replica == NULL && !pass_knows_job(c)) {
		pass_add(p, MANAGER_CREATE_REPLICA, i);
		return;
	}
	if (r == NULL || c->sync == SPEC_SYNC_OTHER || kueue_workload_is_true(r, KUEUE_FINISHED)) {
		pass_take_back(p, i); /* a new one is made when nothing is left */
	} else if (c->sync == SPEC_SYNC_PRIORITY && !pass_knows_job(c)) {
		pass_add(p, MANAGER_UPDATE_REPLICA, i);
	}
}

/* It can be offered nowhere, because other objects have the name, or its kind cannot be used. */
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
	if (taken != NULL && taken->kind_problem != NULL) {
		pass_say(p, arena_printf(p->arena, "Worker cluster \"%s\": %s", taken->name,
					 taken->kind_problem));
	} else if (taken != NULL) {
		pass_say(p,
			 arena_printf(p->arena,
				      "Worker cluster \"%s\" has a %s of this name that is not of "
				      "this manager",
				      taken->name,
				      taken->replica_taken ? "Workload" : p->view->kind->kind));
	}
}

static void nominate(struct pass *p)
{
	struct nominate to;

	nominate_next(p->view, p->arena, &to);
	pass_look_again(p, to.at);
	if (to.changed) {
		pass_add(p, MANAGER_NOMINATE, PASS_NONE)->names = to.names;
	}
	for (size_t i = 0; i < p->view->n; i++) {
		offer_to(p, &to, i);
	}
	say_taken(p, &to);
}

void offer(struct pass *p)
{
	size_t i;

	if (pass_check_is(p, KUEUE_CHECK_RETRY)) {
		return;
	}
	i = find_finished(p);
	if (i != PASS_NONE) {
		winner_finish(p, i);
		return;
	}
	i = find_admitted(p);
	if (i != PASS_NONE) {
		winner_set(p, i);
		pass_take_back_others(p, i);
	} else if (pass_check_is(p, KUEUE_CHECK_READY)) {
		pass_retry_unless_ended(p, "Admission check is Ready but no admitting cluster is "
					   "recorded; this is unexpected, please report it");
	} else if (pass_job_is_ending(p)) {
		pass_say_ended(p);
	} else if (others_are_ready(p)) {
		nominate(p);
	}
}
