#include "scheduler/ctl/explain/pod_lookup.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/sched_kinds.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)

static void offer(void *ctx, const struct jdoc *item)
{
	nearest_offer(ctx, str_of(jdoc_path_str(item, "metadata.name")));
}

/* Adds the nearest name to the error; without it when the namespace cannot be listed. */
static int not_found(struct transport *t, const char *key, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf space = STRBUF_INIT;
	const char *name = strchr(key, '/') + 1;
	struct nearest near;

	strbuf_add_str(&space, (struct str){ key, (size_t)(name - 1 - key) });
	nearest_init(&near, str_of(name));
	sched_kinds_path(SCHED_PODS, space.p, NULL, NULL, &path);
	(void)rest_list(t, path.p, CALL_NS, offer, &near, NULL);
	strbuf_printf(&text, "pod %s not found", key);
	nearest_add_hint(&near, &text);
	return err_set(err, ERR_NOT_FOUND, "%s", text.p);
}

int pod_lookup_read(const struct cluster_args *a, const char *key, struct jdoc **ret,
		    struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct transport *t = NULL;
	int r = cluster_args_connect(a, &t, err);

	if (r == 0) {
		sched_kinds_key_path(SCHED_PODS, str_of(key), NULL, &path);
		r = rest_call(t, HTTP_GET, path.p, NULL, str_of(NULL), CALL_NS, ret, err);
		r = r == -ERR_NOT_FOUND ? not_found(t, key, err) : r;
	}
	transport_destroy(t);
	return r;
}

const char *pod_lookup_scheduler(const struct jdoc *pod)
{
	return jdoc_str_or(jdoc_path(pod, "spec.schedulerName"), "");
}

static bool is_ours(const struct jdoc *pod, const char *const *names)
{
	while (*names != NULL && !str_streq(*names, pod_lookup_scheduler(pod))) {
		names++;
	}
	return *names != NULL;
}

static const struct jdoc *next_gate(const struct jdoc *pod, const struct jdoc *gate)
{
	return gate == NULL ? jdoc_first(jdoc_path(pod, "spec.schedulingGates")) : jdoc_next(gate);
}

static bool has_gate(const struct jdoc *pod, const char *name)
{
	for (const struct jdoc *g = NULL; (g = next_gate(pod, g)) != NULL;) {
		if (jdoc_is_str(jdoc_get(g, "name"), name)) {
			return true;
		}
	}
	return false;
}

bool pod_lookup_is_foreign(const struct jdoc *pod, const char *const *names)
{
	const char *node = jdoc_path_str(pod, "spec.nodeName");

	/* A pod that has a node does not wait, and the model knows it whatever its scheduler. */
	return !is_ours(pod, names) && (node == NULL || node[0] == '\0');
}

bool pod_lookup_is_gate_only(const struct jdoc *pod, const char *const *names)
{
	const struct jdoc *annotations = jdoc_path(pod, "metadata.annotations");
	bool under_quota = jdoc_get(annotations, KEYS_RESERVED) != NULL;

	for (size_t i = 0; gate_at(i) != NULL; i++) {
		under_quota |= has_gate(pod, gate_at(i)->gate) ||
			       jdoc_is_str(jdoc_get(annotations, gate_at(i)->annotation), "true");
	}
	return under_quota && is_ours(pod, names);
}

bool pod_lookup_has_workload(const struct jdoc *pod, const char *const *names)
{
	const struct jdoc *f = jdoc_first(jdoc_path(pod, "metadata.finalizers"));

	while (f != NULL && !jdoc_is_str(f, KUEUE_POD_FINALIZER)) {
		f = jdoc_next(f);
	}
	/* The finalizer shows that it queues as a Workload. A pod of ours without the gate waits
	 * in the pods wing. */
	return f != NULL && (has_gate(pod, KUEUE_GATE_ADMISSION) || !is_ours(pod, names));
}

const char *pod_lookup_group(const struct jdoc *pod)
{
	return jdoc_str(jdoc_get(jdoc_path(pod, "metadata.labels"), KUEUE_POD_GROUP_NAME));
}

/* As the PodGroup controller chooses it: the annotation, else the default queue. */
const char *pod_lookup_queue(const struct jdoc *pod)
{
	const char *queue =
		jdoc_str(jdoc_get(jdoc_path(pod, "metadata.annotations"), KEYS_QUEUE_NAME));

	return queue == NULL || queue[0] == '\0' ? KEYS_DEFAULT_QUEUE : queue;
}

static bool opts_in(const struct jdoc *pod)
{
	for (size_t i = 0; gate_at(i) != NULL; i++) {
		if (jdoc_is_str(jdoc_get(jdoc_path(pod, "metadata.annotations"),
					 gate_at(i)->annotation),
				"true")) {
			return true;
		}
	}
	return false;
}

void pod_lookup_describe_gate(const struct jdoc *pod, struct strbuf *out)
{
	const char *between = "gated by other controllers: ";

	for (const struct jdoc *g = NULL; (g = next_gate(pod, g)) != NULL;) {
		const char *name = jdoc_str_or(jdoc_get(g, "name"), "");

		if (gate_by_name(name) != NULL) {
			strbuf_reset(out);
			strbuf_printf(out,
				      "the gate %s is on it, and is removed only from pods of "
				      "Headgate's scheduler",
				      name);
			return;
		}
		strbuf_printf(out, "%s%s", between, name);
		between = ", ";
	}
	if (strbuf_str(out).len == 0) {
		strbuf_add_c(out, opts_in(pod) ? "none: it opts in, but pods of its scheduler "
						 "are not gated"
					       : "none");
	}
}
