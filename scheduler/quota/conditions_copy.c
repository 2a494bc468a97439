#include "quota/conditions_copy.h"

#include "base/arena.h"
#include "model/quota_store.h"

static struct conditions_podset copy_podset(const struct conditions_podset *from,
					    struct arena *arena)
{
	struct conditions_podset to = { arena_dup(arena, from->name), from->count, NULL, from->n };

	to.v = arena_zero(arena, from->n + 1, sizeof(to.v[0]));
	for (size_t i = 0; i < from->n; i++) {
		to.v[i] = from->v[i];
		to.v[i].flavor = arena_dup(arena, from->v[i].flavor);
	}
	return to;
}

static void copy_checks(const struct conditions *from, struct conditions *to)
{
	for (size_t i = 0; i < from->checks.n; i++) {
		struct conditions_check one = from->checks.v[i];

		one.name = arena_dup(to->arena, one.name);
		one.message = arena_dup(to->arena, one.message);
		vec_push(&to->checks, one);
	}
	for (size_t i = 0; i < from->gates.n; i++) {
		struct conditions_gate one = from->gates.v[i];

		one.name = arena_dup(to->arena, one.name);
		vec_push(&to->gates, one);
	}
	for (size_t i = 0; i < from->evictions.n; i++) {
		struct conditions_eviction one = from->evictions.v[i];

		one.reason = arena_dup(to->arena, one.reason);
		one.cause = arena_dup(to->arena, one.cause);
		vec_push(&to->evictions, one);
	}
}

static void copy_list(const struct conditions *from, struct conditions *to)
{
	for (size_t i = 0; i < from->list.n; i++) {
		struct condition one = from->list.v[i];

		one.type = arena_dup(to->arena, one.type);
		one.status = arena_dup(to->arena, one.status);
		one.reason = arena_dup(to->arena, one.reason);
		one.message = arena_dup(to->arena, one.message);
		vec_push(&to->list, one);
	}
}

static void copy_names(const struct conditions *from, struct conditions *to)
{
	for (size_t i = 0; i < from->nominated.n; i++) {
		vec_push(&to->nominated, arena_dup(to->arena, from->nominated.v[i]));
	}
	for (size_t i = 0; i < from->unhealthy.n; i++) {
		vec_push(&to->unhealthy, arena_dup(to->arena, from->unhealthy.v[i]));
	}
}

struct conditions conditions_copy_make(const struct conditions *from, struct arena *arena)
{
	struct conditions to = {
		.arena = arena,
		.has_admission = from->has_admission,
		.queue = arena_dup(arena, from->queue),
		.cluster = arena_dup(arena, from->cluster),
		.has_requeue_count = from->has_requeue_count,
		.has_requeue_at = from->has_requeue_at,
		.has_past_seconds = from->has_past_seconds,
		.requeue_count = from->requeue_count,
		.requeue_at = from->requeue_at,
		.past_seconds = from->past_seconds,
		.generation = from->generation,
	};

	copy_list(from, &to);
	copy_checks(from, &to);
	copy_names(from, &to);
	for (size_t i = 0; i < from->podsets.n; i++) {
		struct conditions_podset one = copy_podset(&from->podsets.v[i], arena);

		vec_push(&to.podsets, one);
	}
	for (size_t i = 0; i < from->requests.n; i++) {
		struct conditions_podset one = copy_podset(&from->requests.v[i], arena);

		vec_push(&to.requests, one);
	}
	return to;
}

static bool same_podset(const struct conditions_podset *a, const struct conditions_podset *b,
			bool counts)
{
	if (!str_streq(a->name, b->name) || a->n != b->n || (counts && a->count != b->count)) {
		return false;
	}
	/* Both are in the order of resources, or both in that of the same pod set. */
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].resource != b->v[i].resource || a->v[i].amount != b->v[i].amount ||
		    !str_streq(a->v[i].flavor, b->v[i].flavor)) {
			return false;
		}
	}
	return true;
}

static bool same_admission(const struct conditions *a, const struct conditions *b)
{
	if (a->has_admission != b->has_admission || !str_streq(a->queue, b->queue) ||
	    a->podsets.n != b->podsets.n || a->requests.n != b->requests.n) {
		return false;
	}
	for (size_t i = 0; i < a->podsets.n; i++) {
		if (!same_podset(&a->podsets.v[i], &b->podsets.v[i], true)) {
			return false;
		}
	}
	for (size_t i = 0; i < a->requests.n; i++) {
		if (!same_podset(&a->requests.v[i], &b->requests.v[i], false)) {
			return false;
		}
	}
	return true;
}

static bool same_list(const struct conditions *a, const struct conditions *b)
{
	if (a->list.n != b->list.n) {
		return false;
	}
	for (size_t i = 0; i < a->list.n; i++) {
		const struct condition *x = &a->list.v[i], *y = conditions_find(b, x->type);

		if (y == NULL || !str_streq(x->status, y->status) ||
		    !str_streq(x->reason, y->reason) || !str_streq(x->message, y->message)) {
			return false;
		}
	}
	return true;
}

static bool same_checks(const struct conditions *a, const struct conditions *b)
{
	if (a->checks.n != b->checks.n || a->gates.n != b->gates.n ||
	    a->evictions.n != b->evictions.n) {
		return false;
	}
	for (size_t i = 0; i < a->checks.n; i++) {
		const struct conditions_check *x = &a->checks.v[i], *y = &b->checks.v[i];

		if (!str_streq(x->name, y->name) || !str_streq(x->message, y->message) ||
		    x->state != y->state || x->retries != y->retries ||
		    x->requeue_after != y->requeue_after) {
			return false;
		}
	}
	for (size_t i = 0; i < a->gates.n; i++) {
		if (!str_streq(a->gates.v[i].name, b->gates.v[i].name) ||
		    a->gates.v[i].open != b->gates.v[i].open) {
			return false;
		}
	}
	for (size_t i = 0; i < a->evictions.n; i++) {
		const struct conditions_eviction *x = &a->evictions.v[i], *y = &b->evictions.v[i];

		if (!str_streq(x->reason, y->reason) || !str_streq(x->cause, y->cause) ||
		    x->count != y->count) {
			return false;
		}
	}
	return true;
}

static bool same_requeue(const struct conditions *a, const struct conditions *b)
{
	return a->has_requeue_count == b->has_requeue_count &&
	       a->has_requeue_at == b->has_requeue_at &&
	       a->has_past_seconds == b->has_past_seconds &&
	       (!a->has_requeue_count || a->requeue_count == b->requeue_count) &&
	       (!a->has_requeue_at || a->requeue_at == b->requeue_at) &&
	       (!a->has_past_seconds || a->past_seconds == b->past_seconds);
}

static bool same_names(const struct conditions *a, const struct conditions *b)
{
	if (!str_streq(a->cluster, b->cluster) || a->nominated.n != b->nominated.n ||
	    a->unhealthy.n != b->unhealthy.n) {
		return false;
	}
	for (size_t i = 0; i < a->nominated.n; i++) {
		if (!str_streq(a->nominated.v[i], b->nominated.v[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < a->unhealthy.n; i++) {
		if (!str_streq(a->unhealthy.v[i], b->unhealthy.v[i])) {
			return false;
		}
	}
	return true;
}

bool conditions_copy_same(const struct conditions *a, const struct conditions *b)
{
	return same_list(a, b) && same_checks(a, b) && same_admission(a, b) && same_requeue(a, b) &&
	       same_names(a, b);
}
