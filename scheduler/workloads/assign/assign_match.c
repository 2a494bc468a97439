#include "scheduler/workloads/assign/assign_match.h"

#include "scheduler/base/match.h"

const struct taint *assign_match_taint(const struct flavor *f, const struct podset *p)
{
	for (size_t i = 0; i < f->ntaints; i++) {
		const struct taint *t = &f->taints[i];

		/* PreferNoSchedule keeps no pod away. The tolerations of the flavor are given to
		 * the pods when they start. */
		if (t->effect != TAINT_PREFER_NO_SCHEDULE &&
		    !match_tolerates(p->tolerations, p->ntolerations, t) &&
		    !match_tolerates(f->tolerations, f->ntolerations, t)) {
			return t;
		}
	}
	return NULL;
}

static bool selector_matches(const struct flavor *f, const struct podset *p)
{
	for (size_t i = 0; i < p->nselector; i++) {
		const char *value = match_label(f->labels, f->nlabels, p->selector[i].key);

		/* Interned: equal texts are one pointer. */
		if (value != NULL && value != p->selector[i].value) {
			return false;
		}
	}
	return true;
}

/* A term of which nothing is left matches. */
static bool term_matches(const struct flavor *f, const struct match_term *t)
{
	for (size_t i = 0; i < t->nexprs; i++) {
		const struct match_expr *e = &t->exprs[i];
		const char *value = e->on_field ? NULL : match_label(f->labels, f->nlabels, e->key);

		if (value != NULL && !match_expr_holds(e, value)) {
			return false;
		}
	}
	return true;
}

bool assign_match_labels(const struct flavor *f, const struct podset *p)
{
	if (!selector_matches(f, p)) {
		return false;
	}
	/* Kubernetes: one of the terms is enough, and within a term all expressions must hold. */
	for (size_t i = 0; i < p->nrequired; i++) {
		if (term_matches(f, &p->required[i])) {
			return true;
		}
	}
	return p->nrequired == 0;
}
