#include "sim/world/sim_workload.h"

#include <stdio.h>

#include "api/kueue/kueue_keys.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "play/mirror.h"
#include "sim/world/sim_view.h"

#define TEXT_MAX 200

const char *sim_workload_uid(const struct jdoc *object)
{
	return jdoc_str_or(jdoc_path(object, "metadata.uid"), "");
}

static const char *namespace_of(const struct jdoc *object)
{
	return jdoc_str_or(jdoc_path(object, "metadata.namespace"), "default");
}

char *sim_workload_key(const struct jdoc *object)
{
	return xmalloc_printf("%s/%s", namespace_of(object),
			      jdoc_str_or(jdoc_path(object, "metadata.name"), ""));
}

bool sim_workload_are_neighbours(const struct jdoc *a, const struct jdoc *b)
{
	return str_streq(namespace_of(a), namespace_of(b));
}

bool sim_workload_is_deleting(const struct jdoc *object)
{
	return jdoc_path(object, "metadata.deletionTimestamp") != NULL;
}

static const struct jdoc *condition(const struct jdoc *object, const char *type)
{
	return object == NULL ? NULL : mirror_pod_condition(object, type);
}

bool sim_workload_is(const struct jdoc *object, const char *type)
{
	return jdoc_is_str(jdoc_get(condition(object, type), "status"), "True");
}

const char *sim_workload_status(const struct jdoc *object, const char *type)
{
	return jdoc_str_or(jdoc_get(condition(object, type), "status"), "");
}

const char *sim_workload_reason(const struct jdoc *object, const char *type)
{
	return jdoc_str_or(jdoc_get(condition(object, type), "reason"), "");
}

const char *sim_workload_message(const struct jdoc *object, const char *type)
{
	return jdoc_str_or(jdoc_get(condition(object, type), "message"), "");
}

bool sim_workload_is_active(const struct jdoc *w)
{
	return jdoc_bool(jdoc_path(w, "spec.active"), true);
}

bool sim_workload_holds(const struct jdoc *w)
{
	return sim_workload_is(w, KUEUE_QUOTA_RESERVED) && sim_workload_queue(w) != NULL &&
	       !sim_workload_is(w, KUEUE_FINISHED) && sim_workload_is_active(w);
}

const char *sim_workload_queue(const struct jdoc *w)
{
	return jdoc_path_str(w, "status.admission.clusterQueue");
}

const char *sim_workload_owner(const struct jdoc *object)
{
	const struct jdoc *o = jdoc_first(jdoc_path(object, "metadata.ownerReferences"));

	while (o != NULL && !jdoc_bool(jdoc_get(o, "controller"), false)) {
		o = jdoc_next(o);
	}
	return jdoc_str_or(jdoc_get(o, "uid"), "");
}

bool sim_workload_is_of_pods(const struct jdoc *w)
{
	const struct jdoc *o = jdoc_first(jdoc_path(w, "metadata.ownerReferences"));

	return jdoc_is_str(jdoc_get(o, "kind"), "Pod");
}

bool sim_workload_has_finalizer(const struct jdoc *object, const char *name)
{
	const struct jdoc *f = jdoc_first(jdoc_path(object, "metadata.finalizers"));

	while (f != NULL && !jdoc_is_str(f, name)) {
		f = jdoc_next(f);
	}
	return f != NULL;
}

const struct jdoc *sim_workload_job(const struct sim_world *world, const struct jdoc *w)
{
	const struct jdoc *job = sim_view_by_uid(world->view, sim_workload_owner(w));

	return job != NULL && jdoc_is_str(jdoc_get(job, "kind"), "Job") &&
			       sim_workload_are_neighbours(job, w)
		       ? job
		       : NULL;
}

const struct jdoc *sim_workload_of(const struct sim_world *world, const struct jdoc *job)
{
	const struct jdoc *found = NULL;
	const char *uid = sim_workload_uid(job);

	for (size_t i = 0; i < sim_view_count(world->view, SIM_WORKLOADS); i++) {
		const struct jdoc *w = sim_view_at(world->view, SIM_WORKLOADS, i);

		if (str_streq(sim_workload_owner(w), uid) &&
		    (found == NULL || sim_workload_is(w, KUEUE_QUOTA_RESERVED)) &&
		    sim_workload_are_neighbours(job, w)) {
			found = w;
		}
	}
	return found;
}

const char *sim_workload_where(const struct sim_world *world, const struct jdoc *w)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("%s/%s", namespace_of(w),
				   jdoc_str_or(jdoc_path(w, "spec.queueName"), ""));

	return jdoc_path_str(sim_view_get(world->view, SIM_LOCAL_QUEUES, key), "spec.clusterQueue");
}

bool sim_workload_job_is_suspended(const struct jdoc *job)
{
	return jdoc_bool(jdoc_path(job, "spec.suspend"), false);
}

bool sim_workload_job_is_finished(const struct jdoc *job)
{
	return sim_workload_is(job, "Complete") || sim_workload_is(job, "Failed");
}

/* --- the trace ---------------------------------------------------------------------------------*/

static void describe_workload(const struct jdoc *w, char out[TEXT_MAX])
{
	static const char *const types[] = {
		KUEUE_QUOTA_RESERVED, KUEUE_ADMITTED, KUEUE_EVICTED,
		KUEUE_PREEMPTED,      KUEUE_REQUEUED, KUEUE_FINISHED,
	};
	int n = snprintf(out, TEXT_MAX, "uid %.8s%s%s in %s", sim_workload_uid(w),
			 sim_workload_is_active(w) ? "" : " inactive",
			 sim_workload_is_deleting(w) ? " deleting" : "",
			 jdoc_str_or(jdoc_path(w, "status.admission.clusterQueue"), "-"));

	for (size_t i = 0; i < ARRAY_LEN(types) && n < TEXT_MAX; i++) {
		const char *status = sim_workload_status(w, types[i]);

		if (status[0] != '\0') {
			n += snprintf(out + n, (size_t)(TEXT_MAX - n), " %.2s%c:%.14s", types[i],
				      status[0], sim_workload_reason(w, types[i]));
		}
	}
}

static void describe_job(const struct jdoc *job, char out[TEXT_MAX])
{
	snprintf(out, TEXT_MAX, "uid %.8s%s%s%s active %lld ready %lld succeeded %lld of %lld%s",
		 sim_workload_uid(job), sim_workload_job_is_suspended(job) ? " suspended" : "",
		 sim_workload_is_deleting(job) ? " deleting" : "",
		 sim_workload_job_is_finished(job) ? " finished" : "",
		 (long long)jdoc_int(jdoc_path(job, "status.active"), 0),
		 (long long)jdoc_int(jdoc_path(job, "status.ready"), 0),
		 (long long)jdoc_int(jdoc_path(job, "status.succeeded"), 0),
		 (long long)jdoc_int(jdoc_path(job, "spec.parallelism"), 0),
		 jdoc_get(jdoc_path(job, "metadata.annotations"), KUEUE_STOPPING) != NULL
			 ? " stopping"
			 : "");
}

void sim_workload_print(const char *what, const struct jdoc *part)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	jdoc_format(part, &text);
	printf("# %s: %s\n", what, text.p);
}

void sim_workload_trace(struct sim_world *w, const struct sim_change *change)
{
	void (*describe)(const struct jdoc *object, char out[TEXT_MAX]) =
		change->resource == SIM_WORKLOADS ? describe_workload
		: change->resource == SIM_JOBS    ? describe_job
						  : NULL;
	char old[TEXT_MAX] = "new", now[TEXT_MAX] = "gone";

	if (describe == NULL) {
		return;
	}
	if (change->old != NULL) {
		describe(change->old, old);
	}
	if (change->now != NULL) {
		describe(change->now, now);
	}
	if (!str_streq(old, now)) {
		sim_world_trace(w, "  %s %s: %s", change->resource == SIM_JOBS ? "job" : "workload",
				change->key, now);
	}
}
