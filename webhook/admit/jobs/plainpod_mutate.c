/* 1. A pod is not held if it has a node, or if its owner is queued instead: the pods of a Job that
 *    was started by its Workload carry labels of it. ownerReferences and labels can be written by
 *    any tenant, so the user must be the Job controller, or the controller of an external
 *    framework.
 * 2. Without a queue it gets the LocalQueue "default" of its namespace, if there is one.
 * 3. A pod that is held gets label, finalizer, role and gate; the API server allows adding a gate
 *    only at creation. */
#include "webhook/admit/jobs/plainpod_mutate.h"

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "enc/json/jdoc.h"
#include "webhook/admit/jobs/pod_role.h"
#include "webhook/admit/jobs/queueing.h"

#define PATH_GATES "/spec/schedulingGates"
#define PATH_FINALIZERS "/metadata/finalizers"
#define PATH_ANNOTATIONS "/metadata/annotations"

/* By the user names of kube-controller-manager: with a service account for each controller (as all
 * common distributions run it), or without. No tenant can have them. */
static bool is_made_by_job_controller(const struct api_admission_request *review)
{
	return str_streq(review->user.username,
			 "system:serviceaccount:kube-system:job-controller") ||
	       str_streq(review->user.username, "system:kube-controller-manager");
}

static bool is_queued_by_owner(const struct admit_request *q, const struct api_pod *pod)
{
	const struct api_meta *m = &pod->meta;

	if (queueing_owner(q, m) == QUEUED_OWNER_EXTERNAL) {
		return true;
	}
	return queueing_is_owned_by_job(m) && is_made_by_job_controller(q->review) &&
	       (q->options->manage_jobs_without_queue ||
		(field_map_is(&m->labels, KUEUE_MANAGED, "true") &&
		 field_map_get(&m->labels, KUEUE_PODSET) != NULL));
}

static void add_gate(struct admit_answer *a, const struct api_pod *pod)
{
	bool has_list = pod->spec.gates.v != NULL;

	/* The API server may call twice; a list with the same gate twice would be refused. */
	if (pod_has_gate(pod, KUEUE_GATE_ADMISSION)) {
		return;
	}
	admit_patch_add(a, PATH_GATES, has_list ? "-" : NULL);
	if (!has_list) {
		json_out_array(&a->out);
	}
	json_out_object(&a->out);
	json_out_kv(&a->out, "name", KUEUE_GATE_ADMISSION);
	json_out_object_end(&a->out);
	if (!has_list) {
		json_out_array_end(&a->out);
	}
	admit_patch_end(a);
}

static void add_finalizer(struct admit_answer *a, const struct api_meta *m)
{
	bool has_list = m->finalizers.v != NULL;

	for (size_t i = 0; has_list && i < m->finalizers.n; i++) {
		if (str_streq(m->finalizers.v[i], KUEUE_POD_FINALIZER)) {
			return;
		}
	}
	admit_patch_add(a, PATH_FINALIZERS, has_list ? "-" : NULL);
	if (!has_list) {
		json_out_array(&a->out);
	}
	json_out_str(&a->out, KUEUE_POD_FINALIZER);
	if (!has_list) {
		json_out_array_end(&a->out);
	}
	admit_patch_end(a);
}

static void add_role(struct admit_answer *a, const struct api_meta *m, const char *role)
{
	if (field_map_get(&m->annotations, KUEUE_ROLE_HASH) != NULL) {
		return;
	}
	if (m->annotations.v == NULL) {
		admit_patch_add(a, PATH_ANNOTATIONS, NULL);
		json_out_object(&a->out);
		json_out_kv(&a->out, KUEUE_ROLE_HASH, role);
		json_out_object_end(&a->out);
	} else {
		admit_patch_add(a, PATH_ANNOTATIONS, KUEUE_ROLE_HASH);
		json_out_str(&a->out, role);
	}
	admit_patch_end(a);
}

static void hold(const struct admit_request *q, const struct api_pod *pod, const struct jdoc *doc,
		 struct admit_answer *a)
{
	const struct jdoc *spec = jdoc_get(doc, "spec");
	const struct api_meta *m = &pod->meta;
	bool has_queue = queueing_queue(m) != NULL;
	bool defaults = !has_queue && admit_has_default_queue(q->view, q->review->namespace_);
	struct queueing_label labels[] = {
		{ KUEUE_MANAGED, field_map_is(&m->labels, KUEUE_MANAGED, "true") ? NULL : "true" },
		{ KUEUE_PRIORITY_CLASS, NULL },
		{ KUEUE_QUEUE_NAME, defaults ? KUEUE_DEFAULT_QUEUE : NULL },
	};

	if (!has_queue && !defaults && !q->options->manage_jobs_without_queue) {
		return;
	}
	if (q->view->has_default_class && queueing_class(m) == NULL &&
	    jdoc_str(jdoc_get(spec, "priorityClassName")) == NULL) {
		labels[1].value = KUEUE_DEFAULT_PRIORITY_CLASS;
	}
	if (queueing_owner(q, m) == QUEUED_OWNER_FORGED) {
		admit_warn(a, q->arena,
			   "metadata.ownerReferences: the pod is queued by itself, because its "
			   "creator "
			   "\"%s\" is not the controller of the %s",
			   q->review->user.username == NULL ? "" : q->review->user.username,
			   meta_controller(m)->kind);
	}
	queueing_add_labels(a, m, labels, ARRAY_LEN(labels));
	add_finalizer(a, m);
	add_role(a, m, pod_role_hash(spec, q->arena));
	add_gate(a, pod);
}

int plainpod_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct api_pod pod = { 0 };
	int verb = admit_check_read(q, &pod_admission_fields, &pod, &pod, err);
	int r;

	if (verb != ADMIT_CHECK_CREATE) {
		return verb < 0 ? verb : 0;
	}
	if (pod.spec.node_name != NULL || is_queued_by_owner(q, &pod)) {
		return 0;
	}
	/* The role is a hash over parts of the spec that are not decoded otherwise. */
	r = jdoc_parse(q->review->object, &doc, err);
	if (r < 0) {
		return r;
	}
	hold(q, &pod, doc, ret);
	admit_patch_close(ret);
	return 0;
}
