#include "scheduler/multikueue/manager/pass.h"

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/replica_body.h"

struct manager_action *pass_add(struct pass *p, enum manager_act act, size_t cluster)
{
	struct manager_action *a = &p->v[p->n++];

	*a = (struct manager_action){ .act = act, .cluster = cluster };
	return a;
}

void pass_add_job(struct pass *p, enum manager_act act, size_t cluster, size_t job)
{
	pass_add(p, act, cluster)->job = job;
}

void pass_look_again(struct pass *p, int64_t at)
{
	p->at = clock_earlier(p->at, at);
}

bool pass_is_deleted(const struct api_meta *m)
{
	return m->deleted != FIELD_NO_TIME;
}

bool pass_finished_as(const struct api_workload *w, const char *reason)
{
	const struct api_condition *c = meta_condition(&w->status.conditions, KUEUE_FINISHED);

	return c != NULL && str_streq(c->status, "True") && str_streq(c->reason, reason);
}

bool pass_has_finished(const struct api_workload *w)
{
	return kueue_workload_is_true(w, KUEUE_FINISHED) &&
	       !pass_finished_as(w, KUEUE_REASON_OUT_OF_SYNC);
}

bool pass_check_is(const struct pass *p, const char *state)
{
	return str_streq(p->check->state, state);
}

const struct api_workload *pass_replica(const struct manager_cluster *c)
{
	return c->link == MANAGER_UP && c->replica != NULL && !pass_is_deleted(&c->replica->meta)
		       ? c->replica
		       : NULL;
}

bool pass_knows_job(const struct manager_cluster *c)
{
	for (size_t k = 0; k < c->njobs; k++) {
		if (c->jobs[k].object != NULL) {
			return true;
		}
	}
	return false;
}

bool pass_has_job(const struct manager_cluster *c)
{
	return c->link == MANAGER_UP && pass_knows_job(c);
}

bool pass_is_stale(const struct pass *p, const struct manager_cluster *c, size_t k)
{
	const char *made_for =
		c->jobs[k].object == NULL
			? NULL
			: field_map_get(&c->jobs[k].meta->annotations, REPLICA_BODY_FOR);

	return k < p->view->njobs && made_for != NULL &&
	       !str_streq(made_for, p->view->jobs[k].meta->uid);
}

bool pass_is_job_taken(const struct manager_cluster *c)
{
	for (size_t k = 0; k < c->njobs; k++) {
		if (c->jobs[k].taken) {
			return true;
		}
	}
	return false;
}

static bool all_jobs(const struct manager_view *v, bool (*is)(const void *object))
{
	for (size_t k = 0; k < v->njobs; k++) {
		if (!is(v->jobs[k].object)) {
			return false;
		}
	}
	return true;
}

bool pass_job_has_ended(const struct pass *p)
{
	return all_jobs(p->view, p->view->kind->has_ended);
}

bool pass_job_is_ending(const struct pass *p)
{
	return all_jobs(p->view, p->view->kind->is_ending);
}

size_t pass_recorded(const struct pass *p)
{
	const char *name = p->local->status.cluster_name;

	for (size_t i = 0; name != NULL && i < p->view->n; i++) {
		if (str_streq(p->view->clusters[i].name, name)) {
			return i;
		}
	}
	return PASS_NONE;
}

/* Of a clock that was set back, no wait grows beyond its length. */
int64_t pass_lost_at(const struct manager_view *v, const struct manager_cluster *c)
{
	int64_t since = c->link == MANAGER_LOST           ? c->lost_at
			: c->lost_at == MANAGER_NOT_KNOWN ? v->began
							  : clock_earlier(c->lost_at, v->began);

	return clock_earlier(since, v->now) + v->opt->worker_lost_ns;
}

static bool has_job_to_delete(const struct manager_cluster *c)
{
	for (size_t k = 0; k < c->njobs; k++) {
		if (c->link == MANAGER_UP && c->jobs[k].object != NULL &&
		    !pass_is_deleted(c->jobs[k].meta)) {
			return true;
		}
	}
	return false;
}

void pass_take_back(struct pass *p, size_t i)
{
	const struct manager_cluster *c = &p->view->clusters[i];

	if (has_job_to_delete(c) || pass_replica(c) != NULL ||
	    (c->link == MANAGER_UP && c->replica != NULL &&
	     replica_body_has_finalizer(&c->replica->meta))) {
		pass_add(p, MANAGER_DELETE_REPLICA, i);
	}
}

void pass_take_back_others(struct pass *p, size_t keep)
{
	for (size_t i = 0; i < p->view->n; i++) {
		if (i != keep) {
			pass_take_back(p, i);
		}
	}
}

static struct manager_action *set_check(struct pass *p, const char *state, const char *message)
{
	struct manager_action *a = pass_add(p, MANAGER_SET_CHECK, PASS_NONE);

	a->state = state;
	a->message = message;
	return a;
}

const char *pass_state(const struct pass *p)
{
	return p->check->state == NULL ? "" : p->check->state;
}

const char *pass_with_previous(struct pass *p, const char *text)
{
	return arena_printf(p->arena, "%s, Previously: \"%s\"", text, pass_state(p));
}

void pass_say(struct pass *p, const char *text)
{
	if (!str_streq(p->check->message, text)) {
		set_check(p, p->check->state, text);
	}
}

void pass_reject(struct pass *p, const char *text)
{
	set_check(p, KUEUE_CHECK_REJECTED, pass_with_previous(p, text));
}

struct manager_action *pass_retry(struct pass *p, const char *message)
{
	struct manager_action *a = set_check(p, KUEUE_CHECK_RETRY, message);

	a->event = message;
	a->warning = true;
	return a;
}

void pass_say_ended(struct pass *p)
{
	if (!pass_job_has_ended(p)) {
		pass_say(p,
			 "By its last status the Job has ended or was about to, and its cluster or "
			 "its remote Job is gone; it is not run again");
	}
}

void pass_retry_unless_ended(struct pass *p, const char *text)
{
	if (pass_job_is_ending(p)) {
		pass_say_ended(p);
	} else {
		pass_retry(p, pass_with_previous(p, text));
	}
}
