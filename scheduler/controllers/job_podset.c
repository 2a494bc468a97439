#include "controllers/job_podset.h"

#include <stdlib.h>

#include "api/batch.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/sha1.h"
#include "base/strbuf.h"
#include "enc/encode.h"
#include "enc/jdoc.h"
#include "enc/json_out.h"

#define KIND "Job"
#define GROUP "batch"
#define HASH_DIGITS 5
#define PREFIX "job-"

/* Names are as Kueue's, so that Workloads of either are found by the other. */
static const char *make_name(const struct api_job *job, struct arena *arena)
{
	size_t most = JOB_PODSET_NAME_MAX - strlen(PREFIX) - 1 - HASH_DIGITS;
	const char *source = arena_printf(arena, KIND "\n" GROUP "\n%s\n%s", job->meta.name,
					  job->meta.uid == NULL ? "" : job->meta.uid);
	size_t len = strlen(job->meta.name);
	char hash[SHA1_HEX_SIZE];

	sha1_hex(str_of(source), hash);
	return arena_printf(arena, PREFIX "%.*s-%.*s", (int)(len < most ? len : most),
			    job->meta.name, HASH_DIGITS, hash);
}

/* Its template and parallelism may be those of an admission. */
static bool is_started(const struct api_job *job)
{
	return !batch_is_suspended(job) ||
	       field_map_get(&job->meta.annotations, KUEUE_STOPPING) != NULL;
}

static int32_t positive(const char *text)
{
	uint64_t n;

	return text != NULL && str_to_u64(str_of(text), &n) && n <= INT32_MAX ? (int32_t)n : 0;
}

static bool find_priority(const struct api_job *job, const struct job_podset_classes *classes,
			  struct job_podset *p)
{
	const char *name = field_map_get(&job->meta.labels, KUEUE_PRIORITY_CLASS);
	const char *wanted = job->spec.template_.spec.priority_class_name;

	if (name != NULL && name[0] != '\0') {
		p->class_group = KUEUE_GROUP;
		p->class_kind = "WorkloadPriorityClass";
		p->class_name = name;
		return classes->queue_class(classes->ctx, name, &p->priority);
	}
	if (classes->pod_class(classes->ctx, wanted, &name, &p->priority)) {
		p->class_group = "scheduling.k8s.io";
		p->class_kind = "PriorityClass";
		p->class_name = name;
		return true;
	}
	return wanted == NULL; /* no class is the default: priority 0 without a reference */
}

bool job_podset_of(const struct api_job *job, const struct job_podset_classes *classes,
		   struct arena *arena, struct job_podset *ret)
{
	const struct field_map *labels = &job->meta.labels, *notes = &job->meta.annotations;
	const char *queue = field_map_get(labels, KUEUE_QUEUE_NAME);
	const char *gate = field_map_get(notes, KUEUE_ADMISSION_GATED_BY);
	struct job_podset p = { .queue = queue == NULL ? "" : queue,
				.count = batch_pod_count(job),
				.min_count =
					positive(field_map_get(notes, KUEUE_JOB_MIN_PARALLELISM)),
				.max_execution =
					positive(field_map_get(labels, KUEUE_MAX_EXEC_TIME)),
				.gated_by = gate == NULL || gate[0] == '\0' ? NULL : gate };

	if (!find_priority(job, classes, &p)) {
		return false;
	}
	if (!is_started(job) && p.min_count >= p.count) {
		p.min_count = 0;
	}
	p.name = make_name(job, arena);
	*ret = p;
	return true;
}

/* --- equivalence -------------------------------------------------------------------------------
 */

static bool has_equal_specs(const struct api_pod_spec *a, const struct api_pod_spec *b,
			    bool with_tolerations)
{
	CLEANUP(strbuf_finish) struct strbuf ta = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf tb = STRBUF_INIT;
	struct api_pod_spec part;

	for (unsigned i = 0; i < 2; i++) {
		const struct api_pod_spec *from = i == 0 ? a : b;

		part = (struct api_pod_spec){ .priority = FIELD_NO_I32,
					      .containers = from->containers,
					      .init_containers = from->init_containers };
		if (with_tolerations) {
			part.tolerations.v = from->tolerations.v;
			part.tolerations.n = from->tolerations.n;
		}
		/* An empty list is as good as none. */
		if (part.init_containers.n == 0) {
			part.init_containers.v = NULL;
		}
		if (part.tolerations.n == 0) {
			part.tolerations.v = NULL;
		}
		encode_text(&pod_spec_fields, &part, i == 0 ? &ta : &tb);
	}
	return str_eq(strbuf_str(&ta), strbuf_str(&tb));
}

/* Nothing of a partial admission is left in the Workload once it is evicted and released, while the
 * Job still runs with fewer pods: any number that can have been admitted is right then. */
static bool has_count(const struct job_podset *p, const struct api_job *job,
		      const struct api_pod_set *set)
{
	int32_t count = set->count == FIELD_NO_I32 ? 1 : set->count;

	if (p->count == count) {
		return true;
	}
	return is_started(job) && set->min_count != FIELD_NO_I32 && p->count >= set->min_count &&
	       p->count < count;
}

bool job_podset_matches(const struct job_podset *p, const struct api_job *job,
			const struct api_workload *w)
{
	const struct api_pod_set *set = w->spec.pod_sets.v;
	int32_t min = p->min_count > 0 ? p->min_count : FIELD_NO_I32;
	int32_t limit = p->max_execution > 0 ? p->max_execution : FIELD_NO_I32;
	bool placed = is_started(job) || kueue_workload_is_reserving(w);

	return w->spec.pod_sets.n == 1 &&
	       str_streq(set->name == NULL ? JOB_PODSET_MAIN : set->name, JOB_PODSET_MAIN) &&
	       w->spec.max_execution_time == limit && has_count(p, job, set) &&
	       set->min_count == min &&
	       has_equal_specs(&job->spec.template_.spec, &set->template_.spec, !placed);
}

bool job_podset_is_synced(const struct job_podset *p, const struct api_workload *w)
{
	const struct api_priority_ref *ref = w->spec.priority_class_ref;
	int32_t priority = w->spec.priority == FIELD_NO_I32 ? 0 : w->spec.priority;
	const char *gate = field_map_get(&w->meta.annotations, KUEUE_ADMISSION_GATED_BY);

	return str_streq(p->queue, w->spec.queue_name == NULL ? "" : w->spec.queue_name) &&
	       p->priority == priority &&
	       str_streq(p->class_name, ref == NULL ? NULL : ref->name) &&
	       str_streq(p->class_kind, ref == NULL ? NULL : ref->kind) &&
	       str_streq(p->gated_by == NULL ? "" : p->gated_by, gate == NULL ? "" : gate);
}

/* --- JSON --------------------------------------------------------------------------------------
 */

void job_podset_open(const struct job_podset *p, struct json_out *o)
{
	json_out_array(o);
	json_out_object(o);
	json_out_kv(o, "name", JOB_PODSET_MAIN);
	json_out_kv_int(o, "count", p->count);
	if (p->min_count > 0) {
		json_out_kv_int(o, "minCount", p->min_count);
	}
	json_out_key(o, "template");
}

void job_podset_close(struct json_out *o)
{
	json_out_object_end(o);
	json_out_array_end(o);
}

void job_podset_spec(const struct job_podset *p, bool replace, struct json_out *o)
{
	json_out_kv(o, "queueName", p->queue);
	json_out_kv_int(o, "priority", p->priority);
	if (p->class_name != NULL) {
		json_out_key(o, "priorityClassRef");
		json_out_object(o);
		json_out_kv(o, "group", p->class_group);
		json_out_kv(o, "kind", p->class_kind);
		json_out_kv(o, "name", p->class_name);
		json_out_object_end(o);
	} else if (replace) {
		json_out_kv(o, "priorityClassRef", NULL);
	}
	if (p->max_execution > 0) {
		json_out_kv_int(o, "maximumExecutionTimeSeconds", p->max_execution);
	} else if (replace) {
		json_out_kv(o, "maximumExecutionTimeSeconds", NULL);
	}
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
