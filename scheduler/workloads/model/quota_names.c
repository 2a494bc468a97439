#include "base/intern.h"
#include "base/strmap.h"
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

static void mark_workload(struct intern *names, const struct workload *w)
{
	for (size_t i = 0; i < w->npodsets; i++) {
		const struct podset *p = &w->podsets[i];

		mark_labels(names, p->selector, p->nselector);
		mark_tolerations(names, p->tolerations, p->ntolerations);
		for (size_t k = 0; k < p->nrequired; k++) {
			mark_exprs(names, p->required[k].exprs, p->required[k].nexprs);
		}
	}
}

static bool mark_namespace(struct str key, void *value, void *names)
{
	const struct quota_namespace *ns = value;

	(void)key;
	mark_labels(names, ns->labels, ns->nlabels);
	return true;
}

void quota_names_sweep(struct quota *q)
{
	if (!intern_wants_sweep(q->names)) {
		return;
	}
	for (size_t i = 0; i < q->flavors.n; i++) {
		if (q->flavors.v[i] != NULL) {
			mark_flavor(q->names, q->flavors.v[i]);
		}
	}
	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n != NULL && n->queue != NULL) {
			mark_exprs(q->names, n->queue->namespaces.exprs,
				   n->queue->namespaces.nexprs);
		}
	}
	for (size_t i = 0; i < q->workloads.n; i++) {
		if (q->workloads.v[i] != NULL) {
			mark_workload(q->names, q->workloads.v[i]);
		}
	}
	strmap_each(q->namespace_of, mark_namespace, q->names);
	intern_sweep(q->names);
}
