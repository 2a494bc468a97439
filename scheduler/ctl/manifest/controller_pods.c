#include "scheduler/ctl/manifest/controller_pods.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/manifest/manifest_check.h"
#include "scheduler/ctl/manifest/other_objects.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"

struct kept {
	struct jdoc *object;
	char *where;
};

struct controller_pods {
	struct VEC(struct kept) kept;
};

struct making {
	struct sim_input *in;
	struct manifest_check *check;
	const struct kueue_conf_owners *owners;
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

struct controller_pods *controller_pods_create(void)
{
	return xmalloc_zero(1, sizeof(struct controller_pods));
}

void controller_pods_destroyp(struct controller_pods **pp)
{
	struct controller_pods *p = *pp;

	if (p == NULL) {
		return;
	}
	for (size_t i = 0; i < p->kept.n; i++) {
		jdoc_destroy(p->kept.v[i].object);
		free(p->kept.v[i].where);
	}
	vec_finish(&p->kept);
	free(p);
	*pp = NULL;
}

void controller_pods_keep(struct controller_pods *p, const struct jdoc *object, const char *where)
{
	struct kept k = { jdoc_copy(object), xmalloc_dup(where) };

	vec_push(&p->kept, k);
}

static const char *namespace_of(const struct jdoc *object)
{
	const char *space = jdoc_path_str(object, "metadata.namespace");

	return space == NULL || space[0] == '\0' ? "default" : space;
}

/* --- taking part -------------------------------------------------------------------------------*/

/* Annotations of pods and labels of namespaces have the same keys. */
static bool opts_in(const struct jdoc *map)
{
	const struct gate_row *row;

	for (size_t i = 0; (row = gate_at(i)) != NULL; i++) {
		if (jdoc_is_str(jdoc_get(map, row->annotation), "true")) {
			return true;
		}
	}
	return false;
}

static bool plays_a_part(const struct making *m, const struct jdoc *object)
{
	const struct jdoc *template = jdoc_path(object, "spec.template");
	const struct jdoc *labels = jdoc_path(template, "metadata.labels");
	const struct sim_object *space =
		sim_input_find(m->in, SCHED_NAMESPACES, namespace_of(object));

	return opts_in(jdoc_path(template, "metadata.annotations")) ||
	       (space != NULL && opts_in(jdoc_path(space->json, "metadata.labels"))) ||
	       jdoc_is_str(jdoc_path(template, "spec.schedulerName"), KEYS_DEFAULT_SCHEDULER) ||
	       (m->owners->pods && jdoc_str_or(jdoc_get(labels, KUEUE_QUEUE_NAME), "")[0] != '\0');
}

/* --- pods --------------------------------------------------------------------------------------*/

static void set_owner(struct jdoc *meta, const struct jdoc *object, const char *key)
{
	struct jdoc *owners = jdoc_set_take(meta, "ownerReferences", jdoc_new_array());
	struct jdoc *owner = jdoc_append_take(owners, jdoc_new_object());
	CLEANUP(xmalloc_freep) char *uid = xmalloc_printf("uid-of-%s", key);

	jdoc_set_str(owner, "apiVersion", jdoc_str_or(jdoc_get(object, "apiVersion"), ""));
	jdoc_set_str(owner, "kind", jdoc_str_or(jdoc_get(object, "kind"), ""));
	jdoc_set_str(owner, "name", jdoc_path_str(object, "metadata.name"));
	jdoc_set_str(owner, "uid", uid);
	jdoc_set_bool(owner, "controller", true);
}

/* The labels by which selectors find pods of a Job, and one pod of a StatefulSet. */
static void add_labels(struct jdoc *meta, const struct jdoc *object, int64_t i)
{
	struct jdoc *labels = jdoc_ensure_object(meta, "labels");
	const char *owner = jdoc_path_str(object, "metadata.name");
	CLEANUP(xmalloc_freep) char *index = xmalloc_printf("%lld", (long long)i);

	if (jdoc_is_str(jdoc_get(object, "kind"), "Job")) {
		jdoc_set_str(labels, "batch.kubernetes.io/job-name", owner);
		jdoc_set_str(labels, "job-name", owner);
	} else if (jdoc_is_str(jdoc_get(object, "kind"), "StatefulSet")) {
		jdoc_set_str(labels, "statefulset.kubernetes.io/pod-name",
			     jdoc_str(jdoc_get(meta, "name")));
		jdoc_set_str(labels, "apps.kubernetes.io/pod-index", index);
	}
}

static struct jdoc *make_pod(const struct jdoc *object, const char *key, int64_t i)
{
	const struct jdoc *template = jdoc_path(object, "spec.template");
	const char *created = jdoc_path_str(object, "metadata.creationTimestamp");
	struct jdoc *pod = jdoc_copy(template), *meta = jdoc_ensure_object(pod, "metadata");
	CLEANUP(xmalloc_freep)
	char *name =
		xmalloc_printf("%s-%lld", jdoc_path_str(object, "metadata.name"), (long long)i);

	jdoc_set_str(pod, "apiVersion", "v1");
	jdoc_set_str(pod, "kind", "Pod");
	jdoc_set_str(meta, "name", name);
	jdoc_set_str(meta, "namespace", namespace_of(object));
	if (created != NULL) {
		jdoc_set_str(meta, "creationTimestamp", created);
	}
	set_owner(meta, object, key);
	add_labels(meta, object, i);
	return pod;
}

/* A Job starts as many at once as may run beside each other and are still to be completed; null is
 * as good as nothing. */
static int64_t count_of(const struct jdoc *object)
{
	int64_t parallelism, completions;

	if (!jdoc_is_str(jdoc_get(object, "kind"), "Job")) {
		return jdoc_int(jdoc_path(object, "spec.replicas"), 1);
	}
	parallelism = jdoc_int(jdoc_path(object, "spec.parallelism"), 1);
	completions = jdoc_int(jdoc_path(object, "spec.completions"), parallelism);
	return completions < parallelism ? completions : parallelism;
}

static void make_pods(const struct making *m, const struct jdoc *object, const char *where)
{
	int64_t n = count_of(object);
	const char *name = jdoc_path_str(object, "metadata.name");
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", namespace_of(object), name);
	CLEANUP(xmalloc_freep)
	char *head = xmalloc_printf("%s: %s %s", where, jdoc_str(jdoc_get(object, "kind")), key);
	CLEANUP(xmalloc_freep) char *text = NULL;

	if (n > CONTROLLER_PODS_MAX) {
		text = xmalloc_printf("%s: %lld pods: more than %d of one object are not simulated",
				      head, (long long)n, CONTROLLER_PODS_MAX);
		manifest_check_problem(m->check, text);
		return;
	}
	if (jdoc_count(jdoc_path(object, "spec.volumeClaimTemplates")) > 0) {
		text = xmalloc_printf("%s: spec.volumeClaimTemplates: its pods are simulated "
				      "without these volumes",
				      head);
		m->warn(m->ctx, text);
	}
	for (int64_t i = 0; i < n; i++) {
		CLEANUP(xmalloc_freep) char *pod = xmalloc_printf("%s-%lld", key, (long long)i);

		if (sim_input_find(m->in, SCHED_PODS, pod) == NULL) {
			/* It has a name. */
			(void)sim_input_take(m->in, SCHED_PODS, make_pod(object, key, i), head,
					     NULL);
		}
	}
}

static void make_of_jobs(const struct making *m)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(m->in, &n);
	struct VEC(struct sim_object *) jobs = VEC_INIT;

	/* The list of objects does not outlive the first pod that is added. */
	for (size_t i = 0; i < n; i++) {
		const struct jdoc *o = objects[i]->json;

		if (objects[i]->kind == SCHED_JOBS && sim_input_is_new(objects[i]) &&
		    !jdoc_bool(jdoc_path(o, "spec.suspend"), false) &&
		    !other_objects_job_queues(o, m->owners) && plays_a_part(m, o)) {
			vec_push(&jobs, objects[i]);
		}
	}
	for (size_t i = 0; i < jobs.n; i++) {
		jobs.v[i]->has_pods = true;
		make_pods(m, jobs.v[i]->json, jobs.v[i]->where);
	}
	vec_finish(&jobs);
}

void controller_pods_make(struct controller_pods *p, struct sim_input *in,
			  struct manifest_check *check, const struct kueue_conf_owners *owners,
			  void (*warn)(void *ctx, const char *text), void *ctx)
{
	const struct making m = { in, check, owners, warn, ctx };

	for (size_t i = 0; i < p->kept.n; i++) {
		struct jdoc *object = p->kept.v[i].object;
		const char *where = p->kept.v[i].where;

		if (!plays_a_part(&m, object)) {
			manifest_check_leave_out(check, object, where);
		} else if (manifest_check_controller(check, object, where)) {
			make_pods(&m, object, where);
		}
	}
	/* Their templates are checked already, if nothing is wrong. */
	if (manifest_check_problems(check) == 0) {
		make_of_jobs(&m);
	}
}
