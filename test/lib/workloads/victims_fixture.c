#include "lib/workloads/victims_fixture.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "scheduler/workloads/forest/share.h"

/* --- requests --- */

static int64_t amount_of(struct str resource, struct str text)
{
	char r[64], t[64];

	assert_true(resource.len < sizeof(r) && text.len < sizeof(t));
	memcpy(r, resource.p, resource.len);
	r[resource.len] = '\0';
	memcpy(t, text.p, text.len);
	t[text.len] = '\0';
	return quota_world_amount(r, t);
}

static void add_need(struct victims_fixture *v, const struct quota_world *w, struct str word)
{
	struct str flavor = str_next(&word, '/'), resource = str_next(&word, '=');
	bool contested = !str_has_suffix(word, "?");
	struct flavor *f = quota_flavor_find(w->q, flavor);
	uint32_t pair;

	assert_non_null(f);
	word.len -= contested ? 0 : 1;
	pair = quota_pair_find(w->q, f->id, quota_resource(w->q, resource));
	assert_int_not_equal(pair, MODEL_NONE);
	quota_amounts_add(&v->need, pair, amount_of(resource, word));
	if (contested) {
		size_t at = v->r.npairs++;

		assert_true(v->r.npairs <= ARRAY_LEN(v->pairs));
		while (at > 0 && v->pairs[at - 1] > pair) {
			v->pairs[at] = v->pairs[at - 1];
			at--;
		}
		v->pairs[at] = pair;
	}
}

void victims_fixture_init(struct victims_fixture *v, const struct quota_world *w,
			  const char *preemptor, const char *need)
{
	struct str rest = str_of(need);
	const struct workload *p = quota_world_workload(w, preemptor);

	memset(v, 0, sizeof(*v));
	v->r = (struct victims_request){ .forest = w->f,
					 .w = p,
					 .node = p->pending.queue,
					 .need = &v->need,
					 .pairs = v->pairs,
					 .now = w->now };
	while (rest.p != NULL) {
		struct str word = str_next(&rest, ' ');

		if (word.len > 0) {
			add_need(v, w, word);
		}
	}
}

void victims_fixture_finish(struct victims_fixture *v)
{
	quota_amounts_finish(&v->need);
}

/* --- usage --- */

uint64_t victims_fixture_usage(const struct quota_world *w)
{
	uint64_t h = 1469598103934665603U;

	for (uint32_t node = 0; node < w->q->nodes.n; node++) {
		for (uint32_t pair = 0; w->q->nodes.v[node] != NULL && pair < w->q->pairs.n;
		     pair++) {
			h = (h ^ (uint64_t)forest_usage(w->f, node, pair)) * 1099511628211U;
		}
	}
	return h;
}

static const struct workload *workload_of(const struct victims_request *r, uint32_t id)
{
	return forest_model(r->forest)->workloads.v[id];
}

static bool fits_now(const struct victims_request *r, bool may_borrow)
{
	for (size_t i = 0; i < r->need->n && !may_borrow; i++) {
		if (forest_borrows_with(r->forest, r->node, r->need->v[i].id,
					r->need->v[i].value)) {
			return false;
		}
	}
	return forest_fits(r->forest, r->node, r->need);
}

/* spared: index of a victim that is not removed; SIZE_MAX: all are removed. */
static bool fits_without(const struct victims_request *r, const struct victims *gone, size_t spared,
			 bool may_borrow)
{
	size_t mark = forest_mark(r->forest);
	bool fits;

	for (size_t i = 0; i < gone->n; i++) {
		const struct workload *w = workload_of(r, gone->v[i].workload);

		if (i != spared) {
			forest_remove(r->forest, w->holding.node, &w->holding.usage);
		}
	}
	fits = fits_now(r, may_borrow);
	forest_undo(r->forest, mark);
	return fits;
}

bool victims_fixture_fits(const struct victims_request *r, const struct victims *gone,
			  bool may_borrow)
{
	return fits_without(r, gone, SIZE_MAX, may_borrow);
}

/* --- checks --- */

static bool wrong(struct strbuf *out, const struct workload *w, const char *what)
{
	strbuf_printf(out, "%s: %s\n", w->key, what);
	return false;
}

static bool uses_a_pair(const struct victims_request *r, const struct workload *w)
{
	for (size_t i = 0; i < w->holding.usage.n; i++) {
		for (size_t k = 0; k < r->npairs; k++) {
			if (w->holding.usage.v[i].id == r->pairs[k]) {
				return true;
			}
		}
	}
	return false;
}

static bool is_over(const struct victims_request *r, uint32_t node)
{
	return !forest_within_nominal(r->forest, node, r->pairs, r->npairs);
}

static bool is_allowed(const struct quota_model *q, enum quota_policy policy,
		       const struct workload *p, const struct workload *w)
{
	return victims_policy_rule(q, policy, p, w) == PASSED_OVER_NOT;
}

/* Before any victim is removed. */
static bool check_candidate(const struct victims_request *r, const struct victim *v,
			    struct strbuf *out)
{
	const struct quota_model *q = forest_model(r->forest);
	const struct cluster_queue *queue = q->nodes.v[r->node]->queue;
	const struct workload *w = workload_of(r, v->workload);

	if (w == NULL || w == r->w || w->holding.node == MODEL_NONE) {
		return wrong(out, r->w, "a victim that holds no quota");
	}
	for (size_t i = 0; i < r->ngone; i++) {
		if (r->gone[i] == w->id) {
			return wrong(out, w, "is gone already");
		}
	}
	if (!uses_a_pair(r, w)) {
		return wrong(out, w, "uses nothing of what is needed");
	}
	if (w->holding.node == r->node) {
		return (v->reason == VICTIM_IN_CLUSTER_QUEUE &&
			is_allowed(q, queue->within_queue, r->w, w)) ||
		       wrong(out, w, "not allowed in the own queue");
	}
	if (v->reason == VICTIM_IN_CLUSTER_QUEUE || !is_allowed(q, queue->reclaim, r->w, w)) {
		return wrong(out, w, "not allowed in the cohort");
	}
	if (forest_root(r->forest, w->holding.node) != forest_root(r->forest, r->node) ||
	    !is_over(r, w->holding.node)) {
		return wrong(out, w, "is not of a queue of the tree that borrows");
	}
	return true;
}

static bool check_classical(const struct victims_request *r, const struct victim *v,
			    struct strbuf *out)
{
	const struct quota_model *q = forest_model(r->forest);
	const struct cluster_queue *queue = q->nodes.v[r->node]->queue;
	const struct workload *w = workload_of(r, v->workload);
	uint32_t common = forest_common(r->forest, r->node, w->holding.node);
	int64_t priority = workload_priority(q, w);

	for (uint32_t at = w->holding.node; at != common; at = forest_parent(r->forest, at)) {
		if (!is_over(r, at)) {
			return wrong(out, w, "its queue or a cohort of it is within its quota");
		}
	}
	if (v->reason == VICTIM_IN_COHORT_FAIR_SHARING) {
		return wrong(out, w, "there is no fair sharing");
	}
	if (v->reason == VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING &&
	    (queue->borrow_within == QUOTA_NEVER || priority >= workload_priority(q, r->w) ||
	     (queue->has_threshold && priority > queue->threshold))) {
		return wrong(out, w, "not while borrowing");
	}
	return true;
}

/* With the request charged, and the victims before it removed. */
static bool check_fair(const struct victims_request *r, const struct victim *v, struct strbuf *out)
{
	struct forest *f = r->forest;
	const struct quota_options *o = &forest_model(f)->options;
	const struct workload *w = workload_of(r, v->workload);
	uint32_t common = forest_common(f, r->node, w->holding.node);
	uint32_t target = forest_below(f, w->holding.node, common);
	struct share p = share_of(f, forest_below(f, r->node, common), NULL);
	struct share before = share_of(f, target, NULL), after;
	size_t mark = forest_mark(f);

	if (v->reason == VICTIM_IN_COHORT_RECLAMATION) {
		return (o->preempt_within_nominal && !is_over(r, r->node)) ||
		       wrong(out, w, "the preemptor's queue is not within its nominal quota");
	}
	if (v->reason != VICTIM_IN_COHORT_FAIR_SHARING) {
		return wrong(out, w, "reason without fair sharing");
	}
	forest_remove(f, w->holding.node, &w->holding.usage);
	after = share_of(f, target, NULL);
	forest_undo(f, mark);
	return (o->lte_final && share_cmp(p, after) <= 0) ||
	       (o->lt_initial && share_cmp(p, before) < 0) ||
	       wrong(out, w, "its share does not allow it");
}

static bool is_among(const struct victims *found, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++) {
		if (found->v[i].workload == id) {
			return true;
		}
	}
	return false;
}

/* The search first takes Workloads that are being evicted anyway, and may give some of them back
 * afterwards: when it checked the victim at `at`, any of them may have been gone. The check is
 * easiest to pass when those are gone that lower the share of the preemptor's side. */
static void remove_leaving(const struct victims_request *r, const struct victims *found, size_t at)
{
	const struct quota_model *q = forest_model(r->forest);
	uint32_t common = forest_common(r->forest, r->node,
					workload_of(r, found->v[at].workload)->holding.node);
	uint32_t side = forest_below(r->forest, r->node, common);

	for (uint32_t id = 0; id < q->workloads.n; id++) {
		const struct workload *w = q->workloads.v[id];

		if (w != NULL && w != r->w && w->holding.node != MODEL_NONE && w->flags.evicted &&
		    !is_among(found, at, id) &&
		    forest_root(r->forest, w->holding.node) == forest_root(r->forest, side) &&
		    forest_common(r->forest, w->holding.node, side) == side) {
			forest_remove(r->forest, w->holding.node, &w->holding.usage);
		}
	}
}

static bool check_fair_in_turn(const struct victims_request *r, const struct victims *found,
			       struct strbuf *out)
{
	size_t mark = forest_mark(r->forest);
	bool ok = true;

	forest_add(r->forest, r->node, r->need);
	for (size_t i = 0; i < found->n && ok; i++) {
		const struct workload *w = workload_of(r, found->v[i].workload);

		if (!w->flags.evicted && w->holding.node != r->node) {
			size_t turn = forest_mark(r->forest);

			remove_leaving(r, found, i);
			ok = check_fair(r, &found->v[i], out);
			forest_undo(r->forest, turn);
		}
		forest_remove(r->forest, w->holding.node, &w->holding.usage);
	}
	forest_undo(r->forest, mark);
	return ok;
}

static bool check_in_turn(const struct victims_request *r, const struct victims *found,
			  struct strbuf *out)
{
	size_t mark = forest_mark(r->forest);
	bool ok = true;

	if (forest_model(r->forest)->options.fair_sharing) {
		return check_fair_in_turn(r, found, out);
	}
	for (size_t i = 0; i < found->n && ok; i++) {
		const struct workload *w = workload_of(r, found->v[i].workload);

		if (w->holding.node != r->node) {
			ok = check_classical(r, &found->v[i], out);
		}
		forest_remove(r->forest, w->holding.node, &w->holding.usage);
	}
	forest_undo(r->forest, mark);
	return ok;
}

static bool is_minimal(const struct victims_request *r, const struct victims *found,
		       bool may_borrow)
{
	if (!victims_fixture_fits(r, found, may_borrow)) {
		return false;
	}
	for (size_t i = 0; i < found->n; i++) {
		if (fits_without(r, found, i, may_borrow)) {
			return false;
		}
	}
	return true;
}

bool victims_fixture_check(const struct victims_request *r, const struct victims *found,
			   struct strbuf *out)
{
	for (size_t i = 0; i < found->n; i++) {
		if (is_among(found, i, found->v[i].workload)) {
			return wrong(out, r->w, "one victim twice");
		}
		if (!check_candidate(r, &found->v[i], out)) {
			return false;
		}
	}
	if (found->n == 0) {
		return true;
	}
	if (!victims_fixture_fits(r, found, true)) {
		return wrong(out, r->w, "does not fit without its victims");
	}
	if (!is_minimal(r, found, true) && !is_minimal(r, found, false)) {
		return wrong(out, r->w, "a victim that is not needed");
	}
	return check_in_turn(r, found, out);
}

/* --- expectations --- */

static void describe(const struct victims_request *r, const struct victims *found,
		     struct strbuf *out)
{
	for (size_t i = 0; i < found->n; i++) {
		const char *key = workload_of(r, found->v[i].workload)->key;
		const char *slash = strchr(key, '/');

		strbuf_printf(out, "%s%s:%s", i == 0 ? "" : " ", slash == NULL ? key : slash + 1,
			      victim_reason_name(found->v[i].reason));
	}
}

void victims_fixture_expect(const struct quota_world *w, const char *preemptor, const char *need,
			    const char *victims)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf problems = STRBUF_INIT;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	uint64_t before = victims_fixture_usage(w);
	struct victims found;

	victims_fixture_init(&v, w, preemptor, need);
	assert_false(victims_fixture_fits(&v.r, &(struct victims){ 0 }, true));
	victims_find(&v.r, arena, &found);
	assert_true(victims_fixture_usage(w) == before);
	describe(&v.r, &found, &text);
	assert_string_equal(text.p, victims);
	victims_fixture_check(&v.r, &found, &problems);
	assert_string_equal(problems.p, "");
}
