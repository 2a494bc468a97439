#include "scheduler/ctl/list/missing_workload.h"

#include <string.h>

#include "api/kinds.h"
#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/ctl/list/workload_owner.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)

struct missing {
	const struct live_workloads *s;
	const char *type, *key;
	struct str space; /* of the key */
	const char *name;
	bool from_cluster;
	struct nearest near;
	struct strbuf text;
};

static bool is_in_space(const struct missing *m, const struct jdoc *object)
{
	return str_eq_c(m->space, jdoc_path_str(object, "metadata.namespace"));
}

/* The owners of Workloads, of that type and in that namespace. */
static void offer_owners(struct missing *m)
{
	size_t n;
	struct sim_object *const *v = sim_input_objects(m->s->in, &n);

	for (size_t i = 0; i < n; i++) {
		const char *owner =
			v[i]->kind != SCHED_WORKLOADS
				? NULL
				: jdoc_str(jdoc_get(workload_owner_of(v[i]->json), "name"));

		if (owner != NULL && is_in_space(m, v[i]->json) &&
		    workload_owner_is(v[i]->json, m->type, owner)) {
			nearest_offer(&m->near, str_of(owner));
		}
	}
}

static void on_item(void *ctx, const struct jdoc *item)
{
	nearest_offer(ctx, str_of(jdoc_path_str(item, "metadata.name")));
}

/* Appends the LocalQueues of the namespace, for a label that is missing or names none of them. */
static void describe_queues(struct missing *m)
{
	const char *before = " (the LocalQueues there: ";
	size_t n, found = 0;
	struct sim_object *const *v = sim_input_objects(m->s->in, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i]->kind == SCHED_LOCAL_QUEUES && is_in_space(m, v[i]->json)) {
			strbuf_printf(&m->text, "%s%s", before,
				      jdoc_str_or(jdoc_path(v[i]->json, "metadata.name"), ""));
			before = ", ";
			found++;
		}
	}
	strbuf_add_c(&m->text, found > 0 ? ")" : " (it has no LocalQueue)");
}

/* object: the job or pod as the cluster has it. */
static void describe_object(struct missing *m, const struct jdoc *object)
{
	const char *queue =
		jdoc_str(jdoc_get(jdoc_path(object, "metadata.labels"), KUEUE_QUEUE_NAME));

	strbuf_printf(&m->text, "%s %s has no Workload: ", m->type, m->key);
	/* Without the label nothing was asked for; with it, something went wrong: these are two
	 * answers. */
	if (queue == NULL) {
		strbuf_printf(&m->text,
			      "it does not queue, because it has no label " KUEUE_QUEUE_NAME
			      " with the name of a LocalQueue of namespace " STR_FMT,
			      STR_ARG(m->space));
		describe_queues(m);
		return;
	}
	strbuf_printf(&m->text,
		      "it has the label " KUEUE_QUEUE_NAME "=%s, but no Workload was made for it",
		      queue);
	if (m->from_cluster) {
		strbuf_printf(&m->text,
			      "; its events may say why (kubectl describe %s %s -n " STR_FMT ")",
			      m->type, m->name, STR_ARG(m->space));
	}
}

static void describe_unread(struct missing *m)
{
	strbuf_printf(&m->text,
		      "%s %s has no Workload; it gets one if it has the label " KUEUE_QUEUE_NAME,
		      m->type, m->key);
	nearest_add_hint(&m->near, &m->text);
}

static void describe_absent(struct missing *m, struct transport *t, const struct kinds_row *kind)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, space = STRBUF_INIT;

	strbuf_add_str(&space, m->space);
	rest_path(&path, kind->group, kind->version, space.p, kind->plural, NULL, NULL);
	/* Only for a hint: a list that is forbidden changes nothing. */
	(void)rest_list(t, path.p, CALL_NS, on_item, &m->near, NULL);
	strbuf_printf(&m->text, "%s %s not found", m->type, m->key);
	nearest_add_hint(&m->near, &m->text);
}

static enum sched_resource resource_of(const struct kinds_row *kind)
{
	enum sched_resource r = (enum sched_resource)0;

	while (r < SCHED_RESOURCE_COUNT_ && sched_kinds_names(r) != kind) {
		r = (enum sched_resource)(r + 1);
	}
	return r;
}

/* With objects as they are, Jobs are not read. */
static void find_and_describe(struct missing *m, const struct kinds_row *kind)
{
	const enum sched_resource resource = resource_of(kind);
	const struct sim_object *o = resource == SCHED_RESOURCE_COUNT_
					     ? NULL
					     : sim_input_find(m->s->in, resource, m->key);
	size_t n;
	struct sim_object *const *v = sim_input_objects(m->s->in, &n);

	if (o != NULL) {
		describe_object(m, o->json);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i]->kind == resource && is_in_space(m, v[i]->json)) {
			on_item(&m->near, v[i]->json);
		}
	}
	strbuf_printf(&m->text, "%s %s not found in the manifests", m->type, m->key);
	nearest_add_hint(&m->near, &m->text);
}

static void read_and_describe(struct missing *m, struct transport *t, const struct kinds_row *kind)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, space = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
	int r;

	strbuf_add_str(&space, m->space);
	rest_path(&path, kind->group, kind->version, space.p, kind->plural, m->name, NULL);
	r = rest_call(t, HTTP_GET, path.p, NULL, str_of(NULL), CALL_NS, &object, NULL);
	if (r == -ERR_NOT_FOUND) {
		describe_absent(m, t, kind);
	} else if (r < 0) {
		describe_unread(m);
	} else {
		describe_object(m, object);
	}
}

/* Where the answer comes from:
 * 1. With manifests read strictly, Jobs and pods are among the objects.
 * 2. With a cluster, the object is read by itself: it may not exist, or not queue.
 * 3. Otherwise, with objects as they are or without the right to read, only the owners of
 *    Workloads are known, among them perhaps the one that was meant. */
int missing_workload_explain(const struct cluster_args *a, const struct live_workloads *s,
			     const char *type, const char *key, struct err *err)
{
	const struct kinds_row *kind = kinds_by_alias(str_of(type));
	const char *name = strchr(key, '/') + 1;
	struct missing m = { .s = s,
			     .type = type,
			     .key = key,
			     .space = { key, (size_t)(name - 1 - key) },
			     .name = name,
			     .from_cluster = a->files.n == 0,
			     .text = STRBUF_INIT };
	struct transport *t = NULL;
	int r;

	nearest_init(&m.near, str_of(name));
	offer_owners(&m);
	if (kind != NULL && a->files.n > 0 && !a->as_is) {
		find_and_describe(&m, kind);
	} else if (kind != NULL && kind->namespaced && a->files.n == 0 &&
		   cluster_args_connect(a, &t, NULL) == 0) {
		read_and_describe(&m, t, kind);
	} else {
		describe_unread(&m);
	}
	transport_destroy(t);
	r = err_set(err, ERR_NOT_FOUND, "%s", m.text.p);
	strbuf_finish(&m.text);
	return r;
}
