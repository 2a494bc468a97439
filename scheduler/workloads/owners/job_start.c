#include "scheduler/workloads/owners/job_start.h"

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/workloads/owners/job_podset.h"
#include "scheduler/workloads/owners/owner_plan.h"
#include "scheduler/workloads/owners/placement.h"

static void close_patch(struct json_out *o)
{
	json_out_object_end(o);
	json_out_end(o);
}

/* Fewer pods than asked for; with the annotation completions follow (Indexed Jobs). */
static void write_count(struct json_out *o, const struct api_job *job, int32_t count)
{
	json_out_kv_int(o, "parallelism", count);
	if (field_map_is(&job->meta.annotations, KUEUE_JOB_COMPLETIONS_EQUAL, "true")) {
		json_out_kv_int(o, "completions", count);
	}
}

static void write_start(const struct api_job *job, const struct placement *m, int32_t count,
			struct strbuf *body)
{
	struct json_out o;

	owner_plan_open(&o, body, &job->meta);
	json_out_key(&o, "annotations");
	json_out_object(&o);
	json_out_kv(&o, KEYS_STARTED, "true");
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	json_out_kv_bool(&o, "suspend", false);
	if (count > 0) {
		write_count(&o, job, count);
	}
	json_out_key(&o, "template");
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	placement_write_meta(m, &o);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	placement_write_spec(m, &job->spec.template_.spec, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	close_patch(&o);
}

int job_start_patch(const struct api_job *job, const struct api_workload *w,
		    const struct placement_flavors *flavors, struct strbuf *body, struct err *err)
{
	CLEANUP(placement_finish) struct placement m = { 0 };
	const struct placement_of of = { &job->spec.template_.meta, &job->spec.template_.spec, w,
					 OWNER_SPEC_MAIN };
	const struct api_pod_set_assignment *a = kueue_workload_assignment(w, OWNER_SPEC_MAIN);
	const struct api_pod_set *set = w->spec.pod_sets.v;
	int32_t count = 0;
	int r;

	if (w->spec.pod_sets.n != 1) {
		return err_set(err, ERR_INVALID, "the Workload has more than pod set %s",
			       OWNER_SPEC_MAIN);
	}
	r = placement_make(&of, flavors, &m, err);
	if (r < 0) {
		return r;
	}
	if (set->min_count != FIELD_NO_I32 && a->count != FIELD_NO_I32) {
		count = a->count;
	}
	write_start(job, &m, count, body);
	return 0;
}

static void write_suspend(const struct api_job *job, bool suspend, bool mark, struct strbuf *body)
{
	struct json_out o;

	owner_plan_open(&o, body, &job->meta);
	if (mark) {
		json_out_key(&o, "annotations");
		json_out_object(&o);
		json_out_kv(&o, KUEUE_STOPPING, "true");
		json_out_object_end(&o);
	}
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	json_out_kv_bool(&o, "suspend", suspend);
	json_out_object_end(&o);
	close_patch(&o);
}

void job_start_suspend(const struct api_job *job, struct strbuf *body)
{
	write_suspend(job, true, true, body);
}

void job_start_hold(const struct api_job *job, struct strbuf *body)
{
	write_suspend(job, true, false, body);
}

void job_start_nested(const struct api_job *job, struct strbuf *body)
{
	write_suspend(job, false, false, body);
}

void job_start_reset(const struct api_job *job, struct strbuf *body)
{
	struct json_out o;

	owner_plan_open(&o, body, &job->meta);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	json_out_kv(&o, "startTime", NULL);
	json_out_object_end(&o);
	close_patch(&o);
}

/* What a merge patch needs to make `now` into `then`. */
static void write_difference(struct json_out *o, const char *name, const struct field_map *now,
			     const struct field_map *then)
{
	json_out_key(o, name);
	json_out_object(o);
	for (size_t i = 0; i < now->n; i++) {
		if (field_map_get(then, now->v[i].key) == NULL &&
		    !job_podset_is_controller_label(now->v[i].key)) {
			json_out_kv(o, now->v[i].key, NULL);
		}
	}
	for (size_t i = 0; i < then->n; i++) {
		if (!field_map_is(now, then->v[i].key, then->v[i].value)) {
			json_out_kv(o, then->v[i].key, then->v[i].value);
		}
	}
	json_out_object_end(o);
}

static void write_template(struct json_out *o, const struct api_pod_template *now,
			   const struct api_pod_template *then)
{
	struct placement_tolerations t = VEC_INIT;

	json_out_key(o, "template");
	json_out_object(o);
	json_out_key(o, "metadata");
	json_out_object(o);
	write_difference(o, "labels", &now->meta.labels, &then->meta.labels);
	write_difference(o, "annotations", &now->meta.annotations, &then->meta.annotations);
	json_out_object_end(o);
	json_out_key(o, "spec");
	json_out_object(o);
	write_difference(o, "nodeSelector", &now->spec.node_selector, &then->spec.node_selector);
	for (size_t i = 0; i < then->spec.tolerations.n; i++) {
		vec_push(&t, &then->spec.tolerations.v[i]);
	}
	placement_write_tolerations(t.v, t.n, o);
	json_out_object_end(o);
	json_out_object_end(o);
	vec_finish(&t);
}

void job_start_restore(const struct api_job *job, const struct api_workload *w, struct strbuf *body)
{
	const struct api_pod_set *set =
		w == NULL || w->spec.pod_sets.n != 1 ? NULL : w->spec.pod_sets.v;
	struct json_out o;

	owner_plan_open(&o, body, &job->meta);
	json_out_key(&o, "annotations");
	json_out_object(&o);
	json_out_kv(&o, KEYS_STARTED, NULL);
	json_out_kv(&o, KUEUE_STOPPING, NULL);
	json_out_object_end(&o);
	json_out_object_end(&o);
	if (set != NULL) {
		json_out_key(&o, "spec");
		json_out_object(&o);
		if (set->min_count != FIELD_NO_I32) {
			write_count(&o, job, set->count == FIELD_NO_I32 ? 1 : set->count);
		}
		write_template(&o, &job->spec.template_, &set->template_);
		json_out_object_end(&o);
	}
	close_patch(&o);
}
