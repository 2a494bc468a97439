#include <stdlib.h>

#include "api/core/batch.h"
#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "kube/recorder.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"
#include "scheduler/workloads/controller/owner_controller_priv.h"
#include "scheduler/workloads/controller/owner_world.h"
#include "scheduler/workloads/owners/job_plan.h"
#include "scheduler/workloads/owners/kueue_pod_group.h"
#include "scheduler/workloads/owners/pod_plan.h"

struct str owner_controller_plan_name(struct strbuf *b, const char *namespace_, const char *name)
{
	strbuf_reset(b);
	strbuf_printf(b, "%s/%s", namespace_ == NULL ? "" : namespace_, name);
	return strbuf_str(b);
}

struct str owner_controller_plan_owner(struct strbuf *b, const char *kind, const char *namespace_,
				       const char *name)
{
	strbuf_reset(b);
	strbuf_printf(b, "%s/%s/%s", kind, namespace_ == NULL ? "" : namespace_, name);
	return strbuf_str(b);
}

/* --- sending -----------------------------------------------------------------------------------
 */

static uint64_t version_hash(const struct api_meta *m, unsigned shift)
{
	return str_hash(str_of(m->resource_version)) << shift;
}

/* Changes whenever the owner or one of its Workloads does. */
static uint64_t versions(const struct owner *e)
{
	uint64_t h = e->job == NULL ? 0 : version_hash(&e->job->meta, 2);

	for (size_t i = 0; i < e->pods.n; i++) {
		/* The order of pods does not count; the shifts keep equal versions of a Job, a pod
		 * and a Workload from cancelling each other. */
		h ^= version_hash(&e->pods.v[i]->pod->meta, 1);
	}
	for (size_t i = 0; i < e->workloads.n; i++) {
		h ^= version_hash(&e->workloads.v[i]->w->meta, 0);
	}
	return h;
}

bool owner_controller_plan_is_starting(const struct owner *e)
{
	return e->job != NULL && e->started != 0 && e->started == version_hash(&e->job->meta, 0);
}

bool owner_controller_plan_is_pod_starting(const struct pod_entry *e)
{
	return e->started != 0 && e->started == version_hash(&e->pod->meta, 0);
}

static struct pod_entry *find_pod(const struct owner *e, const char *name)
{
	for (size_t i = 0; i < e->pods.n; i++) {
		if (str_streq(e->pods.v[i]->pod->meta.name, name)) {
			return e->pods.v[i];
		}
	}
	return NULL;
}

/* The same write is not sent by one plan after another: bodies carry the resourceVersion of what
 * they are about, or are about an object that is still as it was. */
static bool is_new(struct owner *e, const struct owner_write *w)
{
	struct pod_entry *pod = w->workload == NULL ? find_pod(e, w->about.name) : NULL;
	struct sent *sent = pod == NULL ? &e->sent : &pod->sent;
	uint64_t h = str_hash(str_of(w->body)) ^ (str_hash(str_of(w->workload)) << 1);

	if (w->kind == OWNER_CREATE || w->kind == OWNER_DELETE) {
		h ^= versions(e);
	} else if (w->kind == OWNER_POD_END || w->kind == OWNER_POD_DELETE) {
		h ^= pod == NULL ? 0 : version_hash(&pod->pod->meta, 1);
	} else if (w->kind == OWNER_NOTE) {
		h ^= str_hash(str_of(w->message));
	}
	sent->now[w->kind] = h;
	return h != sent->before[w->kind];
}

static void turn(struct sent *sent)
{
	memcpy(sent->before, sent->now, sizeof(sent->before));
	memset(sent->now, 0, sizeof(sent->now));
}

/* A write that this plan does not have counts as new when a later plan has it again. */
static void end_plan(struct owner *e)
{
	turn(&e->sent);
	for (size_t i = 0; i < e->pods.n; i++) {
		turn(&e->pods.v[i]->sent);
	}
}

static void note(const struct owner_controller *o, const char *namespace_,
		 const struct owner_write *w)
{
	const struct recorder_object about = { w->pods ? "v1" : "batch/v1", w->pods ? "Pod" : "Job",
					       w->about.name, w->about.uid, namespace_ };

	if (o->target.recorder != NULL) {
		recorder_event(o->target.recorder, &about, w->warning, w->event, w->message);
	}
}

/* Withdraws a creation that waits to be sent again when the owner is gone, is another one, or no
 * longer queues. All other writes fail by themselves: their object has changed. */
static void set_creating(struct owner_controller *o, struct owner *e, char *item_take)
{
	static const struct owner_write none = { .kind = OWNER_NOTE };
	struct str workload = str_of(e->creating);

	(void)str_next(&workload, '/');
	if (e->creating != NULL && !str_streq(e->creating, item_take) &&
	    !strmap_has(o->workloads, workload)) {
		pool_add(o->pool, str_of(e->creating), owner_request_new(NULL, &none));
	}
	free(e->creating);
	e->creating = item_take;
}

static void send_one(struct owner_controller *o, struct owner *e, struct str key,
		     const char *namespace_, const struct owner_write *w)
{
	struct owner_request *request = owner_request_new(namespace_, w);
	CLEANUP(strbuf_finish) struct strbuf item = STRBUF_INIT;

	if (o->lent != NULL && e->job != NULL) {
		owner_request_fill(request, e->job->meta.uid, str_of(o->lent));
	}
	/* Writes about a Job follow one another, and those about a pod; those about a Workload as
	 * well, by kind. */
	if (w->workload != NULL) {
		strbuf_printf(&item, "%d/%s/%s", (int)w->kind, namespace_, w->workload);
	} else if (w->pods) {
		strbuf_printf(&item, OWNERS_POD "/%s/%s", namespace_, w->about.name);
	} else {
		strbuf_add_str(&item, key);
	}
	if (w->kind == OWNER_CREATE) {
		set_creating(o, e, xmalloc_dup(item.p));
	}
	pool_add(o->pool, strbuf_str(&item), request);
}

static bool wants_none(const struct sent *sent)
{
	for (int kind = OWNER_POD_START; kind <= OWNER_POD_DROP_FINALIZER; kind++) {
		if (sent->now[kind] != 0) {
			return false;
		}
	}
	return true;
}

/* Withdraws starts that wait to be sent again of pods that have lost their quota meanwhile. The
 * start of a Job, or of a pod that is to be stopped, is replaced instead: see
 * owner_controller_plan_is_starting. */
static void withdraw_starts(struct owner_controller *o, struct owner *e, struct str key,
			    const char *namespace_)
{
	for (size_t i = 0; i < e->pods.n; i++) {
		const struct pod_entry *pe = e->pods.v[i];
		const struct owner_write none = { .kind = OWNER_NOTE,
						  .pods = true,
						  .about = { pe->pod->meta.name,
							     pe->pod->meta.uid } };

		if (pe->sent.before[OWNER_POD_START] != 0 && wants_none(&pe->sent) &&
		    pod_has_gate(pe->pod, KUEUE_GATE_ADMISSION)) {
			send_one(o, e, key, namespace_, &none);
		}
	}
}

static void note_deletion(struct owner *e, const struct owner_write *w)
{
	for (size_t i = 0; i < e->workloads.n; i++) {
		struct workload_entry *we = e->workloads.v[i];

		if (str_streq(we->w->meta.name, w->workload)) {
			we->retired = str_hash(str_of(we->w->meta.uid));
		}
	}
}

/* A DELETE of one of its Workloads is in flight. The owner may match that Workload again meanwhile,
 * but the request cannot be called back. */
static bool loses_workload(const struct owner *e)
{
	for (size_t i = 0; i < e->workloads.n; i++) {
		const struct workload_entry *we = e->workloads.v[i];

		if (we->retired != 0 && we->w->meta.deleted == FIELD_NO_TIME &&
		    we->retired == str_hash(str_of(we->w->meta.uid))) {
			return true;
		}
	}
	return false;
}

static bool is_start(const struct owner_write *w)
{
	return w->kind == OWNER_JOB_START || w->kind == OWNER_POD_START;
}

static void note_start(struct owner *e, const struct owner_write *w)
{
	struct pod_entry *pod = w->kind == OWNER_POD_START ? find_pod(e, w->about.name) : NULL;

	if (w->kind == OWNER_JOB_START) {
		e->started = version_hash(&e->job->meta, 0);
	} else if (pod != NULL) {
		pod->started = version_hash(&pod->pod->meta, 0);
	}
}

static void send(struct owner_controller *o, struct owner *e, struct str key,
		 const struct owner_plan *plan)
{
	struct str rest = key, kind = str_next(&rest, '/'), namespace_ = str_next(&rest, '/');
	CLEANUP(xmalloc_freep) char *ns = xmalloc_dup_n(namespace_.p, namespace_.len);

	(void)kind;
	for (size_t i = 0; i < plan->writes.n; i++) {
		const struct owner_write *w = &plan->writes.v[i];
		bool fresh;

		if (is_start(w) && loses_workload(e)) {
			continue; /* the new Workload must reserve its own quota first */
		}
		fresh = is_new(e, w);
		/* A non-leader sends no events. */
		if (w->kind == OWNER_NOTE && fresh && owner_request_may_send(&o->target)) {
			note(o, ns, w);
		} else if (w->kind != OWNER_NOTE && fresh) {
			note_start(e, w);
			if (w->kind == OWNER_DELETE) {
				note_deletion(e, w);
			}
			send_one(o, e, key, ns, w);
		}
	}
	withdraw_starts(o, e, key, ns);
	if (e->sent.now[OWNER_CREATE] == 0) {
		set_creating(o, e, NULL);
	}
}

/* --- planning ----------------------------------------------------------------------------------
 */

static const struct api_workload **list_workloads(const struct owner *e, struct arena *arena)
{
	const struct api_workload **list = arena_zero(arena, e->workloads.n + 1, sizeof(*list));

	for (size_t i = 0; i < e->workloads.n; i++) {
		list[i] = e->workloads.v[i]->w;
	}
	return list;
}

/* There is a Workload of this name, of any owner. */
static bool knows(const struct owner_controller *o, struct str key)
{
	return o->opt.knows != NULL && o->opt.knows(o->opt.ctx, key);
}

const struct api_meta *owner_controller_plan_namer(const struct owner *e)
{
	const struct api_meta *m = NULL;

	if (e->job != NULL) {
		m = &e->job->meta;
	} else if (e->pods.n > 0 && kueue_pod_group_name(e->pods.v[0]->pod) == NULL) {
		m = &e->pods.v[0]->pod->meta;
	}
	return m == NULL || owner_spec_prebuilt(m) == NULL ? NULL : m;
}

/* NULL: it names none, or there is none. */
static const struct api_workload *prebuilt_of(const struct owner_controller *o,
					      const struct owner *e)
{
	const struct api_meta *by = owner_controller_plan_namer(e);
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct workload_entry *we =
		by == NULL ? NULL
			   : strmap_get(o->workloads,
					owner_controller_plan_name(&key, by->namespace_,
								   owner_spec_prebuilt(by)));

	return we == NULL ? NULL : we->w;
}

/* The Workload that the owner names is there, but was not kept when it was read, as it concerned no
 * owner then: it is read again before anything is decided. */
static bool awaits_prebuilt(const struct owner_controller *o, const struct owner *e)
{
	const struct api_meta *by = owner_controller_plan_namer(e);
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct str k;

	if (by == NULL) {
		return false;
	}
	k = owner_controller_plan_name(&key, by->namespace_, owner_spec_prebuilt(by));
	if (strmap_has(o->workloads, k) || !knows(o, k)) {
		return false;
	}
	o->opt.read(o->opt.ctx, k);
	return true;
}

static void plan_job(const struct owner_controller *o, const struct owner *e,
		     struct owner_plan *plan)
{
	struct job_plan_of of = { .job = e->job, .n = e->workloads.n };

	of.workloads = list_workloads(e, plan->arena);
	of.starting = owner_controller_plan_is_starting(e);
	of.prebuilt = prebuilt_of(o, e);
	if (e->job != NULL) {
		of.place = owner_world_manages(o->world, e->job->meta.namespace_)
				   ? owner_controller_nest_place(o, e)
				   : JOB_PLAN_ELSEWHERE;
	}
	job_plan(&of, &o->env, plan);
}

/* A Workload of this name that is none of a group. */
static bool is_name_taken(const struct owner_controller *o, const struct api_pod *pod)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const char *group = kueue_pod_group_name(pod);
	const struct workload_entry *we =
		group == NULL
			? NULL
			: strmap_get(o->workloads,
				     owner_controller_plan_name(&key, pod->meta.namespace_, group));

	return we != NULL ? !we->is_group : group != NULL && knows(o, strbuf_str(&key));
}

static void plan_pods(const struct owner_controller *o, const struct owner *e,
		      struct owner_plan *plan)
{
	const struct api_pod **list = arena_zero(plan->arena, e->pods.n + 1, sizeof(*list));
	bool *starting = arena_zero(plan->arena, e->pods.n + 1, sizeof(*starting));
	struct pod_plan_of of = {
		.pods = list, .starting = starting, .n = e->pods.n, .nworkloads = e->workloads.n
	};

	for (size_t i = 0; i < e->pods.n; i++) {
		list[i] = e->pods.v[i]->pod;
		starting[i] = owner_controller_plan_is_pod_starting(e->pods.v[i]);
	}
	of.workloads = list_workloads(e, plan->arena);
	of.prebuilt = prebuilt_of(o, e);
	if (of.n > 0) {
		of.name_taken = is_name_taken(o, list[0]);
		of.elsewhere = !owner_world_manages(o->world, list[0]->meta.namespace_);
		of.ending = owner_world_ends(o->world, list[0]->meta.namespace_);
	}
	pod_plan(&of, &o->env, plan);
}

/* 1. Nothing is planned before everything is listed, nor while a Workload is being read that
 *    decides about the plan.
 * 2. The plan follows from the objects alone, so it is made again at every change.
 * 3. Of its writes those are sent that the last plan did not have; writes that are not wanted any
 *    more are withdrawn. */
static void plan_owner(struct owner_controller *o, struct str key, struct owner *e)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(owner_plan_finish) struct owner_plan plan = { .arena = arena };

	if (!o->synced || awaits_prebuilt(o, e)) {
		return;
	}
	o->env.now = clock_wall(o->clock);
	if (e->is_job) {
		plan_job(o, e, &plan);
	} else {
		plan_pods(o, e, &plan);
	}
	send(o, e, key, &plan);
	end_plan(e);
}

static bool plan_each(struct str key, void *value, void *ctx)
{
	plan_owner(ctx, key, value);
	return true;
}

void owner_controller_plan_all(struct owner_controller *o)
{
	if (o->synced) {
		strmap_each(o->owners, plan_each, o);
	}
}

/* Plans the owner's children too: they may be held. */
static void plan_at(struct owner_controller *o, struct str key, unsigned depth)
{
	struct owner *e = strmap_get(o->owners, key);

	if (e == NULL) {
		return;
	}
	plan_owner(o, key, e);
	owner_controller_nest_each(o, e, key, depth, plan_at);
	/* Only the name is left, and nothing that refers to it. */
	if (e->job == NULL && e->pods.n == 0 && e->workloads.n == 0) {
		(void)strmap_remove(o->owners, key);
	}
}

void owner_controller_plan_key(struct owner_controller *o, struct str key)
{
	plan_at(o, key, 0);
}
