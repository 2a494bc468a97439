#include "scheduler/workloads/owners/placement.h"

#include <string.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/err.h"
#include "scheduler/workloads/owners/owner_spec.h"

#define LABEL_VALUE_MAX 63

void placement_finish(struct placement *m)
{
	vec_finish(&m->labels);
	vec_finish(&m->annotations);
	vec_finish(&m->selector);
	vec_finish(&m->tolerations);
}

/* Kueue: a key that has another value already can never be satisfied, so the Workload is finished
 * (FailedToStart) and not tried forever. */
static int add_pair(struct placement_pairs *to, const struct field_map *base,
		    const struct field_pair *p, const char *what, struct err *err)
{
	const char *old = field_map_get(base, p->key);

	for (size_t i = 0; old == NULL && i < to->n; i++) {
		if (str_streq(to->v[i].key, p->key)) {
			old = to->v[i].value;
		}
	}
	if (old == NULL) {
		vec_push(to, *p);
		return 0;
	}
	if (!str_streq(old, p->value)) {
		return err_set(err, ERR_INVALID, "%s %s: cannot be both %s and %s", what, p->key,
			       old, p->value);
	}
	return 0;
}

static int add_map(struct placement_pairs *to, const struct field_map *base,
		   const struct field_map *from, const char *what, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->n; i++) {
		r = add_pair(to, base, &from->v[i], what, err);
	}
	return r;
}

/* Resources of a pod set share flavors, and flavors tolerations: each is added once. */
static bool is_same_toleration(const struct api_toleration *a, const struct api_toleration *b)
{
	return str_streq(a->key, b->key) && str_streq(a->operator_, b->operator_) &&
	       str_streq(a->value, b->value) && str_streq(a->effect, b->effect) &&
	       a->seconds == b->seconds;
}

static void add_tolerations(struct placement *m, const struct api_toleration *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < m->tolerations.n && !is_same_toleration(m->tolerations.v[k], &v[i])) {
			k++;
		}
		if (k == m->tolerations.n) {
			vec_push(&m->tolerations, &v[i]);
		}
	}
}

static int merge_flavors(struct placement *m, const struct placement_of *of,
			 const struct api_pod_set_assignment *a,
			 const struct placement_flavors *flavors, struct err *err)
{
	const struct field_map *base = &of->spec->node_selector;
	int r = 0;

	/* Resources share flavors; what was added once is there already. */
	for (size_t i = 0; r == 0 && i < a->flavors.n; i++) {
		const char *name = a->flavors.v[i].value;
		const struct api_resource_flavor *rf = flavors->find(flavors->ctx, name);

		/* Its labels would be missing, and the pods could run anywhere: the start waits. */
		if (rf == NULL) {
			return err_set(err, ERR_NOT_FOUND, "ResourceFlavor %s is not known", name);
		}
		r = add_map(&m->selector, base, &rf->spec.node_labels, "node selector", err);
		add_tolerations(m, rf->spec.tolerations.v, rf->spec.tolerations.n);
	}
	return r;
}

static int merge_update(struct placement *m, const struct placement_of *of,
			const struct api_pod_set_update *u, struct err *err)
{
	int r = add_map(&m->labels, &of->meta->labels, &u->labels, "label", err);

	if (r == 0) {
		r = add_map(&m->annotations, &of->meta->annotations, &u->annotations, "annotation",
			    err);
	}
	if (r == 0) {
		r = add_map(&m->selector, &of->spec->node_selector, &u->node_selector,
			    "node selector", err);
	}
	add_tolerations(m, u->tolerations.v, u->tolerations.n);
	return r;
}

static int merge_checks(struct placement *m, const struct placement_of *of, struct err *err)
{
	const struct api_workload *w = of->w;
	int r = 0;

	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		const struct api_check_state *k = &w->status.admission_checks.v[i];

		for (size_t j = 0; r == 0 && j < k->updates.n; j++) {
			/* Updates of a check that is not Ready may still change. */
			if (str_streq(k->state, KUEUE_CHECK_READY) &&
			    str_streq(k->updates.v[j].name, of->podset)) {
				r = merge_update(m, of, &k->updates.v[j], err);
			}
		}
	}
	return r;
}

static void add_label(struct placement *m, const char *key, const char *value)
{
	struct field_pair p = { key, value };

	/* A queue's name may be longer than a label: the pods go without it rather than not at all.
	 */
	if (value != NULL && strlen(value) <= LABEL_VALUE_MAX) {
		vec_push(&m->labels, p);
	}
}

int placement_make(const struct placement_of *of, const struct placement_flavors *flavors,
		   struct placement *ret, struct err *err)
{
	const struct api_pod_set_assignment *a = kueue_workload_assignment(of->w, of->podset);
	int r;

	if (a == NULL) {
		return err_set(err, ERR_INVALID, "the admission has no pod set %s", of->podset);
	}
	/* All that the pod tolerates itself stays, duplicates as well. */
	for (size_t i = 0; i < of->spec->tolerations.n; i++) {
		vec_push(&ret->tolerations, &of->spec->tolerations.v[i]);
	}
	r = merge_flavors(ret, of, a, flavors, err);
	if (r == 0) {
		r = merge_checks(ret, of, err);
	}
	if (r < 0) {
		return r;
	}
	add_label(ret, KUEUE_PODSET, of->podset);
	add_label(ret, KUEUE_MANAGED, "true");
	add_label(ret, KUEUE_LOCAL_QUEUE_NAME, of->w->spec.queue_name);
	add_label(ret, KUEUE_CLUSTER_QUEUE_NAME, of->w->status.admission->cluster_queue);
	return 0;
}

/* An empty map would be written as {}; an absent one leaves the object alone. */
static struct field_map map(const struct placement_pairs *p)
{
	return p->n == 0 ? (struct field_map){ NULL, 0 } : (struct field_map){ p->v, p->n };
}

void placement_fill(const struct placement *p, const struct api_pod_spec *has, struct arena *arena,
		    struct api_meta *meta, struct api_pod_spec *spec)
{
	meta->labels = map(&p->labels);
	meta->annotations = map(&p->annotations);
	spec->node_selector = map(&p->selector);
	/* A list in a merge patch replaces the old one, so it is sent as a whole or not at all. */
	if (p->tolerations.n > has->tolerations.n) {
		FIELD_LIST_MAKE(&spec->tolerations, p->tolerations.n, arena);
		for (size_t i = 0; i < p->tolerations.n; i++) {
			spec->tolerations.v[i] = *p->tolerations.v[i];
		}
	}
}
