#include "api/core/node.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "collections/strmap.h"
#include "scheduler/pods/ingest/cache_priv.h"

#define SHAPES_MAX 10000 /* then all are forgotten: a few attempts too many */
#define KEPT_BITS 4      /* of amounts: nodes of one kind differ a little in memory */
#define LIFECYCLE "node.kubernetes.io/" /* taints that come and go with a node's health */

/* Keeps the four highest bits: amounts that differ by less than an eighth may count as equal. */
static int64_t rounded(int64_t amount)
{
	unsigned bits = 0;

	while (amount >> bits >= INT64_C(1) << KEPT_BITS) {
		bits++;
	}
	return amount >> bits << bits;
}

static void add_amounts(const struct field_resources *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->n; i++) {
		strbuf_printf(out, "%s=%lld\n", r->v[i].name,
			      (long long)rounded(quantity_milli(r->v[i].amount)));
	}
}

/* The labels by which pods choose nodes; the name of one node says nothing about the next. */
static void add_labels(const struct api_meta *m, struct strbuf *out)
{
	for (size_t i = 0; i < m->labels.n; i++) {
		if (!str_streq(m->labels.v[i].value, m->name)) {
			strbuf_printf(out, "%s:%s\n", m->labels.v[i].key, m->labels.v[i].value);
		}
	}
}

/* The shape is what decides whether a pod fits an empty node, and differs little among the nodes of
 * one pool: a pod that waits for nodes of another shape does not wait for more of the same. */
bool cache_shapes_add(struct cache *c, const struct api_node *node)
{
	CLEANUP(strbuf_finish) struct strbuf shape = STRBUF_INIT;

	add_amounts(node->status.allocatable.v == NULL ? &node->status.capacity
						       : &node->status.allocatable,
		    &shape);
	add_labels(&node->meta, &shape);
	for (size_t i = 0; i < node->spec.taints.n; i++) {
		const struct api_taint *t = &node->spec.taints.v[i];

		if (!str_has_prefix(str_of(t->key), LIFECYCLE)) {
			strbuf_printf(&shape, "!%s=%s:%s\n", t->key,
				      t->value == NULL ? "" : t->value,
				      t->effect == NULL ? "" : t->effect);
		}
	}
	if (strmap_has(c->shapes, strbuf_str(&shape))) {
		return false;
	}
	if (strmap_count(c->shapes) >= SHAPES_MAX) {
		strmap_clear(c->shapes);
	}
	strmap_set(c->shapes, strbuf_str(&shape), c);
	return true;
}
