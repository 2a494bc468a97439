#include "scheduler/workloads/owners/job_podset.h"

#include <stdlib.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "enc/json/jdoc.h"

bool job_podset_is_marked(const struct api_job *job)
{
	return field_map_get(&job->meta.annotations, KEYS_STARTED) != NULL ||
	       field_map_get(&job->meta.annotations, KUEUE_STOPPING) != NULL;
}

/* Its template and parallelism may be those of an admission, not the user's. */
static bool is_started(const struct api_job *job)
{
	return !batch_is_suspended(job) || job_podset_is_marked(job);
}

bool job_podset_of(const struct api_job *job, const struct owner_spec_classes *classes,
		   struct arena *arena, struct owner_spec *ret)
{
	const char *min = field_map_get(&job->meta.annotations, KUEUE_JOB_MIN_PARALLELISM);
	struct owner_spec_podset *p = arena_zero(arena, 1, sizeof(*p));
	struct owner_spec s;

	if (!owner_spec_read(&job->meta, job->spec.template_.spec.priority_class_name, classes,
			     &s)) {
		return false;
	}
	*p = (struct owner_spec_podset){ .name = OWNER_SPEC_MAIN,
					 .count = batch_pod_count(job),
					 .min_count = owner_spec_positive(min),
					 .from = { job->meta.name, job->meta.uid } };
	/* No fewer pods are possible then. A Job that was started may have its parallelism from a
	 * partial admission, so it is not asked. */
	if (!is_started(job) && p->min_count >= p->count) {
		p->min_count = 0;
	}
	s.name = owner_spec_name("job-", "Job", "batch", &job->meta, arena);
	s.podsets = p;
	s.npodsets = 1;
	*ret = s;
	return true;
}

/* An evicted and released Workload no longer shows how many pods were admitted, while the Job still
 * runs with fewer pods than it asked for: then any number that can have been admitted matches. */
static bool has_count(int32_t asked, const struct api_job *job, const struct api_pod_set *set)
{
	int32_t count = set->count == FIELD_NO_I32 ? 1 : set->count;

	if (asked == count) {
		return true;
	}
	return is_started(job) && set->min_count != FIELD_NO_I32 && asked >= set->min_count &&
	       asked < count;
}

/* A Job that asks for no more pods than its minimum has a Workload without a minimum. */
static bool has_min_count(int32_t asked, const struct api_pod_set *set)
{
	int32_t count = set->count == FIELD_NO_I32 ? 1 : set->count;

	return set->min_count == FIELD_NO_I32 ? asked <= 0 || asked >= count
					      : set->min_count == asked;
}

bool job_podset_matches(const struct owner_spec *s, const struct api_job *job,
			const struct api_workload *w)
{
	const struct api_pod_set *set = w->spec.pod_sets.v;
	int32_t limit = s->max_execution > 0 ? s->max_execution : FIELD_NO_I32;
	/* Flavors add tolerations to the pods of an admission. */
	bool placed = is_started(job) || kueue_workload_is_reserving(w);

	return w->spec.pod_sets.n == 1 &&
	       str_streq(set->name == NULL ? OWNER_SPEC_MAIN : set->name, OWNER_SPEC_MAIN) &&
	       w->spec.max_execution_time == limit && has_count(s->podsets->count, job, set) &&
	       has_min_count(s->podsets->min_count, set) &&
	       owner_spec_same_pods(&job->spec.template_.spec, &set->template_.spec, !placed);
}

bool job_podset_is_controller_label(const char *key)
{
	static const char *const keys[] = { "controller-uid", "job-name",
					    "batch.kubernetes.io/controller-uid",
					    "batch.kubernetes.io/job-name" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (str_streq(key, keys[i])) {
			return true;
		}
	}
	return false;
}

/* The labels of the Job controller are those of one Job and its UID: Kueue leaves them out of
 * Workloads. */
struct jdoc *job_podset_template(const struct jdoc *job)
{
	const struct jdoc *found = jdoc_path(job, "spec.template");
	struct jdoc *t, *labels;

	if (jdoc_kind(found) != JDOC_OBJECT) {
		return NULL;
	}
	t = jdoc_copy(found);
	labels = jdoc_get_mut(jdoc_get_mut(t, "metadata"), "labels");
	for (const struct jdoc *l = jdoc_first(labels); l != NULL;) {
		const struct jdoc *next = jdoc_next(l);

		if (job_podset_is_controller_label(jdoc_key(l))) {
			(void)jdoc_remove(labels, jdoc_key(l));
		}
		l = next;
	}
	return t;
}
