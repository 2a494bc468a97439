/* From manifests to a cluster on which the daemon's own cycle can run:
 * 1. Objects become messages for the daemon's cache, as a watch would deliver them. So whatever
 *    the daemon refuses or ignores is refused or ignored here.
 * 2. They come in the order of sched_kinds (classes, queues, PodGroups, nodes, then pods), so
 *    that all that a pod refers to is there before it.
 * 3. Three things that others do to a pod in a cluster are done here: the API server resolves
 *    its priority, the PodGroup controller gives it a PodGroup, and a pod that runs is on a
 *    node.
 * 4. SYNCED for each kind, and then the ledger is rebuilt from the pods: as after a start of the
 *    daemon. */
#include "scheduler/ctl/sim/simulation.h"

#include <stdlib.h>

#include "api/core/pod.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/ctl/sim/sim_group.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/cycle/shortage.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

/* A write that is acknowledged before the next cycle. */
struct write {
	bool bind; /* else the removal of a gate */
	const char *pod;
};

struct simulation {
	struct sched_conf *conf;
	struct cycle *cycle;
	struct cache *cache;
	struct arena *arena; /* texts of steps */
	int64_t now;
	unsigned cycles;
	struct VEC(struct sim_step) steps;
	struct VEC(struct write) writes;
	struct VEC(uint8_t) held; /* by task id: the status in the last session that the cluster
				     does not have yet, or TASK_STATUS_COUNT_ */
	struct strmap *why;       /* "Pod ns/name", "PodGroup ns/name" -> text in the arena */
	struct jdoc *new_group;   /* of the pod being read */
	struct err bad;           /* of the object being read */
};

static void on_bad_object(void *ctx, enum sched_resource r UNUSED, struct str key UNUSED,
			  const char *text)
{
	struct simulation *s = ctx;

	(void)err_set(&s->bad, ERR_INVALID, "%s", text);
}

static void on_pod(void *ctx, const struct task *t, const void *object)
{
	struct simulation *s = ctx;

	/* The group is only made here and applied by give_group, since the cache is in the
	 * middle of a message. */
	if ((t->flags & TASK_OURS) != 0 && t->podgroup == MODEL_NONE && s->new_group == NULL) {
		s->new_group = sim_group_make(cache_cluster(s->cache), t, object);
	}
}

static void apply_message(struct simulation *s, struct sched_msg *m)
{
	cache_apply(s->cache, m, (struct cache_time){ s->now, s->now });
	message_free(m);
}

static int apply_object(struct simulation *s, enum sched_resource resource, const char *key,
			const struct jdoc *object, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	jdoc_format(object, &text);
	apply_message(s, message_decode(resource, str_of(key), strbuf_str(&text), 0));
	return s->bad.code == ERR_NONE ? 0 : err_set(err, ERR_INVALID, "%s", s->bad.text);
}

/* A pod without a PodGroup gets its own, or that of its owner. The pod is applied once more,
 * with the annotation that the controller would have written. */
static int give_group(struct simulation *s, const struct sim_object *pod, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *group = s->new_group;
	CLEANUP(xmalloc_freep) char *key = NULL;
	struct jdoc *meta = jdoc_get_mut(pod->json, "metadata");
	const char *name = jdoc_path_str(group, "metadata.name");
	const struct podgroup *g;
	int r = 0;

	s->new_group = NULL;
	key = xmalloc_printf("%s/%s", jdoc_path_str(group, "metadata.namespace"), name);
	g = cluster_podgroup_find(cache_cluster(s->cache), str_of(key));
	/* All pods of an owner share one group: the first of them makes it. */
	if (g == NULL || !g->exists) {
		r = apply_object(s, SCHED_PODGROUPS, key, group, err);
	}
	jdoc_set_str(jdoc_ensure_object(meta, "annotations"), KEYS_GROUP_NAME, name);
	return r < 0 ? r : apply_object(s, SCHED_PODS, pod->key, pod->json, err);
}

/* Kubernetes resolves the class when a pod is created. */
static void give_priority(const struct simulation *s, const struct sim_object *pod)
{
	struct jdoc *spec = jdoc_get_mut(pod->json, "spec");
	const char *name = jdoc_str(jdoc_get(spec, "priorityClassName"));
	const struct priority_class *p = NULL;

	if (name != NULL) {
		p = strmap_get(cache_cluster(s->cache)->priority_classes, str_of(name));
	}
	if (p != NULL && jdoc_get(spec, "priority") == NULL) {
		jdoc_set_int(spec, "priority", p->value);
	}
}

/* A running pod without a node in its manifest is put on a node that does not exist: it holds
 * quota, and no node of the manifests is fuller for it. */
static void give_node(const struct sim_object *pod)
{
	struct jdoc *spec = jdoc_ensure_object(pod->json, "spec");

	if (str_streq(jdoc_path_str(pod->json, "status.phase"), "Running") && spec != NULL &&
	    jdoc_get(spec, "nodeName") == NULL) {
		jdoc_set_str(spec, "nodeName", "(no node)");
	}
}

static bool is_ours(enum sched_resource kind)
{
	return (sched_kinds_get(kind)->wings & SCHED_WING_PODS) != 0;
}

static int load_object(struct simulation *s, const struct sim_object *o, struct err *err)
{
	int r;

	if (!is_ours(o->kind)) {
		return 0;
	}
	if (o->kind == SCHED_PODS) {
		give_priority(s, o);
		give_node(o);
	}
	r = apply_object(s, o->kind, o->key, o->json, err);
	if (r == 0 && s->new_group != NULL) {
		r = give_group(s, o, err);
	}
	return r == 0 ? 0
		      : err_wrap(err, "%s: %s %s", o->where, sim_input_kind_name(o->kind), o->key);
}

/* The scheduler creates this queue if it is missing. It comes before the manifests, of which one
 * may have it with other limits. */
static int load_default_queue(struct simulation *s, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *queue = jdoc_new_object();

	jdoc_set_str(jdoc_ensure_object(queue, "metadata"), "name", KEYS_DEFAULT_QUEUE);
	return apply_object(s, SCHED_QUEUES, KEYS_DEFAULT_QUEUE, queue, err);
}

static int load_objects(struct simulation *s, struct sim_input *in, struct err *err)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(in, &n);
	int r = load_default_queue(s, err);

	for (size_t i = 0; i < n && r == 0; i++) {
		r = load_object(s, objects[i], err);
	}
	for (unsigned i = 0; i < sched_kinds_watched(false); i++) {
		struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

		m->resource = (enum sched_resource)i;
		apply_message(s, m);
	}
	if (r == 0) {
		cache_rebuild_ledger(s->cache, s->now);
	}
	return r;
}

static int load_conf(struct simulation *s, const struct simulation_options *opt, struct err *err)
{
	struct conf_options co = { .warn = opt->warn, .ctx = opt->ctx };
	struct known_names names;
	int r;

	known_names_init(&names,
			 &(struct known_names_source){ plugin_registry, plugin_registry_count,
						       action_registry, action_registry_count });
	co.known = known_names_conf(&names);
	r = opt->conf_path == NULL ? conf_parse(str_of(conf_default_text()),
						"built-in configuration", &co, &s->conf, err)
				   : conf_load_file(opt->conf_path, &co, &s->conf, err);
	known_names_finish(&names);
	return r < 0 ? r : cycle_create(s->conf, &s->cycle, err);
}

int simulation_create(struct sim_input *in, const struct simulation_options *opt,
		      struct simulation **ret, struct err *err)
{
	static const char *const names[] = { KEYS_DEFAULT_SCHEDULER, NULL };
	CLEANUP(simulation_destroyp) struct simulation *s = xmalloc_zero(1, sizeof(*s));
	struct cache_options co = {
		.scheduler_names = names,
		.gate_schedulers = opt->gate_schedulers,
		.default_queue = KEYS_DEFAULT_QUEUE,
		.found_age_max_ns = INT64_MAX,
		.listener = { .on_pod = on_pod, .on_bad_object = on_bad_object, .ctx = s },
	};
	int r;

	s->now = opt->now;
	s->arena = arena_create(0);
	s->why = strmap_create(NULL);
	r = load_conf(s, opt, err);
	if (r == 0) {
		co.reads_budgets = cycle_needs_budgets(s->cycle);
		s->cache = cache_create(&co);
		r = load_objects(s, in, err);
	}
	if (r < 0) {
		return r;
	}
	*ret = s;
	s = NULL;
	return 0;
}

void simulation_destroyp(struct simulation **ps)
{
	struct simulation *s = *ps;

	if (s != NULL) {
		cycle_destroy(s->cycle);
		conf_destroy(s->conf);
		cache_destroy(s->cache);
		jdoc_destroy(s->new_group);
		strmap_destroy(s->why);
		vec_finish(&s->steps);
		vec_finish(&s->writes);
		vec_finish(&s->held);
		arena_destroy(s->arena);
		free(s);
	}
	*ps = NULL;
}

static void acknowledge_ungate(struct simulation *s, struct task *t)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);
	char *key = arena_printf(m->arena, "%s/%s", t->namespace_, t->name);

	m->request = SCHED_REQ_UNGATE;
	m->outcome = SCHED_DONE;
	m->key = str_of(key);
	m->uid = arena_dup(m->arena, t->uid);
	apply_message(s, m);
}

/* The kubelet starts bound pods. */
static void acknowledge_bind(struct cluster *c, struct task *t)
{
	/* It was deleted or evicted since. */
	if (t->status != TASK_BINDING) {
		return;
	}
	volumes_provision(c, t);
	if (t->charge != CHARGE_NONE) {
		ledger_advance(c, t, CHARGE_BOUND);
	}
	cluster_task_set_status(c, t, TASK_RUNNING, c->nodes.v[t->node]);
}

/* Between two cycles, so that a pod that is ungated in cycle n can be bound in cycle n + 1 at
 * the earliest, as in a cluster. */
static void acknowledge(struct simulation *s)
{
	struct cluster *c = cache_cluster(s->cache);

	for (size_t i = 0; i < s->writes.n; i++) {
		struct task *t = cluster_task_find(c, str_of(s->writes.v[i].pod));

		if (t == NULL) {
			continue; /* deleted since */
		}
		if (s->writes.v[i].bind) {
			acknowledge_bind(c, t);
		} else {
			acknowledge_ungate(s, t);
		}
	}
	vec_clear(&s->writes);
}

static const char *task_key(struct simulation *s, const struct task *t)
{
	return arena_printf(s->arena, "%s/%s", t->namespace_, t->name);
}

static const char *podgroup_key(struct simulation *s, const struct podgroup *g)
{
	return arena_printf(s->arena, "%s/%s", g->namespace_, g->name);
}

static const char *copy(struct simulation *s, const char *text)
{
	return text == NULL ? NULL : arena_dup(s->arena, text);
}

static void remember_why(struct simulation *s, const char *kind, const char *key,
			 const char *message)
{
	CLEANUP(xmalloc_freep) char *full = xmalloc_printf("%s %s", kind, key);

	if (message != NULL) {
		strmap_set(s->why, str_of(full), arena_dup(s->arena, message));
	}
}

static void add_write(struct simulation *s, bool bind, const char *pod)
{
	struct write w = { bind, pod };

	vec_push(&s->writes, w);
}

/* Texts are copied: a decision lives only until the next cycle. */
static void add_step(struct simulation *s, enum sim_step_kind kind, const struct decision *d)
{
	const struct cluster *c = cache_cluster(s->cache);
	const struct task *t = d->task == MODEL_NONE ? NULL : c->tasks.v[d->task];
	const struct podgroup *g = d->podgroup == MODEL_NONE ? NULL : c->podgroups.v[d->podgroup];
	struct sim_step step = { .kind = kind,
				 .cycle = s->cycles,
				 .reason = copy(s, d->reason),
				 .message = copy(s, d->message),
				 .warning = d->warning };

	if (t != NULL) {
		step.object = task_key(s, t);
		remember_why(s, "Pod", step.object, d->message);
	} else if (g != NULL) {
		step.object = podgroup_key(s, g);
	} else if (d->queue != MODEL_NONE) {
		step.object = copy(s, c->queues.v[d->queue]->name);
	} else {
		step.object = "";
	}
	if (kind == SIM_BIND) {
		step.node = copy(s, c->nodes.v[d->node]->name);
		add_write(s, true, step.object);
	} else if (kind == SIM_UNGATE && t != NULL) {
		const struct gate_row *row = gate_at(t->gate_row);

		step.gate = row == NULL ? "" : row->gate;
		add_write(s, false, step.object);
	}
	vec_push(&s->steps, step);
}

/* True: the next cycle may decide more because of it. Publishing and reporting change nothing
 * for the scheduler. */
static bool take_decision(struct simulation *s, const struct decision *d)
{
	switch (d->kind) {
	case DECISION_UNGATE:
		add_step(s, SIM_UNGATE, d);
		return true;
	case DECISION_BIND:
		add_step(s, SIM_BIND, d);
		return true;
	case DECISION_EVICT:
		add_step(s, SIM_EVICT, d);
		return true;
	case DECISION_PUBLISH:
		add_step(s, SIM_PUBLISH, d);
		return false;
	case DECISION_WITHDRAW:
		add_step(s, SIM_WITHDRAW, d);
		return false;
	case DECISION_EVENT:
		add_step(s, SIM_EVENT, d);
		return false;
	case DECISION_CONDITION:
		remember_why(s, "Pod", task_key(s, cache_cluster(s->cache)->tasks.v[d->task]),
			     d->message);
		return false;
	case DECISION_PODGROUP_CONDITION:
		remember_why(s, "PodGroup",
			     podgroup_key(s, cache_cluster(s->cache)->podgroups.v[d->podgroup]),
			     d->message);
		return false;
	case DECISION_TAKE_VOLUME:
	case DECISION_FINISH_BIND:
	case DECISION_GIVE_BACK:
	case DECISION_RESERVE:
	case DECISION_REVOKE:
	case DECISION_MOVE:
	case DECISION_STAY:
	case DECISION_AWAIT:
	case DECISION_OVERDUE:
	case DECISION_STUCK:
	case DECISION_AWAIT_QUOTA:
	case DECISION_PODGROUP_PHASE:
	case DECISION_QUEUE_SCANNED:
	case DECISION_KIND_COUNT_:
		break;
	}
	return false;
}

static void add_pipeline(struct simulation *s, const struct task *t, uint32_t node)
{
	const struct cluster *c = cache_cluster(s->cache);
	struct sim_step step = { .kind = SIM_PIPELINE,
				 .cycle = s->cycles,
				 .object = task_key(s, t),
				 .node = copy(s, c->nodes.v[node]->name),
				 .group = t->podgroup == MODEL_NONE
						  ? ""
						  : podgroup_key(s, c->podgroups.v[t->podgroup]) };

	vec_push(&s->steps, step);
}

/* A pod beyond its gang's minimum gets no condition while it waits for quota. Asked of the
 * session, since the quota that others got in this cycle is not in the cluster yet. */
static void explain_quota(struct simulation *s, const struct session *session, const struct task *t)
{
	const struct cluster *c = cache_cluster(s->cache);
	const struct queue *full;
	bool never;
	uint32_t over;

	if (session_task_charge(session, t) != CHARGE_NONE || (t->flags & TASK_OPTED_IN) == 0 ||
	    t->status != TASK_PENDING || t->klass == NULL) {
		return;
	}
	full = session_find_full_queue(session, c->queues.v[c->podgroups.v[t->podgroup]->queue], t,
				       &over);
	if (full != NULL) {
		/* Against an empty queue: no pod that ends would make room. */
		never = res_exceeds(pod_class_charge(t->klass), session_queue_limit(session, full),
				    pod_class_charge_mask(t->klass)) != 0;
		remember_why(s, "Pod", task_key(s, t),
			     arena_printf(s->arena, "%s%s%s",
					  session_describe_full_queue(session, full, over),
					  shortage_of_task(session, full, t),
					  never ? ": it can never fit" : ""));
	}
}

/* No session has them, so that nothing else says why their pods wait. */
static void explain_missing_groups(struct simulation *s)
{
	const struct cluster *c = cache_cluster(s->cache);

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		const struct podgroup *g =
			t == NULL || t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];

		if (g != NULL && !g->exists && t->status == TASK_PENDING) {
			remember_why(s, "Pod", task_key(s, t),
				     arena_printf(s->arena, "its PodGroup %s/%s does not exist",
						  g->namespace_, g->name));
		}
	}
}

/* Placements in the session that are not decisions. Those in PodGroups that the session skipped
 * stay as before. */
static bool take_session(struct simulation *s, const struct session *session)
{
	const struct cluster *c = cache_cluster(s->cache);
	bool any = false;

	while (s->held.n < c->tasks.n) {
		vec_push(&s->held, (uint8_t)TASK_STATUS_COUNT_);
	}
	for (size_t i = 0; session != NULL && i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		const struct podgroup *g =
			t == NULL || t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];
		enum task_status status;

		if (g == NULL || g->queue == MODEL_NONE || !session_podgroup_is_due(session, g)) {
			continue;
		}
		explain_quota(s, session, t);
		status = session_task_status(session, t);
		s->held.v[i] = TASK_STATUS_COUNT_;
		if (status == TASK_PIPELINED || status == TASK_ALLOCATED) {
			s->held.v[i] = (uint8_t)status;
		}
		if (status == TASK_PIPELINED) {
			add_pipeline(s, t, session_task_node(session, t));
			any = true;
		}
	}
	return any;
}

/* 1. The writes of the cycle before are acknowledged.
 * 2. The cycle decides.
 * 3. Decisions are recorded, then what the session placed without a decision: pods that wait for
 *    terminating ones, members of gangs that are not complete. Both refer to the session, which
 *    is valid only until the cluster changes.
 * 4. The decisions are assumed in the cluster, by the function that the daemon uses. */
bool simulation_run_cycle(struct simulation *s)
{
	struct cluster *c;
	const struct decisions *d;
	bool any = false;

	acknowledge(s);
	s->cycles++;
	c = cache_cluster(s->cache);
	d = cycle_run(s->cycle, c, s->now, NULL);
	for (size_t i = 0; i < d->n; i++) {
		any |= take_decision(s, &d->v[i]);
	}
	any |= take_session(s, cycle_last_session(s->cycle));
	explain_missing_groups(s);
	cycle_assume(c, d, s->now);
	return any;
}

static const struct podgroup *find_podgroup(const struct cluster *c, enum podgroup_kind kind,
					    struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct podgroup_key k = { .kind = kind };

	k.namespace_ = str_next(&key, '/');
	k.name = key;
	cluster_podgroup_key(&k, &text);
	return cluster_podgroup_find(c, strbuf_str(&text));
}

static bool has_storage(const struct cluster *c, enum sched_resource resource, struct str key)
{
	const struct claim *cl = resource == SCHED_CLAIMS ? volumes_find_claim(c, key) : NULL;
	const struct volume *v = resource == SCHED_VOLUMES ? volumes_find_volume(c, key) : NULL;
	const struct storage_class *k = resource == SCHED_STORAGE_CLASSES
						? strmap_get(c->storage_class_by_name, key)
						: NULL;
	const struct node *n = resource == SCHED_CSI_NODES ? cluster_node_find(c, key) : NULL;

	return (cl != NULL && cl->exists) || (v != NULL && v->exists) || (k != NULL && k->exists) ||
	       (n != NULL && n->limits.n > 0) ||
	       (resource == SCHED_CSI_DRIVERS && storage_capacity_has_driver(c, key)) ||
	       (resource == SCHED_STORAGE_CAPACITIES && storage_capacity_find(c, key) != NULL);
}

static bool is_there(const struct cluster *c, enum sched_resource resource, struct str key)
{
	const struct queue *q = resource == SCHED_QUEUES ? queue_find(c, key) : NULL;
	const struct node *n = resource == SCHED_NODES ? cluster_node_find(c, key) : NULL;
	const struct podgroup *g =
		resource == SCHED_PODGROUPS        ? find_podgroup(c, PODGROUP_VOLCANO, key)
		: resource == SCHED_KUBE_PODGROUPS ? find_podgroup(c, PODGROUP_KUBE, key)
						   : NULL;

	return (q != NULL && q->exists) || (n != NULL && n->exists) || (g != NULL && g->exists) ||
	       (resource == SCHED_PODS && cluster_task_find(c, key) != NULL) ||
	       (resource == SCHED_BUDGETS && budgets_find(c, key) != NULL) ||
	       has_storage(c, resource, key) ||
	       (resource == SCHED_PRIORITY_CLASSES && strmap_has(c->priority_classes, key));
}

bool simulation_delete(struct simulation *s, enum sched_resource kind, struct str key)
{
	struct sched_msg *m;

	if (!is_ours(kind)) {
		return false;
	}
	/* Of Namespaces only labels are kept: whether there was one is known to the engine of
	 * Workloads alone. */
	if (kind != SCHED_NAMESPACES && !is_there(cache_cluster(s->cache), kind, key)) {
		return false;
	}
	m = message_new(SCHED_MSG_DELETE);
	m->resource = kind;
	m->key = arena_str(m->arena, key);
	apply_message(s, m);
	return kind != SCHED_NAMESPACES;
}

unsigned simulation_cycles(const struct simulation *s)
{
	return s->cycles;
}

const struct sim_step *simulation_steps(const struct simulation *s, size_t *ret_n)
{
	*ret_n = s->steps.n;
	return s->steps.v;
}

const struct cluster *simulation_cluster(const struct simulation *s)
{
	return cache_cluster(s->cache);
}

enum task_status simulation_task_status(const struct simulation *s, const struct task *t)
{
	bool held = t->status == TASK_PENDING && t->id < s->held.n &&
		    s->held.v[t->id] != TASK_STATUS_COUNT_;

	return (enum task_status)(held ? s->held.v[t->id] : t->status);
}

const char *simulation_why(const struct simulation *s, const struct task *t)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct podgroup *g;
	const char *text;

	/* Its last decision is that it has quota. */
	if ((t->flags & TASK_GATE_ONLY) != 0 && (t->flags & TASK_OUR_GATE) == 0 &&
	    t->charge != CHARGE_NONE) {
		return "has quota: its own scheduler, which is not simulated, places it";
	}
	strbuf_printf(&key, "Pod %s/%s", t->namespace_, t->name);
	text = strmap_get(s->why, strbuf_str(&key));
	if (text != NULL || t->podgroup == MODEL_NONE) {
		return text;
	}
	g = cache_cluster(s->cache)->podgroups.v[t->podgroup];
	strbuf_reset(&key);
	strbuf_printf(&key, "PodGroup %s/%s", g->namespace_, g->name);
	return strmap_get(s->why, strbuf_str(&key));
}
