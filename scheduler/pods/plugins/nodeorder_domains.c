#include "scheduler/pods/plugins/nodeorder_domains.h"

#include <math.h>
#include <string.h>

#include "scheduler/base/match.h"
#include "scheduler/pods/predicates/predicates_spread.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/values/pod_class.h"

#define SCORE_MAX 100

/* Pods that terminate count until they are gone, and those that are expected count already. */
static uint32_t present(const struct domain_count *c)
{
	return c->here + c->pipelined;
}

static void add_own(const struct domain_view *v, const struct pod_class *k,
		    const struct nodeorder_domains *d)
{
	struct domain_count c;

	for (size_t i = 0; i < k->nterms; i++) {
		for (size_t j = 0; k->terms[i].kind == POD_TERM_PREFERRED && j < d->n; j++) {
			if (domains_selected(v, i, d->nodes[j], &c)) {
				d->scores[j] += (int64_t)k->terms[i].weight * present(&c);
			}
		}
	}
}

/* The counts are sums of weights, which may be below 0. */
static void add_of_others(const struct domain_view *v, const struct nodeorder_domains *d)
{
	struct domain_count c;

	for (size_t i = 0; i < domains_preferring(v); i++) {
		for (size_t j = 0; j < d->n; j++) {
			if (domains_prefers(v, i, d->nodes[j], &c)) {
				d->scores[j] += (int32_t)present(&c);
			}
		}
	}
}

/* The sums of weights, stretched from the least (0) to the largest (SCORE_MAX). Divided first and
 * in floating point, as kube-scheduler does: 29 of 100 are 28. */
void nodeorder_domains_affinity(const struct domain_view *v, const struct pod_class *k,
				const struct nodeorder_domains *d)
{
	int64_t *ret = d->scores;
	int64_t least = INT64_MAX, largest = INT64_MIN;

	for (size_t i = 0; i < d->n; i++) {
		ret[i] = 0;
	}
	add_own(v, k, d);
	add_of_others(v, d);
	for (size_t i = 0; i < d->n; i++) {
		least = ret[i] < least ? ret[i] : least;
		largest = ret[i] > largest ? ret[i] : largest;
	}
	for (size_t i = 0; i < d->n; i++) {
		ret[i] = largest == least ? 0
					  : (int64_t)(SCORE_MAX * ((double)(ret[i] - least) /
								   (double)(largest - least)));
	}
}

/* The nodes without the topology keys of all constraints are as bad as can be, and are not compared
 * with others. */
static bool has_keys(const struct pod_class *k, const struct node *n)
{
	for (size_t i = 0; i < k->nterms; i++) {
		if (k->terms[i].kind == POD_TERM_SPREAD_ANYWAY &&
		    match_label(n->labels.v, n->labels.n, k->terms[i].topology_key) == NULL) {
			return false;
		}
	}
	return true;
}

/* Of a key with more domains each has fewer pods, and these count more. */
static double weight_of(const struct pod_class *k, const struct domain_table *t,
			const struct nodeorder_domains *d)
{
	size_t count = 0;

	memset(d->marks, 0, t->key->n * sizeof(*d->marks));
	for (size_t i = 0; i < d->n; i++) {
		uint32_t domain = t->key->of[d->nodes[i]->id];

		if (has_keys(k, d->nodes[i]) && d->marks[domain]++ == 0) {
			count++;
		}
	}
	return log((double)count + 2);
}

static bool sum_spreads(const struct session *s, const struct domain_view *v,
			const struct pod_class *k, const struct nodeorder_domains *d)
{
	struct domain_count c;
	bool any = false;

	for (size_t i = 0; i < k->nterms; i++) {
		const struct domain_table *t;
		double weight;

		if (k->terms[i].kind != POD_TERM_SPREAD_ANYWAY) {
			continue;
		}
		any = true;
		t = domains_spread(s, v, i, predicates_spread_eligible);
		weight = weight_of(k, t, d);
		for (size_t j = 0; j < d->n; j++) {
			if (domain_table_get(t, d->nodes[j], &c)) {
				d->sums[j] += domain_count_spread(&c, true) * weight +
					      (k->terms[i].max_skew - 1);
			}
		}
	}
	return any;
}

/* The sums of pods over the constraints, rounded, the fewer the better: the least has SCORE_MAX,
 * and the largest what the least is a part of it. */
bool nodeorder_domains_spread(const struct session *s, const struct domain_view *v,
			      const struct pod_class *k, const struct nodeorder_domains *d)
{
	int64_t least = INT64_MAX, largest = 0;

	for (size_t i = 0; i < d->n; i++) {
		d->sums[i] = 0;
	}
	if (!sum_spreads(s, v, k, d)) {
		return false;
	}
	for (size_t i = 0; i < d->n; i++) {
		int64_t sum = (int64_t)round(d->sums[i]);

		d->scores[i] = has_keys(k, d->nodes[i]) ? sum : -1;
		if (d->scores[i] >= 0) {
			least = sum < least ? sum : least;
			largest = sum > largest ? sum : largest;
		}
	}
	for (size_t i = 0; i < d->n; i++) {
		d->scores[i] = d->scores[i] < 0 ? 0
			       : largest == 0
				       ? SCORE_MAX
				       : SCORE_MAX * (largest + least - d->scores[i]) / largest;
	}
	return true;
}
