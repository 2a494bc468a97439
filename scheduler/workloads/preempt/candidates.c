#include "scheduler/workloads/preempt/candidates.h"

#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/pending/usage.h"

/* Usage of LocalQueues orders candidates of one ClusterQueue only. In a list of several queues such
 * a rule is no total order (two of one queue compare by usage, each of them with a third by
 * priority), so there it counts only within the preemptor's own queue: its candidates are
 * one list. With fair sharing the lists are per queue anyway. Kueue compares it in every list. */
static bool counts_usage(const struct victims_request *r, uint32_t node)
{
	const struct quota_model *q = forest_model(r->forest);

	return q->options.admission_fair_sharing && q->nodes.v[node]->queue->usage_based &&
	       (node == r->node || q->options.fair_sharing);
}

/* The keys that all candidates of a ClusterQueue have in common. */
static struct candidate describe_queue(const struct victims_request *r, uint32_t node)
{
	return (struct candidate){
		.holds = node,
		.by_usage = counts_usage(r, node),
		.outside = node != r->node,
	};
}

/* Adds the keys of w but id and usage: the caller copies them from its list of holders, which is in
 * the cache. */
static inline void describe(const struct victims_request *r, const struct quota_model *q,
			    const struct workload *w, struct candidate *c)
{
	c->w = w;
	c->has_cost = w->object.has_cost;
	c->priority = workload_priority(q, w);
	/* Kueue takes a reservation without a time for one of this moment, which is tried first
	 * among equals. */
	c->reserved = w->flags.reserved_at == MODEL_TIME_NONE ? r->now : w->flags.reserved_at;
	c->evicted = w->flags.evicted;
	if (c->by_usage) {
		c->local_usage = usage_of(q, w);
	}
}

void candidates_describe(const struct victims_request *r, const struct workload *w,
			 struct candidate *ret)
{
	*ret = describe_queue(r, w->holding.node);
	describe(r, forest_model(r->forest), w, ret);
	ret->id = w->id;
	ret->usage = w->holding.usage.v;
	ret->nusage = (uint32_t)w->holding.usage.n;
}

static int text_cmp(const char *a, const char *b)
{
	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}

int candidates_cmp(const struct candidate *a, const struct candidate *b)
{
	int c;

	if (a->evicted != b->evicted) {
		return a->evicted ? -1 : 1;
	}
	if (a->outside != b->outside) {
		return a->outside ? -1 : 1;
	}
	if (a->by_usage && b->by_usage && a->local_usage != b->local_usage &&
	    a->holds == b->holds) {
		return a->local_usage > b->local_usage ? -1 : 1;
	}
	if (a->priority != b->priority) {
		return a->priority < b->priority ? -1 : 1;
	}
	/* The first draft of KEP-7990: the cost decides between equal priorities, before the time
	 * does. */
	if ((a->has_cost || b->has_cost) && candidates_cost(a) != candidates_cost(b)) {
		return candidates_cost(a) < candidates_cost(b) ? -1 : 1;
	}
	if (a->reserved != b->reserved) {
		return a->reserved > b->reserved ? -1 : 1;
	}
	c = text_cmp(a->w->object.uid, b->w->object.uid);
	return c != 0 ? c : strcmp(a->w->key, b->w->key);
}

static bool uses_one_of(const struct quota_holder *h, const uint32_t *pairs, size_t n)
{
	for (size_t i = 0, j = 0; i < n && j < h->nusage;) {
		if (pairs[i] == h->usage[j].id) {
			return true;
		}
		if (pairs[i] < h->usage[j].id) {
			i++;
		} else {
			j++;
		}
	}
	return false;
}

/* Binary search: the list is sorted, and each holder that uses a short pair is looked up in it. */
static bool is_gone(const struct victims_request *r, uint32_t id)
{
	size_t lo = 0, hi = r->ngone;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->gone[mid] < id) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo < r->ngone && r->gone[lo] == id;
}

static void reserve(struct candidates *out, size_t more, struct arena *arena)
{
	struct candidate **v;

	if (out->n + more <= out->cap) {
		return;
	}
	out->cap = out->n + more > 2 * out->cap ? out->n + more : 2 * out->cap;
	v = arena_alloc(arena, out->cap * sizeof(struct candidate *));
	if (out->n > 0) {
		memcpy(v, out->v, out->n * sizeof(struct candidate *));
	}
	out->v = v;
}

void candidates_push(struct candidates *out, struct candidate *c, struct arena *arena)
{
	reserve(out, 1, arena);
	out->v[out->n++] = c;
}

void candidates_append(struct candidates *out, const struct candidates *more, struct arena *arena)
{
	if (more->n > 0) {
		reserve(out, more->n, arena);
		memcpy(&out->v[out->n], more->v, more->n * sizeof(struct candidate *));
		out->n += more->n;
	}
}

static void record(const struct victims_request *r, uint32_t id, enum passed_over_rule rule,
		   uint32_t node)
{
	r->passed_over[id] =
		(struct passed_over){ .uses_short_pair = true, .rule = rule, .node = node };
}

void candidates_pass_over(const struct victims_request *r, struct candidates *out, size_t from,
			  enum passed_over_rule rule, uint32_t node)
{
	for (size_t i = from; i < out->n; i++) {
		record(r, out->v[i]->id, rule, node);
	}
	out->n = from;
}

void candidates_find_queues(const struct victims_request *r, uint32_t cohort,
			    struct forest_over_list *out)
{
	const struct quota_model *q = forest_model(r->forest);
	const uint32_t *children;
	size_t n;

	if (r->passed_over == NULL) {
		forest_over_collect(r->forest, cohort, r->pairs, r->npairs, out);
		return;
	}
	/* An explanation looks at queues within their quota as well, to record that this protects
	 * them. */
	children = forest_children(r->forest, cohort, &n);
	for (size_t i = 0; i < n; i++) {
		if (q->nodes.v[children[i]]->is_queue) {
			vec_push(out, children[i]);
		}
	}
}

#define BLOCK 32 /* candidates that are allocated together */

/* The mask answers for most pairs; only those that share its last bit need a look at the usage. */
static bool uses(const struct quota_holder *h, const struct victims_request *r, uint64_t mask)
{
	uint64_t common = h->pairs & mask;

	return (common & ~QUOTA_MASK_OTHERS) != 0 ||
	       (common != 0 && uses_one_of(h, r->pairs, r->npairs));
}

/* The rule for all holders of a ClusterQueue. */
static enum passed_over_rule queue_rule(const struct victims_request *r, uint32_t node,
					enum quota_policy policy)
{
	if (policy == QUOTA_NEVER) {
		return PASSED_OVER_POLICY;
	}
	return pending_is_active(r->forest, forest_model(r->forest)->nodes.v[node])
		       ? PASSED_OVER_NOT
		       : PASSED_OVER_INACTIVE;
}

static inline enum passed_over_rule holder_rule(const struct victims_request *r,
						const struct quota_model *q,
						enum quota_policy policy,
						const struct quota_holder *h)
{
	if (r->ngone > 0 && is_gone(r, h->id)) {
		return PASSED_OVER_PRECEDENCE;
	}
	/* One that is evicted already needs no status of ours: its quota comes free by itself. That
	 * of one that has finished does as well, and nothing else is written of it any more. */
	if ((h->w->object.unwritable && !h->w->flags.evicted) || h->w->flags.finished) {
		return PASSED_OVER_UNWRITABLE;
	}
	return victims_policy_rule(q, policy, r->w, h->w);
}

/* 1. A rule for all holders of the queue ends it at once, unless each is to be recorded.
 * 2. Of each holder the mask of its pairs is compared first, which is in the list itself; the
 *    Workload is read only if it uses a pair that is short.
 * 3. Those that no rule passes over are described; memory for several is allocated at once. */
void candidates_collect(const struct victims_request *r, uint32_t node, enum quota_policy policy,
			struct arena *arena, struct candidates *out)
{
	const struct quota_model *q = forest_model(r->forest);
	const struct cluster_queue *queue = q->nodes.v[node]->queue;
	enum passed_over_rule all = queue_rule(r, node, policy);
	struct candidate of_queue = describe_queue(r, node), *block = NULL;
	size_t left = 0; /* in the block */
	uint64_t mask = 0;

	for (size_t i = 0; i < r->npairs; i++) {
		mask |= quota_amounts_bit(r->pairs[i]);
	}
	if (all != PASSED_OVER_NOT && r->passed_over == NULL) {
		return;
	}
	reserve(out, queue->holders.n, arena);
	for (size_t i = 0; i < queue->holders.n; i++) {
		const struct quota_holder *h = &queue->holders.v[i];
		enum passed_over_rule rule;

		if (i + CANDIDATES_AHEAD < queue->holders.n) {
			__builtin_prefetch(&h[CANDIDATES_AHEAD].w->flags.reserved_at);
			__builtin_prefetch(&h[CANDIDATES_AHEAD].w->object.priority);
		}
		if (h->w == r->w || !uses(h, r, mask)) {
			continue;
		}
		rule = all != PASSED_OVER_NOT ? all : holder_rule(r, q, policy, h);
		if (r->passed_over != NULL) {
			record(r, h->id, rule, MODEL_NONE);
		}
		if (rule != PASSED_OVER_NOT) {
			continue;
		}
		if (left-- == 0) {
			left = queue->holders.n - i < BLOCK ? queue->holders.n - i : BLOCK;
			block = arena_alloc(arena, left-- * sizeof(*block));
		}
		*block = of_queue;
		describe(r, q, h->w, block);
		block->id = h->id;
		block->usage = h->usage;
		block->nusage = h->nusage;
		out->v[out->n++] = block++;
	}
}
