#include "collections/intern.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/model/volumes.h"

static void mark_labels(struct intern *names, const struct label *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		intern_mark_name(names, v[i].key);
		intern_mark_name(names, v[i].value);
	}
}

static void mark_terms(struct intern *names, const struct match_term *terms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pod_term_mark_match(names, &terms[i]);
	}
}

static void mark_class(struct intern *names, const struct pod_class *k)
{
	mark_labels(names, k->selector, k->nselector);
	mark_terms(names, k->required, k->nrequired);
	mark_terms(names, k->preferred, k->npreferred);
	for (size_t i = 0; i < k->nterms; i++) {
		pod_term_mark(names, &k->terms[i]);
	}
	for (size_t i = 0; i < k->ntolerations; i++) {
		intern_mark_name(names, k->tolerations[i].key);
		intern_mark_name(names, k->tolerations[i].value);
	}
	for (size_t i = 0; i < k->nports; i++) {
		intern_mark_name(names, k->ports[i].ip);
	}
	intern_mark_name(names, k->claims_in);
	for (size_t i = 0; i < k->nclaims; i++) {
		intern_mark_name(names, k->claims[i].name);
		intern_mark_name(names, k->claims[i].owner);
	}
}

static void mark_podgroup(struct intern *names, const struct podgroup *g)
{
	intern_mark_name(names, g->namespace_);
	intern_mark(names, g->queue_name);
	intern_mark(names, g->part_queue);
	intern_mark(names, g->priority_class);
	for (size_t i = 0; i < g->role_min.n; i++) {
		intern_mark(names, g->role_min.v[i].role);
	}
}

static void mark_node(struct intern *names, const struct node *n)
{
	mark_labels(names, n->labels.v, n->labels.n);
	for (size_t i = 0; i < n->taints.n; i++) {
		intern_mark_name(names, n->taints.v[i].key);
		intern_mark_name(names, n->taints.v[i].value);
	}
	for (size_t i = 0; i < n->limits.n; i++) {
		intern_mark_name(names, n->limits.v[i].driver);
	}
}

/* Everything that has a name or an id of one marks it; a kind of object that is left out here would
 * lose its names while it has them. */
static void sweep_names(struct cluster *c)
{
	for (size_t i = 0; i < c->class_by_id.n; i++) {
		if (c->class_by_id.v[i] != NULL) {
			mark_class(c->names, c->class_by_id.v[i]);
		}
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL) {
			intern_mark_name(c->names, c->tasks.v[i]->namespace_);
			intern_mark(c->names, c->tasks.v[i]->role);
			intern_mark(c->names, c->tasks.v[i]->reserved);
		}
	}
	for (size_t i = 0; i < c->selectors->labels.n; i++) {
		const struct pod_labels *l = c->selectors->labels.v[i];

		if (l != NULL) {
			mark_labels(c->names, l->v, l->n);
		}
	}
	for (size_t i = 0; i < c->podgroups.n; i++) {
		if (c->podgroups.v[i] != NULL) {
			mark_podgroup(c->names, c->podgroups.v[i]);
		}
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		if (c->nodes.v[i] != NULL) {
			mark_node(c->names, c->nodes.v[i]);
		}
	}
	volumes_mark_terms(c, mark_terms);
	intern_sweep(c->names);
}

static void mark_queue(const struct queue *q)
{
	res_names_mark(&q->capability);
	res_names_mark(&q->guarantee);
	res_names_mark(&q->deserved);
	res_names_mark(&q->charged);
	res_names_mark(&q->releasing);
}

static void sweep_resources(struct cluster *c)
{
	for (size_t i = 0; i < c->class_by_id.n; i++) {
		if (c->class_by_id.v[i] != NULL) {
			res_names_mark(&c->class_by_id.v[i]->request);
		}
	}
	for (size_t i = 0; i < c->podgroups.n; i++) {
		if (c->podgroups.v[i] != NULL) {
			res_names_mark(&c->podgroups.v[i]->min_resources);
		}
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL) {
			mark_queue(c->queues.v[i]);
		}
	}
	for (size_t i = 0; i < c->nodes.n; i++) {
		if (c->nodes.v[i] != NULL) {
			res_names_mark(&c->nodes.v[i]->allocatable);
			res_names_mark(&c->nodes.v[i]->used);
			res_names_mark(&c->nodes.v[i]->releasing);
		}
	}
	res_names_mark(&c->total);
	res_names_mark(&c->used);
	res_names_sweep(c->res);
	/* Vectors that are kept outside of the cluster may have been freed: their holders compare
	 * this number. */
	c->res_swept++;
}

void cluster_names_sweep(struct cluster *c)
{
	if (intern_wants_sweep(c->names)) {
		sweep_names(c);
	}
	if (res_names_wants_sweep(c->res)) {
		sweep_resources(c);
	}
}
