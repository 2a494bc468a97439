#include "scheduler/pods/core/combine.h"

#include <math.h>

#define SCORE_STEP 1e-6

int combine_order(const struct hook_list *l, combine_order_fn ask, const struct hook_call *c)
{
	for (size_t i = 0; i < l->n; i++) {
		int r = ask(&l->v[i], c);

		if (r != 0) {
			return r;
		}
	}
	return 0;
}

bool combine_all(const struct hook_list *l, combine_bool_fn ask, const struct hook_call *c)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!ask(&l->v[i], c)) {
			return false;
		}
	}
	return true;
}

bool combine_any(const struct hook_list *l, combine_bool_fn ask, const struct hook_call *c)
{
	for (size_t i = 0; i < l->n; i++) {
		if (ask(&l->v[i], c)) {
			return true;
		}
	}
	return false;
}

bool combine_vote(const struct hook_list *l, combine_vote_fn ask, const struct hook_call *c)
{
	bool permitted = false;

	for (size_t i = 0; i < l->n; i++) {
		enum vote vote;

		if (permitted && l->v[i].tier != l->v[i - 1].tier) {
			return true;
		}
		vote = ask(&l->v[i], c);
		if (vote == VOTE_REJECT) {
			return false;
		}
		permitted = permitted || vote == VOTE_PERMIT;
	}
	return true;
}

double combine_sum(const struct hook_list *l, combine_score_fn ask, const struct hook_call *c)
{
	double sum = 0;

	for (size_t i = 0; i < l->n; i++) {
		sum += ask(&l->v[i], c);
	}
	return round(sum / SCORE_STEP) * SCORE_STEP;
}
