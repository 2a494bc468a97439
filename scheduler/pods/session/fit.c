#include "scheduler/pods/session/fit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "collections/bitset.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"

#define NONE UINT32_MAX
#define REASONS_MAX 32

/* The ranking of one class. Leaf i of the tournament stands for node i of struct fit; tree[1] is
 * the best leaf, tree[k] the better of tree[2k] and tree[2k + 1]. */
struct fit_class {
	const struct pod_class *klass;
	uint64_t *may;          /* bit set over nodes: the class predicate passes */
	uint32_t *version;      /* of the node when its leaf was last played */
	double *score;          /* of leaves that fit */
	uint32_t *tree;         /* 2 * width, NONE: no node fits */
	size_t seen;            /* entries of overlay->touched that have been played */
	uint64_t view, outside; /* domains_view_id and domains_view_version when it was played */
	uint64_t nowhere; /* overlay->grown + 1 when nothing fitted, not even later; 0: unknown */
	const char *explain;
};

struct fit {
	const struct node **nodes; /* that exist, by id */
	uint32_t *index;           /* node id -> position in nodes, NONE */
	size_t n, width;           /* width: power of two, at least n */
	struct fit_class *by_class[FIT_CLASSES_MAX];
	size_t next;         /* victim */
	uint8_t *slot_of;    /* class id -> slot + 1, of rankings without a view */
	uint32_t *releasing; /* positions of nodes where pods terminate */
	size_t nreleasing;
	const char **short_of; /* by dimension: "Insufficient cpu", made at first use */
};

static bool is_zero(const struct res *r)
{
	return res_mask(r) == 0;
}

static void list_nodes(struct session *s, struct fit *f)
{
	const struct cluster *c = s->cluster;

	f->nodes = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*f->nodes));
	f->index = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*f->index));
	f->releasing = arena_alloc(s->arena, (c->nodes.n + 1) * sizeof(*f->releasing));
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *n = c->nodes.v[i];

		f->index[i] = NONE;
		if (n == NULL || !n->exists) {
			continue;
		}
		if (!is_zero(&n->releasing)) {
			f->releasing[f->nreleasing++] = (uint32_t)f->n;
		}
		f->index[i] = (uint32_t)f->n;
		f->nodes[f->n++] = n;
	}
	f->width = 1;
	while (f->width < f->n) {
		f->width *= 2;
	}
}

struct fit *fit_create(struct session *s)
{
	struct fit *f = arena_zero(s->arena, 1, sizeof(*f));

	f->short_of = arena_zero(s->arena, res_names_count(s->cluster->res), sizeof(*f->short_of));
	f->slot_of = arena_zero(s->arena, s->cluster->class_by_id.n + 1, 1);
	return f;
}

static uint32_t better(const struct fit_class *k, uint32_t a, uint32_t b)
{
	if (a == NONE || b == NONE) {
		return a == NONE ? b : a;
	}
	if (k->score[a] > k->score[b] || (!(k->score[a] < k->score[b]) && a < b)) {
		return a;
	}
	return b;
}

/* used - releasing + pipelined + request <= allocatable, saturating. */
static bool fits_later(const struct session *s, const struct pod_class *k, const struct node *n)
{
	struct res taken = *session_node_used(s, n);

	res_sub(&taken, session_node_releasing(s, n));
	res_add(&taken, session_node_pipelined(s, n));
	return res_over(&taken, &k->request, &n->allocatable, k->mask) == 0;
}

/* Room that is held for pods that wait for releases on the node is not free, though no pod uses it.
 */
static bool fits_now(const struct session *s, const struct pod_class *k, const struct node *n)
{
	return res_over(session_node_used(s, n), &k->request, &n->allocatable, k->mask) == 0 &&
	       (is_zero(session_node_pipelined(s, n)) || fits_later(s, k, n));
}

/* Whether the class fits node i now, and with which score. */
static uint32_t play(struct session *s, struct fit_class *k, const struct task *t, uint32_t i)
{
	const struct node *n = s->fit->nodes[i];

	s->nodes_scored++;
	k->version[i] = session_node_version(s, n);
	/* From cheap to dear. The answer for t holds for its class and view: the predicate of a
	 * plugin looks at nothing else of the task. */
	if (!bitset_has(k->may, i) || !fits_now(s, k->klass, n) ||
	    !hooks_predicate(s, t, n, NULL)) {
		return NONE;
	}
	k->score[i] = hooks_node_score(s, k->klass, n);
	return i;
}

/* O(nodes): each inner node is played once, from the bottom up. */
static void play_all(struct session *s, struct fit_class *k, const struct task *t)
{
	struct fit *f = s->fit;

	for (uint32_t i = 0; i < f->width; i++) {
		k->tree[f->width + i] = i < f->n ? play(s, k, t, i) : NONE;
	}
	for (size_t i = f->width - 1; i > 0; i--) {
		k->tree[i] = better(k, k->tree[2 * i], k->tree[2 * i + 1]);
	}
	k->seen = s->overlay->touched.n;
}

static void replay_changed(struct session *s, struct fit_class *k, const struct task *t)
{
	struct fit *f = s->fit;

	/* More changes than nodes: one pass over all nodes costs less than a path up the tree for
	 * each change. */
	if (s->overlay->touched.n - k->seen > f->n) {
		play_all(s, k, t);
		return;
	}
	for (; k->seen < s->overlay->touched.n; k->seen++) {
		/* The list names a node once for each change: its version shows that it has been
		 * played since. */
		uint32_t i = f->index[s->overlay->touched.v[k->seen]];

		if (i == NONE || k->version[i] == session_node_version(s, f->nodes[i])) {
			continue;
		}
		k->tree[f->width + i] = play(s, k, t, i);
		for (size_t up = (f->width + i) / 2; up > 0; up /= 2) {
			k->tree[up] = better(k, k->tree[2 * up], k->tree[2 * up + 1]);
		}
	}
}

static struct fit_class *new_class(struct session *s, struct fit *f)
{
	struct fit_class *k = arena_zero(s->arena, 1, sizeof(*k));

	k->may = arena_alloc(s->arena, BITSET_WORDS(f->width) * sizeof(*k->may));
	k->version = arena_alloc(s->arena, f->width * sizeof(*k->version));
	k->score = arena_alloc(s->arena, f->width * sizeof(*k->score));
	k->tree = arena_alloc(s->arena, 2 * f->width * sizeof(*k->tree));
	return k;
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

/* NULL: there is none. */
static struct fit_class *find_ranking(const struct fit *f, const struct task *t, uint64_t view)
{
	uint8_t slot = f->slot_of[t->klass->id];

	if (view == 0) {
		return slot == 0 ? NULL : f->by_class[slot - 1];
	}
	for (size_t i = 0; i < FIT_CLASSES_MAX && f->by_class[i] != NULL; i++) {
		if (f->by_class[i]->klass == t->klass && f->by_class[i]->view == view) {
			return f->by_class[i];
		}
	}
	return NULL;
}

/* The oldest ranking makes room. All have the same size, so its memory serves the new class. */
static struct fit_class *take_slot(struct session *s, const struct task *t, uint64_t view)
{
	struct fit *f = s->fit;
	struct fit_class *k = f->by_class[f->next];

	if (k == NULL) {
		k = f->by_class[f->next] = new_class(s, f);
	} else if (k->view == 0) {
		f->slot_of[k->klass->id] = 0;
	}
	if (view == 0) {
		f->slot_of[t->klass->id] = (uint8_t)(f->next + 1);
	}
	f->next = (f->next + 1) % FIT_CLASSES_MAX;
	k->klass = t->klass;
	k->view = view;
	k->nowhere = 0;
	k->explain = NULL;
	return k;
}

/* A pod on another node may forbid or allow this one to the class: then all are played again. */
static void refresh(struct session *s, struct fit_class *k, const struct task *t)
{
	uint64_t outside = domains_view_version(domains_view(s, t));

	if (k->outside == outside && !is_volatile(s, k->klass)) {
		replay_changed(s, k, t);
		return;
	}
	play_all(s, k, t);
	k->nowhere = 0;
	k->outside = outside;
}

/* The ranking of t's class, up to date. */
static struct fit_class *ranking(struct session *s, const struct task *t)
{
	uint64_t view = domains_view_id(domains_view(s, t));
	struct fit *f = s->fit;
	struct fit_class *k;

	if (f->nodes == NULL) {
		list_nodes(s, f);
	}
	k = find_ranking(f, t, view);
	if (k != NULL) {
		refresh(s, k, t);
		return k;
	}
	k = take_slot(s, t, view);
	memset(k->may, 0, BITSET_WORDS(f->width) * sizeof(*k->may));
	for (size_t i = 0; i < f->n; i++) {
		/* A resource that no node offers keeps the class from every node; so does a part
		 * of the pod that this scheduler cannot place. */
		if (t->klass->unsupported == NULL && t->klass->unoffered.n == 0 &&
		    hooks_class_predicate(s, t->klass, f->nodes[i], NULL)) {
			bitset_set(k->may, i);
		}
	}
	play_all(s, k, t);
	k->outside = domains_view_version(domains_view(s, t));
	return k;
}

struct later {
	uint32_t best; /* position of the node, NONE */
	double score;
};

static void consider_later(struct session *s, struct fit_class *k, const struct task *t, uint32_t i,
			   struct later *later)
{
	const struct node *n = s->fit->nodes[i];
	double score;

	if (!bitset_has(k->may, i) || !fits_later(s, k->klass, n) ||
	    !hooks_predicate(s, t, n, NULL)) {
		return;
	}
	score = hooks_node_score(s, k->klass, n);
	if (later->best == NONE || score > later->score ||
	    (!(score < later->score) && i < later->best)) {
		*later = (struct later){ i, score };
	}
}

/* Only nodes where pods terminate can have room later that they have not now: those are looked
 * through, without a ranking. Ties go to the first. */
static const struct node *best_later(struct session *s, struct fit_class *k, const struct task *t)
{
	struct later later = { .best = NONE };
	struct fit *f = s->fit;

	for (size_t r = 0; r < f->nreleasing; r++) {
		consider_later(s, k, t, f->releasing[r], &later);
	}
	for (size_t r = 0; r < s->overlay->evicted.n; r++) {
		uint32_t i = f->index[s->overlay->evicted.v[r]];

		if (i != NONE) {
			consider_later(s, k, t, i, &later);
		}
	}
	return later.best == NONE ? NULL : f->nodes[later.best];
}

static bool nominated_fits(struct session *s, struct fit_class *k, const struct task *t,
			   const struct node **ret_node)
{
	uint32_t i = t->nominated == MODEL_NONE ? NONE : s->fit->index[t->nominated];

	if (i == NONE || k->tree[s->fit->width + i] == NONE) {
		return false;
	}
	*ret_node = s->fit->nodes[i];
	return true;
}

/* 1. Bring the ranking of the pod's class up to date.
 * 2. Take the node to which the pod is nominated, if it fits, as Volcano does.
 * 3. Else the best node with room, which is the root of the tournament.
 * 4. Else the best node that will have room when its terminating pods are gone. */
enum fit_result fit_find(struct session *s, const struct task *t, const struct node **ret_node)
{
	struct fit_class *k = ranking(s, t);
	const struct node *later;

	s->tasks_seen++;
	if (k->view != 0 && t->podgroup != MODEL_NONE) {
		/* A pod that comes to another node, or goes, may let it in. */
		session_wait_for_podgroups(
			s, queue_at(s->cluster, s->cluster->podgroups.v[t->podgroup]->queue));
	}
	if (nominated_fits(s, k, t, ret_node)) {
		return FIT_IDLE;
	}
	if (s->fit->n > 0 && k->tree[1] != NONE) {
		*ret_node = s->fit->nodes[k->tree[1]];
		return FIT_IDLE;
	}
	/* Nothing has come free since no node fitted: step 4 would find nothing again. */
	if (k->nowhere == s->overlay->grown + 1) {
		return FIT_NONE;
	}
	later = best_later(s, k, t);
	if (later == NULL) {
		k->nowhere = s->overlay->grown + 1;
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
	if (fits_now(s, k, n) && hooks_predicate(s, t, n, NULL)) {
		return FIT_IDLE;
	}
	return fits_later(s, k, n) && hooks_predicate_later(s, t, n) ? FIT_RELEASING : FIT_NONE;
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
		struct res one = { .more = NULL };

		res_set(s->cluster->res, &one, d, res_get(&t->klass->request, d));
		if (res_over(session_node_used(s, n), &one, &n->allocatable, res_mask(&one)) != 0) {
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
	for (size_t i = 0; i < f->n; i++) {
		suit += tally_node(s, t, f->nodes[i], &c);
	}
	tally_unoffered(s, t->klass, suit, &c);
	qsort(c.v, c.n, sizeof(c.v[0]), by_count);
	strbuf_printf(&text, "0/%zu nodes are available", f->n);
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
	struct fit_class *k = ranking(s, t);

	/* It costs a walk over all nodes, and is made once although their use may have changed
	 * since. */
	if (k->explain == NULL) {
		k->explain = explain(s, t);
	}
	return k->explain;
}
