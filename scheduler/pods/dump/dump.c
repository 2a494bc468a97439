#include "scheduler/pods/dump/dump.h"

#include "base/strbuf.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "enc/json/json_out.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/dump/dump_images.h"
#include "scheduler/pods/dump/dump_pod_terms.h"
#include "scheduler/pods/dump/dump_terms.h"
#include "scheduler/pods/dump/dump_text.h"
#include "scheduler/pods/dump/dump_volumes.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/selectors.h"

static void put_ids(struct json_out *o, const char *key, const uint32_t *v, size_t n)
{
	if (n == 0) {
		return;
	}
	json_out_key(o, key);
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		json_out_int(o, v[i]);
	}
	json_out_array_end(o);
}

static void put_labels(struct json_out *o, const char *key, const struct label *v, size_t n)
{
	if (n > 0) {
		dump_text_write_labels(o, key, v, n);
	}
}

static void put_tolerations(struct json_out *o, const struct pod_class *k)
{
	json_out_key(o, "tolerations");
	json_out_array(o);
	for (size_t i = 0; i < k->ntolerations; i++) {
		const struct toleration *t = &k->tolerations[i];

		json_out_object(o);
		json_out_kv(o, "key", t->key);
		json_out_kv(o, "value", t->value);
		json_out_kv_bool(o, "exists", t->exists);
		json_out_kv_bool(o, "anyEffect", t->any_effect);
		json_out_kv_int(o, "effect", t->effect);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void put_ports(struct json_out *o, const struct pod_class *k)
{
	json_out_key(o, "ports");
	json_out_array(o);
	for (size_t i = 0; i < k->nports; i++) {
		json_out_object(o);
		json_out_kv(o, "ip", k->ports[i].ip);
		json_out_kv_int(o, "protocol", k->ports[i].protocol);
		json_out_kv_int(o, "port", k->ports[i].port);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void put_class(struct json_out *o, const struct cluster *c, const struct pod_class *k)
{
	dump_fields_write_res(o, "request", c->res, &k->request, 0);
	dump_fields_write_unoffered(o, "unoffered", &k->unoffered);
	put_labels(o, "selector", k->selector, k->nselector);
	if (k->has_required) {
		dump_terms_write(o, "required", k->required, k->nrequired);
	}
	if (k->npreferred > 0) {
		dump_terms_write(o, "preferred", k->preferred, k->npreferred);
	}
	if (k->ntolerations > 0) {
		put_tolerations(o, k);
	}
	if (k->nports > 0) {
		put_ports(o, k);
	}
	dump_pod_terms_write_class(o, k);
	dump_volumes_write_class(o, k);
	dump_images_write_class(o, k);
	if (k->charged_to_workload) {
		json_out_kv_bool(o, "elsewhere", true);
	}
	if (k->unsupported != NULL) {
		json_out_kv(o, "unsupported", k->unsupported);
	}
}

static void put_node(struct json_out *o, const struct cluster *c, const struct node *n)
{
	json_out_kv(o, "name", n->name);
	dump_fields_write(dump_fields_node, n, o);
	dump_fields_write_res(o, "allocatable", c->res, &n->allocatable, 0);
	put_labels(o, "labels", n->labels.v, n->labels.n);
	if (n->taints.n > 0) {
		json_out_key(o, "taints");
		json_out_array(o);
		for (size_t i = 0; i < n->taints.n; i++) {
			json_out_object(o);
			json_out_kv(o, "key", n->taints.v[i].key);
			json_out_kv(o, "value", n->taints.v[i].value);
			json_out_kv_int(o, "effect", n->taints.v[i].effect);
			json_out_object_end(o);
		}
		json_out_array_end(o);
	}
	dump_volumes_write_limits(o, n);
	dump_images_write_node(o, n);
	put_ids(o, "tasks", n->tasks.v, n->tasks.n);
}

static void put_queue(struct json_out *o, const struct cluster *c, const struct queue *q)
{
	json_out_kv(o, "name", q->name);
	if (q->uid != NULL) {
		json_out_kv(o, "uid", q->uid);
	}
	if (q->parent_name != NULL) {
		json_out_kv(o, "parent", q->parent_name);
	}
	if (q->hierarchy != NULL) {
		json_out_kv(o, "hierarchy", q->hierarchy);
	}
	if (q->hierarchy_weights != NULL) {
		json_out_kv(o, "hierarchyWeights", q->hierarchy_weights);
	}
	dump_fields_write(dump_fields_queue, q, o);
	dump_fields_write_res(o, "capability", c->res, &q->capability, RES_UNLIMITED);
	dump_fields_write_res(o, "guarantee", c->res, &q->guarantee, 0);
	dump_fields_write_res(o, "deserved", c->res, &q->deserved, 0);
	dump_fields_write_res(o, "charged", c->res, &q->charged, 0);
	dump_fields_write_res(o, "releasing", c->res, &q->releasing, 0);
	put_ids(o, "jobs", q->podgroups.v, q->podgroups.n);
	put_ids(o, "waiting", q->waiting.v, q->waiting.n);
}

static void put_podgroup(struct json_out *o, const struct cluster *c, const struct podgroup *g)
{
	json_out_kv(o, "ns", g->namespace_);
	json_out_kv(o, "name", g->name);
	if (g->uid != NULL) {
		json_out_kv(o, "uid", g->uid);
	}
	dump_fields_write(dump_fields_podgroup, g, o);
	dump_fields_write_res(o, "minResources", c->res, &g->min_resources, 0);
	dump_fields_write_unoffered(o, "minUnoffered", &g->min_unoffered);
	if (g->role_min.n > 0) {
		json_out_key(o, "roleMin");
		json_out_array(o);
		for (size_t i = 0; i < g->role_min.n; i++) {
			json_out_array(o);
			json_out_int(o, g->role_min.v[i].role);
			json_out_int(o, g->role_min.v[i].min);
			json_out_array_end(o);
		}
		json_out_array_end(o);
	}
	if (g->rivals.n > 0) {
		json_out_key(o, "rivals");
		json_out_array(o);
		for (size_t i = 0; i < g->rivals.n; i++) {
			json_out_array(o);
			json_out_int(o, g->rivals.v[i].podgroup);
			dump_fields_write_int(o, (int64_t)g->rivals.v[i].name);
			dump_fields_write_int(o, (int64_t)g->rivals.v[i].queues_gen);
			json_out_array_end(o);
		}
		json_out_array_end(o);
	}
	put_ids(o, "tasks", g->tasks.v, g->tasks.n);
}

static void put_task(struct json_out *o, const struct cluster *c, const struct task *t)
{
	(void)c;
	json_out_kv(o, "ns", t->namespace_);
	json_out_kv(o, "name", t->name);
	json_out_kv(o, "uid", t->uid);
	if (t->klass != NULL) {
		json_out_kv_int(o, "class", t->klass->id);
	}
	if (t->labels != NULL) {
		/* Without any label it can be selected as well. */
		dump_text_write_labels(o, "labels", t->labels->v, t->labels->n);
	}
	if (t->nominated != MODEL_NONE) {
		json_out_kv_int(o, "nominated", t->nominated);
	}
	if (t->awaits != MODEL_NONE) {
		json_out_kv_int(o, "awaits", t->awaits);
	}
	dump_fields_write(dump_fields_task, t, o);
}

/* Its selector is left out: the tasks say which of them it covers. */
static void put_budget(struct json_out *o, const struct cluster *c, const struct budget *b)
{
	(void)c;
	json_out_kv(o, "key", b->key);
	dump_fields_write(dump_fields_budget, b, o);
}

static bool put_priority_class(struct str key, void *value, void *ctx)
{
	const struct priority_class *p = value;
	struct json_out *o = ctx;

	json_out_object(o);
	json_out_key(o, "name");
	json_out_slice(o, key);
	json_out_kv_int(o, "value", p->value);
	json_out_kv_bool(o, "globalDefault", p->global_default);
	json_out_object_end(o);
	return true;
}

/* Members of one list by id; a free id is null, so that every object keeps its own. */
#define PUT_LIST(o, c, key, vec, put)                                                              \
	do {                                                                                       \
		json_out_key(o, key);                                                              \
		json_out_array(o);                                                                 \
		for (size_t put_i_ = 0; put_i_ < (vec).n; put_i_++) {                              \
			if ((vec).v[put_i_] == NULL) {                                             \
				json_out_null(o);                                                  \
				continue;                                                          \
			}                                                                          \
			json_out_object(o);                                                        \
			put(o, c, (vec).v[put_i_]);                                                \
			json_out_object_end(o);                                                    \
		}                                                                                  \
		json_out_array_end(o);                                                             \
	} while (0)

static void put_names(struct json_out *o, const struct cluster *c)
{
	json_out_key(o, "resources");
	json_out_array(o);
	for (unsigned i = 0; i < res_names_count(c->res); i++) {
		json_out_str(o, res_names_get(c->res, i));
	}
	json_out_array_end(o);
	json_out_key(o, "names");
	json_out_array(o);
	for (uint32_t i = 0; i < intern_count(c->names); i++) {
		struct str name = intern_str(c->names, i);

		if (name.p == NULL) {
			json_out_null(o);
		} else {
			json_out_slice(o, name);
		}
	}
	json_out_array_end(o);
	json_out_key(o, "priorityClasses");
	json_out_array(o);
	strmap_each(c->priority_classes, put_priority_class, o);
	json_out_array_end(o);
}

void dump_format(const struct cluster *c, struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv_int(&o, "version", DUMP_VERSION);
	dump_fields_write(dump_fields_cluster, c, &o);
	put_names(&o, c);
	PUT_LIST(&o, c, "images", c->images, dump_images_write);
	PUT_LIST(&o, c, "classes", c->class_by_id, put_class);
	PUT_LIST(&o, c, "nodes", c->nodes, put_node);
	PUT_LIST(&o, c, "queues", c->queues, put_queue);
	/* Keys stay as they are, so that dumps of other releases can be read: these are PodGroups.
	 */
	PUT_LIST(&o, c, "jobs", c->podgroups, put_podgroup);
	PUT_LIST(&o, c, "tasks", c->tasks, put_task);
	PUT_LIST(&o, c, "budgets", c->budgets, put_budget);
	dump_pod_terms_write_namespaces(&o, c);
	dump_volumes_write(&o, c);
	json_out_object_end(&o);
	json_out_end(&o);
}
