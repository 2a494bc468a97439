#include "scheduler/multikueue/manager/manager.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/offer.h"
#include "scheduler/multikueue/manager/pass.h"
#include "scheduler/multikueue/manager/wind_down.h"
#include "scheduler/multikueue/manager/winner.h"

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

/* --- the owner ---------------------------------------------------------------------------------*/

/* It has been sent: it goes on there, though its local object has become too large since. */
static bool is_sent(const struct pass *p)
{
	size_t i = pass_recorded(p);

	return i != PASS_NONE && pass_knows_job(&p->view->clusters[i]);
}

/* Rejects a Workload that can never be dispatched. False: that, or its Job is not there. */
static bool judge_owner(struct pass *p)
{
	const struct api_meta *m = &p->local->meta;
	const struct api_owner *o = meta_controller(m);
	const struct manager_view *v = p->view;

	o = o == NULL && m->owners.n > 0 ? m->owners.v : o;
	if (o == NULL) {
		pass_reject(p, "No multikueue adapter found");
		return false;
	}
	if (v->kind == NULL) {
		/* As Go prints a kind: one of the core group has an empty group. */
		pass_reject(p, arena_printf(p->arena,
					    "No multikueue adapter found for owner kind \"%s%s, "
					    "Kind=%s\"",
					    o->api_version != NULL &&
							    strchr(o->api_version, '/') != NULL
						    ? ""
						    : "/",
					    o->api_version == NULL ? "" : o->api_version,
					    o->kind == NULL ? "" : o->kind));
		return false;
	}
	if (v->kind_problem != NULL && v->njobs == 0) {
		pass_say(p, v->kind_problem);
		return false;
	}
	/* A group is owned by several pods; those that came later may not be owners yet. */
	if (v->njobs == 0 ||
	    (!carried_is_group(m, v->kind) && !str_streq(v->jobs[0].meta->uid, o->uid))) {
		return false;
	}
	for (size_t i = 0; i < v->njobs; i++) {
		const char *why = v->kind->refusal(v->jobs[i].object, p->arena);

		if (why == NULL && v->jobs[i].too_large && !is_sent(p)) {
			why = "The owner is too large to be sent to another cluster";
		}
		if (why != NULL) {
			pass_reject(p, why);
			return false;
		}
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
	return pass_finished_as(w, KUEUE_REASON_SLICE_REPLACED) ||
	       (!kueue_workload_is_true(w, KUEUE_FINISHED) && !kueue_workload_is_reserving(w) &&
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

	if (p->local == NULL || pass_is_deleted(&p->local->meta)) {
		pass_take_back_others(p, PASS_NONE);
		return;
	}
	if (is_other_slices(p->local)) {
		return;
	}
	if (kueue_workload_is_true(p->local, KUEUE_FINISHED)) {
		pass_take_back_others(p, PASS_NONE);
		return;
	}
	may_run = p->check != NULL && !pass_check_is(p, KUEUE_CHECK_REJECTED) && judge_owner(p);
	if (!kueue_workload_is_reserving(p->local)) {
		pass_take_back_others(p, PASS_NONE);
	} else if (!may_run) {
		return;
	} else if (kueue_workload_is_true(p->local, KUEUE_EVICTED)) {
		wind_down(p);
	} else if (!p->view->has_config || !kueue_workload_is_active(p->local)) {
		return; /* deactivated: the core is about to evict it */
	} else if (p->local->status.cluster_name != NULL) {
		winner_follow(p);
	} else {
		offer(p);
	}
}

static size_t room_for(const struct manager_view *view)
{
	size_t n = PASS_ACTIONS_PER_CLUSTER * view->n + PASS_ACTIONS_BESIDES + view->njobs;

	for (size_t i = 0; i < view->n; i++) {
		n += PASS_ACTIONS_PER_OBJECT * view->clusters[i].njobs;
	}
	return n;
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
		.v = arena_zero(arena, room_for(view), sizeof(struct manager_action)),
		.at = CLOCK_NEVER,
	};

	decide(&p);
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
		[MANAGER_UPDATE_JOB] = "UpdateJob",
		[MANAGER_END_JOB] = "EndJob",
		[MANAGER_DELETE_JOB] = "DeleteJob",
		[MANAGER_SYNC_JOB] = "SyncJob",
		[MANAGER_RESET_JOB] = "ResetJob",
		[MANAGER_NOMINATE] = "Nominate",
		[MANAGER_SET_CLUSTER] = "SetCluster",
		[MANAGER_SET_CHECK] = "SetCheck",
		[MANAGER_FINISH] = "Finish",
	};

	return names[act];
}
