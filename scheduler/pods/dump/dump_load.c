#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/dump/dump_class.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/dump/dump_images.h"
#include "scheduler/pods/dump/dump_pod_terms.h"
#include "scheduler/pods/dump/dump_text.h"
#include "scheduler/pods/dump/dump_volumes.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/model/volumes.h"

static struct str text_of(const struct jdoc *d, const char *key)
{
	return str_of(jdoc_str(jdoc_get(d, key)));
}

static int bad(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID, "%s", what);
}

static char *dup_or_null(struct str s)
{
	return s.p == NULL ? NULL : xmalloc_dup_n(s.p, s.len);
}

static int load_resources(struct cluster *c, const struct jdoc *doc, struct err *err)
{
	int i = 0;

	for (const struct jdoc *d = jdoc_first(jdoc_get(doc, "resources")); d != NULL;
	     d = jdoc_next(d), i++) {
		struct str name = str_of(jdoc_str(d));
		int dim;

		if (name.len == 0) {
			return err_set(err, ERR_INVALID, "resources[%d]: not a name", i);
		}
		dim = res_names_add(c->res, name);
		if (dim != i) {
			return err_set(err, ERR_INVALID, "resources[%d]: %s", i,
				       dim < 0 ? "too many" : "not in its place");
		}
	}
	c->res_resolved = res_names_count(c->res);
	return 0;
}

/* null: the id is free. It is held by a name that nothing else has until all names are there. */
static int load_names(struct cluster *c, const struct jdoc *doc, struct err *err)
{
	const struct jdoc *list = jdoc_get(doc, "names");
	uint32_t i = 0, n = 0;

	for (const struct jdoc *d = jdoc_first(list); d != NULL; d = jdoc_next(d), i++) {
		bool is_free = jdoc_kind(d) == JDOC_NULL;
		char held[16];

		(void)snprintf(held, sizeof(held), "\n%u", (unsigned)i);
		if ((!is_free && jdoc_str(d) == NULL) || i == INTERN_MAX ||
		    intern_id(c->names, str_of(is_free ? held : jdoc_str(d))) != i) {
			return err_set(err, ERR_INVALID,
				       "names[%u]: not a text or not for the first time",
				       (unsigned)i);
		}
		n += !is_free;
	}
	if (n == i) {
		return 0;
	}
	i = 0;
	for (const struct jdoc *d = jdoc_first(list); d != NULL; d = jdoc_next(d), i++) {
		intern_mark(c->names, jdoc_kind(d) == JDOC_NULL ? INTERN_NONE : i);
	}
	intern_sweep(c->names);
	return 0;
}

static int load_priority_classes(struct cluster *c, const struct jdoc *doc, struct err *err)
{
	for (const struct jdoc *d = jdoc_first(jdoc_get(doc, "priorityClasses")); d != NULL;
	     d = jdoc_next(d)) {
		struct str name = text_of(d, "name");
		struct priority_class *p;
		int64_t value = 0;

		if (name.len == 0 || dump_fields_read_int(jdoc_get(d, "value"), INT32_MIN,
							  INT32_MAX, &value, err) < 0) {
			return bad(err, "priorityClasses: without name or value");
		}
		p = xmalloc_zero(1, sizeof(*p));
		p->value = (int32_t)value;
		p->global_default = jdoc_bool(jdoc_get(d, "globalDefault"), false);
		strmap_set(c->priority_classes, name, p);
	}
	return 0;
}

static int load_taints(struct cluster *c, const struct jdoc *d, struct node *n, struct err *err)
{
	for (const struct jdoc *t = jdoc_first(jdoc_get(d, "taints")); t != NULL;
	     t = jdoc_next(t)) {
		struct taint taint = { .key = NULL };
		int64_t effect = 0;

		if (dump_text_read(c, jdoc_get(t, "key"), &taint.key, err) < 0 ||
		    dump_text_read(c, jdoc_get(t, "value"), &taint.value, err) < 0 ||
		    dump_fields_read_int(jdoc_get(t, "effect"), 0, TAINT_NO_EXECUTE, &effect, err) <
			    0) {
			return err_wrap(err, "taints");
		}
		taint.effect = (uint8_t)effect;
		vec_push(&n->taints, taint);
	}
	return 0;
}

static int load_node(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct str name = text_of(d, "name");
	struct label *labels = NULL;
	size_t nlabels = 0;
	struct node *n;

	if (name.len == 0 || cluster_node_find(c, name) != NULL) {
		return bad(err, "name: absent or not unique");
	}
	n = cluster_node_get(c, name);
	if (dump_text_read_labels(c, jdoc_get(d, "labels"), &labels, &nlabels, err) < 0) {
		return err_wrap(err, "labels");
	}
	for (size_t i = 0; i < nlabels; i++) {
		vec_push(&n->labels, labels[i]);
	}
	free(labels);
	if (load_taints(c, d, n, err) < 0 || dump_volumes_read_limits(c, d, n, err) < 0 ||
	    dump_images_read_node(c, d, n, err) < 0 ||
	    dump_fields_read(dump_fields_node, d, n, err) < 0 ||
	    dump_fields_read_res(d, "allocatable", c->res, 0, &n->allocatable, err) < 0) {
		return -ERR_INVALID;
	}
	if (n->exists) {
		res_add(&c->total, &n->allocatable);
	}
	return 0;
}

static int load_queue(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct str name = text_of(d, "name");
	struct queue *q;

	if (name.len == 0 || queue_find(c, name) != NULL) {
		return bad(err, "name: absent or not unique");
	}
	q = queue_get(c, name);
	q->uid = dup_or_null(text_of(d, "uid"));
	q->parent_name = dup_or_null(text_of(d, "parent"));
	q->hierarchy = dup_or_null(text_of(d, "hierarchy"));
	q->hierarchy_weights = dup_or_null(text_of(d, "hierarchyWeights"));
	if (dump_fields_read(dump_fields_queue, d, q, err) < 0 ||
	    dump_fields_read_res(d, "capability", c->res, RES_UNLIMITED, &q->capability, err) < 0 ||
	    dump_fields_read_res(d, "guarantee", c->res, 0, &q->guarantee, err) < 0 ||
	    dump_fields_read_res(d, "deserved", c->res, 0, &q->deserved, err) < 0 ||
	    dump_fields_read_res(d, "charged", c->res, 0, &q->charged, err) < 0) {
		return -ERR_INVALID;
	}
	return dump_fields_read_res(d, "releasing", c->res, 0, &q->releasing, err);
}

static bool is_name(const struct cluster *c, uint32_t id)
{
	return id == MODEL_NONE ||
	       (id < intern_count(c->names) && intern_str(c->names, id).p != NULL);
}

static int load_role_min(struct cluster *c, const struct jdoc *d, struct podgroup *g,
			 struct err *err)
{
	for (const struct jdoc *r = jdoc_first(jdoc_get(d, "roleMin")); r != NULL;
	     r = jdoc_next(r)) {
		int64_t role = 0, min = 0;

		if (dump_fields_read_int(jdoc_at(r, 0), 0, UINT32_MAX, &role, err) < 0 ||
		    dump_fields_read_int(jdoc_at(r, 1), 0, INT32_MAX, &min, err) < 0) {
			return err_wrap(err, "roleMin");
		}
		if (!is_name(c, (uint32_t)role)) {
			return bad(err, "roleMin: no such name");
		}
		if (min == 0) {
			continue; /* asks for nothing: earlier versions kept it */
		}
		vec_push(&g->role_min,
			 ((struct podgroup_role_min){ (uint32_t)role, (int32_t)min }));
	}
	return 0;
}

static int load_rivals(const struct jdoc *d, struct podgroup *g, struct err *err)
{
	for (const struct jdoc *r = jdoc_first(jdoc_get(d, "rivals")); r != NULL;
	     r = jdoc_next(r)) {
		int64_t id = 0, name = 0, gen = 0;

		/* It may be gone: then the record has no effect. */
		if (dump_fields_read_int(jdoc_at(r, 0), 0, UINT32_MAX, &id, err) < 0 ||
		    dump_fields_read_int(jdoc_at(r, 1), INT64_MIN, INT64_MAX, &name, err) < 0 ||
		    dump_fields_read_int(jdoc_at(r, 2), INT64_MIN, INT64_MAX, &gen, err) < 0) {
			return err_wrap(err, "rivals");
		}
		if (g->rivals.n == PODGROUP_RIVALS_MAX) {
			return bad(err, "rivals: too many");
		}
		vec_push(&g->rivals,
			 ((struct podgroup_rival){ (uint32_t)id, (uint64_t)name, (uint64_t)gen }));
	}
	return 0;
}

/* False when these names cannot be those of a new object. */
static bool is_new_key(struct cluster *c, const struct strmap *map, const struct podgroup_key *k)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	/* The keys of pods are made likewise. */
	cluster_podgroup_key(k, &key);
	return k->name.len > 0 && k->namespace_.p != NULL && !strmap_has(map, strbuf_str(&key)) &&
	       intern_id(c->names, k->namespace_) != INTERN_NONE;
}

/* Kind and names of a PodGroup. */
static int read_podgroup_key(struct cluster *c, const struct jdoc *d, struct podgroup_key *ret,
			     struct err *err)
{
	struct podgroup_key k = { .namespace_ = text_of(d, "ns"), .name = text_of(d, "name") };
	int64_t kind = PODGROUP_VOLCANO, queue = MODEL_NONE;
	const struct jdoc *part_queue = jdoc_get(d, "partQueue");

	if (jdoc_get(d, "kind") != NULL &&
	    dump_fields_read_int(jdoc_get(d, "kind"), 0, PODGROUP_KIND_COUNT_ - 1, &kind, err) <
		    0) {
		return err_wrap(err, "kind");
	}
	k.kind = (enum podgroup_kind)kind;
	if (k.kind == PODGROUP_PART) {
		if (dump_fields_read_int(part_queue, 0, UINT32_MAX, &queue, err) < 0 ||
		    !is_name(c, (uint32_t)queue)) {
			return bad(err, "partQueue: no such name");
		}
		k.queue = intern_str(c->names, (uint32_t)queue);
	} else if (part_queue != NULL) {
		return bad(err, "partQueue: not of this kind");
	}
	if (k.kind == PODGROUP_PART && k.name.p != NULL &&
	    memchr(k.name.p, '/', k.name.len) != NULL) {
		return bad(err, "name: has a slash");
	}
	if (!is_new_key(c, c->podgroup_by_key, &k)) {
		return bad(err, "name: absent or not unique");
	}
	*ret = k;
	return 0;
}

static int load_podgroup(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct podgroup_key key;
	struct podgroup *g;

	if (read_podgroup_key(c, d, &key, err) < 0) {
		return -ERR_INVALID;
	}
	g = cluster_podgroup_add(c, &key);
	g->uid = dup_or_null(text_of(d, "uid"));
	if (dump_fields_read(dump_fields_podgroup, d, g, err) < 0 ||
	    dump_fields_read_res(d, "minResources", c->res, 0, &g->min_resources, err) < 0 ||
	    dump_fields_read_unoffered(d, "minUnoffered", &g->min_unoffered, err) < 0 ||
	    load_role_min(c, d, g, err) < 0 || load_rivals(d, g, err) < 0) {
		return -ERR_INVALID;
	}
	g->changed = g->changed && g->queue_name != MODEL_NONE;
	if (!is_name(c, g->queue_name) || !is_name(c, g->priority_class)) {
		return bad(err, "queueName or priorityClass: no such name");
	}
	if (g->barred_by != MODEL_NONE &&
	    (g->barred_by >= c->queues.n || c->queues.v[g->barred_by] == NULL)) {
		return bad(err, "barredBy: no such queue");
	}
	return 0;
}

/* The id of an existing row of the list that has n rows. */
static int read_id(const struct jdoc *d, void *const *v, size_t n, uint32_t *ret, struct err *err)
{
	int64_t id = 0;

	if (dump_fields_read_int(d, 0, (int64_t)n - 1, &id, err) < 0 || v[id] == NULL) {
		return bad(err, "no such id");
	}
	*ret = (uint32_t)id;
	return 0;
}

static int load_budget(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct str key = text_of(d, "key");
	struct budget *b;

	if (key.len == 0) {
		return bad(err, "key: absent");
	}
	b = xmalloc_zero(1, sizeof(*b));
	b->key = xmalloc_dup_n(key.p, key.len);
	b->id = slots_add(&c->budgets, b);
	return dump_fields_read(dump_fields_budget, d, b, err);
}

static int load_labels(struct cluster *c, const struct jdoc *d, struct task *t, struct err *err)
{
	CLEANUP(xmalloc_freep) struct label *v = NULL;
	const struct jdoc *labels = jdoc_get(d, "labels");
	size_t n = 0;

	if (labels == NULL) {
		return 0;
	}
	if (dump_text_read_labels(c, labels, &v, &n, err) < 0) {
		return -ERR_INVALID;
	}
	selectors_set_labels(c, t, v, n);
	return 0;
}

static int load_task_refs(struct cluster *c, const struct jdoc *d, struct task *t, struct err *err)
{
	const struct jdoc *klass = jdoc_get(d, "class"), *node = jdoc_get(d, "nominated");
	const struct jdoc *awaits = jdoc_get(d, "awaits");
	int64_t by;
	uint32_t id;

	if (klass != NULL) {
		if (read_id(klass, (void *const *)c->class_by_id.v, c->class_by_id.n, &id, err) <
		    0) {
			return err_wrap(err, "class");
		}
		t->klass = cluster_class_ref(c, c->class_by_id.v[id]);
		if (t->klass->nterms > 0) {
			selectors_add_task(c, t);
		}
		/* It waits for its claims as soon as its node is known. */
		by = t->bind_by;
		t->bind_by = MODEL_TIME_NONE;
		volumes_enter_task(c, t);
		t->bind_by = by;
	}
	if (load_labels(c, d, t, err) < 0) {
		return err_wrap(err, "labels");
	}
	if (node != NULL) {
		if (read_id(node, (void *const *)c->nodes.v, c->nodes.n, &id, err) < 0) {
			return err_wrap(err, "nominated");
		}
		cluster_task_set_nominated(c, t, c->nodes.v[id]);
	}
	if (awaits != NULL) {
		if (read_id(awaits, (void *const *)c->nodes.v, c->nodes.n, &id, err) < 0) {
			return err_wrap(err, "awaits");
		}
		if (t->status != TASK_PENDING && t->status != TASK_BINDING) {
			return bad(err, "awaits: the task has a node");
		}
		cluster_task_set_awaits(c, t, c->nodes.v[id]);
	}
	if (!is_name(c, t->role)) {
		return bad(err, "role: no such name");
	}
	if (!is_name(c, t->reserved)) {
		return bad(err, "reserved: no such name");
	}
	if (t->charge_queue != MODEL_NONE &&
	    (t->charge_queue >= c->queues.n || c->queues.v[t->charge_queue] == NULL)) {
		return bad(err, "chargeQueue: no such id");
	}
	if (t->budget < TASK_BUDGETS_SEVERAL &&
	    (t->budget >= c->budgets.n || c->budgets.v[t->budget] == NULL)) {
		return bad(err, "budget: no such id");
	}
	return t->charge != CHARGE_NONE && t->klass == NULL ? bad(err, "charged without class") : 0;
}

static int load_task(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct str ns = text_of(d, "ns"), name = text_of(d, "name");
	struct task *t;

	if (!is_new_key(c, c->task_by_key,
			&(struct podgroup_key){ ns, name, .kind = PODGROUP_VOLCANO })) {
		return bad(err, "name: absent or not unique");
	}
	t = cluster_task_add(c, ns, name, text_of(d, "uid"));
	if (dump_fields_read(dump_fields_task, d, t, err) < 0) {
		return -ERR_INVALID;
	}
	return load_task_refs(c, d, t, err);
}

typedef int (*load_fn)(struct cluster *c, const struct jdoc *d, struct err *err);

/* The constructors give out the next id as long as no id is free; holes are filled with NULL. */
#define LOAD_LIST(c, doc, key, vec, load, err)                                                     \
	({                                                                                         \
		load_fn load_one_ = (load);                                                        \
		int load_r_ = 0;                                                                   \
		for (const struct jdoc *d_ = jdoc_first(jdoc_get((doc), (key)));                   \
		     d_ != NULL && load_r_ == 0; d_ = jdoc_next(d_)) {                             \
			size_t load_i_ = (vec)->n;                                                 \
			if (load_i_ == DUMP_MAX_OBJECTS) {                                         \
				load_r_ = err_set((err), ERR_INVALID, "%s: more than %u", (key),   \
						  DUMP_MAX_OBJECTS);                               \
			} else if (jdoc_kind(d_) == JDOC_NULL) {                                   \
				vec_push((vec), NULL);                                             \
			} else if (load_one_((c), d_, (err)) < 0) {                                \
				load_r_ = err_wrap((err), "%s[%zu]", (key), load_i_);              \
			}                                                                          \
		}                                                                                  \
		load_r_;                                                                           \
	})

static int link_binding(struct cluster *c, struct task *t, struct err *err)
{
	int64_t by = t->bind_by;

	if (by == MODEL_TIME_NONE) {
		return 0;
	}
	t->bind_by = MODEL_TIME_NONE;
	if (t->status != TASK_BINDING) {
		return err_set(err, ERR_INVALID, "tasks: bindBy: %s is not being bound", t->name);
	}
	volumes_wait(c, t, by);
	return 0;
}

static int link_node(struct cluster *c, const struct jdoc *d, struct node *n, struct err *err)
{
	for (const struct jdoc *i = jdoc_first(jdoc_get(d, "tasks")); i != NULL; i = jdoc_next(i)) {
		uint32_t id;
		struct task *t;

		if (read_id(i, (void *const *)c->tasks.v, c->tasks.n, &id, err) < 0) {
			return err_wrap(err, "nodes: tasks of %s", n->name);
		}
		t = c->tasks.v[id];
		if (t->node != MODEL_NONE || t->klass == NULL) {
			return err_set(err, ERR_INVALID,
				       "nodes: tasks of %s: listed twice or without class",
				       n->name);
		}
		t->node = n->id;
		t->node_pos = (uint32_t)n->tasks.n;
		vec_push(&n->tasks, id);
		cluster_node_book(c, n, &t->klass->request);
		if (t->status == TASK_RELEASING) {
			res_add(&n->releasing, &t->klass->request);
			t->ending_pos = (uint32_t)c->ending.n;
			vec_push(&c->ending, id);
		}
		if (link_binding(c, t, err) < 0) {
			return -ERR_INVALID;
		}
	}
	return 0;
}

static int link_part(struct cluster *c, struct podgroup *part, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct podgroup_key key = cluster_podgroup_key_of(c, part);
	struct podgroup *whole;

	key.kind = PODGROUP_KUBE;
	cluster_podgroup_key(&key, &text);
	whole = cluster_podgroup_find(c, strbuf_str(&text));
	if (whole == NULL) {
		return err_set(err, ERR_INVALID, "jobs: %s: a part of none", part->name);
	}
	cluster_podgroup_link_part(c, whole, part);
	return 0;
}

static int link_podgroup(struct cluster *c, const struct jdoc *d, struct podgroup *g,
			 struct err *err)
{
	if (g->kind == PODGROUP_PART && link_part(c, g, err) < 0) {
		return -ERR_INVALID;
	}
	for (const struct jdoc *i = jdoc_first(jdoc_get(d, "tasks")); i != NULL; i = jdoc_next(i)) {
		uint32_t id;
		struct task *t;

		if (read_id(i, (void *const *)c->tasks.v, c->tasks.n, &id, err) < 0) {
			return err_wrap(err, "jobs: tasks of %s", g->name);
		}
		t = c->tasks.v[id];
		if (t->podgroup != MODEL_NONE) {
			return err_set(err, ERR_INVALID, "jobs: tasks of %s: listed twice",
				       g->name);
		}
		t->podgroup = g->id;
		t->podgroup_pos = (uint32_t)g->tasks.n;
		vec_push(&g->tasks, id);
		g->by_status[t->status]++;
		g->refused += t->refused_queue != MODEL_NONE;
		g->unplaced += t->retry_at == MODEL_TIME_NEVER;
	}
	return 0;
}

static int link_queue(struct cluster *c, const struct jdoc *d, struct queue *q, struct err *err)
{
	const struct jdoc *list = jdoc_get(d, q->exists ? "jobs" : "waiting");

	for (const struct jdoc *i = jdoc_first(list); i != NULL; i = jdoc_next(i)) {
		uint32_t id;
		struct podgroup *g;

		if (read_id(i, (void *const *)c->podgroups.v, c->podgroups.n, &id, err) < 0) {
			return err_wrap(err, "queues: jobs of %s", q->name);
		}
		g = c->podgroups.v[id];
		g->queue = q->exists ? q->id : MODEL_NONE;
		if (g->changed) {
			vec_push(&q->changed, id);
		}
		if (cluster_podgroup_is_open(g)) {
			g->open_pos = (uint32_t)q->open.n;
			vec_push(&q->open, id);
		}
		if (q->exists) {
			g->queue_pos = (uint32_t)q->podgroups.n;
			vec_push(&q->podgroups, id);
		} else {
			g->queue_pos = (uint32_t)q->waiting.n;
			vec_push(&q->waiting, id);
		}
	}
	return 0;
}

#define LINK_LIST(c, doc, key, vec, link, err)                                                     \
	({                                                                                         \
		int link_r_ = 0;                                                                   \
		size_t link_i_ = 0;                                                                \
		for (const struct jdoc *d_ = jdoc_first(jdoc_get((doc), (key)));                   \
		     d_ != NULL && link_r_ == 0; d_ = jdoc_next(d_), link_i_++) {                  \
			if ((vec)->v[link_i_] != NULL) {                                           \
				link_r_ = link((c), d_, (vec)->v[link_i_], (err));                 \
			}                                                                          \
		}                                                                                  \
		link_r_;                                                                           \
	})

#define COLLECT_FREE(slots)                                                                        \
	do {                                                                                       \
		for (size_t free_i_ = (slots)->n; free_i_-- > 0;) {                                \
			if ((slots)->v[free_i_] == NULL) {                                         \
				vec_push(&(slots)->free, (uint32_t)free_i_);                       \
			}                                                                          \
		}                                                                                  \
	} while (0)

/* Restores the counters that building the cluster has changed, and checks that everything is
 * consistent. */
static int finish(struct cluster *c, const struct jdoc *doc, struct err *err)
{
	const char *wrong;

	if (dump_fields_read(dump_fields_cluster, doc, c, err) < 0) {
		return -ERR_INVALID;
	}
	if (c->root_queue >= c->queues.n || c->queues.v[c->root_queue] == NULL ||
	    (c->default_queue != MODEL_NONE &&
	     (c->default_queue >= c->queues.n || c->queues.v[c->default_queue] == NULL))) {
		return bad(err, "root or defaultQueue: no such queue");
	}
	COLLECT_FREE(&c->class_by_id);
	COLLECT_FREE(&c->images);
	COLLECT_FREE(&c->nodes);
	COLLECT_FREE(&c->queues);
	COLLECT_FREE(&c->podgroups);
	COLLECT_FREE(&c->tasks);
	COLLECT_FREE(&c->budgets);
	(void)queue_topology_changed(c);
	/* Making the topology has counted one change more than the dump has. */
	c->queues_gen--;
	wrong = cluster_verify(c);
	return wrong == NULL ? 0 : err_set(err, ERR_INVALID, "does not add up: %s", wrong);
}

/* All rows first, then the lists that link them: links go both ways, and their order is kept. */
static int load(struct cluster *c, const struct jdoc *doc, struct err *err)
{
	if (load_resources(c, doc, err) < 0 || load_names(c, doc, err) < 0 ||
	    load_priority_classes(c, doc, err) < 0 ||
	    dump_pod_terms_read_namespaces(c, jdoc_get(doc, "namespaces"), err) < 0 ||
	    LOAD_LIST(c, doc, "images", &c->images, dump_images_read, err) < 0 ||
	    LOAD_LIST(c, doc, "classes", &c->class_by_id, dump_class_load, err) < 0 ||
	    LOAD_LIST(c, doc, "nodes", &c->nodes, load_node, err) < 0 ||
	    LOAD_LIST(c, doc, "queues", &c->queues, load_queue, err) < 0 ||
	    LOAD_LIST(c, doc, "jobs", &c->podgroups, load_podgroup, err) < 0 ||
	    LOAD_LIST(c, doc, "budgets", &c->budgets, load_budget, err) < 0 ||
	    dump_volumes_read(c, doc, err) < 0 ||
	    LOAD_LIST(c, doc, "tasks", &c->tasks, load_task, err) < 0 ||
	    LINK_LIST(c, doc, "nodes", &c->nodes, link_node, err) < 0 ||
	    LINK_LIST(c, doc, "jobs", &c->podgroups, link_podgroup, err) < 0 ||
	    LINK_LIST(c, doc, "queues", &c->queues, link_queue, err) < 0) {
		return -ERR_INVALID;
	}
	return finish(c, doc, err);
}

static void destroyp(struct cluster **pc)
{
	cluster_destroy(*pc);
}

int dump_load(struct str json, struct cluster **ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(destroyp) struct cluster *c = NULL;
	struct queue *root;

	if (jdoc_parse(json, &doc, err) < 0) {
		return err_wrap(err, "dump");
	}
	if (jdoc_int(jdoc_get(doc, "version"), 0) != DUMP_VERSION) {
		return err_set(err, ERR_INVALID, "dump: version: not %d", DUMP_VERSION);
	}
	c = cluster_create();
	/* Ids come from the dump: the root queue of the new cluster is replaced. */
	root = c->queues.v[c->root_queue];
	c->root_queue = MODEL_NONE;
	queue_prune(c, root);
	vec_clear(&c->queues);
	vec_clear(&c->queues.free);
	if (load(c, doc, err) < 0) {
		return err_wrap(err, "dump");
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		/* The list of stranded pods follows from the pods, and is not in the dump. */
		if (c->tasks.v[i] != NULL && cluster_task_is_stranded(c, c->tasks.v[i])) {
			cluster_task_note_stranded(c, c->tasks.v[i]);
		}
	}
	*ret = take_ptr(&c);
	return 0;
}
