#include "scheduler/pods/predicates/predicates_affinity.h"

#include <stddef.h>

#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/values/pod_class.h"

/* Pods that are pipelined are expected, and others keep away from them; but nothing is bound to be
 * near them before they are. */
static uint32_t present(const struct domain_count *c, bool later)
{
	return later ? c->here - c->releasing + c->pipelined : c->here;
}

static uint32_t expected(const struct domain_count *c, bool later)
{
	return present(c, later) + (later ? 0 : c->pipelined);
}

static bool is_forbidden(const struct domain_view *v, const struct node *n, bool later)
{
	struct domain_count c;

	for (size_t i = 0; i < domains_forbidding(v); i++) {
		if (domains_forbids(v, i, n, &c) && expected(&c, later) > 0) {
			return true;
		}
	}
	return false;
}

/* A node without the label is in no domain, and so near no pod. */
static bool keeps_away(const struct domain_view *v, const struct pod_class *k, const struct node *n,
		       bool later)
{
	struct domain_count c;

	for (size_t i = 0; i < k->nterms; i++) {
		if (k->terms[i].kind == POD_TERM_ANTI_AFFINITY && domains_selected(v, i, n, &c) &&
		    expected(&c, later) > 0) {
			return false;
		}
	}
	return true;
}

/* The first pod of a group that its terms select: no pod anywhere is one of them, and it is. It
 * goes where others of the group are expected, if there are any. */
static bool may_be_first(const struct domain_view *v, const struct pod_class *k,
			 const struct node *n, bool later)
{
	for (size_t i = 0; i < k->nterms && k->terms[i].kind == POD_TERM_AFFINITY; i++) {
		struct domain_count total = domains_total(v, i), c;

		if (!domains_selects_itself(v, i) || present(&total, later) > 0 ||
		    domains_is_avoided(v, i, n)) {
			return false;
		}
		if (expected(&total, later) > 0 &&
		    (!domains_selected(v, i, n, &c) || expected(&c, later) == 0)) {
			return false;
		}
	}
	return true;
}

static bool is_near(const struct domain_view *v, const struct pod_class *k, const struct node *n,
		    bool later)
{
	struct domain_count c;
	bool all = true;

	for (size_t i = 0; i < k->nterms && k->terms[i].kind == POD_TERM_AFFINITY; i++) {
		if (!domains_selected(v, i, n, &c)) {
			return false;
		}
		all = all && present(&c, later) > 0;
	}
	return all || may_be_first(v, k, n, later);
}

const char *predicates_affinity_refusal(const struct domain_view *v, const struct pod_class *k,
					const struct node *n, bool later, bool *ret_unresolvable)
{
	*ret_unresolvable = false;
	if (is_forbidden(v, n, later)) {
		return "node(s) didn't satisfy existing pods anti-affinity rules";
	}
	if (!keeps_away(v, k, n, later)) {
		return "node(s) didn't match pod anti-affinity rules";
	}
	if (!is_near(v, k, n, later)) {
		*ret_unresolvable = true;
		return "node(s) didn't match pod affinity rules";
	}
	return NULL;
}
