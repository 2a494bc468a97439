#include "api/core/node.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/base/match_from_api.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/images.h"

struct node_spec {
	struct label *labels;
	size_t nlabels;
	struct taint *taints;
	size_t ntaints;
};

static void spec_finish(struct node_spec *s)
{
	free(s->labels);
	free(s->taints);
}

static int read_spec(struct cluster *c, const struct api_node *node, struct node_spec *s,
		     struct err *err)
{
	const struct field_map *labels = &node->meta.labels;

	s->labels = xmalloc_zero(labels->n + 1, sizeof(s->labels[0]));
	for (; s->nlabels < labels->n; s->nlabels++) {
		struct label *l = &s->labels[s->nlabels];

		if (from_api_text(c, labels->v[s->nlabels].key, &l->key, err) < 0 ||
		    from_api_text(c, labels->v[s->nlabels].value, &l->value, err) < 0) {
			return err_wrap(err, "metadata.labels");
		}
	}
	s->taints = xmalloc_zero(node->spec.taints.n + 1, sizeof(s->taints[0]));
	for (; s->ntaints < node->spec.taints.n; s->ntaints++) {
		const struct api_taint *a = &node->spec.taints.v[s->ntaints];
		struct taint *t = &s->taints[s->ntaints];

		if (!match_from_api_effect(a->effect, &t->effect)) {
			return err_set(err, ERR_INVALID, "spec.taints[%zu].effect: unknown",
				       s->ntaints);
		}
		if (from_api_text(c, a->key, &t->key, err) < 0 ||
		    from_api_text(c, a->value, &t->value, err) < 0) {
			return err_wrap(err, "spec.taints[%zu]", s->ntaints);
		}
	}
	return 0;
}

/* Texts are interned: equal ones are one pointer. */
static bool spec_equal(const struct node *n, const struct node_spec *s)
{
	if (n->labels.n != s->nlabels || n->taints.n != s->ntaints) {
		return false;
	}
	for (size_t i = 0; i < s->nlabels; i++) {
		if (n->labels.v[i].key != s->labels[i].key ||
		    n->labels.v[i].value != s->labels[i].value) {
			return false;
		}
	}
	for (size_t i = 0; i < s->ntaints; i++) {
		if (n->taints.v[i].key != s->taints[i].key ||
		    n->taints.v[i].value != s->taints[i].value ||
		    n->taints.v[i].effect != s->taints[i].effect) {
			return false;
		}
	}
	return true;
}

static void store_spec(struct node *n, const struct node_spec *s)
{
	vec_finish(&n->labels);
	vec_finish(&n->taints);
	for (size_t i = 0; i < s->nlabels; i++) {
		vec_push(&n->labels, s->labels[i]);
	}
	for (size_t i = 0; i < s->ntaints; i++) {
		vec_push(&n->taints, s->taints[i]);
	}
}

static void read_images(struct cluster *c, const struct api_node *node, struct node *n)
{
	struct VEC(struct images_entry) names = VEC_INIT;

	for (size_t i = 0; i < node->status.images.n; i++) {
		const struct api_node_image *image = &node->status.images.v[i];

		for (size_t k = 0; k < image->names.n && names.n < IMAGES_NODE_MAX; k++) {
			struct images_entry e = { image->names.v[k], image->size };

			vec_push(&names, e);
		}
	}
	images_set_node(c, n, names.v, names.n);
	vec_finish(&names);
}

int from_api_node(struct cluster *c, const struct api_node *node, struct err *err)
{
	CLEANUP(spec_finish) struct node_spec s = { .labels = NULL };
	struct res allocatable = { .more = NULL }, old;
	bool existed, spec;
	struct node *n;

	if (node->meta.name == NULL) {
		return err_set(err, ERR_INVALID, "metadata.name: missing");
	}
	/* A node that has not reported what is allocatable offers its capacity, as the API server
	 * has it. */
	if (from_api_offered(c,
			     node->status.allocatable.v == NULL ? &node->status.capacity
								: &node->status.allocatable,
			     FROM_API_MAX_AMOUNT, &allocatable, err) < 0) {
		return err_wrap(err, "status.allocatable");
	}
	/* Everything is read before anything changes: a node that is refused stays as it was. */
	if (read_spec(c, node, &s, err) < 0) {
		return -ERR_INVALID;
	}
	n = cluster_node_get(c, str_of(node->meta.name));
	old = n->allocatable;
	existed = n->exists;
	read_images(c, node, n);
	spec = !existed || n->unschedulable != node->spec.unschedulable || !spec_equal(n, &s);
	if (!spec && res_eq(&old, &allocatable)) {
		return 0; /* a heartbeat */
	}
	if (spec) {
		store_spec(n, &s);
	}
	n->exists = true;
	n->unschedulable = node->spec.unschedulable;
	n->allocatable = allocatable;
	cluster_node_changed(c, n, existed ? &old : NULL, spec);
	return 0;
}
