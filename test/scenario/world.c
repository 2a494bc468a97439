#include "scenario/world.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/disruption_budget.h"
#include "api/core/kube_pod_group.h"
#include "api/core/namespace.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/storage/storage.h"
#include "api/volcano/scheduling.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "lib/unit.h"
#include "play/oracle.h"
#include "scenario/world_write.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/ledger/offers.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/volumes.h"

static const char *const ours[] = { "volcano", NULL }, *const gated[] = { "default-scheduler",
									  NULL };
static const struct from_api_schedulers schedulers = { .ours = ours, .gated = gated };

static void free_object(void *object)
{
	jdoc_destroy(object);
}

void world_init(struct world *w, const char *conf, bool hierarchy)
{
	*w = (struct world){ .count = 0 };
	cycle_fixture_init(&w->f, conf);
	w->objects = strmap_create(free_object);
	w->oracle = oracle_create(hierarchy, true);
	strbuf_init(&w->events);
	budgets_begin(w->f.cluster);
	w->f.cluster->default_queue = queue_get(w->f.cluster, STR_LIT("default"))->id;
}

void world_finish(struct world *w)
{
	cycle_fixture_finish(&w->f);
	strmap_destroy(w->objects);
	oracle_destroy(w->oracle);
	strbuf_finish(&w->events);
}

/* The PodGroup of Kubernetes is called KubePodGroup here. */
static const char *kind_of(const struct jdoc *object)
{
	const char *kind = jdoc_str_or(jdoc_get(object, "kind"), "");

	return str_streq(kind, "PodGroup") && jdoc_is_str(jdoc_get(object, "apiVersion"),
							  KUBE_POD_GROUP_API_VERSION)
		       ? "KubePodGroup"
		       : kind;
}

/* "namespace/name" or "name"; the caller frees. */
static char *key_of(const struct jdoc *object)
{
	const char *ns = jdoc_path_str(object, "metadata.namespace"),
		   *name = jdoc_path_str(object, "metadata.name");

	return ns == NULL ? xmalloc_dup(name) : xmalloc_printf("%s/%s", ns, name);
}

static void watch(struct world *w, const struct jdoc *object, const char *key, bool gone)
{
	static const struct {
		const char *kind;
		enum oracle_resource resource;
	} rows[] = { { "Pod", ORACLE_PODS },
		     { "PodGroup", ORACLE_PODGROUPS },
		     { "Queue", ORACLE_QUEUES } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_streq(kind_of(object), rows[i].kind)) {
			oracle_set(w->oracle, rows[i].resource, key, gone ? NULL : object,
				   w->f.now);
		}
	}
}

static void complete_meta(struct world *w, struct jdoc *object)
{
	struct jdoc *meta = jdoc_ensure_object(object, "metadata");
	char text[CLOCK_RFC3339_MAX];

	w->count++;
	if (jdoc_get(meta, "uid") == NULL) {
		char *uid = xmalloc_printf("uid-%06u", w->count);

		jdoc_set_str(meta, "uid", uid);
		free(uid);
	}
	if (jdoc_get(meta, "creationTimestamp") == NULL) {
		clock_format_time(CYCLE_FIXTURE_START - 86400 * CYCLE_FIXTURE_S +
					  w->count * CYCLE_FIXTURE_S,
				  text);
		jdoc_set_str(meta, "creationTimestamp", text);
	}
}

static void settle_status(struct cluster *c, struct task *t, const struct from_api_pod *p)
{
	const uint32_t let_go =
		(uint32_t)TASK_GATE_ONLY | TASK_RESERVED_MARK | TASK_OUR_GATE | TASK_FOREIGN_GATE;
	struct node *n = p->node.p == NULL ? NULL : cluster_node_get(c, p->node);
	enum task_status status = from_api_pod_status(p, t);
	struct podgroup *g = t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];

	/* It waits for its claims. */
	if (t->bind_by != MODEL_TIME_NONE && p->status == TASK_PENDING) {
		return;
	}
	if (p->status == TASK_SUCCEEDED || p->status == TASK_FAILED) {
		ledger_release(c, t);
	}
	ledger_set_releasing(c, t, status == TASK_RELEASING);
	cluster_task_set_status(c, t, status, n);
	if (t->charge == CHARGE_PATCHING && (t->flags & TASK_OUR_GATE) == 0) {
		ledger_advance(c, t, CHARGE_UNGATED);
	}
	if (status == TASK_PENDING && t->charge == CHARGE_NONE && g != NULL &&
	    g->queue != MODEL_NONE &&
	    (t->flags & let_go) == ((uint32_t)TASK_GATE_ONLY | TASK_RESERVED_MARK)) {
		ledger_charge(c, t, c->queues.v[g->queue], CHARGE_UNGATED);
	}
	if (t->node == MODEL_NONE || (t->flags & TASK_OURS) == 0) {
		return;
	}
	if (t->charge != CHARGE_NONE) {
		ledger_advance(c, t, CHARGE_BOUND);
	} else if (g != NULL && g->queue != MODEL_NONE) {
		ledger_charge(c, t, c->queues.v[g->queue], CHARGE_BOUND);
	}
}

static int see_pod(struct world *w, const struct jdoc *object, struct arena *a, struct err *err)
{
	struct cluster *c = w->f.cluster;
	CLEANUP(xmalloc_freep) char *key = key_of(object);
	struct from_api_pod p;
	struct api_pod pod;
	struct task *t;
	struct res old;
	int r = decode_jdoc(&pod_fields, object, &pod, a, err);

	if (r == 0) {
		r = from_api_pod_read(c, &pod, &schedulers, a, &p, err);
	}
	if (r < 0) {
		return r;
	}
	if ((p.flags & TASK_GATE_ONLY) != 0 && p.published_at == MODEL_TIME_NONE) {
		p.published_at = w->f.now;
	}
	from_api_pod_times(&p, w->f.now, w->f.now);
	t = cluster_task_find(c, str_of(key));
	if (t != NULL && !str_eq_c(p.uid, t->uid)) {
		ledger_release(c, t);
		cluster_task_remove(c, t);
		t = NULL;
	}
	if (t == NULL) {
		t = cluster_task_add(c, p.namespace_, p.name, p.uid);
		from_api_pod_apply(c, &p, t);
	} else {
		old = t->klass->request;
		from_api_pod_apply(c, &p, t);
		ledger_resize(c, t, &old);
	}
	settle_status(c, t, &p);
	budgets_set_labels(c, t, &pod.meta.labels);
	return 0;
}

static int see_group(struct world *w, const struct jdoc *object, struct arena *a, struct err *err)
{
	struct api_pod_group group;
	int r = decode_jdoc(&scheduling_pod_group_fields, object, &group, a, err);

	return r < 0 ? r : from_api_podgroup(w->f.cluster, &group, STR_LIT("default"), err);
}

static int see_kube_group(struct world *w, const struct jdoc *object, struct arena *a,
			  struct err *err)
{
	struct api_kube_pod_group group;
	int r = decode_jdoc(&kube_pod_group_fields, object, &group, a, err);

	return r < 0 ? r : from_api_kube_podgroup(w->f.cluster, &group, err);
}

static int see_queue(struct world *w, const struct jdoc *object, struct arena *a, struct err *err)
{
	struct cluster *c = w->f.cluster;
	struct api_queue queue;
	bool changed = false;
	int r = decode_jdoc(&scheduling_queue_fields, object, &queue, a, err);

	if (r == 0) {
		r = from_api_queue(c, &queue, &changed, err);
	}
	offers_resolve(c);
	if (r == 0 && changed && queue_topology_changed(c)) {
		ledger_rebuild_sums(c);
	}
	return r;
}

static int see_node(struct world *w, const struct jdoc *object, struct arena *a, struct err *err)
{
	struct api_node node;
	int r = decode_jdoc(&node_fields, object, &node, a, err);

	if (r == 0) {
		r = from_api_node(w->f.cluster, &node, err);
	}
	offers_resolve(w->f.cluster);
	return r;
}

static int see_namespace(struct world *w, const struct jdoc *object, struct arena *a,
			 struct err *err)
{
	struct api_namespace ns;
	int r = decode_jdoc(&namespace_fields, object, &ns, a, err);

	if (r == 0) {
		(void)access_set_namespace(w->f.cluster, str_of(ns.meta.name), &ns.meta.labels);
	}
	return r;
}

static int see_priority_class(struct world *w, const struct jdoc *object, struct arena *a,
			      struct err *err)
{
	struct api_priority_class class;
	int r = decode_jdoc(&scheduling_priority_class_fields, object, &class, a, err);

	if (r == 0) {
		r = from_api_priority_class(w->f.cluster, &class, err);
	}
	if (r == 0) {
		from_api_podgroup_priorities(w->f.cluster);
	}
	return r;
}

static int see_budget(struct world *w, const struct jdoc *object, struct arena *a, struct err *err)
{
	struct api_disruption_budget budget;
	int r = decode_jdoc(&disruption_budget_fields, object, &budget, a, err);

	return r < 0 ? r : from_api_budget(w->f.cluster, &budget, err);
}

static int see_claim(struct world *w, const struct jdoc *object, struct arena *a, struct err *err)
{
	struct api_persistent_claim claim;
	bool changed;
	int r = decode_jdoc(&storage_claim_fields, object, &claim, a, err);

	return r < 0 ? r : from_api_volumes_claim(w->f.cluster, &claim, a, &changed, err);
}

static int see_volume(struct world *w, const struct jdoc *object, struct arena *a, struct err *err)
{
	struct api_persistent_volume volume;
	int r = decode_jdoc(&storage_volume_fields, object, &volume, a, err);

	return r < 0 ? r : from_api_volumes_volume(w->f.cluster, &volume, a, err);
}

static int see_storage_class(struct world *w, const struct jdoc *object, struct arena *a,
			     struct err *err)
{
	struct api_storage_class k;
	int r = decode_jdoc(&storage_class_fields, object, &k, a, err);

	return r < 0 ? r : from_api_volumes_storage_class(w->f.cluster, &k, a, err);
}

static int see_csi_node(struct world *w, const struct jdoc *object, struct arena *a,
			struct err *err)
{
	struct api_csi_node node;
	int r = decode_jdoc(&storage_csi_node_fields, object, &node, a, err);

	return r < 0 ? r : from_api_volumes_csi_node(w->f.cluster, &node, a, err);
}

static int see_csi_driver(struct world *w, const struct jdoc *object, struct arena *a,
			  struct err *err)
{
	struct api_csi_driver_object driver;
	bool changed;
	int r = decode_jdoc(&storage_csi_driver_fields, object, &driver, a, err);

	return r < 0 ? r : from_api_volumes_driver(w->f.cluster, &driver, &changed, err);
}

static int see_capacity(struct world *w, const struct jdoc *object, struct arena *a,
			struct err *err)
{
	struct api_storage_capacity capacity;
	bool changed;
	int r = decode_jdoc(&storage_capacity_fields, object, &capacity, a, err);

	return r < 0 ? r : from_api_volumes_capacity(w->f.cluster, &capacity, a, &changed, err);
}

/* Applies one object to the cluster. */
static void see(struct world *w, const struct jdoc *object)
{
	static const struct {
		const char *kind;
		int (*see)(struct world *w, const struct jdoc *object, struct arena *a,
			   struct err *err);
	} rows[] = { { "Pod", see_pod },
		     { "PodGroup", see_group },
		     { "KubePodGroup", see_kube_group },
		     { "Queue", see_queue },
		     { "Node", see_node },
		     { "Namespace", see_namespace },
		     { "PriorityClass", see_priority_class },
		     { "PodDisruptionBudget", see_budget },
		     { "PersistentVolumeClaim", see_claim },
		     { "PersistentVolume", see_volume },
		     { "StorageClass", see_storage_class },
		     { "CSINode", see_csi_node },
		     { "CSIDriver", see_csi_driver },
		     { "CSIStorageCapacity", see_capacity } };
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_streq(kind_of(object), rows[i].kind)) {
			if (rows[i].see(w, object, a, &err) < 0) {
				fail_msg("%s: %s", kind_of(object), err.text);
			}
			return;
		}
	}
	fail_msg("objects of kind \"%s\" are not for scenarios", kind_of(object));
}

void world_see(struct world *w, const struct jdoc *object)
{
	see(w, object);
}

void world_apply_take(struct world *w, struct jdoc *object)
{
	CLEANUP(xmalloc_freep) char *key = NULL, *full = NULL;

	complete_meta(w, object);
	key = key_of(object);
	full = xmalloc_printf("%s %s", kind_of(object), key);
	strmap_set(w->objects, str_of(full), object);
	watch(w, object, key, false);
	see(w, object);
}

static struct jdoc *find(struct world *w, const char *kind, const char *name, char **ret_full)
{
	bool namespaced = str_streq(kind, "Pod") || str_has_suffix(str_of(kind), "PodGroup") ||
			  str_streq(kind, "PodDisruptionBudget") ||
			  str_streq(kind, "PersistentVolumeClaim");
	struct jdoc *object;

	*ret_full = xmalloc_printf("%s %s%s", kind, namespaced ? "ns/" : "", name);
	object = strmap_get(w->objects, str_of(*ret_full));
	if (object == NULL) {
		fail_msg("there is no %s", *ret_full);
	}
	return object;
}

void world_merge(struct world *w, const char *kind, const char *name, const struct jdoc *patch)
{
	CLEANUP(xmalloc_freep) char *full = NULL;
	struct jdoc *object = jdoc_copy(find(w, kind, name, &full));

	patch_apply_merge(&object, patch);
	world_apply_take(w, object);
}

static void forget_podgroup(struct cluster *c, struct podgroup *g)
{
	g->exists = false;
	cluster_podgroup_set_queue(c, g, str_of(NULL));
	for (size_t i = 0; i < g->tasks.n; i++) {
		struct task *t = c->tasks.v[g->tasks.v[i]];

		if (ledger_is_unbound((enum charge_state)t->charge)) {
			ledger_release(c, t);
		}
		if (cluster_task_is_stranded(c, t)) {
			cluster_task_note_stranded(c, t);
		}
	}
}

static void forget_kube_podgroup(struct cluster *c, const char *key)
{
	struct str name = str_of(key), space = str_next(&name, '/');
	struct podgroup *g = cluster_podgroup_get_kube(c, space, name);

	g->exists = false;
	cluster_podgroup_kube_changed(c, g);
	cluster_podgroup_prune(c, g);
}

static void forget(struct world *w, const char *kind, const char *key)
{
	struct cluster *c = w->f.cluster;

	if (str_streq(kind, "Pod")) {
		struct task *t = cluster_task_find(c, str_of(key));

		ledger_release(c, t);
		cluster_task_remove(c, t);
	} else if (str_streq(kind, "PodGroup")) {
		forget_podgroup(c, cluster_podgroup_find(c, str_of(key)));
	} else if (str_streq(kind, "KubePodGroup")) {
		forget_kube_podgroup(c, key);
	} else if (str_streq(kind, "Queue")) {
		struct queue *q = queue_find(c, str_of(key));

		q->exists = false;
		if (queue_topology_changed(c)) {
			ledger_rebuild_sums(c);
		}
	} else if (str_streq(kind, "Node")) {
		struct node *n = cluster_node_find(c, str_of(key));
		struct res old = n->allocatable;

		n->exists = false;
		cluster_node_changed(c, n, &old, true);
		cluster_node_prune(c, n);
	} else if (str_streq(kind, "PersistentVolumeClaim")) {
		(void)volumes_remove_claim(c, str_of(key));
	} else {
		fail_msg("deleting a %s is not for scenarios", kind);
	}
}

void world_delete(struct world *w, const char *kind, const char *name)
{
	CLEANUP(xmalloc_freep) char *full = NULL;
	struct jdoc *object = find(w, kind, name, &full);
	CLEANUP(xmalloc_freep) char *key = key_of(object);

	watch(w, object, key, true);
	forget(w, kind, key);
	strmap_remove(w->objects, str_of(full));
}

const char *world_run(struct world *w)
{
	struct err err = ERR_INIT;
	const char *text = cycle_fixture_run(&w->f);

	world_write_decisions(w, w->f.decisions);
	if (oracle_check(w->oracle, w->f.now + ORACLE_GRACE_NS, &err) < 0) {
		fail_msg("%s", err.text);
	}
	return text;
}

void world_rewatch(struct world *w, const struct jdoc *object)
{
	CLEANUP(xmalloc_freep) char *key = key_of(object);

	watch(w, object, key, false);
}

static bool see_each(struct str key, void *value, void *ctx)
{
	if (str_has_prefix(key, "Pod ") || str_has_prefix(key, "PodGroup ")) {
		see(ctx, value);
	}
	return true;
}

void world_acknowledge(struct world *w)
{
	strmap_each(w->objects, see_each, w);
	cycle_fixture_acknowledge_withdrawals(&w->f);
}

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

void world_published(struct world *w, struct strbuf *out)
{
	const struct cluster *c = w->f.cluster;
	const char **names = xmalloc_zero(c->tasks.n + 1, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < c->tasks.n; i++) {
		char key[256];

		if (c->tasks.v[i] == NULL) {
			continue;
		}
		cluster_task_key(c->tasks.v[i], key, sizeof(key));
		if (oracle_is_published(w->oracle, key)) {
			names[n++] = c->tasks.v[i]->name;
		}
	}
	qsort(names, n, sizeof(names[0]), by_text);
	strbuf_add_c(out, "");
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(out, "%s%s", i == 0 ? "" : " ", names[i]);
	}
	free(names);
}

const char *world_phase(struct world *w, const char *group)
{
	CLEANUP(xmalloc_freep) char *full = NULL;

	return jdoc_path_str(find(w, "PodGroup", group, &full), "status.phase");
}

const char *world_message(struct world *w, const char *pod)
{
	CLEANUP(xmalloc_freep) char *full = NULL;
	const struct jdoc *d = find(w, "Pod", pod, &full);

	/* The scheduler writes no other one. */
	return jdoc_str(
		jdoc_get(jdoc_first(jdoc_get(jdoc_get(d, "status"), "conditions")), "message"));
}
