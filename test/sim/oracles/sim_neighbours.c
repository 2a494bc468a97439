#include "sim/oracles/sim_neighbours.h"

#include <stdint.h>

#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/session/decision.h"
#include "sim/world/sim_world.h"

/* The bind that is judged: those before it have happened. */
struct bind {
	const struct cluster *c;
	const struct decisions *d;
	size_t at;
	const struct task *task;
	const struct node *node;
};

static const struct node *node_of(const struct bind *b, const struct task *t)
{
	if (t->node != MODEL_NONE) {
		return b->c->nodes.v[t->node];
	}
	for (size_t i = 0; i < b->at; i++) {
		if (b->d->v[i].kind == DECISION_BIND && b->d->v[i].task == t->id) {
			return b->c->nodes.v[b->d->v[i].node];
		}
	}
	return NULL;
}

static const char *domain_of(const struct node *n, const struct pod_term *t)
{
	return match_label(n->labels.v, n->labels.n, t->topology_key);
}

static bool all_hold(const struct match_term *m, const struct label *v, size_t n)
{
	for (size_t i = 0; i < m->nexprs; i++) {
		if (!match_expr_holds(&m->exprs[i], match_label(v, n, m->exprs[i].key))) {
			return false;
		}
	}
	return true;
}

static bool selects(const struct cluster *c, const struct pod_term *term, const struct task *t)
{
	bool looks = term->selects_namespaces && term->namespaces_by.nexprs == 0;

	for (size_t i = 0; i < term->nnamespaces; i++) {
		looks |= str_streq(term->namespaces[i], t->namespace_);
	}
	for (size_t i = 0; i < term->namespaces_by.nexprs && term->selects_namespaces; i++) {
		/* The actors have one such selector. */
		const char *team =
			access_namespace_label(c, t->namespace_, term->namespaces_by.exprs[i].key);

		looks |= str_streq(team, term->namespaces_by.exprs[i].values[0]);
	}
	return term->selects && looks && t->labels != NULL &&
	       all_hold(&term->pods, t->labels->v, t->labels->n);
}

/* Some pod with a node: which passes `wanted`, in the domain (NULL: in any) of the term. */
typedef bool (*wanted_fn)(const struct bind *b, const struct pod_term *term, const struct task *t);

static uint32_t count(const struct bind *b, const struct pod_term *term, const char *domain,
		      wanted_fn wanted)
{
	uint32_t n = 0;

	for (size_t i = 0; i < b->c->tasks.n; i++) {
		const struct task *t = b->c->tasks.v[i];
		const struct node *at = t == NULL ? NULL : node_of(b, t);
		const char *value = at == NULL ? NULL : domain_of(at, term);

		n += value != NULL && (domain == NULL || str_streq(domain, value)) &&
		     wanted(b, term, t);
	}
	return n;
}

static bool is_selected(const struct bind *b, const struct pod_term *term, const struct task *t)
{
	return selects(b->c, term, t);
}

static bool counts_for_spread(const struct bind *b, const struct pod_term *term,
			      const struct task *t)
{
	return t->status != TASK_RELEASING && selects(b->c, term, t);
}

static bool is_near_all(const struct bind *b, const struct pod_term *term, const struct task *t)
{
	const struct pod_class *k = b->task->klass;

	(void)term;
	for (size_t i = 0; i < k->nterms; i++) {
		if (k->terms[i].kind == POD_TERM_AFFINITY && !selects(b->c, &k->terms[i], t)) {
			return false;
		}
	}
	return true;
}

static void judge_affinity(struct sim_world *w, const struct bind *b)
{
	const struct pod_class *k = b->task->klass;
	bool first = true, found = true;

	for (size_t i = 0; i < k->nterms; i++) {
		const char *domain = domain_of(b->node, &k->terms[i]);

		if (k->terms[i].kind != POD_TERM_AFFINITY) {
			continue;
		}
		if (domain == NULL) {
			sim_world_fail(w, "neighbours: %s near nothing: %s has no domain",
				       b->task->name, b->node->name);
			return;
		}
		found &= count(b, &k->terms[i], domain, is_near_all) > 0;
		first &= count(b, &k->terms[i], NULL, is_near_all) == 0 &&
			 selects(b->c, &k->terms[i], b->task);
	}
	if (!found && !first) {
		sim_world_fail(w, "neighbours: %s on %s is not near the pods that it must be near",
			       b->task->name, b->node->name);
	}
}

static void judge_anti_affinity(struct sim_world *w, const struct bind *b,
				const struct pod_term *term)
{
	const char *domain = domain_of(b->node, term);

	if (domain != NULL && count(b, term, domain, is_selected) > 0) {
		sim_world_fail(w, "neighbours: %s on %s is near a pod that it keeps away from",
			       b->task->name, b->node->name);
	}
}

/* Pods of the actors may use all nodes, so that all with the topology key count. */
static void judge_spread(struct sim_world *w, const struct bind *b, const struct pod_term *term)
{
	const char *domain = domain_of(b->node, term);
	int64_t least = INT64_MAX, here;

	if (domain == NULL) {
		sim_world_fail(w, "neighbours: %s is spread, and %s has no domain", b->task->name,
			       b->node->name);
		return;
	}
	for (size_t i = 0; i < b->c->nodes.n; i++) {
		const struct node *n = b->c->nodes.v[i];
		const char *value = n == NULL || !n->exists ? NULL : domain_of(n, term);
		int64_t pods = value == NULL ? INT64_MAX : count(b, term, value, counts_for_spread);

		least = pods < least ? pods : least;
	}
	here = count(b, term, domain, counts_for_spread) + selects(b->c, term, b->task);
	if (here - least > term->max_skew) {
		sim_world_fail(w, "neighbours: %s makes %lld pods on %s, and elsewhere are %lld",
			       b->task->name, (long long)here, b->node->name, (long long)least);
	}
}

/* The terms of others, against the pod. */
static void judge_existing(struct sim_world *w, const struct bind *b)
{
	for (size_t i = 0; i < b->c->tasks.n; i++) {
		const struct task *t = b->c->tasks.v[i];
		const struct node *at = t == NULL || t == b->task ? NULL : node_of(b, t);

		for (size_t k = 0; at != NULL && t->klass != NULL && k < t->klass->nterms; k++) {
			const struct pod_term *term = &t->klass->terms[k];

			if (term->kind == POD_TERM_ANTI_AFFINITY && domain_of(at, term) != NULL &&
			    str_streq(domain_of(at, term), domain_of(b->node, term)) &&
			    selects(b->c, term, b->task)) {
				sim_world_fail(w,
					       "neighbours: %s on %s is near %s, which forbids it",
					       b->task->name, b->node->name, t->name);
			}
		}
	}
}

static void judge(struct sim_world *w, const struct bind *b)
{
	const struct pod_class *k = b->task->klass;

	judge_existing(w, b);
	for (size_t i = 0; i < k->nterms; i++) {
		if (k->terms[i].kind == POD_TERM_ANTI_AFFINITY) {
			judge_anti_affinity(w, b, &k->terms[i]);
		} else if (k->terms[i].kind == POD_TERM_SPREAD) {
			judge_spread(w, b, &k->terms[i]);
		}
	}
	if (k->nterms > 0) {
		judge_affinity(w, b);
		w->neighbours++;
	}
}

void sim_neighbours_decided(struct sim_world *w, const struct cluster *c, const struct decisions *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == DECISION_BIND) {
			judge(w, &(struct bind){ .c = c,
						 .d = d,
						 .at = i,
						 .task = c->tasks.v[d->v[i].task],
						 .node = c->nodes.v[d->v[i].node] });
		}
	}
}
