/* 1. A reservation annotation set by the user is removed, whatever the pod's scheduler.
 * 2. The pod is gated if it names one of our schedulers, or one of those that we only gate for, and
 *    no node yet.
 * 3. It opts in by its annotation, else by its namespace.
 * 4. The gate is appended unless the pod has one of ours; the API server allows this only at
 *    creation.
 * 5. A PodGroup of Kubernetes that will not count leads to a warning.
 * 6. A queue that does not exist or is closed leads to a warning: the pod will wait for it. A queue
 *    that the namespace may not use leads to a denial. */
#include "webhook/admit/volcano/pod_mutate.h"

#include "api/core/pod.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "enc/decode.h"
#include "webhook/admit/volcano/queue_access.h"

#define PATH_ANNOTATIONS "/metadata/annotations"
#define PATH_GATES "/spec/schedulingGates"

static bool is_among(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (str_streq(name, names[i])) {
			return true;
		}
	}
	return false;
}

static bool is_ours(const struct admit_options *o, const struct api_pod *pod)
{
	return is_among(o->scheduler_names, o->scheduler_count, pod->spec.scheduler_name);
}

/* A pod with a node needs no scheduler, and the API server refuses it with a gate. */
static bool is_to_be_gated(const struct admit_options *o, const struct api_pod *pod)
{
	const char *node = pod->spec.node_name;

	return (node == NULL || node[0] == '\0') &&
	       (is_ours(o, pod) ||
		is_among(o->gate_schedulers, o->gate_scheduler_count, pod->spec.scheduler_name));
}

static bool has_our_gate(const struct api_pod *pod)
{
	for (size_t i = 0; i < pod->spec.gates.n; i++) {
		if (gate_by_name(pod->spec.gates.v[i].name) != NULL) {
			return true;
		}
	}
	return false;
}

static void write_gate(struct admit_answer *a, const char *name)
{
	json_out_object(&a->out);
	json_out_kv(&a->out, "name", name);
	json_out_object_end(&a->out);
}

static void add_gate(struct admit_answer *a, const struct api_pod *pod, const char *name)
{
	if (pod->spec.gates.v == NULL) {
		admit_patch_add(a, PATH_GATES, NULL);
		json_out_array(&a->out);
		write_gate(a, name);
		json_out_array_end(&a->out);
	} else {
		/* Appended: gates of other controllers stay. */
		admit_patch_add(a, PATH_GATES, "-");
		write_gate(a, name);
	}
	admit_patch_end(a);
	a->gated = true;
}

/* has_any: the pod has annotations, of its own or by an operation before. */
static void add_annotation(struct admit_answer *a, bool has_any, const char *key, const char *value)
{
	if (has_any) {
		admit_patch_add(a, PATH_ANNOTATIONS, key);
		json_out_str(&a->out, value);
	} else {
		admit_patch_add(a, PATH_ANNOTATIONS, NULL);
		json_out_object(&a->out);
		json_out_kv(&a->out, key, value);
		json_out_object_end(&a->out);
	}
	admit_patch_end(a);
}

/* There may be no PodGroup to say it. */
static void add_queue(const struct api_pod *pod, const struct admit_namespace *ns, bool has_any,
		      struct admit_answer *a)
{
	const char *queue = field_map_get(&pod->meta.annotations, KEYS_QUEUE_NAME);

	if (ns != NULL && ns->queue != NULL && (queue == NULL || queue[0] == '\0') &&
	    field_map_get(&pod->meta.annotations, KEYS_GROUP_NAME) == NULL) {
		add_annotation(a, has_any, KEYS_QUEUE_NAME, ns->queue);
	}
}

/* The queue of a pod that names no PodGroup. */
static const char *queue_of(const struct api_pod *pod, const struct admit_namespace *ns)
{
	const char *queue = field_map_get(&pod->meta.annotations, KEYS_QUEUE_NAME);

	if (queue != NULL && queue[0] != '\0') {
		return queue;
	}
	return ns != NULL && ns->queue != NULL ? ns->queue : KEYS_DEFAULT_QUEUE;
}

static void check_queue(const struct admit_request *q, const struct api_pod *pod,
			const struct admit_namespace *ns, struct admit_answer *a)
{
	const char *name = queue_of(pod, ns);
	const struct api_queue *queue, *bar;

	/* A PodGroup names its own queue. */
	if (!q->view->queues_known ||
	    field_map_get(&pod->meta.annotations, KEYS_GROUP_NAME) != NULL) {
		return;
	}
	queue = admit_find_queue(q->view, name);
	if (queue == NULL || !admit_queue_is_open(queue)) {
		a->unconfirmed_queue = name;
	}
	if (queue == NULL) {
		admit_warn(a, q->arena,
			   "queue \"%s\" does not exist: the pod stays gated until it does", name);
	} else if (!admit_queue_is_open(queue)) {
		admit_warn(a, q->arena, "queue \"%s\" is %s: the pod stays gated until it is open",
			   name, queue->status.state);
	}
	/* A namespace that is not in the list yet is let through: the scheduler checks again. */
	bar = ns == NULL ? NULL : queue_access_bar(q, ns->name, queue);
	if (bar != NULL) {
		admit_deny_forbidden(a, q->arena,
				     "metadata.annotations[" KEYS_QUEUE_NAME
				     "]: namespace \"%s\" may not use queue \"%s\": its labels do "
				     "not match the annotation " KEYS_NAMESPACE_SELECTOR
				     " of queue \"%s\"",
				     ns->name, name, bar->meta.name);
	}
}

/* The scheduler keeps the gate of such pods, and reports it on them. */
static void check_group(const struct admit_request *q, const struct api_pod *pod,
			struct admit_answer *a)
{
	if (pod->spec.group == NULL) {
		return;
	}
	if (is_ours(q->options, pod)) {
		admit_warn(a, q->arena,
			   "spec.schedulingGroup: not supported for pods that Headgate places: the "
			   "pod stays gated");
	} else if (field_map_get(&pod->meta.annotations, KEYS_GROUP_NAME) != NULL) {
		admit_warn(a, q->arena,
			   "metadata.annotations[" KEYS_GROUP_NAME
			   "] and spec.schedulingGroup both name a PodGroup: the pod stays gated "
			   "until the annotation is removed");
	}
}

static void mutate(const struct admit_request *q, const struct api_pod *pod, struct admit_answer *a)
{
	const char *ns_name =
		pod->meta.namespace_ != NULL ? pod->meta.namespace_ : q->review->namespace_;
	const struct admit_namespace *ns = admit_find_namespace(q->view, ns_name);
	const struct gate_row *row = gate_opt_in(&pod->meta.annotations);
	bool by_namespace = row == NULL;

	/* The path by which the API server sent the review is newer than our list of namespaces,
	 * which may not have the label yet. */
	if (row == NULL) {
		row = q->namespace_gate;
	}
	if (row == NULL && ns != NULL) {
		row = ns->gate;
	}
	if (row == NULL) {
		return;
	}
	/* The scheduler goes by the pod alone, also when the label of the namespace is removed. */
	if (by_namespace) {
		add_annotation(a, pod->meta.annotations.v != NULL, row->annotation, "true");
	}
	add_queue(pod, ns, by_namespace || pod->meta.annotations.v != NULL, a);
	if (!has_our_gate(pod)) {
		add_gate(a, pod, row->gate);
	}
	check_group(q, pod, a);
	check_queue(q, pod, ns, a);
}

int pod_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct api_pod pod;
	int r;

	if (!admit_is_operation(q, "CREATE")) {
		return 0;
	}
	r = decode_text(&pod_admission_fields, q->review->object, &pod, q->arena, err);
	if (r < 0) {
		return r;
	}
	/* A forged mark would look like quota that the ledger has given. */
	if (field_map_get(&pod.meta.annotations, KEYS_RESERVED) != NULL) {
		admit_patch_remove(ret, PATH_ANNOTATIONS, KEYS_RESERVED);
	}
	if (q->options->gate_feature && is_to_be_gated(q->options, &pod)) {
		mutate(q, &pod, ret);
	}
	admit_patch_close(ret);
	return 0;
}
