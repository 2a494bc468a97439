#include "scheduler/pods/search/ranking.h"

#include <string.h>

#include "base/strbuf.h"
#include "collections/bitset.h"
#include "scheduler/pods/session/domain_table.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/ranking_memo.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

struct ranking *ranking_create(struct session *s, const struct ranking_nodes *nodes)
{
	struct ranking *r = arena_zero(s->arena, 1, sizeof(*r));
	size_t n = nodes->n;

	r->nodes = nodes;
	r->may = arena_alloc(s->arena, BITSET_WORDS(n + 1) * sizeof(*r->may));
	r->version = arena_alloc(s->arena, (n + 1) * sizeof(*r->version));
	r->score = arena_alloc(s->arena, (n + 1) * sizeof(*r->score));
	r->cell = arena_alloc(s->arena, (n + 1) * sizeof(*r->cell));
	r->order = arena_alloc(s->arena, (n + 1) * sizeof(*r->order));
	r->at = arena_alloc(s->arena, (n + 1) * sizeof(*r->at));
	r->start = arena_alloc(s->arena, (n + 2) * sizeof(*r->start));
	r->tree = arena_alloc(s->arena, 2 * (n + 1) * sizeof(*r->tree));
	return r;
}

/* --- cells -------------------------------------------------------------------------------------
 */

/* Brings order and start in line with the cells of the places. */
static void sort_by_cell(struct ranking *r)
{
	size_t n = r->nodes->n;

	memset(r->start, 0, (r->ncells + 1) * sizeof(*r->start));
	for (size_t i = 0; i < n; i++) {
		r->start[r->cell[i] + 1]++;
	}
	for (size_t c = 0; c < r->ncells; c++) {
		r->start[c + 1] += r->start[c];
	}
	/* start[c] runs through cell c while its places are listed, and ends where c + 1 begins. */
	for (size_t i = 0; i < n; i++) {
		r->at[i] = r->start[r->cell[i]]++;
		r->order[r->at[i]] = (uint32_t)i;
	}
	for (size_t c = r->ncells; c > 0; c--) {
		r->start[c] = r->start[c - 1];
	}
	r->start[0] = 0;
}

/* Nodes of a cell stay together when they are in the same domain of the key, or all in none. */
static void split_cells(struct ranking *r, const struct domain_key *key)
{
	/* By domain, the last one for none: the new cell, and the old cell for which it was made.
	 */
	uint32_t *made = r->nodes->made, *made_for = r->nodes->made_for, n = 0;

	memset(made_for, 0xff, (key->n + 1) * sizeof(*made_for));
	for (size_t i = 0; i < r->nodes->n; i++) {
		uint32_t place = r->order[i], old = r->cell[place];
		uint32_t domain = key->of[r->nodes->v[place]->id];

		domain = domain == DOMAIN_NONE ? key->n : domain;
		if (made_for[domain] != old) {
			made_for[domain] = old;
			made[domain] = n++;
		}
		r->cell[place] = made[domain];
	}
	r->ncells = n == 0 ? 1 : n;
	sort_by_cell(r);
}

static void make_cells(struct session *s, struct ranking *r, const struct domain_key *const *keys,
		       size_t nkeys)
{
	memset(r->cell, 0, (r->nodes->n + 1) * sizeof(*r->cell));
	r->ncells = 1;
	sort_by_cell(r);
	r->keys = arena_alloc(s->arena, (nkeys + 1) * sizeof(*r->keys));
	r->nkeys = nkeys;
	for (size_t i = 0; i < nkeys; i++) {
		r->keys[i] = keys[i]->name;
		if (r->ncells < r->nodes->n) {
			split_cells(r, keys[i]);
		}
	}
}

/* --- room --------------------------------------------------------------------------------------
 */

bool ranking_room_later(const struct session *s, const struct pod_class *k, const struct node *n)
{
	struct res taken = session_node_taken_later(s, n);

	return res_over(&taken, &k->request, &n->allocatable, k->mask) == 0;
}

bool ranking_room_now(const struct session *s, const struct pod_class *k, const struct node *n)
{
	if (res_over(session_node_used(s, n), &k->request, &n->allocatable, k->mask) != 0) {
		return false;
	}
	/* Most nodes have not been changed by the session, and so have no pipelined pods. */
	return session_node_version(s, n) == 0 || res_is_zero(session_node_pipelined(s, n)) ||
	       ranking_room_later(s, k, n);
}

/* --- tournaments -------------------------------------------------------------------------------
 */

static uint32_t better(const struct ranking *r, uint32_t a, uint32_t b)
{
	if (a == RANKING_NONE || b == RANKING_NONE) {
		return a == RANKING_NONE ? b : a;
	}
	if (r->score[a] > r->score[b] || (!(r->score[a] < r->score[b]) && a < b)) {
		return a;
	}
	return b;
}

/* Whether the shape fits the node now, and with which score. */
static uint32_t play(struct session *s, struct ranking *r, const struct task *t, uint32_t place)
{
	const struct node *n = r->nodes->v[place];
	struct ranking_memo_answer *answer = NULL;
	bool fits;

	r->version[place] = session_node_version(s, n);
	if (!bitset_has(r->may, place)) {
		return RANKING_NONE;
	}
	if (r->memo != NULL && r->version[place] == 0) {
		answer = &r->memo[n->id];
		if (answer->state >= RANKING_MEMO_FULL && answer->use_gen == n->use_gen) {
			r->score[place] = answer->score;
			return answer->state == RANKING_MEMO_FITS ? place : RANKING_NONE;
		}
	}
	s->nodes_scored++;
	/* From cheap to dear. The answer for t holds for its shape: the node predicate of a plugin
	 * looks at nothing else of the task. */
	fits = ranking_room_now(s, t->klass, n) && hooks_node_predicate(s, t, n, NULL);
	r->score[place] = fits ? hooks_node_score(s, t->klass, n) : 0;
	if (answer != NULL) {
		*answer = (struct ranking_memo_answer){ n->use_gen, r->score[place],
							fits ? RANKING_MEMO_FITS
							     : RANKING_MEMO_FULL };
	}
	return fits ? place : RANKING_NONE;
}

/* O(nodes): each inner node is played once, from the bottom up. */
static void play_all(struct session *s, struct ranking *r, const struct task *t)
{
	for (size_t c = 0; c < r->ncells; c++) {
		uint32_t *tree = &r->tree[2 * r->start[c]];
		size_t n = r->start[c + 1] - r->start[c];

		for (size_t i = 0; i < n; i++) {
			tree[n + i] = play(s, r, t, r->order[r->start[c] + i]);
		}
		for (size_t i = n; i-- > 1;) {
			tree[i] = better(r, tree[2 * i], tree[2 * i + 1]);
		}
	}
	r->seen = s->overlay->touched.n;
	r->whole++;
}

/* The tree of the place's cell, and the index of its leaf there. */
static uint32_t *leaf_of(const struct ranking *r, uint32_t place, size_t *ret_leaf)
{
	uint32_t start = r->start[r->cell[place]];

	*ret_leaf = r->start[r->cell[place] + 1] - start + r->at[place] - start;
	return &r->tree[2 * start];
}

static void replay(struct session *s, struct ranking *r, const struct task *t, uint32_t place)
{
	size_t i;
	uint32_t *tree = leaf_of(r, place, &i);

	tree[i] = play(s, r, t, place);
	while (i > 1) {
		i /= 2;
		tree[i] = better(r, tree[2 * i], tree[2 * i + 1]);
	}
}

void ranking_refresh(struct session *s, struct ranking *r, const struct task *t, bool all)
{
	/* More changes than nodes: one pass over all nodes costs less than a path up the tree for
	 * each change. */
	if (all || s->overlay->touched.n - r->seen > r->nodes->n) {
		play_all(s, r, t);
		return;
	}
	for (; r->seen < s->overlay->touched.n; r->seen++) {
		/* The list names a node once for each change: its version shows that it has been
		 * played since. */
		uint32_t place = r->nodes->place[s->overlay->touched.v[r->seen]];

		if (place != RANKING_NONE &&
		    r->version[place] != session_node_version(s, r->nodes->v[place])) {
			replay(s, r, t, place);
		}
	}
}

/* A resource that no node offers keeps the pod from every node; so does a part of it that this
 * scheduler cannot place. */
static void ask_class(struct session *s, struct ranking *r, const struct pod_class *k)
{
	memset(r->may, 0, BITSET_WORDS(r->nodes->n + 1) * sizeof(*r->may));
	if (k->unsupported != NULL || k->unoffered.n > 0) {
		return;
	}
	for (size_t i = 0; i < r->nodes->n; i++) {
		const struct node *n = r->nodes->v[i];
		struct ranking_memo_answer *answer = r->memo == NULL ? NULL : &r->memo[n->id];
		bool may = answer != NULL && answer->state != RANKING_MEMO_UNKNOWN
				   ? answer->state != RANKING_MEMO_REFUSED
				   : hooks_class_predicate(s, k, n, NULL);

		if (may) {
			bitset_set(r->may, i);
		}
		if (answer != NULL && answer->state == RANKING_MEMO_UNKNOWN) {
			answer->state = may ? RANKING_MEMO_ALLOWED : RANKING_MEMO_REFUSED;
		}
	}
}

void ranking_fill(struct session *s, struct ranking *r, const struct task *t, struct str shape,
		  const struct domain_key *const *keys, size_t nkeys)
{
	r->shape = arena_str(s->arena, shape);
	r->explain = NULL;
	r->memo = ranking_memo_of(s->memo, s->cluster, t->klass, shape);
	make_cells(s, r, keys, nkeys);
	ask_class(s, r, t->klass);
	play_all(s, r, t);
	r->memo = NULL; /* other shapes may take its memory */
}

bool ranking_serves(const struct ranking *r, struct str shape, const struct domain_key *const *keys,
		    size_t nkeys)
{
	if (r->nkeys != nkeys || !str_eq(r->shape, shape)) {
		return false;
	}
	for (size_t i = 0; i < nkeys; i++) {
		if (r->keys[i] != keys[i]->name) {
			return false;
		}
	}
	return true;
}

bool ranking_fits(const struct ranking *r, uint32_t place)
{
	size_t leaf;
	const uint32_t *tree = leaf_of(r, place, &leaf);

	return tree[leaf] != RANKING_NONE;
}

uint32_t ranking_sample(const struct ranking *r, size_t cell)
{
	for (size_t i = r->start[cell]; i < r->start[cell + 1]; i++) {
		if (bitset_has(r->may, r->order[i])) {
			return r->order[i];
		}
	}
	return RANKING_NONE;
}
