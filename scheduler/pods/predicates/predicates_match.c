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

/* Of two with the same number. */
static bool is_same_port(const struct host_port *x, const struct host_port *y)
{
	return x->protocol == y->protocol &&
	       (x->ip == y->ip || is_every_address(x) || is_every_address(y));
}

bool predicates_match_ports(const struct pod_class *a, const struct pod_class *b)
{
	size_t i = 0, k = 0;

	/* Both are sorted by port first. */
	while (i < a->nports && k < b->nports) {
		const struct host_port *x = &a->ports[i];

		if (x->port != b->ports[k].port) {
			*(x->port < b->ports[k].port ? &i : &k) += 1;
			continue;
		}
		/* k stays: the next port of a may have the same number. */
		for (size_t j = k; j < b->nports && b->ports[j].port == x->port; j++) {
			if (is_same_port(x, &b->ports[j])) {
				return true;
			}
		}
		i++;
	}
	return false;
}
