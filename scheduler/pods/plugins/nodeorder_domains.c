#include "scheduler/pods/plugins/nodeorder_domains.h"

#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/session/domains.h"

#define SCORE_MAX 100

/* Pods that terminate count until they are gone, and those that are expected count already. */
static uint32_t present(const struct domain_count *c)
{
	return c->here + c->pipelined;
}

static void add_own(const struct domain_view *v, const struct pod_class *k,
		    const struct node *const *nodes, size_t n, int64_t *sums)
{
	struct domain_count c;

	for (size_t i = 0; i < k->nterms; i++) {
		for (size_t j = 0; k->terms[i].kind == POD_TERM_PREFERRED && j < n; j++) {
			if (domains_selected(v, i, nodes[j], &c)) {
				sums[j] += (int64_t)k->terms[i].weight * present(&c);
			}
		}
	}
}

/* The counts are sums of weights, which may be below 0. */
static void add_of_others(const struct domain_view *v, const struct node *const *nodes, size_t n,
			  int64_t *sums)
{
	struct domain_count c;

	for (size_t i = 0; i < domains_preferring(v); i++) {
		for (size_t j = 0; j < n; j++) {
			if (domains_prefers(v, i, nodes[j], &c)) {
				sums[j] += (int32_t)present(&c);
			}
		}
	}
}

/* The sums of weights, stretched from the least (0) to the largest (SCORE_MAX). Divided first and
 * in floating point, as kube-scheduler does: 29 of 100 are 28. */
void nodeorder_domains_affinity(const struct domain_view *v, const struct pod_class *k,
				const struct node *const *nodes, size_t n, int64_t *ret)
{
	int64_t least = INT64_MAX, largest = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		ret[i] = 0;
	}
	add_own(v, k, nodes, n, ret);
	add_of_others(v, nodes, n, ret);
	for (size_t i = 0; i < n; i++) {
		least = ret[i] < least ? ret[i] : least;
		largest = ret[i] > largest ? ret[i] : largest;
	}
	for (size_t i = 0; i < n; i++) {
		ret[i] = largest == least ? 0
					  : (int64_t)(SCORE_MAX * ((double)(ret[i] - least) /
								   (double)(largest - least)));
	}
}
