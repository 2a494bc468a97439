/* The daemon's controller of owners, without a cluster:
 * 1. All objects are decoded as messages. Jobs, pods and Workloads are kept; all that plans
 *    refer to (classes, limit ranges, namespaces) goes into the world of owners, as in the
 *    daemon.
 * 2. For each Job, and for each pod or group of pods, the daemon's plan is made of what it owns
 *    now.
 * 3. Of the plan only the creation of Workloads is carried out, and its notes become warnings.
 *    Starts, stops and finalizers are for controllers, which do not run here. */
#include "scheduler/ctl/manifest/owner_workloads.h"

#include <stdbool.h>
#include <stdlib.h>

#include "api/core/batch.h"
#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"
#include "scheduler/workloads/controller/owner_world.h"
#include "scheduler/workloads/owners/job_plan.h"
#include "scheduler/workloads/owners/kueue_pod_group.h"
#include "scheduler/workloads/owners/pod_plan.h"

struct item {
	struct sim_object *object;
	struct sched_msg *msg; /* of the decoded object */
	bool done;             /* a pod of a group that is planned */
};

struct making {
	struct sim_input *in;
	const struct owner_workloads_options *opt;
	struct owner_world *world;
	struct owner_plan_env env;
	struct VEC(struct item) items; /* Jobs, pods and Workloads */
};

static const struct api_job *job_of(const struct item *i)
{
	return i->object->kind == SCHED_JOBS ? i->msg->object : NULL;
}

static const struct api_pod *pod_of(const struct item *i)
{
	return i->object->kind == SCHED_PODS ? i->msg->object : NULL;
}

static const struct api_workload *workload_of(const struct item *i)
{
	return i->object->kind == SCHED_WORKLOADS ? i->msg->object : NULL;
}

/* --- reading -----------------------------------------------------------------------------------*/

/* Pods by the mark that the webhook puts on those that it holds: a pod that is queued by its
 * owner has none. */
static bool is_owner(const struct making *m, const struct sim_object *o)
{
	const struct jdoc *labels = jdoc_path(o->json, "metadata.labels");

	return (o->kind == SCHED_JOBS && m->opt->owners->jobs) ||
	       (o->kind == SCHED_PODS && m->opt->owners->pods &&
		jdoc_is_str(jdoc_get(labels, KUEUE_MANAGED), "true"));
}

/* Workloads name their owner by its uid, and so are found again. Made of the key, it is the same
 * in each run. */
static void give_uid(struct sim_object *o)
{
	struct jdoc *meta = jdoc_get_mut(o->json, "metadata");
	CLEANUP(xmalloc_freep) char *uid = xmalloc_printf("uid-of-%s", o->key);

	if (jdoc_str_or(jdoc_get(meta, "uid"), "")[0] == '\0') {
		jdoc_set_str(meta, "uid", uid);
	}
}

static int read_object(struct making *m, struct sim_object *o, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	bool owner = is_owner(m, o);
	struct sched_msg *msg;
	int r = 0;

	if (owner) {
		give_uid(o);
	}
	jdoc_format(o->json, &text);
	msg = message_decode(o->kind, str_of(o->key), strbuf_str(&text), 0);
	if (msg->kind == SCHED_MSG_BAD_OBJECT) {
		/* The simulation reports the others itself. */
		r = owner ? err_set(err, ERR_INVALID, "%s: %s %s: %s", o->where,
				    sim_input_kind_name(o->kind), o->key, msg->text)
			  : 0;
	} else if (owner || o->kind == SCHED_WORKLOADS) {
		struct item item = { .object = o, .msg = message_ref(msg) };

		vec_push(&m->items, item);
	} else {
		(void)owner_world_object(m->world, msg);
	}
	message_free(msg);
	return r;
}

/* Owners are planned in the order in which they were created. The key decides between equal
 * times: manifests often have none. */
static int by_age(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	const char *s = jdoc_str_or(jdoc_path(x->object->json, "metadata.creationTimestamp"), "");
	const char *t = jdoc_str_or(jdoc_path(y->object->json, "metadata.creationTimestamp"), "");
	int r = strcmp(s, t);

	return r != 0 ? r : strcmp(x->object->key, y->object->key);
}

static int read_all(struct making *m, struct err *err)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(m->in, &n);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		r = read_object(m, objects[i], err);
	}
	if (m->items.n > 0) {
		qsort(m->items.v, m->items.n, sizeof(m->items.v[0]), by_age);
	}
	return r;
}

/* --- Workloads ---------------------------------------------------------------------------------*/

static const struct item *find_owner(const struct making *m, const char *namespace_,
				     const char *name, bool pods)
{
	for (size_t i = 0; i < m->items.n; i++) {
		const struct item *it = &m->items.v[i];
		const struct api_meta *meta = pods ? (pod_of(it) ? &pod_of(it)->meta : NULL)
						   : (job_of(it) ? &job_of(it)->meta : NULL);

		if (meta != NULL && str_streq(meta->name, name) &&
		    str_streq(meta->namespace_, namespace_)) {
			return it;
		}
	}
	return NULL;
}

/* The Workload is as old as its owner: nothing is known of the moment between them. */
static int add_workload(struct making *m, const char *namespace_, const struct owner_write *w,
			const struct item *owner, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const char *created = jdoc_path_str(owner->object->json, "metadata.creationTimestamp");
	struct jdoc *workload = NULL, *meta;

	strbuf_add_c(&body, w->body);
	/* The plan leaves gaps for pod templates: they are copied from the object as it was
	 * written, since the decoded form has only what scheduling reads. */
	for (size_t i = 0; i < w->ngaps; i++) {
		const struct item *from = find_owner(m, namespace_, w->gaps[i].from.name, w->pods);

		if (from == NULL || !owner_write_add_template(w->pods, from->object->json, &body)) {
			return 0; /* the owner has no pods */
		}
		strbuf_add_c(&body, w->gaps[i].tail);
	}
	if (jdoc_parse(strbuf_str(&body), &workload, err) < 0) {
		return -ERR_INVALID;
	}
	meta = jdoc_ensure_object(workload, "metadata");
	jdoc_set_str(meta, "namespace", namespace_);
	if (created != NULL) {
		jdoc_set_str(meta, "creationTimestamp", created);
	}
	return sim_input_take(m->in, SCHED_WORKLOADS, workload, owner->object->where, err);
}

/* The reason why there is no Workload, or another fact that a user has to know. */
static void warn_note(const struct making *m, const struct item *owner, const struct owner_write *w)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("%s: %s %s: %s", owner->object->where,
				    sim_input_kind_name(owner->object->kind), owner->object->key,
				    w->message);

	m->opt->warn(m->opt->ctx, text);
}

static void note_without(const struct making *m, const struct item *owner, const char *reason)
{
	m->opt->without(m->opt->ctx, owner->object->kind, owner->object->key, reason);
}

static int carry_out(struct making *m, const struct owner_plan *plan, const struct item *owner,
		     const char *namespace_, struct err *err)
{
	const char *reason = NULL;
	bool created = false;
	int r = 0;

	for (size_t i = 0; i < plan->writes.n && r == 0; i++) {
		const struct owner_write *w = &plan->writes.v[i];

		if (w->kind == OWNER_NOTE && w->warning) {
			reason = w->message;
		}
		created |= w->kind == OWNER_CREATE;
		if (w->kind == OWNER_CREATE) {
			r = add_workload(m, namespace_, w, owner, err);
		} else if (w->kind == OWNER_NOTE && w->message != NULL && !owner->object->before) {
			warn_note(m, owner, w);
		}
	}
	/* A note about an owner that gets its Workload is a warning, too, but not a missing
	 * Workload. */
	if (reason != NULL && !created) {
		note_without(m, owner, reason);
	}
	return r;
}

/* A namespace that is not among the manifests has unknown labels: its owners are taken to be
 * managed. */
static bool manages(const struct making *m, const char *namespace_)
{
	return sim_input_find(m->in, SCHED_NAMESPACES, namespace_) == NULL ||
	       owner_world_manages(m->world, namespace_);
}

static bool is_controlled_by(const struct api_workload *w, const struct api_meta *owner)
{
	const struct api_owner *c = meta_controller(&w->meta);

	return str_streq(w->meta.namespace_, owner->namespace_) && c != NULL &&
	       str_streq(c->uid, owner->uid);
}

/* Its pods queue with the Job above it. */
static bool is_nested(const struct making *m, const struct api_job *job)
{
	const struct api_owner *c = meta_controller(&job->meta);

	return c != NULL && str_streq(c->kind, "Job") &&
	       find_owner(m, job->meta.namespace_, c->name, false) != NULL;
}

static int plan_job(struct making *m, const struct item *owner, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
	const struct api_job *job = job_of(owner);
	const char *prebuilt = owner_spec_prebuilt(&job->meta);
	const struct api_workload **list = arena_zero(arena, m->items.n + 1, sizeof(*list));
	struct job_plan_of of = { .job = job, .workloads = list, .place = JOB_PLAN_OWN };

	for (size_t i = 0; i < m->items.n; i++) {
		const struct api_workload *w = workload_of(&m->items.v[i]);

		if (w != NULL && is_controlled_by(w, &job->meta)) {
			list[of.n++] = w;
		}
		if (w != NULL && prebuilt != NULL && str_streq(w->meta.name, prebuilt) &&
		    str_streq(w->meta.namespace_, job->meta.namespace_)) {
			of.prebuilt = w;
		}
	}
	if (!manages(m, job->meta.namespace_)) {
		of.place = JOB_PLAN_ELSEWHERE;
	} else if (is_nested(m, job)) {
		of.place = JOB_PLAN_HELD;
	}
	job_plan(&of, &m->env, &plan);
	return carry_out(m, &plan, owner, job->meta.namespace_, err);
}

static bool is_same_group(const struct api_pod *a, const struct api_pod *b)
{
	const char *group = kueue_pod_group_name(a);

	return a == b || (group != NULL && str_streq(group, kueue_pod_group_name(b)) &&
			  str_streq(a->meta.namespace_, b->meta.namespace_));
}

/* The daemon waits for the rest of the pods, and has nothing to write meanwhile. */
static void note_incomplete(const struct making *m, const struct item *owner, size_t n)
{
	CLEANUP(xmalloc_freep) char *reason = NULL;
	int32_t total = kueue_pod_group_total(pod_of(owner));

	if (total > 0 && n < (size_t)total) {
		reason = xmalloc_printf("its group has %zu of %d pods: it gets a Workload when all "
					"are there",
					n, total);
		note_without(m, owner, reason);
	}
}

static int plan_pods(struct making *m, const struct item *owner, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };
	const struct api_pod *first = pod_of(owner);
	const char *group = kueue_pod_group_name(first);
	const struct api_pod **pods = arena_zero(arena, m->items.n + 1, sizeof(*pods));
	const struct api_workload **list = arena_zero(arena, m->items.n + 1, sizeof(*list));
	struct pod_plan_of of = { .pods = pods, .workloads = list };

	for (size_t i = 0; i < m->items.n; i++) {
		const struct api_pod *p = pod_of(&m->items.v[i]);
		const struct api_workload *w = workload_of(&m->items.v[i]);

		if (p != NULL && is_same_group(first, p)) {
			/* The group has one plan: its other pods need none. */
			m->items.v[i].done = true;
			pods[of.n++] = p;
		} else if (w != NULL && group == NULL && is_controlled_by(w, &first->meta)) {
			list[of.nworkloads++] = w;
		} else if (w != NULL && group != NULL && str_streq(w->meta.name, group) &&
			   str_streq(w->meta.namespace_, first->meta.namespace_)) {
			list[of.nworkloads++] = w;
		}
	}
	of.elsewhere = !manages(m, first->meta.namespace_);
	of.ending = owner_world_ends(m->world, first->meta.namespace_);
	pod_plan(&of, &m->env, &plan);
	if (group != NULL && plan.writes.n == 0 && of.nworkloads == 0 && !of.elsewhere) {
		note_incomplete(m, owner, of.n);
	}
	return carry_out(m, &plan, owner, first->meta.namespace_, err);
}

static int plan_all(struct making *m, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < m->items.n && r == 0; i++) {
		const struct item *it = &m->items.v[i];

		if (job_of(it) != NULL) {
			r = plan_job(m, it, err);
		} else if (pod_of(it) != NULL && !it->done &&
			   kueue_pod_group_is_managed(pod_of(it))) {
			r = plan_pods(m, it, err);
		}
	}
	return r;
}

int owner_workloads_make(struct sim_input *in, const struct owner_workloads_options *opt,
			 struct err *err)
{
	const struct kueue_conf_owners *owners = opt->owners;
	struct making m = { .in = in, .opt = opt };
	int r;

	m.world = owner_world_create(&owners->namespaces);
	owner_world_env(m.world, &m.env);
	m.env.label_keys = &owners->label_keys;
	m.env.annotation_keys = &owners->annotation_keys;
	m.env.without_queue_name = owners->without_queue_name;
	m.env.now = opt->now;
	r = read_all(&m, err);
	if (r == 0) {
		r = plan_all(&m, err);
	}
	for (size_t i = 0; i < m.items.n; i++) {
		message_free(m.items.v[i].msg);
	}
	vec_finish(&m.items);
	owner_world_destroy(m.world);
	return r;
}
