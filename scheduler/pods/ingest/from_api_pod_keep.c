#include "api/core/pod.h"
#include "api/core/pod_request.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/selectors.h"

/* -1: cannot be read, or is out of range. */
static int64_t amount_of(struct quantity q, int dim)
{
	int64_t amount = dim == RES_CPU ? quantity_milli(q) : quantity_value(q);

	return q.nano < 0 || amount > FROM_API_MAX_AMOUNT ? -1 : amount;
}

/* An amount that cannot be read counts as it was known, or else as the largest there is: no other
 * pod gets what this one may hold. */
static int64_t known_amount(const struct task *known, int dim)
{
	int64_t amount = known == NULL || known->klass == NULL
				 ? 0
				 : res_get(&known->klass->request, (unsigned)dim);

	return amount > 0 ? amount : FROM_API_MAX_AMOUNT;
}

static void keep_request(const struct cluster *c, const struct api_pod *pod,
			 const struct task *known, struct arena *scratch, struct pod_class *k)
{
	struct res_edit edit = res_edit_begin(c->res, &k->request);
	struct field_resources request;

	pod_request_sum(pod, scratch, &request);
	k->unoffered.v = arena_alloc(scratch, request.n * sizeof(*k->unoffered.v));
	for (size_t i = 0; i < request.n; i++) {
		int dim = res_names_find(c->res, str_of(request.v[i].name));
		int64_t amount = amount_of(request.v[i].amount, dim);

		if (dim >= 0) {
			res_edit_set(&edit, (unsigned)dim,
				     amount < 0 ? known_amount(known, dim) : amount);
		} else if (amount != 0) {
			k->unoffered.v[k->unoffered.n++] = (struct unoffered_amount){
				request.v[i].name, amount < 0 ? FROM_API_MAX_AMOUNT : amount
			};
		}
	}
	res_edit_end(&edit);
}

static void keep_ports(struct cluster *c, const struct api_pod *pod, const struct task *known,
		       struct arena *scratch, struct pod_class *k)
{
	const struct pod_class *was = known == NULL ? NULL : known->klass;

	if (from_api_class_ports(c, pod, scratch, k, NULL) == 0 || was == NULL) {
		return;
	}
	k->nports = was->nports;
	k->ports = arena_zero(scratch, was->nports, sizeof(k->ports[0]));
	for (size_t i = 0; i < was->nports; i++) {
		k->ports[i] = was->ports[i];
	}
}

/* Those that keep others away from it stay. */
static void keep_terms(struct cluster *c, const struct api_pod *pod, const struct task *known,
		       struct arena *scratch, struct pod_class *k)
{
	const struct pod_class *was = known == NULL ? NULL : known->klass;

	if (from_api_terms_read(c, pod, false, scratch, k, NULL) < 0) {
		k->nterms = 0;
	}
	if (k->nterms == 0 && was != NULL && was->nterms > 0) {
		k->terms = arena_zero(scratch, was->nterms, sizeof(k->terms[0]));
		for (size_t i = 0; i < was->nterms; i++) {
			k->terms[i] = was->terms[i];
		}
		k->nterms = was->nterms;
	}
}

static void keep_labels(struct cluster *c, const struct api_pod *pod, const struct task *known,
			struct arena *scratch, struct from_api_pod *p)
{
	const struct pod_labels *was = known == NULL ? NULL : known->labels;

	if (pod->meta.labels.n > 0 && match_from_api_selector(c->names, &pod->meta.labels, scratch,
							      &p->labels, &p->nlabels, NULL) == 0) {
		return;
	}
	p->nlabels = was == NULL ? 0 : was->n;
	p->labels = arena_zero(scratch, p->nlabels, sizeof(p->labels[0]));
	for (size_t i = 0; i < p->nlabels; i++) {
		p->labels[i] = was->v[i];
	}
}

static void keep_claims(struct cluster *c, const struct api_pod *pod, const struct task *known,
			struct arena *scratch, struct pod_class *k)
{
	const struct pod_class *was = known == NULL ? NULL : known->klass;

	if (from_api_class_claims(c, pod, scratch, k, NULL) < 0) {
		k->nclaims = 0;
	}
	if (was == NULL || was->nclaims <= k->nclaims) {
		return;
	}
	k->nclaims = was->nclaims;
	k->claims_in = was->claims_in;
	k->claims = arena_zero(scratch, was->nclaims, sizeof(k->claims[0]));
	for (size_t i = 0; i < was->nclaims; i++) {
		k->claims[i] = was->claims[i];
	}
}

static struct pod_class *keep_class(struct cluster *c, const struct api_pod *pod,
				    const struct task *known, struct arena *scratch)
{
	struct pod_class *k = arena_zero(scratch, 1, sizeof(*k));

	keep_request(c, pod, known, scratch, k);
	/* Nothing says how much it is. */
	if (pod->spec.containers.n == 0) {
		k->request.v[RES_CPU] = known_amount(known, RES_CPU);
		k->request.v[RES_MEMORY] = known_amount(known, RES_MEMORY);
	}
	/* A part that cannot be read does not make it less. */
	if (known != NULL && known->klass != NULL) {
		res_max(&k->request, &known->klass->request);
	}
	keep_ports(c, pod, known, scratch, k);
	keep_terms(c, pod, known, scratch, k);
	keep_claims(c, pod, known, scratch, k);
	k->unsupported = POD_CLASS_UNREADABLE;
	pod_class_normalise(k);
	return k;
}

static void keep_group(const struct cluster *c, const struct podgroup *g, struct arena *scratch,
		       struct from_api_pod *p)
{
	if (g->kind == PODGROUP_VOLCANO) {
		p->group = arena_str(scratch, str_of(g->name));
	} else if (g->kind == PODGROUP_PART) {
		p->alone = false;
		p->kube_group = arena_str(scratch, str_of(g->name));
		p->queue = arena_str(scratch, intern_str(c->names, g->part_queue));
	} else if (g->queue_name != MODEL_NONE) {
		p->alone = true;
		p->min_member = g->min_member;
		p->queue = arena_str(scratch, intern_str(c->names, g->queue_name));
	}
}

/* A pod keeps its state and its charge when an update of it cannot be read. */
static void complete(const struct cluster *c, const struct task *known, struct arena *scratch,
		     struct from_api_pod *p)
{
	p->flags |= known->flags & (TASK_OURS | TASK_GATE_ONLY | TASK_OPTED_IN |
				    TASK_RESERVED_MARK | TASK_BOUND_MARK | TASK_STARTED);
	if (p->reserved.p == NULL) {
		p->reserved_name = known->reserved;
	}
	if (p->uid.p == NULL) {
		p->uid = arena_str(scratch, str_of(known->uid));
	}
	/* Kubernetes never takes a pod off its node, so this part of the update could not be read.
	 */
	if (p->node.p == NULL && known->node != MODEL_NONE && known->status != TASK_BINDING) {
		p->node = str_of(c->nodes.v[known->node]->name);
		if (p->status == TASK_PENDING || p->status == TASK_UNKNOWN) {
			p->status = known->status;
		}
	}
	if (p->group.p == NULL && p->kube_group.p == NULL && known->podgroup != MODEL_NONE &&
	    (p->flags & TASK_OURS) != 0) {
		keep_group(c, c->podgroups.v[known->podgroup], scratch, p);
	}
	p->role = known->role;
	p->created = p->created == MODEL_TIME_NONE ? known->created : p->created;
}

int from_api_pod_keep(struct cluster *c, const struct api_pod *pod,
		      const struct from_api_schedulers *names, const struct task *known,
		      struct arena *scratch, struct from_api_pod *ret)
{
	struct from_api_pod p;

	if (from_api_pod_plain(c, pod, names, &p, NULL) < 0) {
		return -ERR_INVALID;
	}
	if (known != NULL) {
		complete(c, known, scratch, &p);
	}
	p.klass = keep_class(c, pod, known, scratch);
	keep_labels(c, pod, known, scratch, &p);
	*ret = p;
	return 0;
}
