#include "scheduler/pods/predicates/predicates_spread.h"

#include <stddef.h>

#include "scheduler/pods/predicates/predicates_match.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/values/pod_class.h"

bool predicates_spread_eligible(const struct pod_class *k, size_t i, const struct node *n)
{
	const struct pod_term *t = &k->terms[i];

	for (size_t j = 0; j < k->nterms; j++) {
		if (k->terms[j].kind == t->kind &&
		    match_label(n->labels.v, n->labels.n, k->terms[j].topology_key) == NULL) {
			return false;
		}
	}
	return (t->ignores_affinity || predicates_match_affinity(k, n)) &&
	       (!t->honors_taints || predicates_match_taint(k, n) == NULL);
}

/* As long as there are fewer domains than minDomains, the fewest pods that a domain has are none.
 * Pods that are pipelined make their domain fuller, and the emptiest one no fuller before they have
 * come. */
static int64_t least_of(const struct domain_table *t, int32_t min_domains, bool later)
{
	return t->domains < (uint32_t)min_domains ? 0 : later ? t->least_later : t->least;
}

const char *predicates_spread_refusal(const struct session *s, const struct domain_view *v,
				      const struct pod_class *k, const struct node *n, bool later,
				      bool *ret_unresolvable)
{
	for (size_t i = 0; i < k->nterms; i++) {
		const struct domain_table *t;
		struct domain_count c;

		if (k->terms[i].kind != POD_TERM_SPREAD) {
			continue;
		}
		t = domains_spread(s, v, i, predicates_spread_eligible);
		if (!domain_table_get(t, n, &c)) {
			*ret_unresolvable = true;
			return "node(s) didn't match pod topology spread constraints (missing "
			       "required label)";
		}
		if ((int64_t)domain_count_spread(&c, true) + domains_selects_itself(v, i) -
			    least_of(t, k->terms[i].min_domains, later) >
		    k->terms[i].max_skew) {
			*ret_unresolvable = false;
			return "node(s) didn't match pod topology spread constraints";
		}
	}
	return NULL;
}
