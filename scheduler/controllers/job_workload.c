#include "controllers/job_workload.h"

#include <stdlib.h>

#include "api/batch.h"
#include "api/kueue.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "api/scheduling.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "base/xmalloc.h"
#include "controllers/job_plan.h"
#include "controllers/job_write.h"
#include "enc/decode.h"
#include "enc/encode.h"

struct workload_entry {
	struct arena *arena;
	struct api_workload *w;
	char *job; /* key of the Job entry it is linked to; NULL: none */
};

/* A Job, or only its name, when Workloads of it are known. */
struct job_entry {
	struct arena *arena;
	struct api_job *job; /* NULL: not there */
	struct VEC(struct workload_entry *) workloads;
	uint64_t sent[JOB_PLAN_COUNT_]; /* hash of the write last handed to the pool, per kind */
};

struct class_entry { /* of a WorkloadPriorityClass, a PriorityClass */
	char *name;
	int32_t value;
	bool global_default;
};

struct flavor_entry {
	struct arena *arena;
	struct api_resource_flavor *rf;
};

struct job_workload {
	struct pool *pool;
	const struct clock *clock;
	struct job_write_target target;
	struct job_plan_env env;
	bool synced;
	struct strmap *jobs, *workloads, *prebuilt; /* prebuilt: Workload key -> Job key */
	struct strmap *flavors, *classes, *pod_classes;
	void (*watch)(void *ctx, struct str key);
	void *watch_ctx;
};

/* --- copies ------------------------------------------------------------------------------------
 */

/* A decoded object lives as long as its message: keep what was decoded, by its table. */
static void *copy_object(const struct field_table *table, const void *obj, struct arena *arena)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	void *out = arena_zero(arena, 1, table->size);

	encode_text(table, obj, &text);
	if (decode_text(table, strbuf_str(&text), out, arena, NULL) < 0) {
		decode_init(table, out); /* what was decoded once decodes again */
	}
	return out;
}

static struct str make_key(struct strbuf *b, const char *namespace_, const char *name)
{
	strbuf_reset(b);
	strbuf_printf(b, "%s/%s", namespace_ == NULL ? "" : namespace_, name);
	return strbuf_str(b);
}

static void workload_free(void *p)
{
	struct workload_entry *e = p;

	arena_destroy(e->arena);
	free(e->job);
	free(e);
}

static void job_free(void *p)
{
	struct job_entry *e = p;

	arena_destroy(e->arena);
	vec_finish(&e->workloads);
	free(e);
}

static void class_free(void *p)
{
	struct class_entry *e = p;

	free(e->name);
	free(e);
}

static void flavor_free(void *p)
{
	struct flavor_entry *e = p;

	arena_destroy(e->arena);
	free(e);
}

/* --- what a plan asks for ----------------------------------------------------------------------
 */

static const struct api_resource_flavor *find_flavor(void *ctx, const char *name)
{
	const struct job_workload *jw = ctx;
	const struct flavor_entry *e = strmap_get(jw->flavors, str_of(name));

	return e == NULL ? NULL : e->rf;
}

static bool find_class(void *ctx, const char *name, int32_t *ret)
{
	const struct job_workload *jw = ctx;
	const struct class_entry *e = strmap_get(jw->classes, str_of(name));

	if (e != NULL) {
		*ret = e->value;
	}
	return e != NULL;
}

struct lowest {
	const struct class_entry *found;
};

/* Kubernetes: of several default classes the one with the lowest value counts. */
static bool take_lowest(struct str key UNUSED, void *value, void *ctx)
{
	const struct class_entry *e = value;
	struct lowest *l = ctx;

	if (e->global_default && (l->found == NULL || e->value < l->found->value)) {
		l->found = e;
	}
	return true;
}

static bool find_pod_class(void *ctx, const char *name, const char **ret_name, int32_t *ret)
{
	const struct job_workload *jw = ctx;
	struct lowest l = { NULL };

	if (name == NULL) {
		strmap_each(jw->pod_classes, take_lowest, &l);
	} else {
		l.found = strmap_get(jw->pod_classes, str_of(name));
	}
	if (l.found == NULL) {
		return false;
	}
	*ret_name = l.found->name;
	*ret = l.found->value;
	return true;
}

/* --- planning ----------------------------------------------------------------------------------
 */

/* The same write is not sent twice: bodies carry the resourceVersion of what they are about, or are
 * about an object that is still as it was. */
static bool is_new(struct job_entry *e, const struct job_plan_write *w)
{
	uint64_t h = str_hash(str_of(w->body)) ^ (str_hash(str_of(w->workload)) << 1);
	const struct api_job *job = e->job;

	if (w->kind == JOB_PLAN_CREATE || w->kind == JOB_PLAN_DELETE) {
		/* Again whenever the Job or one of its Workloads has changed. */
		for (size_t i = 0; i < e->workloads.n; i++) {
			h ^= str_hash(str_of(e->workloads.v[i]->w->meta.resource_version));
		}
		h ^= job == NULL ? 0 : str_hash(str_of(job->meta.resource_version)) << 2;
	}
	if (h == e->sent[w->kind]) {
		return false;
	}
	e->sent[w->kind] = h;
	return true;
}

static void send(struct job_workload *jw, struct job_entry *e, struct str key,
		 const struct job_plan *plan)
{
	struct str rest = key, namespace_ = str_next(&rest, '/');
	CLEANUP(xmalloc_freep) char *ns = xmalloc_dup_n(namespace_.p, namespace_.len);
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(rest.p, rest.len);
	const struct job_write_job about = { ns, name, e->job == NULL ? NULL : e->job->meta.uid };

	for (size_t i = 0; i < plan->writes.n; i++) {
		const struct job_plan_write *w = &plan->writes.v[i];
		CLEANUP(strbuf_finish) struct strbuf item = STRBUF_INIT;

		/* Writes about the Job follow one another; those about a Workload as well, by kind.
		 */
		if (w->workload == NULL) {
			strbuf_printf(&item, "job/" STR_FMT, STR_ARG(key));
		} else {
			strbuf_printf(&item, "%d/%s/%s", (int)w->kind, ns, w->workload);
		}
		if (is_new(e, w)) {
			pool_add(jw->pool, strbuf_str(&item), job_write_new(&about, w));
		}
	}
}

static void plan_job(struct job_workload *jw, struct str key, struct job_entry *e)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf other = STRBUF_INIT;
	CLEANUP(job_plan_finish) struct job_plan plan = { .writes = VEC_INIT };
	struct job_plan_of of = { .job = e->job, .n = e->workloads.n };
	const struct api_workload **list = arena_zero(arena, of.n + 1, sizeof(*list));
	const char *prebuilt = e->job == NULL ? NULL : job_plan_prebuilt(e->job);

	if (!jw->synced) {
		return;
	}
	for (size_t i = 0; i < of.n; i++) {
		list[i] = e->workloads.v[i]->w;
	}
	of.workloads = list;
	if (prebuilt != NULL) {
		const struct workload_entry *we = strmap_get(
			jw->workloads, make_key(&other, e->job->meta.namespace_, prebuilt));

		of.prebuilt = we == NULL ? NULL : we->w;
	}
	jw->env.now = clock_wall(jw->clock);
	job_plan(&of, &jw->env, arena, &plan);
	send(jw, e, key, &plan);
}

static bool plan_each(struct str key, void *value, void *ctx)
{
	plan_job(ctx, key, value);
	return true;
}

static void plan_all(struct job_workload *jw)
{
	if (jw->synced) {
		strmap_each(jw->jobs, plan_each, jw);
	}
}

static void plan_key(struct job_workload *jw, struct str key)
{
	struct job_entry *e = strmap_get(jw->jobs, key);

	if (e == NULL) {
		return;
	}
	plan_job(jw, key, e);
	if (e->job == NULL && e->workloads.n == 0) {
		(void)strmap_remove(jw->jobs, key);
	}
}

/* --- Jobs --------------------------------------------------------------------------------------
 */

static struct job_entry *need_job(struct job_workload *jw, struct str key)
{
	struct job_entry *e = strmap_get(jw->jobs, key);

	if (e == NULL) {
		e = xmalloc_zero(1, sizeof(*e));
		strmap_set(jw->jobs, key, e);
	}
	return e;
}

static enum job_workload_activity activity(const struct job_workload *jw,
					   const struct workload_entry *we)
{
	const struct api_owner *owner = meta_controller(&we->w->meta);
	const struct job_entry *e;

	if (owner == NULL) {
		return JOB_WORKLOAD_NO_OWNER;
	}
	e = we->job == NULL ? NULL : strmap_get(jw->jobs, str_of(we->job));
	if (e == NULL || (e->job == NULL && !jw->synced)) {
		return JOB_WORKLOAD_FOREIGN;
	}
	if (e->job == NULL || !str_streq(e->job->meta.uid, owner->uid) ||
	    batch_finished(e->job) != NULL) {
		return JOB_WORKLOAD_STOPPED;
	}
	return batch_is_suspended(e->job) && e->job->status.active == 0 ? JOB_WORKLOAD_STOPPED
									: JOB_WORKLOAD_RUNS;
}

/* Tells of the Workloads of a Job; a caller that knows the old state tells only of changes. */
static void tell_all(const struct job_workload *jw, const struct job_entry *e)
{
	for (size_t i = 0; jw->watch != NULL && i < e->workloads.n; i++) {
		CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
		const struct api_meta *m = &e->workloads.v[i]->w->meta;

		jw->watch(jw->watch_ctx, make_key(&key, m->namespace_, m->name));
	}
}

static enum job_workload_activity first_activity(const struct job_workload *jw,
						 const struct job_entry *e)
{
	return e->workloads.n == 0 ? JOB_WORKLOAD_NO_OWNER : activity(jw, e->workloads.v[0]);
}

static void set_prebuilt(struct job_workload *jw, const struct job_entry *e, struct str key,
			 bool on)
{
	const char *name = e->job == NULL ? NULL : job_plan_prebuilt(e->job);
	CLEANUP(strbuf_finish) struct strbuf other = STRBUF_INIT;

	if (name == NULL) {
		return;
	}
	make_key(&other, e->job->meta.namespace_, name);
	if (on) {
		strmap_set(jw->prebuilt, strbuf_str(&other), xmalloc_dup_n(key.p, key.len));
	} else {
		(void)strmap_remove(jw->prebuilt, strbuf_str(&other));
	}
}

static void set_job(struct job_workload *jw, struct str key, const struct api_job *job)
{
	struct job_entry *e = need_job(jw, key);
	enum job_workload_activity before = first_activity(jw, e);
	struct arena *old = e->arena;

	set_prebuilt(jw, e, key, false);
	e->arena = job == NULL ? NULL : arena_create(1024);
	e->job = job == NULL ? NULL : copy_object(&batch_job_fields, job, e->arena);
	arena_destroy(old);
	set_prebuilt(jw, e, key, true);
	if (first_activity(jw, e) != before) {
		tell_all(jw, e);
	}
	plan_key(jw, key);
}

void job_workload_job(struct job_workload *jw, const struct api_job *job)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	set_job(jw, make_key(&key, job->meta.namespace_, job->meta.name), job);
}

void job_workload_job_gone(struct job_workload *jw, struct str key)
{
	if (strmap_has(jw->jobs, key)) {
		set_job(jw, key, NULL);
	}
}

/* --- Workloads ---------------------------------------------------------------------------------
 */

static void unlink_workload(struct job_workload *jw, struct workload_entry *we)
{
	struct job_entry *e = we->job == NULL ? NULL : strmap_get(jw->jobs, str_of(we->job));

	for (size_t i = 0; e != NULL && i < e->workloads.n; i++) {
		if (e->workloads.v[i] == we) {
			memmove(&e->workloads.v[i], &e->workloads.v[i + 1],
				(e->workloads.n - i - 1) * sizeof(e->workloads.v[0]));
			e->workloads.n--;
			break;
		}
	}
	free(we->job);
	we->job = NULL;
}

static void link_workload(struct job_workload *jw, struct workload_entry *we)
{
	const struct api_owner *owner = meta_controller(&we->w->meta);
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (owner == NULL || !str_streq(owner->kind, "Job") ||
	    !str_streq(owner->api_version, "batch/v1")) {
		return;
	}
	make_key(&key, we->w->meta.namespace_, owner->name);
	vec_push(&need_job(jw, strbuf_str(&key))->workloads, we);
	we->job = strbuf_steal(&key, NULL);
}

/* The Jobs that a Workload is of interest to: its owner's, and the one that named it. */
static void plan_around(struct job_workload *jw, struct str key, const char *job)
{
	CLEANUP(strbuf_finish) struct strbuf kept = STRBUF_INIT;
	const char *by = strmap_get(jw->prebuilt, key);

	if (job != NULL) {
		strbuf_add_c(&kept, job); /* the entry may go */
		plan_key(jw, strbuf_str(&kept));
	}
	if (by != NULL && !str_streq(by, kept.p)) {
		strbuf_reset(&kept);
		strbuf_add_c(&kept, by);
		plan_key(jw, strbuf_str(&kept));
	}
}

void job_workload_workload(struct job_workload *jw, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct str k = make_key(&key, w->meta.namespace_, w->meta.name);
	struct workload_entry *we = strmap_get(jw->workloads, k);
	struct arena *old;

	if (we == NULL) {
		we = xmalloc_zero(1, sizeof(*we));
		strmap_set(jw->workloads, k, we);
	}
	unlink_workload(jw, we);
	old = we->arena;
	we->arena = arena_create(1024);
	we->w = copy_object(&kueue_workload_fields, w, we->arena);
	arena_destroy(old);
	link_workload(jw, we);
	plan_around(jw, k, we->job);
}

void job_workload_workload_gone(struct job_workload *jw, struct str key)
{
	struct workload_entry *we = strmap_get(jw->workloads, key);
	CLEANUP(xmalloc_freep) char *job = NULL;

	if (we == NULL) {
		return;
	}
	job = we->job == NULL ? NULL : xmalloc_dup(we->job);
	unlink_workload(jw, we);
	(void)strmap_remove(jw->workloads, key);
	plan_around(jw, key, job);
}

enum job_workload_activity job_workload_activity(const struct job_workload *jw, struct str key)
{
	const struct workload_entry *we = strmap_get(jw->workloads, key);

	return we == NULL ? JOB_WORKLOAD_FOREIGN : activity(jw, we);
}

void job_workload_watch(struct job_workload *jw, void (*fn)(void *ctx, struct str key), void *ctx)
{
	jw->watch = fn;
	jw->watch_ctx = ctx;
}

/* --- flavors and classes -----------------------------------------------------------------------
 */

void job_workload_flavor(struct job_workload *jw, const struct api_resource_flavor *rf)
{
	struct flavor_entry *e = xmalloc_zero(1, sizeof(*e));
	bool known = strmap_has(jw->flavors, str_of(rf->meta.name));

	e->arena = arena_create(512);
	e->rf = copy_object(&kueue_resource_flavor_fields, rf, e->arena);
	strmap_set(jw->flavors, str_of(rf->meta.name), e);
	if (!known) { /* a Job may have waited for it */
		plan_all(jw);
	}
}

void job_workload_flavor_gone(struct job_workload *jw, struct str name)
{
	(void)strmap_remove(jw->flavors, name);
}

/* True: it is new, or worth something else. */
static bool set_class(struct strmap *m, const char *name, int32_t value, bool global_default)
{
	struct class_entry *e = strmap_get(m, str_of(name));

	if (e != NULL && e->value == value && e->global_default == global_default) {
		return false;
	}
	e = xmalloc_zero(1, sizeof(*e));
	e->name = xmalloc_dup(name);
	e->value = value;
	e->global_default = global_default;
	strmap_set(m, str_of(name), e);
	return true;
}

void job_workload_class(struct job_workload *jw, const struct api_workload_priority_class *pc)
{
	if (set_class(jw->classes, pc->meta.name, pc->value == FIELD_NO_I32 ? 0 : pc->value,
		      false)) {
		plan_all(jw);
	}
}

void job_workload_class_gone(struct job_workload *jw, struct str name)
{
	(void)strmap_remove(jw->classes, name);
}

void job_workload_pod_class(struct job_workload *jw, const struct api_priority_class *pc)
{
	if (set_class(jw->pod_classes, pc->meta.name, pc->value, pc->global_default)) {
		plan_all(jw);
	}
}

void job_workload_pod_class_gone(struct job_workload *jw, struct str name)
{
	(void)strmap_remove(jw->pod_classes, name);
}

void job_workload_synced(struct job_workload *jw)
{
	jw->synced = true;
	plan_all(jw);
}

/* --- life --------------------------------------------------------------------------------------
 */

struct job_workload *job_workload_create(const struct job_workload_options *opt)
{
	struct job_workload *jw = xmalloc_zero(1, sizeof(*jw));
	struct pool_options po = *opt->base;

	jw->clock = po.clock;
	jw->target = (struct job_write_target){ opt->recorder, po.may_send, po.ctx };
	jw->env = (struct job_plan_env){ .classes = { jw, find_class, find_pod_class },
					 .flavors = { jw, find_flavor },
					 .without_queue_name = opt->without_queue_name,
					 .pods_ready = opt->wait_pods_ready };
	jw->jobs = strmap_create(job_free);
	jw->workloads = strmap_create(workload_free);
	jw->prebuilt = strmap_create(free);
	jw->flavors = strmap_create(flavor_free);
	jw->classes = strmap_create(class_free);
	jw->pod_classes = strmap_create(class_free);
	po.name = "job_workload";
	po.ops = &job_write_ops;
	po.ctx = &jw->target;
	po.may_send = job_write_may_send;
	po.slots = 32;
	jw->pool = pool_create(&po);
	return jw;
}

void job_workload_destroy(struct job_workload *jw)
{
	if (jw == NULL) {
		return;
	}
	pool_destroy(jw->pool);
	strmap_destroy(jw->jobs);
	strmap_destroy(jw->workloads);
	strmap_destroy(jw->prebuilt);
	strmap_destroy(jw->flavors);
	strmap_destroy(jw->classes);
	strmap_destroy(jw->pod_classes);
	free(jw);
}

struct pool *job_workload_pool(struct job_workload *jw)
{
	return jw->pool;
}
