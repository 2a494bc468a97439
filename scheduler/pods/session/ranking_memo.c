#include "scheduler/pods/session/ranking_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/values/pod_class.h"

struct row {
	struct strbuf shape; /* empty: not used */
	struct ranking_memo_answer *v;
	size_t n;
	uint64_t used; /* number of the request that used it last */
};

struct ranking_memo {
	const struct cluster *cluster;
	uint64_t node_objects_gen, res_swept;
	unsigned resources;
	uint64_t requests;
	struct row rows[RANKING_MEMO_SHAPES];
};

struct ranking_memo *ranking_memo_create(void)
{
	struct ranking_memo *m = xmalloc_zero(1, sizeof(*m));

	for (size_t i = 0; i < RANKING_MEMO_SHAPES; i++) {
		strbuf_init(&m->rows[i].shape);
	}
	return m;
}

static void forget_all(struct ranking_memo *m)
{
	for (size_t i = 0; i < RANKING_MEMO_SHAPES; i++) {
		struct row *row = &m->rows[i];

		strbuf_finish(&row->shape);
		strbuf_init(&row->shape);
		free(row->v);
		row->v = NULL;
		row->n = 0;
		row->used = 0;
	}
}

void ranking_memo_destroy(struct ranking_memo *m)
{
	if (m != NULL) {
		forget_all(m);
		free(m);
	}
}

static bool is_current(const struct ranking_memo *m, const struct cluster *c)
{
	return m->cluster == c && m->node_objects_gen == c->node_objects_gen &&
	       m->res_swept == c->res_swept && m->resources == res_names_count(c->res);
}

/* The row of the shape, else the one that was not used for longest, emptied. */
static struct row *row_of(struct ranking_memo *m, struct str shape)
{
	struct row *oldest = &m->rows[0];

	for (size_t i = 0; i < RANKING_MEMO_SHAPES; i++) {
		struct row *row = &m->rows[i];

		if (str_eq(strbuf_str(&row->shape), shape)) {
			return row;
		}
		if (row->used < oldest->used) {
			oldest = row;
		}
	}
	strbuf_reset(&oldest->shape);
	strbuf_add_str(&oldest->shape, shape);
	free(oldest->v);
	oldest->v = NULL;
	oldest->n = 0;
	return oldest;
}

struct ranking_memo_answer *ranking_memo_of(struct ranking_memo *m, const struct cluster *c,
					    const struct pod_class *k, struct str shape)
{
	struct row *row;

	if (k->nclaims > 0) {
		return NULL;
	}
	if (!is_current(m, c)) {
		forget_all(m);
		m->cluster = c;
		m->node_objects_gen = c->node_objects_gen;
		m->res_swept = c->res_swept;
		m->resources = res_names_count(c->res);
	}
	row = row_of(m, shape);
	row->used = ++m->requests;
	/* Pods may name nodes of which there is no object: these have ids as well. */
	if (row->n < c->nodes.n) {
		row->v = xmalloc_resize(row->v, c->nodes.n, sizeof(*row->v));
		memset(row->v + row->n, 0, (c->nodes.n - row->n) * sizeof(*row->v));
		row->n = c->nodes.n;
	}
	return row->v;
}
