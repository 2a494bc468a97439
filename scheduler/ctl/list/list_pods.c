#include "scheduler/ctl/list/list_pods.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "api/kueue/kueue_keys.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/explain/live_workloads.h"

#define JOB_NAME "batch.kubernetes.io/job-name"

/* --- which ones --------------------------------------------------------------------------------*/

static bool is_named(const struct jdoc *pod, const char *name)
{
	return jdoc_is_str(jdoc_path(pod, "metadata.name"), name);
}

static const char *label_of(const struct jdoc *pod, const char *label)
{
	return jdoc_str(jdoc_get(jdoc_path(pod, "metadata.labels"), label));
}

bool list_pods_wanted(const struct list_pods *l, const struct jdoc *pod)
{
	return l->value != NULL &&
	       (l->label == NULL ? is_named(pod, l->value)
				 : str_streq(label_of(pod, l->label), l->value));
}

/* The pod itself, in its namespace; NULL: there is none. */
static const struct jdoc *find_pod(const struct cluster_args *a,
				   const struct live_workloads *source, const char *name)
{
	size_t n;
	struct sim_object *const *v = sim_input_objects(source->in, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i]->kind == SCHED_PODS && is_named(v[i]->json, name) &&
		    (a->all_namespaces ||
		     jdoc_is_str(jdoc_path(v[i]->json, "metadata.namespace"), a->namespace_))) {
			return v[i]->json;
		}
	}
	return NULL;
}

/* source: the pods of that name are read into it. */
/* The pod says whether it queues in a group, and the label of the group selects all of them: so
 * it is read before the list. */
static int choose_group(const struct cluster_args *a, const char *name, struct list_pods *ret,
			struct live_workloads *source, struct err *err)
{
	CLEANUP(xmalloc_freep) char *fields = xmalloc_printf("metadata.name=%s", name);
	int r = live_workloads_pods(a, NULL, fields, source, err);
	const struct jdoc *pod = r < 0 ? NULL : find_pod(a, source, name);
	const char *group = pod == NULL ? NULL : label_of(pod, KUEUE_POD_GROUP_NAME);

	if (pod != NULL) {
		ret->label = group == NULL ? NULL : KUEUE_POD_GROUP_NAME;
		ret->value = xmalloc_dup(group == NULL ? name : group);
	}
	return r;
}

static int choose(const struct cluster_args *a, struct list_pods *ret,
		  struct live_workloads *source, struct err *err)
{
	struct str name = str_of(a->owner), type = str_next(&name, '/');
	const struct kinds_row *kind;

	kind = kinds_by_alias(type);
	if (kind != NULL && str_streq(kind->kind, "Pod")) {
		return choose_group(a, name.p, ret, source, err);
	}
	if (kind == NULL || !str_streq(kind->kind, "Job") || !str_streq(kind->group, "batch")) {
		return err_set(err, ERR_INVALID, "--for %s: only jobs and pods are supported",
			       a->owner);
	}
	ret->label = JOB_NAME;
	ret->value = xmalloc_dup(name.p);
	return 0;
}

int list_pods_read(const struct cluster_args *a, struct list_pods *ret,
		   struct live_workloads *source, struct err *err)
{
	struct list_pods l = { 0 };
	CLEANUP(strbuf_finish) struct strbuf selector = STRBUF_INIT;
	int r = choose(a, &l, source, err);

	if (r == 0 && l.label != NULL) {
		live_workloads_finish(source);
		strbuf_printf(&selector, "%s=%s", l.label, l.value);
		r = live_workloads_pods(a, selector.p, NULL, source, err);
	}
	if (r < 0) {
		list_pods_finish(&l);
		return r;
	}
	*ret = l;
	return 0;
}

void list_pods_finish(struct list_pods *l)
{
	free(l->value);
	l->value = NULL;
}

/* --- how they are shown ------------------------------------------------------------------------*/

/* The reason why a container does not run; NULL: it runs, or its state is unknown. As kubectl
 * shows it: it says more than the phase of the pod. */
static const char *state_of(const struct jdoc *container)
{
	const char *waits = jdoc_path_str(container, "state.waiting.reason");

	return waits != NULL ? waits : jdoc_path_str(container, "state.terminated.reason");
}

static bool is_gated(const struct jdoc *pod)
{
	const struct jdoc *c = jdoc_first(jdoc_path(pod, "status.conditions"));

	while (c != NULL && !jdoc_is_str(jdoc_get(c, "type"), KEYS_CONDITION_SCHEDULED)) {
		c = jdoc_next(c);
	}
	return jdoc_is_str(jdoc_get(c, "reason"), KEYS_REASON_GATED);
}

static const char *status_of(const struct jdoc *pod)
{
	const char *status = jdoc_path_str(pod, "status.reason");
	const struct jdoc *c = jdoc_first(jdoc_path(pod, "status.containerStatuses"));

	if (jdoc_path_str(pod, "metadata.deletionTimestamp") != NULL) {
		return "Terminating";
	}
	if (status == NULL) {
		status = is_gated(pod) ? KEYS_REASON_GATED
				       : jdoc_str_or(jdoc_path(pod, "status.phase"), "Unknown");
	}
	for (; c != NULL; c = jdoc_next(c)) {
		status = state_of(c) == NULL ? status : state_of(c);
	}
	return status;
}

void list_pods_add(struct columns *table, const struct jdoc *pod)
{
	const struct jdoc *c = jdoc_first(jdoc_path(pod, "status.containerStatuses"));
	size_t ready = 0;
	int64_t restarts = 0;

	for (; c != NULL; c = jdoc_next(c)) {
		ready += jdoc_bool(jdoc_get(c, "ready"), false);
		restarts += jdoc_int(jdoc_get(c, "restartCount"), 0);
	}
	columns_add(table, "%zu/%zu", ready, jdoc_count(jdoc_path(pod, "spec.containers")));
	columns_add(table, "%s", status_of(pod));
	columns_add(table, "%" PRId64, restarts);
}
