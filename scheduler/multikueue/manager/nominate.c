#include "scheduler/multikueue/manager/nominate.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/manager.h"
#include "scheduler/multikueue/manager/pass.h"
#include "scheduler/multikueue/observe.h"

static bool has_name(const struct field_strs *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++) {
		if (str_streq(names->v[i], name)) {
			return true;
		}
	}
	return false;
}

bool nominate_has(const struct manager_view *view, const char *cluster)
{
	return has_name(&view->local->status.nominated_clusters, cluster);
}

bool nominate_is_taken(const struct manager_cluster *c)
{
	return c->replica_taken || c->kind_problem != NULL || pass_is_job_taken(c);
}

static bool may_be_offered(const struct manager_cluster *c)
{
	return c->configured && !nominate_is_taken(c);
}

static const struct manager_cluster *find(const struct manager_view *view, const char *name)
{
	for (size_t i = 0; i < view->n; i++) {
		if (str_streq(view->clusters[i].name, name)) {
			return &view->clusters[i];
		}
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the order of names, as Kueue writes it. */
static size_t all_at_once(const struct manager_view *view, const char **names)
{
	size_t n = 0;

	for (size_t i = 0; i < view->n; i++) {
		const struct manager_cluster *c = &view->clusters[i];

		if (may_be_offered(c) && (c->link == MANAGER_UP || nominate_has(view, c->name))) {
			names[n++] = c->name;
		}
	}
	qsort(names, n, sizeof(*names), compare);
	return n;
}

/* A scheduling cycle of the worker has looked at the replica, and it does not fit as things are. */
static bool has_declined(const struct manager_cluster *c)
{
	enum replica_answer answer;

	if (c->replica == NULL || kueue_workload_is_reserving(c->replica)) {
		return false;
	}
	answer = observe_answer(c->replica);
	return answer == REPLICA_GATED || answer == REPLICA_DOES_NOT_FIT;
}

/* Nothing more is to be expected of this round: every cluster that it was offered to is lost, or
 * (with gates) has declined. */
static bool is_spent(const struct manager_view *view, const struct field_strs *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct manager_cluster *c = find(view, names->v[i]);

		if (c->link == MANAGER_UP && !(view->opt->gated && has_declined(c))) {
			return false;
		}
	}
	return true;
}

/* 1. The clusters that it is offered to stay.
 * 2. When the round is over, or spent, the next ones in configured order are added. */
static size_t incremental(const struct manager_view *view, const char **names, int64_t *ret_at)
{
	const struct field_strs *old = &view->local->status.nominated_clusters;
	size_t step = view->opt->step_size == 0 ? 1 : view->opt->step_size, n = 0, next = 0, kept;
	int64_t since = view->round_at == MANAGER_NOT_KNOWN ? view->began : view->round_at;
	int64_t left = view->opt->round_ns - clock_later(view->now - since, 0);
	bool over;

	for (size_t i = 0; i < old->n; i++) {
		const struct manager_cluster *c = find(view, old->v[i]);

		if (c != NULL && may_be_offered(c)) {
			names[n++] = c->name;
		}
	}
	kept = n;
	over = left <= 0 || is_spent(view, &(struct field_strs){ names, kept });
	for (size_t i = 0; i < view->n; i++) {
		const struct manager_cluster *c = &view->clusters[i];

		if (c->link != MANAGER_UP || !may_be_offered(c) ||
		    has_name(&(struct field_strs){ names, kept }, c->name)) {
			continue;
		}
		if (over && n - kept < step) {
			names[n++] = c->name;
		}
		next++;
	}
	if (!over && next > 0) {
		*ret_at = view->now + left;
	}
	return n;
}

void nominate_next(const struct manager_view *view, struct arena *arena, struct nominate *ret)
{
	const struct field_strs *old = &view->local->status.nominated_clusters;
	const char **names = arena_zero(arena, view->n + old->n, sizeof(*names));
	size_t n = 0;

	*ret = (struct nominate){ .names = *old, .at = CLOCK_NEVER };
	switch (view->opt->dispatcher) {
	case MANAGER_EXTERNAL:
		return;
	case MANAGER_ALL_AT_ONCE:
		n = all_at_once(view, names);
		break;
	case MANAGER_INCREMENTAL:
		n = incremental(view, names, &ret->at);
		break;
	}
	ret->names = (struct field_strs){ names, n };
	ret->changed = n != old->n;
	for (size_t i = 0; i < n; i++) {
		ret->changed |= !has_name(old, names[i]);
	}
}
