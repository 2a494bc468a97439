#include "scheduler/workloads/assign/assign.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "collections/intern.h"
#include "scheduler/workloads/assign/assign_reason.h"
#include "scheduler/workloads/assign/assign_scan.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

struct assigner {
	const struct assign_request *r;
	const struct quota_model *q;
	const struct quota_node *node;
	struct arena *arena;
	struct assignment *out;
	struct quota_amounts *requests; /* per pod set, by resource: of all its pods */
};

/* Pod sets that share their flavors. */
struct members {
	uint32_t *podsets;
	size_t n;
	struct quota_amounts need;       /* sum of their requests */
	struct assigned_flavor *flavors; /* sorted by resource */
	size_t nflavors;
	struct assign_reasons why;
};

/* Like quota_amounts_add, for a list with enough capacity. Requests are bounded, so their sum stays
 * below QUOTA_UNLIMITED. */
static void add_amount(struct quota_amounts *list, uint32_t id, int64_t value)
{
	size_t at = list->n;

	while (at > 0 && list->v[at - 1].id >= id) {
		at--;
	}
	if (at < list->n && list->v[at].id == id) {
		int64_t sum = amount_add(list->v[at].value, value);

		list->v[at].value = sum == QUOTA_UNLIMITED ? QUOTA_UNLIMITED - 1 : sum;
		return;
	}
	assert(list->n < list->cap);
	memmove(&list->v[at + 1], &list->v[at], (list->n - at) * sizeof(list->v[0]));
	list->v[at] = (struct quota_amount){ id, value };
	list->n++;
}

static struct quota_amounts list_of(struct arena *arena, size_t cap)
{
	struct quota_amounts list = { .n = 0, .cap = cap };

	list.v = arena_alloc(arena, (cap + 1) * sizeof(list.v[0]));
	return list;
}

/* The sum of two lists, which are sorted by id. */
static struct quota_amounts sum_of(struct arena *arena, const struct quota_amounts *a,
				   const struct quota_amounts *b)
{
	struct quota_amounts sum = list_of(arena, a->n + b->n);
	size_t i = 0, k = 0;

	/* The smaller id is always added at the end. */
	while (i < a->n || k < b->n) {
		bool first = k == b->n || (i < a->n && a->v[i].id <= b->v[k].id);
		const struct quota_amount *next = first ? &a->v[i++] : &b->v[k++];

		add_amount(&sum, next->id, next->value);
	}
	return sum;
}

/* The request of all pods of a pod set, with the pods themselves where the queue counts them. */
static struct quota_amounts request_of(const struct assigner *a, size_t podset)
{
	const struct podset *p = &a->r->w->object.podsets[podset];
	struct quota_amounts all = list_of(a->arena, p->request.n + 1);
	int32_t count = a->out->podsets[podset].count;

	for (size_t i = 0; i < p->request.n; i++) {
		add_amount(&all, p->request.v[i].id, amount_mul(p->request.v[i].value, count));
	}
	/* No container requests pods: each pod counts as one. */
	if (a->node->queue->covers_pods) {
		uint32_t pods = intern_find(a->q->resources, str_of("pods"));

		assert(pods != INTERN_NONE);
		add_amount(&all, pods, count);
	}
	return all;
}

static bool share_flavors(const struct workload *w, size_t a, size_t b)
{
	return a == b || (w->object.podsets[a].group != NULL &&
			  w->object.podsets[a].group == w->object.podsets[b].group);
}

/* The pod sets that share flavors with `first`, which is the first of them. */
static struct members gather(const struct assigner *a, size_t first)
{
	const struct workload *w = a->r->w;
	struct members m = { .why = { .arena = a->arena } };

	m.podsets = arena_alloc(a->arena, w->object.npodsets * sizeof(m.podsets[0]));
	for (size_t i = first; i < w->object.npodsets; i++) {
		if (share_flavors(w, first, i)) {
			m.podsets[m.n++] = (uint32_t)i;
			m.need = sum_of(a->arena, &m.need, &a->requests[i]);
		}
	}
	m.flavors = arena_alloc(a->arena, (m.need.n + 1) * sizeof(m.flavors[0]));
	return m;
}

static bool is_first_of_its_group(const struct workload *w, size_t podset)
{
	for (size_t i = 0; i < podset; i++) {
		if (share_flavors(w, i, podset)) {
			return false;
		}
	}
	return true;
}

/* Every requested resource must be in a resource group of the queue. */
static bool all_covered(const struct assigner *a, struct members *m)
{
	bool all = true;

	for (size_t i = 0; i < m->need.n && !a->q->options.ignore_undeclared; i++) {
		if (m->need.v[i].value != 0 && quota_node_group(a->node, m->need.v[i].id) == NULL) {
			assign_reason_add(&m->why, "%s is not covered by the ClusterQueue",
					  intern_name(a->q->resources, m->need.v[i].id));
			all = false;
		}
	}
	return all;
}

static struct assigned_flavor *flavor_of(const struct members *m, uint32_t resource)
{
	for (size_t i = 0; i < m->nflavors; i++) {
		if (m->flavors[i].resource == resource) {
			return &m->flavors[i];
		}
	}
	return NULL;
}

/* A later resource group sets its flavor for all of its resources, also for those that an earlier
 * group has set. */
static void add_flavors(struct members *m, const struct assigned_flavor *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct assigned_flavor *had = flavor_of(m, v[i].resource);
		size_t at = m->nflavors;

		if (had != NULL) {
			*had = v[i];
			continue;
		}
		while (at > 0 && m->flavors[at - 1].resource > v[i].resource) {
			at--;
		}
		memmove(&m->flavors[at + 1], &m->flavors[at],
			(m->nflavors - at) * sizeof(m->flavors[0]));
		m->flavors[at] = v[i];
		m->nflavors++;
	}
}

/* Some resource of the group is requested and has no flavor from an earlier group. */
static bool is_wanted(const struct members *m, const struct resource_group *g)
{
	for (size_t i = 0; i < m->need.n; i++) {
		if (quota_group_covers(g, m->need.v[i].id) &&
		    flavor_of(m, m->need.v[i].id) == NULL) {
			return true;
		}
	}
	return false;
}

/* The flavors of one resource group; NONE when they were found. */
static enum nofit_reason assign_group(const struct assigner *a, struct members *m,
				      const struct resource_group *g)
{
	struct quota_amounts needs = list_of(a->arena, m->need.n);
	struct assigned_flavor *found = arena_alloc(a->arena, (m->need.n + 1) * sizeof(found[0]));
	struct assign_reasons why = { .arena = a->arena };
	struct assign_scan scan = {
		.r = a->r,
		.group = g,
		.podsets = m->podsets,
		.npodsets = m->n,
		.earlier = &a->out->usage,
		.why = &why,
	};
	enum nofit_reason reason;
	bool fits;

	for (size_t i = 0; i < m->need.n; i++) {
		if (quota_group_covers(g, m->need.v[i].id)) {
			needs.v[needs.n++] = m->need.v[i];
		}
	}
	scan.needs = needs.v;
	scan.nneeds = needs.n;
	fits = assign_scan_flavors(&scan, found, &reason);
	if (fits) {
		reason = QUOTA_REASON_NONE;
		add_flavors(m, found, needs.n);
	}
	for (size_t i = 0; i < needs.n && fits; i++) {
		fits = found[i].mode == FLAVOR_FIT;
	}
	for (size_t i = 0; i < why.n && !fits; i++) {
		assign_reason_add(&m->why, "%s", why.v[i]);
	}
	return reason;
}

/* All resource groups are tried even when one fails, so that the reason does not depend on their
 * order. */
static enum nofit_reason assign_groups(const struct assigner *a, struct members *m)
{
	enum nofit_reason reason = QUOTA_REASON_NONE;

	if (!all_covered(a, m)) {
		return QUOTA_NO_MATCHING_FLAVOR;
	}
	for (size_t i = 0; i < a->node->groups.n; i++) {
		if (is_wanted(m, &a->node->groups.v[i])) {
			reason = assign_reason_both(reason,
						    assign_group(a, m, &a->node->groups.v[i]));
		}
	}
	return reason;
}

static enum assign_mode mode_of(enum flavor_mode m)
{
	return m == FLAVOR_FIT ? ASSIGN_FIT : m == FLAVOR_NO_FIT ? ASSIGN_NO_FIT : ASSIGN_PREEMPT;
}

/* Copies the flavors of the resources that the pod set requests, and adds its usage of them. */
static void add_podset_flavors(const struct assigner *a, const struct members *m, uint32_t podset)
{
	struct assigned_podset *out = &a->out->podsets[podset];
	const struct quota_amounts *request = &a->requests[podset];

	out->flavors = arena_alloc(a->arena, (request->n + 1) * sizeof(out->flavors[0]));
	out->mode = ASSIGN_FIT;
	for (size_t i = 0, k = 0; i < request->n; i++) {
		const struct assigned_flavor *f;
		uint32_t pair;

		while (k < m->nflavors && m->flavors[k].resource < request->v[i].id) {
			k++;
		}
		if (k == m->nflavors || m->flavors[k].resource != request->v[i].id) {
			continue; /* not covered */
		}
		f = &m->flavors[k];
		out->flavors[out->nflavors++] = *f;
		out->mode = mode_of(f->mode) < out->mode ? mode_of(f->mode) : out->mode;
		a->out->level = f->level > a->out->level ? f->level : a->out->level;
		pair = quota_pair_find(a->q, f->flavor, f->resource);
		if (pair != MODEL_NONE) { /* else it is zero of a resource without a flavor */
			add_amount(&a->out->usage, pair, request->v[i].value);
		}
	}
}

/* False: the pod sets neither fit now nor could by preemption. */
static bool assign_members(const struct assigner *a, size_t first)
{
	struct members m = gather(a, first);
	enum nofit_reason reason = assign_groups(a, &m);
	const char *message = assign_reason_join(&m.why);

	for (size_t i = 0; i < m.n; i++) {
		struct assigned_podset *out = &a->out->podsets[m.podsets[i]];

		out->message = message;
		if (reason == QUOTA_REASON_NONE) {
			add_podset_flavors(a, &m, m.podsets[i]);
		}
	}
	a->out->reason = reason;
	return reason == QUOTA_REASON_NONE;
}

static void begin(struct assigner *a)
{
	const struct workload *w = a->r->w;
	size_t most = 0;

	a->out->podsets = arena_zero(a->arena, w->object.npodsets + 1, sizeof(a->out->podsets[0]));
	a->out->npodsets = w->object.npodsets;
	a->requests = arena_alloc(a->arena, (w->object.npodsets + 1) * sizeof(a->requests[0]));
	for (size_t i = 0; i < w->object.npodsets; i++) {
		struct assigned_podset *p = &a->out->podsets[i];

		p->mode = ASSIGN_NO_FIT;
		p->count = a->r->counts == NULL ? w->object.podsets[i].count : a->r->counts[i];
		a->out->is_partial = a->out->is_partial || p->count < w->object.podsets[i].count;
		a->requests[i] = request_of(a, i);
		most += a->requests[i].n;
	}
	a->out->usage = list_of(a->arena, most);
}

/* "pod set main: <reasons>; pod set ps: <reasons>" */
static const char *describe(const struct assigner *a)
{
	const char *text = NULL;

	for (size_t i = 0; i < a->out->npodsets; i++) {
		const char *message = a->out->podsets[i].message;

		const char *const parts[] = { text == NULL ? "" : text,
					      text == NULL ? "" : "; ",
					      "pod set ",
					      a->r->w->object.podsets[i].name,
					      ": ",
					      message };

		if (message != NULL) {
			text = arena_join(a->arena, parts, ARRAY_LEN(parts));
		}
	}
	return text;
}

/* Kueue: flavorassigner.
 * 1. The requests of all pod sets, with the counts that are tried.
 * 2. Pod sets of one podSetGroupName share their flavors. Groups come in the order of their first
 *    pod set, and each sees the usage of those before it.
 * 3. The first group that fails ends it, as in Kueue: its reason is the one that is reported.
 * 4. The mode of the whole is the worst of all pod sets; those that were not tried count as
 *    NO_FIT. */
void assign_flavors(const struct assign_request *r, struct arena *arena, struct assignment *ret)
{
	struct assigner a = { .r = r, .q = forest_model(r->forest), .arena = arena, .out = ret };
	bool fits = true;

	a.node = a.q->nodes.v[r->node];
	*ret = (struct assignment){ .mode = ASSIGN_NO_FIT };
	begin(&a);
	for (size_t i = 0; i < r->w->object.npodsets && fits; i++) {
		if (is_first_of_its_group(r->w, i)) {
			fits = assign_members(&a, i);
		}
	}
	for (size_t i = 0; i < ret->npodsets; i++) {
		enum assign_mode mode = ret->podsets[i].mode;

		ret->mode = i == 0 || mode < ret->mode ? mode : ret->mode;
	}
	ret->message = describe(&a);
}

bool assign_last_is_outdated(const struct quota_model *q, const struct workload *w,
			     const struct cluster_queue *queue)
{
	if (q->options.preserve_scan_progress) {
		/* Kueue: FlavorFungibilityPreserveScanProgress. A position is of no use to another
		 * request. One of this cycle or of the last one stays although quota came free:
		 * otherwise a scan would not get beyond its first flavors where quota comes free
		 * all the time. */
		if (w->pending.tried_hash != w->pending.hash) {
			return true;
		}
		if (q->cycle - w->pending.tried_cycle <= 1) {
			return false;
		}
	}
	return queue->allocatable_gen > w->pending.tried_gen;
}

void assign_store_last(const struct assignment *a, struct workload *w, const struct quota_model *q,
		       const struct cluster_queue *queue, bool *ret_pending)
{
	vec_clear(&w->pending.tried);
	for (size_t i = 0; a != NULL && i < a->npodsets; i++) {
		for (size_t k = 0; k < a->podsets[i].nflavors; k++) {
			const struct assigned_flavor *f = &a->podsets[i].flavors[k];
			struct last_assignment tried = { (uint32_t)i, f->resource, f->tried };

			/* -1 need not be kept: a scan without a position begins at the first
			 * flavor. */
			if (f->tried >= 0) {
				vec_push(&w->pending.tried, tried);
			}
		}
	}
	w->pending.tried_gen = queue->allocatable_gen;
	w->pending.tried_cycle = q->cycle;
	w->pending.tried_hash = w->pending.hash;
	*ret_pending = w->pending.tried.n > 0;
}

/* --- partial admission -------------------------------------------------------------------------*/

/* By how many pods the pod set may be smaller. */
static int64_t slack(const struct podset *p)
{
	return p->min_count > 0 && p->min_count < p->count ? p->count - p->min_count : 0;
}

/* All pod sets shrink in proportion to their slack; step `total` is the minimum of all. */
static void counts_at(const struct workload *w, int64_t step, int64_t total, int32_t *counts)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		const struct podset *p = &w->object.podsets[i];

		/* The product of a slack (31 bits) and a step (36 bits with 18 pod sets) needs more
		 * than 64 bits. */
		counts[i] = p->count - (int32_t)((__int128)slack(p) * step / total);
	}
}

bool assign_search_counts(const struct workload *w, struct arena *arena, assign_try_fn try_counts,
			  void *ctx, int32_t *ret_counts)
{
	int32_t *counts = arena_alloc(arena, w->object.npodsets * sizeof(counts[0]));
	int64_t total = 0, low = 0, high;

	for (size_t i = 0; i < w->object.npodsets; i++) {
		total += slack(&w->object.podsets[i]);
	}
	if (total == 0) {
		return false;
	}
	/* A smaller size need not fit where a larger one does, so the order of the probes decides
	 * the answer; it is Kueue's. `high` is the last size that fitted. */
	high = total + 1;
	while (low < high) {
		int64_t middle = (low + high) / 2;

		counts_at(w, middle, total, counts);
		if (try_counts(ctx, counts)) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	if (high > total) {
		return false;
	}
	counts_at(w, high, total, ret_counts);
	return true;
}
