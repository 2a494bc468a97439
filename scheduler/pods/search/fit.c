#include "scheduler/pods/search/fit.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "collections/bitset.h"
#include "scheduler/pods/search/ranking.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

#define NONE RANKING_NONE
#define REASONS_MAX 32

/* A ranking as pods of one class and view see it: the cells that their terms allow, by the best
 * node of each. For pods without a view there is one cell, and it is allowed. */
struct fit_view {
	const struct pod_class *klass;
	uint64_t view, outside; /* domains_view_id, and domains_view_version when it was judged */
	bool decides;           /* domains_view_decides */
	struct ranking *ranking;
	uint64_t ranking_id, whole; /* of the ranking when it was judged */
	size_t seen;                /* entries of overlay->touched that have been judged */
	bool *allowed;              /* by cell */
	uint64_t scored;            /* domains_view_score_version when they were scored; 0: never */
	double *score;              /* by cell: what its domains add to the score of its nodes */
	double *total;              /* by cell: the score of its best node with that */
	/* Of cells, as the trees of a ranking are of places: 2 * cells. */
	uint32_t *top;
	uint64_t nowhere; /* overlay->grown + 1 when nothing fitted, not even later; 0: unknown */
	const char *explain;
};

struct fit {
	struct ranking_nodes nodes;
	struct ranking *rankings[FIT_RANKINGS_MAX];
	struct fit_view *views[FIT_RANKINGS_MAX];
	size_t next_ranking, next_view; /* that make room */
	uint8_t *slot_of;               /* class id -> slot + 1, of pods without a view */
	uint64_t rankings_filled;
	uint32_t *releasing; /* places of nodes where pods terminate */
	size_t nreleasing;
	/* For scoring the cells of a view: a node of each, the cell, its score. */
	const struct node **samples;
	uint32_t *sampled;
	double *scores;
	const char **short_of; /* by dimension: "Insufficient cpu", made at first use */
};

/* Several pods may terminate on one node. */
static void list_releasing(struct session *s, struct fit *f)
{
	const struct cluster *c = s->cluster;
	uint64_t *listed = arena_zero(s->arena, BITSET_WORDS(f->nodes.n + 1), sizeof(*listed));

	f->releasing = arena_alloc(s->arena, (f->nodes.n + 1) * sizeof(*f->releasing));
	for (size_t i = 0; i < c->ending.n; i++) {
		uint32_t place = f->nodes.place[c->tasks.v[c->ending.v[i]]->node];

		if (place != NONE && !bitset_has(listed, place)) {
			bitset_set(listed, place);
			f->releasing[f->nreleasing++] = place;
		}
	}
}

static void list_nodes(struct session *s, struct fit *f)
{
	const struct cluster *c = s->cluster;
	struct ranking_nodes *l = &f->nodes;

	l->v = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*l->v));
	l->place = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*l->place));
	l->made = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*l->made));
	l->made_for = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*l->made_for));
	f->samples = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*f->samples));
	f->sampled = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*f->sampled));
	f->scores = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*f->scores));
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];

		l->place[i] = NONE;
		if (n == NULL || !n->exists) {
			continue;
		}
		l->place[i] = (uint32_t)l->n;
		l->v[l->n++] = n;
	}
	list_releasing(s, f);
}

/* Made for the first pod that looks for a node in this session. */
static struct fit *create(struct session *s)
{
	struct fit *f = arena_zero(s->arena, 1, sizeof(*f));

	f->short_of = arena_zero(s->arena, res_names_count(s->cluster->res), sizeof(*f->short_of));
	f->slot_of = arena_zero(s->arena, s->cluster->class_by_id.n + 1, 1);
	list_nodes(s, f);
	return f;
}

/* --- rankings ----------------------------------------------------------------------------------
 */

/* The oldest ranking makes room. All have the same size, so its memory serves the new shape. */
static struct ranking *find_ranking(struct session *s, const struct task *t,
				    const struct domain_key *const *keys, size_t nkeys)
{
	CLEANUP(strbuf_finish) struct strbuf shape = STRBUF_INIT;
	struct fit *f = s->fit;
	struct ranking **slot;

	pod_class_format_shape(t->klass, &shape);
	strbuf_add_ch(&shape, ' ');
	hooks_node_score_key(s, t->klass, &shape);
	for (size_t i = 0; i < FIT_RANKINGS_MAX && f->rankings[i] != NULL; i++) {
		if (ranking_serves(f->rankings[i], strbuf_str(&shape), keys, nkeys)) {
			return f->rankings[i];
		}
	}
	slot = &f->rankings[f->next_ranking];
	f->next_ranking = (f->next_ranking + 1) % FIT_RANKINGS_MAX;
	if (*slot == NULL) {
		*slot = ranking_create(s, &f->nodes);
	}
	ranking_fill(s, *slot, t, strbuf_str(&shape), keys, nkeys);
	(*slot)->id = ++f->rankings_filled;
	return *slot;
}

/* Whether placing a pod of the class may close other nodes than its own to the next one. */
static bool is_volatile(const struct session *s, const struct pod_class *k)
{
	for (size_t i = 0; i < k->nclaims; i++) {
		const struct claim *cl = s->cluster->claims.v[k->claims[i].id];

		if (!cl->bound || (cl->form.access & VOLUME_ONCE_POD) != 0) {
			return true;
		}
	}
	return false;
}

/* --- cells -------------------------------------------------------------------------------------
 */

/* Of a node there, rounded as hooks_node_score is: sums that are equal compare equal. */
static double score_at(const struct fit_view *v, uint32_t place, double of_node)
{
	return v->scored == 0 ? of_node
			      : round((of_node + v->score[v->ranking->cell[place]]) / 1e-6) * 1e-6;
}

/* A cell further down may have lost its last node, and not have been played again yet. */
static uint32_t better(const struct fit_view *v, uint32_t a, uint32_t b)
{
	const struct ranking *r = v->ranking;
	uint32_t x = a == NONE ? NONE : ranking_best(r, a);
	uint32_t y = b == NONE ? NONE : ranking_best(r, b);

	if (x == NONE || y == NONE) {
		return x == NONE ? b : a;
	}
	return v->total[a] > v->total[b] || (!(v->total[a] < v->total[b]) && x < y) ? a : b;
}

/* All nodes of the cell have the same domains: one answers for all. */
static void judge(struct session *s, struct fit_view *v, const struct task *t, uint32_t cell)
{
	uint32_t sample = ranking_sample(v->ranking, cell);

	v->allowed[cell] = sample != NONE &&
			   hooks_domain_predicate(s, t, v->ranking->nodes->v[sample], false, NULL);
}

static uint32_t leaf(struct fit_view *v, uint32_t cell)
{
	uint32_t best = ranking_best(v->ranking, cell);

	if (!v->allowed[cell] || best == NONE) {
		return NONE;
	}
	v->total[cell] = score_at(v, best, v->ranking->score[best]);
	return cell;
}

/* All cells that the class may use are scored together, since scores are relative. */
static void score_cells(struct session *s, struct fit_view *v, const struct task *t)
{
	struct fit *f = s->fit;
	size_t n = 0;

	for (uint32_t c = 0; c < v->ranking->ncells; c++) {
		uint32_t sample = ranking_sample(v->ranking, c);

		if (sample != NONE) {
			f->samples[n] = f->nodes.v[sample];
			f->sampled[n++] = c;
		}
	}
	hooks_domain_scores(s, t, f->samples, n, f->scores);
	for (size_t i = 0; i < n; i++) {
		v->score[f->sampled[i]] = f->scores[i];
	}
}

static void judge_all(struct session *s, struct fit_view *v, const struct task *t)
{
	for (uint32_t c = 0; c < v->ranking->ncells; c++) {
		judge(s, v, t, c);
	}
}

static void judge_touched(struct session *s, struct fit_view *v, const struct task *t)
{
	for (size_t i = v->seen; i < s->overlay->touched.n; i++) {
		uint32_t place = v->ranking->nodes->place[s->overlay->touched.v[i]];

		if (place != NONE) {
			judge(s, v, t, v->ranking->cell[place]);
		}
	}
}

/* O(cells). */
static void play_cells(struct session *s, struct fit_view *v)
{
	const struct ranking *r = v->ranking;

	for (uint32_t c = 0; c < r->ncells; c++) {
		v->top[r->ncells + c] = leaf(v, c);
	}
	for (size_t i = r->ncells; i-- > 1;) {
		v->top[i] = better(v, v->top[2 * i], v->top[2 * i + 1]);
	}
	v->seen = s->overlay->touched.n;
	v->whole = r->whole;
}

static void replay_cells(struct session *s, struct fit_view *v)
{
	const struct ranking *r = v->ranking;

	for (; v->seen < s->overlay->touched.n; v->seen++) {
		uint32_t place = r->nodes->place[s->overlay->touched.v[v->seen]];
		size_t i;

		if (place == NONE) {
			continue;
		}
		i = r->ncells + r->cell[place];
		v->top[i] = leaf(v, r->cell[place]);
		while (i > 1) {
			i /= 2;
			v->top[i] = better(v, v->top[2 * i], v->top[2 * i + 1]);
		}
	}
}

/* --- views -------------------------------------------------------------------------------------
 */

/* NULL: there is none. */
static struct fit_view *find_view(const struct fit *f, const struct task *t, uint64_t view)
{
	uint8_t slot = f->slot_of[t->klass->id];

	if (view == 0) {
		return slot == 0 ? NULL : f->views[slot - 1];
	}
	for (size_t i = 0; i < FIT_RANKINGS_MAX && f->views[i] != NULL; i++) {
		if (f->views[i]->klass == t->klass && f->views[i]->view == view) {
			return f->views[i];
		}
	}
	return NULL;
}

/* The oldest makes room, as of rankings. */
static struct fit_view *take_slot(struct session *s, const struct task *t, uint64_t view)
{
	struct fit *f = s->fit;
	struct fit_view *v = f->views[f->next_view];

	if (v == NULL) {
		v = f->views[f->next_view] = arena_zero(s->arena, 1, sizeof(*v));
	} else if (v->view == 0) {
		f->slot_of[v->klass->id] = 0;
	}
	if (view == 0) {
		f->slot_of[t->klass->id] = (uint8_t)(f->next_view + 1);
	} else if (v->top == NULL) {
		v->allowed = arena_alloc(s->arena, (f->nodes.n + 1) * sizeof(*v->allowed));
		v->top = arena_alloc(s->arena, 2 * (f->nodes.n + 1) * sizeof(*v->top));
		v->total = arena_alloc(s->arena, (f->nodes.n + 1) * sizeof(*v->total));
		v->score = arena_alloc(s->arena, (f->nodes.n + 1) * sizeof(*v->score));
	}
	f->next_view = (f->next_view + 1) % FIT_RANKINGS_MAX;
	v->klass = t->klass;
	v->view = view;
	v->ranking = NULL;
	v->scored = 0;
	v->nowhere = 0;
	v->explain = NULL;
	return v;
}

/* Its ranking, filled for another shape meanwhile, is found or filled again. True: it is another
 * one. */
static bool attach(struct session *s, struct fit_view *v, const struct task *t,
		   const struct domain_view *domains)
{
	const struct domain_key *const *keys = NULL;
	size_t nkeys = 0;

	if (v->ranking != NULL && v->ranking->id == v->ranking_id) {
		return false;
	}
	if (domains != NULL) {
		keys = domains_keys(domains, &nkeys);
	}
	v->ranking = find_ranking(s, t, keys, nkeys);
	v->ranking_id = v->ranking->id;
	return true;
}

/* Brings the cells up to date. A pod on another node may forbid or allow this one to the class, or
 * change the scores of cells against each other: then all are played again. */
static void refresh(struct session *s, struct fit_view *v, const struct task *t,
		    const struct domain_view *domains, bool fresh)
{
	uint64_t outside = domains_view_version(domains);
	uint64_t scored = domains_view_score_version(domains);
	bool all = is_volatile(s, t->klass);
	bool ask = fresh || all || v->outside != outside, score = fresh || v->scored != scored;
	bool many;

	ranking_refresh(s, v->ranking, t, all);
	if (ask) {
		v->nowhere = 0;
		v->outside = outside;
	}
	v->decides = domains_view_decides(domains);
	if (v->view == 0) {
		return;
	}
	v->scored = scored;
	if (score && scored != 0) {
		score_cells(s, v, t);
		/* Tables may have been made for it. */
		v->scored = domains_view_score_version(domains);
	}
	many = s->overlay->touched.n - v->seen > v->ranking->ncells;
	if (ask || many) {
		judge_all(s, v, t);
	} else {
		judge_touched(s, v, t);
	}
	if (ask || score || many || v->whole != v->ranking->whole) {
		play_cells(s, v);
	} else {
		replay_cells(s, v);
	}
}

/* The view of t, up to date. */
static struct fit_view *view_of(struct session *s, const struct task *t)
{
	const struct domain_view *domains = domains_view(s, t);
	uint64_t id = domains_view_id(domains);
	struct fit_view *v;

	if (s->fit == NULL) {
		s->fit = create(s);
	}
	v = find_view(s->fit, t, id);
	v = v != NULL ? v : take_slot(s, t, id);
	refresh(s, v, t, domains, attach(s, v, t, domains));
	return v;
}

/* The best place that the view allows, NONE. */
static uint32_t best_now(const struct fit_view *v)
{
	if (v->view == 0) {
		return ranking_best(v->ranking, 0);
	}
	return v->top[1] == NONE ? NONE : ranking_best(v->ranking, v->top[1]);
}

static bool fits_now(const struct fit_view *v, uint32_t place)
{
	return (v->view == 0 || v->allowed[v->ranking->cell[place]]) &&
	       ranking_fits(v->ranking, place);
}

/* --- finding a node ----------------------------------------------------------------------------
 */

struct later {
	uint32_t best; /* place of the node, NONE */
	double score;
};

static void consider_later(struct session *s, struct fit_view *v, const struct task *t,
			   uint32_t place, struct later *later)
{
	const struct node *n = s->fit->nodes.v[place];
	double score;

	if (!bitset_has(v->ranking->may, place) || !ranking_room_later(s, v->klass, n) ||
	    !hooks_predicate(s, t, n, NULL)) {
		return;
	}
	score = score_at(v, place, hooks_node_score(s, v->klass, n));
	if (later->best == NONE || score > later->score ||
	    (!(score < later->score) && place < later->best)) {
		*later = (struct later){ place, score };
	}
}

/* Only nodes where pods terminate can have room later that they have not now: those are looked
 * through, without a ranking. Ties go to the first. */
static const struct node *best_later(struct session *s, struct fit_view *v, const struct task *t)
{
	struct later later = { .best = NONE };
	struct fit *f = s->fit;

	for (size_t r = 0; r < f->nreleasing; r++) {
		consider_later(s, v, t, f->releasing[r], &later);
	}
	for (size_t r = 0; r < s->overlay->evicted.n; r++) {
		uint32_t place = f->nodes.place[s->overlay->evicted.v[r]];

		if (place != NONE) {
			consider_later(s, v, t, place, &later);
		}
	}
	return later.best == NONE ? NULL : f->nodes.v[later.best];
}

static bool nominated_fits(const struct session *s, const struct fit_view *v, const struct task *t,
			   const struct node **ret_node)
{
	uint32_t place = t->nominated == MODEL_NONE ? NONE : s->fit->nodes.place[t->nominated];

	if (place == NONE || !fits_now(v, place)) {
		return false;
	}
	*ret_node = s->fit->nodes.v[place];
	return true;
}

/* 1. Bring the view and the ranking of the pod up to date.
 * 2. Take the node to which the pod is nominated, if it fits, as Volcano does.
 * 3. Else the best node with room, which is the best one of the best cell.
 * 4. Else the best node that will have room when its terminating pods are gone. */
enum fit_result fit_find(struct session *s, const struct task *t, const struct node **ret_node)
{
	struct fit_view *v = view_of(s, t);
	uint32_t best = best_now(v);
	const struct node *later;

	s->tasks_seen++;
	if (v->decides && t->podgroup != MODEL_NONE) {
		/* A pod that comes to another node, or goes, may let it in. */
		session_wait_for_podgroups(
			s, queue_at(s->cluster, s->cluster->podgroups.v[t->podgroup]->queue));
	}
	if (nominated_fits(s, v, t, ret_node)) {
		return FIT_IDLE;
	}
	if (best != NONE) {
		*ret_node = s->fit->nodes.v[best];
		return FIT_IDLE;
	}
	/* Nothing has come free since no node fitted: step 4 would find nothing again. */
	if (v->nowhere == s->overlay->grown + 1) {
		return FIT_NONE;
	}
	later = best_later(s, v, t);
	if (later == NULL) {
		v->nowhere = s->overlay->grown + 1;
		return FIT_NONE;
	}
	*ret_node = later;
	return FIT_RELEASING;
}

enum fit_result fit_on(struct session *s, const struct task *t, const struct node *n)
{
	const struct pod_class *k = t->klass;

	if (!n->exists || k->unsupported != NULL || k->unoffered.n > 0 ||
	    !hooks_class_predicate(s, k, n, NULL)) {
		return FIT_NONE;
	}
	if (ranking_room_now(s, k, n) && hooks_predicate(s, t, n, NULL)) {
		return FIT_IDLE;
	}
	return ranking_room_later(s, k, n) && hooks_predicate_later(s, t, n) ? FIT_RELEASING
									     : FIT_NONE;
}

struct tally {
	const char *text;
	size_t count; /* of nodes; 0: it is about the pod */
};

struct tallies {
	struct tally v[REASONS_MAX];
	size_t n;
};

static void add(struct tallies *c, const char *text, size_t nodes)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->v[i].text, text) == 0) {
			c->v[i].count += nodes;
			return;
		}
	}
	if (c->n < REASONS_MAX) {
		c->v[c->n++] = (struct tally){ text, nodes };
	}
}

static void count(struct tallies *c, const char *text)
{
	add(c, text, 1);
}

/* "Insufficient NAME" of names that no node has: the same for every node. */
static void tally_unoffered(struct session *s, const struct pod_class *k, size_t nodes,
			    struct tallies *c)
{
	for (size_t i = 0; i < k->unoffered.n && nodes > 0 && c->n < REASONS_MAX; i++) {
		c->v[c->n++] = (struct tally){
			arena_printf(s->arena, "Insufficient %s", k->unoffered.v[i].name), nodes
		};
	}
}

static void count_short(struct session *s, unsigned dim, struct tallies *c)
{
	if (s->fit->short_of[dim] == NULL) {
		s->fit->short_of[dim] = arena_printf(s->arena, "Insufficient %s",
						     res_names_get(s->cluster->res, dim));
	}
	count(c, s->fit->short_of[dim]);
}

/* False: a predicate refuses the node, which is the whole reason then. */
static bool tally_node(struct session *s, const struct task *t, const struct node *n,
		       struct tallies *c)
{
	struct reason why = { .code = NULL };
	uint32_t over;

	if (!hooks_class_predicate(s, t->klass, n, &why) || !hooks_predicate(s, t, n, &why)) {
		add(c, why.code == NULL ? "node(s) were refused" : why.code, !why.everywhere);
		return false;
	}
	over = res_over(session_node_used(s, n), &t->klass->request, &n->allocatable,
			t->klass->mask);
	for (uint32_t m = over & ~RES_FURTHER; m != 0; m &= m - 1) {
		count_short(s, (unsigned)__builtin_ctz(m), c);
	}
	for (unsigned d = RES_DENSE; (over & RES_FURTHER) != 0 && d < res_width(&t->klass->request);
	     d++) {
		if (res_is_over(session_node_used(s, n), &t->klass->request, &n->allocatable, d)) {
			count_short(s, d, c);
		}
	}
	return true;
}

static int by_count(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->count != y->count) {
		return x->count > y->count ? -1 : 1;
	}
	return strcmp(x->text, y->text);
}

/* In kube-scheduler's words, the most frequent reason first. */
static const char *explain(struct session *s, const struct task *t)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct tallies c = { .n = 0 };
	struct fit *f = s->fit;
	size_t suit = 0;

	if (t->klass->unsupported != NULL) {
		return t->klass->unsupported;
	}
	for (size_t i = 0; i < f->nodes.n; i++) {
		suit += tally_node(s, t, f->nodes.v[i], &c);
	}
	tally_unoffered(s, t->klass, suit, &c);
	qsort(c.v, c.n, sizeof(c.v[0]), by_count);
	strbuf_printf(&text, "0/%zu nodes are available", f->nodes.n);
	for (size_t i = 0; i < c.n; i++) {
		strbuf_add_c(&text, i == 0 ? ": " : ", ");
		if (c.v[i].count > 0) {
			strbuf_printf(&text, "%zu ", c.v[i].count);
		}
		strbuf_add_c(&text, c.v[i].text);
	}
	strbuf_add_ch(&text, '.');
	return arena_dup_n(s->arena, strbuf_str(&text).p, strbuf_str(&text).len);
}

const char *fit_explain(struct session *s, const struct task *t)
{
	struct fit_view *v = view_of(s, t);
	/* Without a view it is the same for all classes that share the ranking. */
	const char **at = v->view == 0 ? &v->ranking->explain : &v->explain;

	/* It costs a walk over all nodes, and is made once although their use may have changed
	 * since. */
	if (*at == NULL) {
		*at = explain(s, t);
	}
	return *at;
}
