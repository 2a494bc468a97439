/* Latencies of owners and their Workloads, measured when the API server shows the result. */
#include "api/core/batch.h"
#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/clock.h"
#include "scheduler/workloads/controller/owner_controller_priv.h"
#include "scheduler/workloads/owners/kueue_pod_group.h"

/* The pod with which the Workload could be made: of a group the last one of those that were there.
 */
static const struct api_meta *made_by(const struct owner *e, const struct api_workload *w)
{
	for (size_t i = e->pods.n; i > 0; i--) {
		const struct api_meta *m = &e->pods.v[i - 1]->pod->meta;

		if (m->created <= w->meta.created) {
			return m;
		}
	}
	return NULL;
}

/* Kueue: an owner that was changed since its creation is not measured, as the time at which it
 * asked for a Workload is not known. */
void owner_controller_times_created(const struct owner_controller *o, const struct owner *e,
				    const struct api_workload *w)
{
	const struct api_meta *m = !e->is_job       ? made_by(e, w)
				   : e->job == NULL ? NULL
						    : &e->job->meta;

	if (o->opt.on_created == NULL || !o->synced || m == NULL || m->generation > 1 ||
	    m->created == FIELD_NO_TIME || w->meta.created == FIELD_NO_TIME ||
	    (e->is_job && !owner_plan_is_owned_by(w, m))) {
		return;
	}
	o->opt.on_created(o->opt.ctx, e->is_job ? "Job" : "Pod", w, w->meta.created - m->created);
}

static const struct api_workload *admitted_of(const struct owner *e)
{
	for (size_t i = 0; i < e->workloads.n; i++) {
		if (owner_plan_is_admitted(e->workloads.v[i]->w)) {
			return e->workloads.v[i]->w;
		}
	}
	return NULL;
}

void owner_controller_times_pod(const struct owner_controller *o, const struct owner *e,
				const struct pod_entry *before, const struct api_pod *now)
{
	const struct api_workload *w;
	const struct api_condition *c;

	/* Only gates that this controller removed: the removal by another client says nothing. */
	if (o->opt.on_ungated == NULL || before->sent.before[OWNER_POD_START] == 0 ||
	    !pod_has_gate(before->pod, KUEUE_GATE_ADMISSION) ||
	    pod_has_gate(now, KUEUE_GATE_ADMISSION)) {
		return;
	}
	w = admitted_of(e);
	c = w == NULL ? NULL : meta_condition(&w->status.conditions, KUEUE_ADMITTED);
	if (c != NULL && c->last_transition != FIELD_NO_TIME) {
		o->opt.on_ungated(o->opt.ctx, w, kueue_pod_group_name(now) != NULL,
				  clock_wall(o->clock) - c->last_transition);
	}
}
