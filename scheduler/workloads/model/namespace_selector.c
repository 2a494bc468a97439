#include "scheduler/base/match.h"
#include "scheduler/workloads/model/quota_store.h"

bool namespace_selector_matches(const struct namespace_selector *s, const struct label *labels,
				size_t n)
{
	/* Kueue: a ClusterQueue without a selector admits nothing, one with an empty selector
	 * everything. */
	if (s->absent) {
		return false;
	}
	for (size_t i = 0; i < s->nexprs; i++) {
		const struct match_expr *e = &s->exprs[i];

		if (!match_expr_holds(e, match_label(labels, n, e->key))) {
			return false;
		}
	}
	return true;
}
