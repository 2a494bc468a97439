#include "scheduler/workloads/owners/job_start.h"

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "scheduler/workloads/owners/job_podset.h"
#include "scheduler/workloads/owners/owner_plan.h"
#include "scheduler/workloads/owners/placement.h"

/* Every patch is of the Job as it was seen: if another client has changed it, a new plan is
 * made. */
static void begin(const struct api_job *job, struct api_job *ret)
{
	decode_init(&batch_job_fields, ret);
	owner_plan_same(&job->meta, &ret->meta);
}

/* Fewer pods than asked for; with the annotation completions follow (Indexed Jobs). */
static void set_count(const struct api_job *job, int32_t count, struct api_job_spec *ret)
{
	ret->parallelism = count;
	if (field_map_is(&job->meta.annotations, KUEUE_JOB_COMPLETIONS_EQUAL, "true")) {
		ret->completions = count;
	}
}

static void write_start(const struct api_job *job, const struct placement *m, int32_t count,
			struct strbuf *body)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct field_pair started = { KEYS_STARTED, "true" };
	struct api_job patch;

	begin(job, &patch);
	/* In the same write as the start: no Job runs with an admission and without the mark. */
	patch.meta.annotations = (struct field_map){ &started, 1 };
	patch.spec.suspend = false;
	if (count > 0) {
		set_count(job, count, &patch.spec);
	}
	placement_fill(m, &job->spec.template_.spec, arena, &patch.spec.template_.meta,
		       &patch.spec.template_.spec);
	encode_text(&batch_job_fields, &patch, body);
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
		return err_set(err, ERR_INVALID,
			       "the Workload must have exactly one pod set, \"%s\"",
			       OWNER_SPEC_MAIN);
	}
	r = placement_make(&of, flavors, &m, err);
	if (r < 0) {
		return r;
	}
	/* Only partial admission changes parallelism: otherwise the Job keeps its own. */
	if (set->min_count != FIELD_NO_I32 && a->count != FIELD_NO_I32) {
		count = a->count;
	}
	write_start(job, &m, count, body);
	return 0;
}

static void write_suspend(const struct api_job *job, bool suspend, bool mark, struct strbuf *body)
{
	const struct field_pair stopping = { KUEUE_STOPPING, "true" };
	struct api_job patch;

	begin(job, &patch);
	/* Kueue's annotation: whichever program goes on, it knows that a stop is under way. */
	if (mark) {
		patch.meta.annotations = (struct field_map){ &stopping, 1 };
	}
	patch.spec.suspend = suspend;
	encode_text(&batch_job_fields, &patch, body);
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

/* The API server refuses changes of the template while status.startTime is set; it goes first, in a
 * write of the status. */
void job_start_reset(const struct api_job *job, struct strbuf *body)
{
	struct api_job patch;
	const void *const nulls[] = { &patch.status.start_time, NULL };

	begin(job, &patch);
	encode_merge(&batch_job_fields, &patch, nulls, body);
}

/* The entries of a merge patch that make `now` into `then`. */
static struct field_map difference(const struct field_map *now, const struct field_map *then,
				   struct arena *arena)
{
	struct field_pair *v = arena_zero(arena, now->n + then->n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < now->n; i++) {
		/* A pair without a value removes the key. */
		/* The selector of the Job needs the labels of the Job controller, which the
		 * Workload does not have. */
		if (field_map_get(then, now->v[i].key) == NULL &&
		    !job_podset_is_controller_label(now->v[i].key)) {
			v[n++].key = now->v[i].key;
		}
	}
	for (size_t i = 0; i < then->n; i++) {
		if (!field_map_is(now, then->v[i].key, then->v[i].value)) {
			v[n++] = then->v[i];
		}
	}
	return (struct field_map){ v, n };
}

static void restore_template(const struct api_pod_template *now,
			     const struct api_pod_template *then, struct arena *arena,
			     struct api_pod_template *ret)
{
	ret->meta.labels = difference(&now->meta.labels, &then->meta.labels, arena);
	ret->meta.annotations = difference(&now->meta.annotations, &then->meta.annotations, arena);
	ret->spec.node_selector =
		difference(&now->spec.node_selector, &then->spec.node_selector, arena);
	if (then->spec.tolerations.n > 0) {
		ret->spec.tolerations.v = then->spec.tolerations.v;
		ret->spec.tolerations.n = then->spec.tolerations.n;
	}
}

void job_start_restore(const struct api_job *job, const struct api_workload *w, struct strbuf *body)
{
	static const struct field_pair marks[] = { { KEYS_STARTED, NULL },
						   { KUEUE_STOPPING, NULL } };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct api_pod_set *set =
		w == NULL || w->spec.pod_sets.n != 1 ? NULL : w->spec.pod_sets.v;
	struct api_job patch;
	/* A list cannot be patched by item: it is replaced, or removed where the Workload has
	 * none. */
	const void *const nulls[] = { set == NULL ? NULL : &patch.spec.template_.spec.tolerations,
				      NULL };

	begin(job, &patch);
	patch.meta.annotations = (struct field_map){ marks, ARRAY_LEN(marks) };
	if (set != NULL) {
		if (set->min_count != FIELD_NO_I32) {
			set_count(job, set->count == FIELD_NO_I32 ? 1 : set->count, &patch.spec);
		}
		restore_template(&job->spec.template_, &set->template_, arena,
				 &patch.spec.template_);
	}
	encode_merge(&batch_job_fields, &patch, nulls, body);
}
