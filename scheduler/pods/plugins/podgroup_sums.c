#include "scheduler/pods/plugins/podgroup_sums.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "scheduler/base/tree.h"
#include "scheduler/pods/session/session.h"

struct podgroup_dim {
	uint32_t dim;
	int64_t amount;
};

static void add_to(struct podgroup_sums *p, size_t row, const struct podgroup_part *part, int sign)
{
	for (uint32_t i = 0; i < part->n; i++) {
		p->v[row * p->width + part->v[i].dim] += sign * (__int128)part->v[i].amount;
	}
}

/* sign * the part to its queue, to all above that, and to the sum of all. */
static void add_up(struct podgroup_sums *p, const struct podgroup_part *part, int sign)
{
	const struct tree *tree = p->tree;

	if (part->n == 0) {
		return;
	}
	for (uint32_t q = part->queue; q != TREE_NONE;
	     q = tree != NULL && tree_is_placed(tree, q) ? tree_parent(tree, q) : TREE_NONE) {
		add_to(p, q, part, sign);
	}
	add_to(p, p->nqueues, part, sign);
}

static struct podgroup_part *part_of(struct podgroup_sums *p, uint32_t id)
{
	while (p->parts.n <= id) {
		vec_push(&p->parts, ((struct podgroup_part){ .v = NULL }));
	}
	return &p->parts.v[id];
}

static void set_part(struct podgroup_sums *p, uint32_t id, uint32_t queue, const struct res *amount)
{
	struct podgroup_part *part = part_of(p, id);
	unsigned width = res_width(amount) < p->width ? res_width(amount) : p->width;
	uint32_t n = 0;

	add_up(p, part, -1);
	for (unsigned d = 0; d < width; d++) {
		n += res_get(amount, d) != 0;
	}
	if (n != part->n) {
		free(part->v);
		part->v = n == 0 ? NULL : xmalloc(n * sizeof(part->v[0]));
	}
	part->queue = queue;
	part->n = 0;
	for (unsigned d = 0; d < width && part->n < n; d++) {
		if (res_get(amount, d) != 0) {
			part->v[part->n++] = (struct podgroup_dim){ d, res_get(amount, d) };
		}
	}
	add_up(p, part, 1);
}

void podgroup_sums_count(struct podgroup_sums *p, const struct session *s, uint32_t id)
{
	const struct cluster *c = session_cluster(s);
	const struct podgroup *g = id < c->podgroups.n ? c->podgroups.v[id] : NULL;
	struct res amount = { .v = { 0 } };

	if (g == NULL || !g->exists || g->queue == MODEL_NONE) {
		set_part(p, id, 0, &amount);
		return;
	}
	p->amount(s, g, &amount);
	set_part(p, id, g->queue, &amount);
}

static bool is_current(const struct podgroup_sums *p, const struct cluster *c)
{
	return p->v != NULL && p->cluster == c && p->queues_gen == c->queues_gen &&
	       p->width == res_names_count(c->res);
}

static void count_all(struct podgroup_sums *p, const struct session *s)
{
	const struct cluster *c = session_cluster(s);

	podgroup_sums_finish(p);
	p->cluster = c;
	p->queues_gen = c->queues_gen;
	p->width = res_names_count(c->res);
	p->nqueues = c->queues.n;
	p->v = xmalloc_zero((p->nqueues + 1) * p->width, sizeof(p->v[0]));
	for (size_t i = 0; i < c->podgroups.n; i++) {
		podgroup_sums_count(p, s, (uint32_t)i);
	}
}

void podgroup_sums_open(struct podgroup_sums *p, const struct session *s, const struct tree *tree,
			podgroup_sums_amount amount)
{
	const struct cluster *c = session_cluster(s);

	p->tree = tree;
	p->amount = amount;
	if (!is_current(p, c)) {
		count_all(p, s);
		return;
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && k < q->changed.n; k++) {
			podgroup_sums_count(p, s, q->changed.v[k]);
		}
	}
}

void podgroup_sums_finish(struct podgroup_sums *p)
{
	for (size_t i = 0; i < p->parts.n; i++) {
		free(p->parts.v[i].v);
	}
	vec_finish(&p->parts);
	free(p->v);
	p->v = NULL;
}

void podgroup_sums_add(struct podgroup_sums *p, const struct session *s, const struct podgroup *g,
		       const struct res *more)
{
	const struct podgroup_part *part = part_of(p, g->id);
	struct res now = { .v = { 0 } };
	struct res_edit edit = res_edit_begin(session_cluster(s)->res, &now);

	for (uint32_t i = 0; i < part->n; i++) {
		res_edit_set(&edit, part->v[i].dim, part->v[i].amount);
	}
	res_edit_end(&edit);
	res_add(&now, more);
	set_part(p, g->id, g->queue, &now);
}

static int64_t clamp(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

void podgroup_sums_get(const struct podgroup_sums *p, const struct session *s,
		       const struct queue *q, struct res *ret)
{
	struct res_edit edit = res_edit_begin(session_cluster(s)->res, ret);
	const __int128 *row;

	assert(q == NULL || q->id < p->nqueues);
	row = &p->v[(q == NULL ? p->nqueues : q->id) * p->width];
	*ret = (struct res){ .v = { 0 } };
	for (unsigned d = 0; d < p->width; d++) {
		res_edit_set(&edit, d, clamp(row[d]));
	}
	res_edit_end(&edit);
}
