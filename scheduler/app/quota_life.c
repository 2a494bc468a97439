#include "app/quota_life.h"

#include <stdlib.h>

#include "api/kueue.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "app/quota_metrics.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/xmalloc.h"
#include "cache/quota_cache.h"
#include "conf/quota_conf.h"
#include "controllers/owner_write.h"
#include "controllers/owners.h"
#include "enc/json_out.h"
#include "kube/pool.h"
#include "model/quota_store.h"
#include "quota/workload_life.h"

#define SLOTS 32
#define MAX_CHECKS 64

struct facts { /* of a Workload, beside what is in the cache */
	struct arena *arena;
	const char *key, *namespace_, *name, *uid, *version;
	const char *gated_by;
	const char **gates, **finalizers; /* finalizers: all but ours */
	size_t ngates, nfinalizers;
	bool active, deleted, has_finalizer, has_owner, had_owner;
	int32_t max_execution;
	int64_t next; /* wall ns */
	bool todo;    /* in the list of the same name */
};

struct quota_life {
	struct quota_life_options opt;
	struct owners *owners;
	struct owner_write_target target;
	struct pool *pool;
	struct strmap *facts;    /* "namespace/name" */
	struct VEC(char *) todo; /* keys */
	int64_t next;            /* the earliest time of all */
	uint64_t specs;          /* changes of queues that were looked at */
};

static void facts_free(void *value)
{
	struct facts *f = value;

	arena_destroy(f->arena);
	free(f);
}

static void want(struct quota_life *l, struct facts *f)
{
	if (!f->todo) {
		f->todo = true;
		vec_push(&l->todo, xmalloc_dup(f->key));
	}
}

void quota_life_touch(struct quota_life *l, struct str key)
{
	struct facts *f = strmap_get(l->facts, key);

	if (f != NULL) {
		want(l, f);
	}
}

static void on_activity(void *ctx, struct str key)
{
	quota_life_touch(ctx, key);
}

/* The status as it should stand may be ahead of the one that is written. */
static bool may_start(void *ctx, struct str key)
{
	const struct quota_life *l = ctx;
	const struct workload *w = quota_workload_find(quota_cache_world(l->opt.cache), key);
	const struct conditions *c = w == NULL ? NULL : quota_cache_status(l->opt.cache, w);

	return c != NULL && conditions_is_true(c, KUEUE_ADMITTED) &&
	       !conditions_is_true(c, KUEUE_EVICTED);
}

static bool knows(void *ctx, struct str key)
{
	const struct quota_life *l = ctx;

	return quota_workload_find(quota_cache_world(l->opt.cache), key) != NULL;
}

static void read_again(void *ctx, struct str key)
{
	const struct quota_life *l = ctx;

	l->opt.read(l->opt.ctx, key);
}

/* Every replica sees what happens; the one that writes counts it. */
static bool counts(struct quota_life *l)
{
	return l->opt.metrics != NULL && owner_write_may_send(&l->target);
}

static void on_created(void *ctx, const char *kind, const struct api_workload *w UNUSED, int64_t ns)
{
	struct quota_life *l = ctx;

	if (counts(l)) {
		quota_metrics_created(l->opt.metrics, kind, ns);
	}
}

static void on_ungated(void *ctx, const struct api_workload *w, bool group, int64_t ns)
{
	struct quota_life *l = ctx;

	if (counts(l)) {
		quota_metrics_ungated(l->opt.metrics, w->status.admission->cluster_queue, group,
				      ns);
	}
}

struct quota_life *quota_life_create(const struct quota_life_options *opt)
{
	struct quota_life *l = xmalloc_zero(1, sizeof(*l));
	struct owners_options oo = { .base = opt->base,
				     .which = &opt->conf->owners,
				     .recorder = opt->recorder,
				     .wait_pods_ready = opt->conf->times.wait_pods_ready,
				     .may_start = may_start,
				     .knows = knows,
				     .read = read_again,
				     .on_created = on_created,
				     .on_ungated = on_ungated,
				     .ctx = l };
	struct pool_options po = *opt->base;

	l->opt = *opt;
	l->opt.base = NULL;
	l->next = INT64_MAX;
	l->facts = strmap_create(facts_free);
	l->owners = owners_create(&oo);
	owners_watch(l->owners, on_activity, l);
	l->target = (struct owner_write_target){ opt->recorder, po.may_send, po.ctx };
	po.name = "workload";
	po.ops = &owner_write_ops;
	po.ctx = &l->target;
	po.may_send = owner_write_may_send;
	po.slots = SLOTS;
	l->pool = pool_create(&po);
	return l;
}

void quota_life_destroy(struct quota_life *l)
{
	if (l == NULL) {
		return;
	}
	owners_destroy(l->owners);
	pool_destroy(l->pool);
	strmap_destroy(l->facts);
	for (size_t i = 0; i < l->todo.n; i++) {
		free(l->todo.v[i]);
	}
	vec_finish(&l->todo);
	free(l);
}

size_t quota_life_pools(struct quota_life *l, struct pool **out, size_t max)
{
	size_t n = 0;

	if (n < max) {
		out[n++] = owners_pool(l->owners);
	}
	if (n < max) {
		out[n++] = l->pool;
	}
	return n;
}

/* --- objects -----------------------------------------------------------------------------------*/

static void object_gone(struct quota_life *l, enum sched_resource r, struct str key)
{
	if (r == SCHED_JOBS) {
		owners_job_gone(l->owners, key);
	} else if (r == SCHED_PODS) {
		owners_pod_gone(l->owners, key);
	} else if (r == SCHED_NAMESPACES) {
		owners_namespace_gone(l->owners, key);
	} else if (r == SCHED_FLAVORS) {
		owners_flavor_gone(l->owners, key);
	} else if (r == SCHED_WORKLOAD_PRIORITY_CLASSES) {
		owners_class_gone(l->owners, key);
	} else if (r == SCHED_PRIORITY_CLASSES) {
		owners_pod_class_gone(l->owners, key);
	}
}

void quota_life_object(struct quota_life *l, enum sched_resource r, struct str key,
		       const void *object)
{
	if (object == NULL) {
		object_gone(l, r, key);
	} else if (r == SCHED_JOBS) {
		owners_job(l->owners, object);
	} else if (r == SCHED_PODS) {
		owners_pod(l->owners, object);
	} else if (r == SCHED_NAMESPACES) {
		owners_namespace(l->owners, object);
	} else if (r == SCHED_FLAVORS) {
		owners_flavor(l->owners, object);
	} else if (r == SCHED_WORKLOAD_PRIORITY_CLASSES) {
		owners_class(l->owners, object);
	} else if (r == SCHED_PRIORITY_CLASSES) {
		owners_pod_class(l->owners, object);
	}
}

static void read_lists(struct facts *f, const struct api_workload *w)
{
	f->gates = arena_zero(f->arena, w->spec.preemption_gates.n + 1, sizeof(*f->gates));
	for (size_t i = 0; i < w->spec.preemption_gates.n; i++) {
		f->gates[f->ngates++] = arena_dup(f->arena, w->spec.preemption_gates.v[i].name);
	}
	f->finalizers = arena_zero(f->arena, w->meta.finalizers.n + 1, sizeof(*f->finalizers));
	for (size_t i = 0; i < w->meta.finalizers.n; i++) {
		if (str_streq(w->meta.finalizers.v[i], KUEUE_FINALIZER)) {
			f->has_finalizer = true;
		} else {
			f->finalizers[f->nfinalizers++] =
				arena_dup(f->arena, w->meta.finalizers.v[i]);
		}
	}
}

static struct facts *read_facts(struct str key, const struct api_workload *w)
{
	struct facts *f = xmalloc_zero(1, sizeof(*f));

	f->arena = arena_create(192);
	f->key = arena_str(f->arena, key).p;
	f->namespace_ = arena_dup(f->arena, w->meta.namespace_);
	f->name = arena_dup(f->arena, w->meta.name);
	f->uid = arena_dup(f->arena, w->meta.uid == NULL ? "" : w->meta.uid);
	f->version = arena_dup(f->arena, w->meta.resource_version);
	f->gated_by =
		arena_dup(f->arena, field_map_get(&w->meta.annotations, KUEUE_ADMISSION_GATED_BY));
	f->active = kueue_workload_is_active(w);
	f->deleted = w->meta.deleted != FIELD_NO_TIME;
	f->has_owner = w->meta.owners.n > 0;
	f->had_owner = field_map_get(&w->meta.labels, KUEUE_JOB_UID) != NULL;
	f->max_execution =
		w->spec.max_execution_time == FIELD_NO_I32 ? 0 : w->spec.max_execution_time;
	f->next = INT64_MAX;
	read_lists(f, w);
	return f;
}

void quota_life_workload(struct quota_life *l, struct str key, const struct api_workload *w)
{
	struct facts *old = strmap_get(l->facts, key), *f;
	bool todo = old != NULL && old->todo;

	if (w == NULL) {
		(void)strmap_remove(l->facts, key);
		owners_workload_gone(l->owners, key);
		return;
	}
	f = read_facts(key, w);
	f->todo = todo;
	strmap_set(l->facts, key, f);
	want(l, f);
	owners_workload(l->owners, w);
}

bool quota_life_holds(struct quota_life *l, const struct api_pod *pod)
{
	return owners_hold(l->owners, pod);
}

void quota_life_recheck(struct quota_life *l, void (*fn)(void *ctx, struct str key), void *ctx)
{
	owners_hold_recheck(l->owners, fn, ctx);
}

void quota_life_synced(struct quota_life *l)
{
	owners_synced(l->owners);
}

/* --- writes to the object ----------------------------------------------------------------------*/

/* `what` names the write: a later one of this name takes its place. */
static void send(struct quota_life *l, const struct facts *f, const char *what,
		 struct owner_write *w)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", what, f->key);

	w->workload = f->name;
	w->about.uid = f->uid;
	pool_add(l->pool, str_of(key), owner_write_new(f->namespace_, w));
}

static void send_active(struct quota_life *l, const struct facts *f)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"uid\":\"%s\"},\"spec\":{\"active\":false}}",
				    f->uid);

	send(l, f, "active", &(struct owner_write){ .kind = OWNER_SYNC, .body = body });
}

static void send_finalizers(struct quota_life *l, const struct facts *f)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &body);
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "uid", f->uid);
	/* The list is replaced: nobody else's finalizer of the meantime may get lost. */
	json_out_kv(&o, "resourceVersion", f->version);
	json_out_key(&o, "finalizers");
	json_out_array(&o);
	for (size_t i = 0; i < f->nfinalizers; i++) {
		json_out_str(&o, f->finalizers[i]);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	send(l, f, "finalizers", &(struct owner_write){ .kind = OWNER_RELEASE, .body = body.p });
}

static void send_delete(struct quota_life *l, const struct facts *f)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
				    "\"preconditions\":{\"uid\":\"%s\"}}",
				    f->uid);

	send(l, f, "delete",
	     &(struct owner_write){ .kind = OWNER_DELETE,
				    .body = body,
				    .event = "Deleted",
				    .message =
					    "Deleted finished workload due to elapsed retention" });
}

/* --- one Workload ------------------------------------------------------------------------------*/

static struct workload_life_queue local_of(const struct quota *q, const struct workload *w,
					   const struct quota_local **ret)
{
	const struct quota_local *l = quota_local_of(q, w);
	struct workload_life_queue out = { .name = w->local_queue == NULL ? "" : w->local_queue,
					   .exists = l != NULL };

	out.stop = l == NULL ? QUOTA_RUN : l->stop;
	*ret = l;
	return out;
}

/* Where it holds quota, else where it would wait. */
static struct workload_life_queue cluster_of(const struct quota *q, const struct workload *w,
					     const char *held, const struct quota_local *local)
{
	const char *name = held != NULL ? held : local == NULL ? NULL : local->queue;
	const struct quota_node *n = name == NULL ? NULL : quota_queue_find(q, str_of(name));
	struct workload_life_queue out = { .name = name == NULL ? "" : name };

	if (w->holds != MODEL_NONE) {
		n = q->nodes.v[w->holds];
		out.name = n->name;
	}
	out.exists = n != NULL && n->exists;
	if (out.exists) {
		out.terminating = n->queue->terminating;
		out.stop = n->queue->stop;
		out.inactive = n->queue->inactive != QUOTA_ACTIVE;
	}
	return out;
}

static const char *what_is_invalid(const struct workload *w)
{
	for (size_t i = 0; i < w->npodsets; i++) {
		if (w->podsets[i].invalid != NULL) {
			return w->podsets[i].invalid;
		}
	}
	return w->unsupported ? w->unsupported_what : NULL;
}

static enum workload_life_job job_state(const struct quota_life *l, const struct facts *f)
{
	static const enum workload_life_job of[] = {
		[OWNERS_FOREIGN] = WORKLOAD_LIFE_JOB_UNKNOWN,
		[OWNERS_RUN] = WORKLOAD_LIFE_JOB_RUNS,
		[OWNERS_STOPPED] = WORKLOAD_LIFE_JOB_STOPPED,
	};

	return !f->has_owner ? WORKLOAD_LIFE_NO_JOB
			     : of[owners_activity(l->owners, str_of(f->key))];
}

static void live(struct quota_life *l, const struct facts *f, const struct workload *w, int64_t now,
		 struct workload_life_out *out)
{
	const struct quota *q = quota_cache_world(l->opt.cache);
	const char *checks[MAX_CHECKS];
	const struct quota_local *local;
	struct conditions *c = quota_cache_edit(l->opt.cache, w);
	struct workload_life_state s = { .c = c,
					 .requeues = c->has_requeue_count ? c->requeue_count : 0,
					 .requeue_at = c->has_requeue_at ? c->requeue_at
									 : MODEL_TIME_NONE,
					 .ran = c->has_past_seconds ? c->past_seconds : 0 };
	struct workload_life_in in = {
		.id = w->id,
		.namespace_ = f->namespace_,
		.name = f->name,
		.uid = f->uid,
		.active = f->active,
		.deleted = f->deleted,
		.has_finalizer = f->has_finalizer,
		.has_owner = f->has_owner,
		.had_owner = f->had_owner,
		.max_execution = f->max_execution,
		.gated_by = f->gated_by,
		.invalid = what_is_invalid(w),
		.gates = f->gates,
		.ngates = f->ngates,
		.local = local_of(q, w, &local),
		.checks = checks,
		.job = job_state(l, f),
	};

	in.cluster = cluster_of(q, w, quota_cache_queue(l->opt.cache, w), local);
	in.checks_known = workload_life_checks(q, w, checks, MAX_CHECKS, &in.nchecks);
	workload_life(&in, &l->opt.conf->times, &s, now, out);
	c->has_requeue_count = s.requeues != 0;
	c->requeue_count = s.requeues;
	c->has_requeue_at = s.requeue_at != MODEL_TIME_NONE;
	c->requeue_at = c->has_requeue_at ? s.requeue_at : 0;
	c->has_past_seconds = s.ran != 0;
	c->past_seconds = s.ran;
}

static void look_after(struct quota_life *l, struct facts *f, int64_t now)
{
	const struct workload *w =
		quota_workload_find(quota_cache_world(l->opt.cache), str_of(f->key));
	struct workload_life_out out;

	if (w == NULL) {
		return;
	}
	live(l, f, w, now, &out);
	l->opt.tell(l->opt.ctx, w, &out.events);
	(void)quota_cache_commit(l->opt.cache, w);
	if (out.deactivate) {
		send_active(l, f);
	}
	if (out.remove_finalizer) {
		send_finalizers(l, f);
	}
	if (out.remove) {
		send_delete(l, f);
	}
	f->next = out.next;
	l->next = out.next < l->next ? out.next : l->next;
	workload_life_finish(&out);
}

/* --- all of them -------------------------------------------------------------------------------*/

struct due {
	struct quota_life *l;
	int64_t now;
	bool all;
};

static bool want_due(struct str key UNUSED, void *value, void *ctx)
{
	struct due *d = ctx;
	struct facts *f = value;

	if (d->all || f->next <= d->now) {
		want(d->l, f);
	} else if (f->next < d->l->next) {
		d->l->next = f->next;
	}
	return true;
}

int64_t quota_life_step(struct quota_life *l, int64_t now)
{
	uint64_t specs = quota_cache_specs(l->opt.cache);
	struct due due = { l, now, specs != l->specs };

	if (due.all || l->next <= now) {
		l->specs = specs;
		l->next = INT64_MAX;
		strmap_each(l->facts, want_due, &due);
	}
	for (size_t i = 0; i < l->todo.n; i++) {
		CLEANUP(xmalloc_freep) char *key = l->todo.v[i];
		struct facts *f = strmap_get(l->facts, str_of(key));

		l->todo.v[i] = NULL;
		if (f != NULL && f->todo) {
			f->todo = false;
			look_after(l, f, now);
		}
	}
	vec_clear(&l->todo);
	return l->next;
}
