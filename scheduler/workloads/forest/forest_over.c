#include "scheduler/workloads/forest/forest_over.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/workloads/forest/forest_priv.h"

struct forest_over_of { /* a cohort */
	uint32_t n;
	uint64_t state; /* of the forest, then; 0: not filled yet */
};

struct forest_over {      /* for one pair */
	uint32_t *queues; /* those below cohort i: n of them, from child_at[i] on */
	struct forest_over_of *of;
};

void forest_over_free(struct forest *f)
{
	for (unsigned i = 0; f->over != NULL && i < f->width; i++) {
		free(f->over[i].queues);
		free(f->over[i].of);
	}
	free(f->over);
	f->over = NULL;
}

static bool is_queue(const struct forest *f, uint32_t node)
{
	return f->model->nodes.v[node]->is_queue;
}

/* The queues of the cohort that use more of the pair than their quota, from the cache. */
static const uint32_t *cached(struct forest *f, uint32_t cohort, uint32_t pair, size_t *ret_n)
{
	size_t from = f->child_at[cohort], end = f->child_at[cohort + 1];
	struct forest_over *over;
	struct forest_over_of *of;

	if (f->over == NULL) {
		f->over = xmalloc_zero(f->width, sizeof(*f->over));
	}
	over = &f->over[pair];
	if (over->of == NULL) {
		over->of = xmalloc_zero(f->n, sizeof(*over->of));
		over->queues = xmalloc(f->child_at[f->n] * sizeof(*over->queues));
	}
	of = &over->of[cohort];
	/* The state changes when quota is held or released, so the list is of the usage that the
	 * model holds. */
	if (of->state != f->state) {
		*of = (struct forest_over_of){ .state = f->state };
		for (size_t i = from; i < end; i++) {
			uint32_t node = f->children[i];

			if (is_queue(f, node) && forest_borrows_with(f, node, pair, 0)) {
				over->queues[from + of->n++] = node;
			}
		}
	}
	*ret_n = of->n;
	return &over->queues[from];
}

static void collect_now(const struct forest *f, uint32_t cohort, const uint32_t *pairs, size_t n,
			struct forest_over_list *out)
{
	for (size_t i = f->child_at[cohort]; i < f->child_at[cohort + 1]; i++) {
		uint32_t node = f->children[i];

		if (is_queue(f, node) && !forest_within_nominal(f, node, pairs, n)) {
			vec_push(out, node);
		}
	}
}

void forest_over_collect(struct forest *f, uint32_t cohort, const uint32_t *pairs, size_t n,
			 struct forest_over_list *out)
{
	if (f->is_fork || tree_sums_mark(f->sums) > 0) {
		/* Usage that a cycle has charged, or that a fork has, is not what was cached. */
		collect_now(f, cohort, pairs, n, out);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		size_t found = 0;
		const uint32_t *queues =
			pairs[i] < f->width ? cached(f, cohort, pairs[i], &found) : NULL;

		for (size_t k = 0; k < found; k++) {
			/* Else one of the pairs before has brought it. */
			if (forest_within_nominal(f, queues[k], pairs, i)) {
				vec_push(out, queues[k]);
			}
		}
	}
}
