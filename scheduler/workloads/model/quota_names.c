#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/base/match.h"
#include "scheduler/workloads/model/quota_store.h"

static void mark_labels(struct intern *names, const struct label *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		intern_mark_name(names, v[i].key);
		intern_mark_name(names, v[i].value);
	}
}

static void mark_exprs(struct intern *names, const struct match_expr *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		intern_mark_name(names, v[i].key);
		for (size_t k = 0; k < v[i].nvalues; k++) {
			intern_mark_name(names, v[i].values[k]);
		}
	}
}

static void mark_tolerations(struct intern *names, const struct toleration *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		intern_mark_name(names, v[i].key);
		intern_mark_name(names, v[i].value);
	}
}

static void mark_flavor(struct intern *names, const struct flavor *f)
{
	mark_labels(names, f->labels, f->nlabels);
	mark_tolerations(names, f->tolerations, f->ntolerations);
	for (size_t i = 0; i < f->ntaints; i++) {
		intern_mark_name(names, f->taints[i].key);
		intern_mark_name(names, f->taints[i].value);
	}
}

static void mark_podsets(struct intern *names, const struct workload *w)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];

		intern_mark_name(names, p->name);
		intern_mark_name(names, p->group);
		mark_labels(names, p->selector, p->nselector);
		mark_tolerations(names, p->tolerations, p->ntolerations);
		for (size_t k = 0; k < p->nrequired; k++) {
			mark_exprs(names, p->required[k].exprs, p->required[k].nexprs);
		}
	}
}

static void mark_resources(struct intern *resources, const struct workload *w)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct quota_amounts *request = &w->object.podsets[i].request;

		for (size_t k = 0; k < request->n; k++) {
			intern_mark(resources, request->v[k].id);
		}
	}
	for (size_t i = 0; i < w->holding.assigned.n; i++) {
		intern_mark(resources, w->holding.assigned.v[i].resource);
	}
	/* Positions of scans name resources as well. */
	for (size_t i = 0; i < w->pending.tried.n; i++) {
		intern_mark(resources, w->pending.tried.v[i].resource);
	}
}

static void mark_workload(struct quota_model *q, const struct workload *w)
{
	intern_mark_name(q->names, w->object.namespace_);
	intern_mark_name(q->names, w->object.local_queue);
	intern_mark_name(q->names, w->object.priority_class);
	mark_podsets(q->names, w);
	mark_resources(q->resources, w);
}

static void mark_node(struct quota_model *q, const struct quota_node *n)
{
	for (size_t i = 0; i < n->groups.n; i++) {
		for (size_t k = 0; k < n->groups.v[i].nresources; k++) {
			intern_mark(q->resources, n->groups.v[i].resources[k]);
		}
	}
	if (n->queue != NULL) {
		mark_exprs(q->names, n->queue->namespaces.exprs, n->queue->namespaces.nexprs);
	}
}

static void mark_local(struct quota_model *q, const struct local_queue *l)
{
	for (size_t i = 0; i < l->consumed.n; i++) {
		intern_mark(q->resources, l->consumed.v[i].resource);
	}
}

static bool mark_namespace(struct str key, void *value, void *names)
{
	const struct quota_namespace *ns = value;

	(void)key;
	mark_labels(names, ns->labels, ns->nlabels);
	return true;
}

bool quota_names_wants_sweep(const struct quota_model *q)
{
	return intern_wants_sweep(q->names) || intern_wants_sweep(q->resources);
}

void quota_names_mark_resource(struct quota_model *q, uint32_t resource)
{
	intern_mark(q->resources, resource);
}

/* Every place of the model that refers to a name or resource marks it; the others are forgotten. A
 * new member that is interned has to be marked here. */
void quota_names_sweep(struct quota_model *q)
{
	/* Pairs are never removed, so their resources stay. */
	for (size_t i = 0; i < q->pairs.n; i++) {
		intern_mark(q->resources, q->pairs.v[i].resource);
	}
	for (size_t i = 0; i < q->flavors.n; i++) {
		mark_flavor(q->names, q->flavors.v[i]);
	}
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL) {
			mark_node(q, q->nodes.v[i]);
		}
	}
	for (size_t i = 0; i < q->locals.n; i++) {
		if (q->locals.v[i] != NULL) {
			mark_local(q, q->locals.v[i]);
		}
	}
	for (size_t i = 0; i < q->workloads.n; i++) {
		if (q->workloads.v[i] != NULL) {
			mark_workload(q, q->workloads.v[i]);
		}
	}
	strmap_each(q->namespace_of, mark_namespace, q->names);
	intern_sweep(q->names);
	intern_sweep(q->resources);
}
