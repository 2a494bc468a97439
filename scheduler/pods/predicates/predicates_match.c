#include "scheduler/pods/predicates/predicates_match.h"

#include <string.h>

#include "scheduler/base/match.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"

bool predicates_match_affinity(const struct pod_class *k, const struct node *n)
{
	for (size_t i = 0; i < k->nselector; i++) {
		if (match_label(n->labels.v, n->labels.n, k->selector[i].key) !=
		    k->selector[i].value) {
			return false;
		}
	}
	if (!k->has_required) {
		return true;
	}
	for (size_t i = 0; i < k->nrequired; i++) {
		if (cluster_node_matches(n, &k->required[i])) {
			return true;
		}
	}
	return false;
}

const struct taint *predicates_match_taint(const struct pod_class *k, const struct node *n)
{
	for (size_t i = 0; i < n->taints.n; i++) {
		const struct taint *taint = &n->taints.v[i];

		if (taint->effect != TAINT_PREFER_NO_SCHEDULE &&
		    !match_tolerates(k->tolerations, k->ntolerations, taint)) {
			return taint;
		}
	}
	return NULL;
}

static bool is_empty(const char *text)
{
	return text == NULL || text[0] == '\0';
}

/* As if the node had the taint node.kubernetes.io/unschedulable:NoSchedule with an empty value,
 * compared by text because that name may not be interned. */
bool predicates_match_cordoned(const struct pod_class *k)
{
	for (size_t i = 0; i < k->ntolerations; i++) {
		const struct toleration *t = &k->tolerations[i];

		if (!t->any_effect && t->effect != TAINT_NO_SCHEDULE) {
			continue;
		}
		if (is_empty(t->key) ? t->exists
				     : strcmp(t->key, "node.kubernetes.io/unschedulable") == 0 &&
					       (t->exists || is_empty(t->value))) {
			return true;
		}
	}
	return false;
}

static bool is_every_address(const struct host_port *p)
{
	return is_empty(p->ip) || strcmp(p->ip, "0.0.0.0") == 0;
}

static int by_number(const struct host_port *x, const struct host_port *y)
{
	return x->port != y->port ? (int)x->port - (int)y->port
				  : (int)x->protocol - (int)y->protocol;
}

/* Ports of one number and protocol. */
struct addresses {
	const struct host_port *v;
	size_t n;
	bool every; /* one of them is that of every address */
};

static struct addresses take_number(const struct host_port *v, size_t n)
{
	struct addresses a = { .v = v };

	while (a.n < n && by_number(&v[0], &v[a.n]) == 0) {
		a.every |= is_every_address(&v[a.n]);
		a.n++;
	}
	return a;
}

/* Addresses are interned, and sorted by text. */
static bool share_address(const struct addresses *a, const struct addresses *b)
{
	size_t i = 0, k = 0;

	if (a->every || b->every) {
		return true;
	}
	while (i < a->n && k < b->n && a->v[i].ip != b->v[k].ip) {
		*(strcmp(a->v[i].ip, b->v[k].ip) < 0 ? &i : &k) += 1;
	}
	return i < a->n && k < b->n;
}

/* Both are sorted by number, protocol and address: thousands of addresses of one number, which a
 * tenant may write, take a walk over both and no more. */
bool predicates_match_ports(const struct pod_class *a, const struct pod_class *b)
{
	size_t i = 0, k = 0;

	while (i < a->nports && k < b->nports) {
		int order = by_number(&a->ports[i], &b->ports[k]);
		struct addresses x, y;

		if (order != 0) {
			*(order < 0 ? &i : &k) += 1;
			continue;
		}
		x = take_number(&a->ports[i], a->nports - i);
		y = take_number(&b->ports[k], b->nports - k);
		if (share_address(&x, &y)) {
			return true;
		}
		i += x.n;
		k += y.n;
	}
	return false;
}
