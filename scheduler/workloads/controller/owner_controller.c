#include "scheduler/workloads/controller/owner_controller.h"

#include <stdlib.h>

#include "api/core/batch.h"
#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_json.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"
#include "scheduler/workloads/controller/owner_controller_priv.h"
#include "scheduler/workloads/controller/owner_world.h"
#include "scheduler/workloads/owners/kueue_pod_group.h"

#define POOL_SLOTS 32

static void workload_free(void *p)
{
	struct workload_entry *e = p;

	message_free(e->msg);
	free(e->owner);
	free(e);
}

static void pod_free(void *p)
{
	struct pod_entry *e = p;

	message_free(e->msg);
	free(e->owner);
	free(e);
}

static void owner_free(void *p)
{
	struct owner *e = p;

	message_free(e->msg);
	vec_finish(&e->pods);
	vec_finish(&e->workloads);
	free(e->creating);
	free(e);
}

/* --- owners ------------------------------------------------------------------------------------
 */

static struct owner *need_owner(struct owner_controller *o, struct str key)
{
	struct owner *e = strmap_get(o->owners, key);

	if (e == NULL) {
		e = xmalloc_zero(1, sizeof(*e));
		e->is_job = str_has_prefix(key, OWNERS_JOB "/");
		strmap_set(o->owners, key, e);
	}
	return e;
}

static enum owner_controller_activity job_activity(const struct owner *e, const char *uid)
{
	const struct api_job *job = e->job;

	/* A later Job of the name is another one: that of the Workload is gone. */
	if (job == NULL || !str_streq(job->meta.uid, uid) || batch_finished(job) != NULL) {
		return OWNER_CONTROLLER_STOPPED;
	}
	/* A Job that is suspended keeps its quota until its last pod has ended. */
	return batch_is_suspended(job) && job->status.active == 0 &&
			       !owner_controller_plan_is_starting(e)
		       ? OWNER_CONTROLLER_STOPPED
		       : OWNER_CONTROLLER_RUN;
}

/* A pod without its gate runs or may begin to at any moment, until it is deleted. One with the
 * removal of its gate in flight counts until the outcome of the write is known. */
static bool may_run(const struct pod_entry *e)
{
	return str_streq(e->pod->status.phase, "Running") ||
	       (!kueue_pod_group_is_held(e->pod) && e->pod->meta.deleted == FIELD_NO_TIME) ||
	       owner_controller_plan_is_pod_starting(e);
}

static enum owner_controller_activity pods_activity(const struct owner *e)
{
	for (size_t i = 0; i < e->pods.n; i++) {
		if (may_run(e->pods.v[i])) {
			return OWNER_CONTROLLER_RUN;
		}
	}
	return OWNER_CONTROLLER_STOPPED;
}

static enum owner_controller_activity activity(const struct owner_controller *o,
					       const struct workload_entry *we)
{
	const struct owner *e = we->owner == NULL ? NULL : strmap_get(o->owners, str_of(we->owner));

	/* Before everything is listed, an owner that is not known may still come: its quota must
	 * not be given back. */
	if (e == NULL || (e->job == NULL && e->pods.n == 0 && !o->synced)) {
		return OWNER_CONTROLLER_FOREIGN;
	}
	return e->is_job ? job_activity(e, meta_controller(&we->w->meta)->uid) : pods_activity(e);
}

/* Reports the Workloads of an owner to the watch; callers do so only when the activity changed. */
static void report_all(const struct owner_controller *o, const struct owner *e)
{
	for (size_t i = 0; o->watch != NULL && i < e->workloads.n; i++) {
		CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
		const struct api_meta *m = &e->workloads.v[i]->w->meta;

		o->watch(o->watch_ctx, owner_controller_plan_name(&key, m->namespace_, m->name));
	}
}

static enum owner_controller_activity first_activity(const struct owner_controller *o,
						     const struct owner *e)
{
	return e->workloads.n == 0 ? OWNER_CONTROLLER_FOREIGN : activity(o, e->workloads.v[0]);
}

static void set_prebuilt(struct owner_controller *o, const struct owner *e, struct str key, bool on)
{
	const struct api_meta *by = owner_controller_plan_namer(e);
	CLEANUP(strbuf_finish) struct strbuf other = STRBUF_INIT;

	if (by == NULL) {
		return;
	}
	owner_controller_plan_name(&other, by->namespace_, owner_spec_prebuilt(by));
	if (on) {
		strmap_set(o->prebuilt, strbuf_str(&other), xmalloc_dup_n(key.p, key.len));
	} else {
		(void)strmap_remove(o->prebuilt, strbuf_str(&other));
	}
}

/* --- Jobs --------------------------------------------------------------------------------------
 */

/* m NULL: the Job is gone. */
static void set_job(struct owner_controller *o, struct str key, struct sched_msg *m)
{
	struct owner *e = need_owner(o, key);
	enum owner_controller_activity before = first_activity(o, e);
	struct sched_msg *old = e->msg;

	/* Links follow from the contents of the Job: they are taken off by the old ones, and made
	 * by the new ones. */
	set_prebuilt(o, e, key, false);
	owner_controller_nest_unlink(o, e, key);
	e->msg = m == NULL ? NULL : message_ref(m);
	e->job = m == NULL ? NULL : m->object;
	message_free(old);
	set_prebuilt(o, e, key, true);
	owner_controller_nest_link(o, e, key);
	if (first_activity(o, e) != before) {
		report_all(o, e);
	}
	/* The plan last: it may remove the record. */
	owner_controller_plan_key(o, key);
}

static void on_job(struct owner_controller *o, struct sched_msg *m)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct api_job *job = m->object;

	o->lent = message_json_take(m);
	if (o->opt.which->jobs) {
		set_job(o,
			owner_controller_plan_owner(&key, OWNERS_JOB, job->meta.namespace_,
						    job->meta.name),
			m);
	}
	free(o->lent);
	o->lent = NULL;
}

static void on_job_gone(struct owner_controller *o, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf owner = STRBUF_INIT;

	strbuf_printf(&owner, OWNERS_JOB "/" STR_FMT, STR_ARG(key));
	if (strmap_has(o->owners, strbuf_str(&owner))) {
		set_job(o, strbuf_str(&owner), NULL);
	}
}

/* --- pods --------------------------------------------------------------------------------------
 */

static void link_pod(struct owner *e, struct pod_entry *pe)
{
	const struct api_meta *m = &pe->pod->meta;
	size_t at = e->pods.n;

	vec_push(&e->pods, pe);
	/* Oldest first, then by name, so that plans do not depend on the order of messages. */
	while (at > 0) {
		const struct api_meta *before = &e->pods.v[at - 1]->pod->meta;

		if (before->created < m->created ||
		    (before->created == m->created &&
		     str_cmp(str_of(before->name), str_of(m->name)) < 0)) {
			break;
		}
		e->pods.v[at] = e->pods.v[at - 1];
		at--;
	}
	e->pods.v[at] = pe;
}

static void unlink_pod(struct owner *e, const struct pod_entry *pe)
{
	for (size_t i = 0; i < e->pods.n; i++) {
		if (e->pods.v[i] == pe) {
			memmove(&e->pods.v[i], &e->pods.v[i + 1],
				(e->pods.n - i - 1) * sizeof(e->pods.v[0]));
			e->pods.n--;
			return;
		}
	}
}

static void drop_pod(struct owner_controller *o, struct str key, struct pod_entry *pe)
{
	/* A copy: the entry with the key is freed before the last use of it. */
	CLEANUP(xmalloc_freep) char *owner = xmalloc_dup(pe->owner);
	struct owner *e = need_owner(o, str_of(owner));
	enum owner_controller_activity before = first_activity(o, e);

	set_prebuilt(o, e, str_of(owner), false);
	unlink_pod(e, pe);
	(void)strmap_remove(o->pods, key);
	if (first_activity(o, e) != before) {
		report_all(o, e);
	}
	owner_controller_plan_key(o, str_of(owner));
}

static void set_pod(struct owner_controller *o, struct str key, struct str owner,
		    struct sched_msg *m)
{
	struct pod_entry *pe = strmap_get(o->pods, key);
	struct owner *e = need_owner(o, owner);
	enum owner_controller_activity before = first_activity(o, e);
	struct sched_msg *old;

	if (pe == NULL) {
		pe = xmalloc_zero(1, sizeof(*pe));
		pe->owner = xmalloc_dup_n(owner.p, owner.len);
		strmap_set(o->pods, key, pe);
	} else {
		owner_controller_times_pod(o, e, pe, m->object);
		set_prebuilt(o, e, owner, false);
		unlink_pod(e, pe);
	}
	old = pe->msg;
	pe->msg = message_ref(m);
	pe->pod = m->object;
	message_free(old);
	link_pod(e, pe);
	set_prebuilt(o, e, owner, true);
	if (first_activity(o, e) != before) {
		report_all(o, e);
	}
	owner_controller_plan_key(o, owner);
}

static void on_pod(struct owner_controller *o, struct sched_msg *m)
{
	const struct api_pod *pod = m->object;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf owner = STRBUF_INIT;
	struct str k = owner_controller_plan_name(&key, pod->meta.namespace_, pod->meta.name);
	struct pod_entry *pe = strmap_get(o->pods, k);
	const char *group = kueue_pod_group_name(pod);
	struct str ok = owner_controller_plan_owner(
		&owner, group == NULL ? OWNERS_POD : OWNERS_GROUP, pod->meta.namespace_,
		group == NULL ? pod->meta.name : group);

	if (!o->opt.which->pods) {
		return;
	}
	if (pe != NULL && (!kueue_pod_group_is_managed(pod) || !str_eq_c(ok, pe->owner))) {
		/* Labels of a pod can change: it leaves its group, or is no longer managed. */
		drop_pod(o, k, pe);
	}
	if (kueue_pod_group_is_managed(pod)) {
		set_pod(o, k, ok, m);
	}
}

static void on_pod_gone(struct owner_controller *o, struct str key)
{
	struct pod_entry *pe = strmap_get(o->pods, key);

	owner_controller_hold_gone(o, key);
	if (pe != NULL) {
		drop_pod(o, key, pe);
	}
}

/* --- Workloads ---------------------------------------------------------------------------------
 */

static void unlink_workload(struct owner_controller *o, struct workload_entry *we)
{
	struct owner *e = we->owner == NULL ? NULL : strmap_get(o->owners, str_of(we->owner));

	for (size_t i = 0; e != NULL && i < e->workloads.n; i++) {
		if (e->workloads.v[i] == we) {
			memmove(&e->workloads.v[i], &e->workloads.v[i + 1],
				(e->workloads.n - i - 1) * sizeof(e->workloads.v[0]));
			e->workloads.n--;
			break;
		}
	}
	free(we->owner);
	we->owner = NULL;
}

static void link_workload(struct owner_controller *o, struct workload_entry *we,
			  const struct api_meta *m)
{
	const struct api_owner *ref = meta_controller(m);
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	/* The Workload of a group has its name and is owned by several pods, so that no owner
	 * reference leads to the group. */
	if (o->opt.which->pods && we->is_group) {
		owner_controller_plan_owner(&key, OWNERS_GROUP, m->namespace_, m->name);
	} else if (ref == NULL) {
		return;
	} else if (o->opt.which->jobs && str_streq(ref->kind, "Job") &&
		   str_streq(ref->api_version, "batch/v1")) {
		owner_controller_plan_owner(&key, OWNERS_JOB, m->namespace_, ref->name);
	} else if (o->opt.which->pods && str_streq(ref->kind, "Pod") &&
		   str_streq(ref->api_version, "v1")) {
		owner_controller_plan_owner(&key, OWNERS_POD, m->namespace_, ref->name);
	} else {
		return;
	}
	vec_push(&need_owner(o, strbuf_str(&key))->workloads, we);
	we->owner = strbuf_steal(&key, NULL);
}

/* Plans for all owners that a Workload concerns: its own, the one that names it as prebuilt, and a
 * group of its name. */
static void plan_around(struct owner_controller *o, struct str key, const char *owner)
{
	const char *by = strmap_get(o->prebuilt, key);
	CLEANUP(strbuf_finish) struct strbuf kept = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf group = STRBUF_INIT;

	strbuf_printf(&group, OWNERS_GROUP "/" STR_FMT, STR_ARG(key));
	if (owner != NULL) {
		strbuf_add_c(&kept, owner); /* the entry may go */
		owner_controller_plan_key(o, strbuf_str(&kept));
	}
	/* Each key is planned for once. */
	if (by != NULL && !str_streq(by, kept.p)) {
		strbuf_reset(&kept);
		strbuf_add_c(&kept, by);
		owner_controller_plan_key(o, strbuf_str(&kept));
	}
	if (!str_eq(strbuf_str(&group), strbuf_str(&kept))) {
		owner_controller_plan_key(o, strbuf_str(&group));
	}
}

/* NULL: it concerns no owner here. */
static struct workload_entry *set_workload(struct owner_controller *o, struct str key,
					   struct sched_msg *m)
{
	const struct api_workload *w = m->object;
	struct workload_entry *we = strmap_get(o->workloads, key);

	if (we == NULL) {
		we = xmalloc_zero(1, sizeof(*we));
		strmap_set(o->workloads, key, we);
	}
	/* Owner references may change, so the link is made again. */
	unlink_workload(o, we);
	we->is_group = field_map_is(&w->meta.annotations, KUEUE_IS_GROUP_WORKLOAD, "true");
	link_workload(o, we, &w->meta);
	if (we->owner == NULL && !strmap_has(o->prebuilt, key)) {
		(void)strmap_remove(o->workloads, key);
		return NULL;
	}
	message_free(we->msg);
	we->msg = message_ref(m);
	we->w = w;
	return we;
}

void owner_controller_workload(struct owner_controller *o, struct sched_msg *m)
{
	const struct api_workload *w = m->object;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct str k = owner_controller_plan_name(&key, w->meta.namespace_, w->meta.name);
	bool seen = strmap_has(o->workloads, k);
	const struct workload_entry *we = set_workload(o, k, m);

	if (!seen && we != NULL && we->owner != NULL) {
		owner_controller_times_created(o, strmap_get(o->owners, str_of(we->owner)), we->w);
	}
	plan_around(o, k, we == NULL ? NULL : we->owner);
}

void owner_controller_workload_gone(struct owner_controller *o, struct str key)
{
	struct workload_entry *we = strmap_get(o->workloads, key);
	CLEANUP(xmalloc_freep) char *owner = NULL;

	if (we != NULL) {
		/* Its Job was to be deleted because of this Workload alone. */
		owner_controller_retire(o, key, false);
		owner = we->owner == NULL ? NULL : xmalloc_dup(we->owner);
		unlink_workload(o, we);
		(void)strmap_remove(o->workloads, key);
	}
	plan_around(o, key, owner);
}

enum owner_controller_activity owner_controller_activity(const struct owner_controller *o,
							 struct str key)
{
	const struct workload_entry *we = strmap_get(o->workloads, key);

	return we == NULL ? OWNER_CONTROLLER_FOREIGN : activity(o, we);
}

const struct api_meta *owner_controller_meta(const struct owner_controller *o, struct str key)
{
	const struct workload_entry *we = strmap_get(o->workloads, key);

	return we == NULL ? NULL : &we->w->meta;
}

/* It has a key of its own in the pool, so that no other write about the Job replaces it. */
static void send_retirement(struct owner_controller *o, const char *owner,
			    const struct api_meta *job, const struct owner_write *w)
{
	CLEANUP(xmalloc_freep) char *item = xmalloc_printf("retire/%s", owner);

	pool_add(o->pool, str_of(item), owner_request_new(job->namespace_, w));
}

void owner_controller_retire(struct owner_controller *o, struct str key, bool retire)
{
	const struct workload_entry *we = strmap_get(o->workloads, key);
	struct owner *e =
		we == NULL || we->owner == NULL ? NULL : strmap_get(o->owners, str_of(we->owner));
	const struct api_meta *job = e == NULL || e->job == NULL ? NULL : &e->job->meta;
	uint64_t uid = job == NULL ? 0 : str_hash(str_of(job->uid));
	CLEANUP(xmalloc_freep) char *body = NULL;

	/* Nothing to do: no Job, no change, or a Job that is going or is not the one of this
	 * Workload. */
	if (job == NULL || (e->retired == uid) == retire ||
	    (retire && (job->deleted != FIELD_NO_TIME || !owner_plan_is_owned_by(we->w, job)))) {
		return;
	}
	e->retired = retire ? uid : 0;
	if (!retire) {
		send_retirement(o, we->owner, job, &(struct owner_write){ .kind = OWNER_NOTE });
		return;
	}
	/* Without the policy the API server leaves the pods of a Job where they are. */
	body = xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
			      "\"preconditions\":{\"uid\":\"%s\"},"
			      "\"propagationPolicy\":\"Background\"}",
			      job->uid);
	send_retirement(o, we->owner, job,
			&(struct owner_write){ .kind = OWNER_JOB_DELETE,
					       .about = { job->name, job->uid },
					       .body = body,
					       .event = "Deleted",
					       .message = "Its Workload has been deactivated for "
							  "as long as it may" });
}

void owner_controller_watch(struct owner_controller *o, void (*fn)(void *ctx, struct str key),
			    void *ctx)
{
	o->watch = fn;
	o->watch_ctx = ctx;
}

/* --- all kinds ---------------------------------------------------------------------------------
 */

void owner_controller_object(struct owner_controller *o, struct sched_msg *m)
{
	bool gone = m->object == NULL;

	if (m->resource == SCHED_JOBS && gone) {
		on_job_gone(o, m->key);
	} else if (m->resource == SCHED_JOBS) {
		on_job(o, m);
	} else if (m->resource == SCHED_PODS && gone) {
		on_pod_gone(o, m->key);
	} else if (m->resource == SCHED_PODS) {
		on_pod(o, m);
	} else if (owner_world_object(o->world, m)) {
		/* Which owners waited for a class, a flavor or a namespace is not kept: all are
		 * planned again, and send nothing that was sent before. */
		owner_controller_plan_all(o);
	}
}

void owner_controller_synced(struct owner_controller *o)
{
	o->synced = true;
	owner_controller_plan_all(o);
}

/* --- life --------------------------------------------------------------------------------------
 */

static bool may_start(void *ctx, const struct api_workload *w)
{
	const struct owner_controller *o = ctx;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	return o->opt.may_start == NULL ||
	       o->opt.may_start(o->opt.ctx,
				owner_controller_plan_name(&key, w->meta.namespace_, w->meta.name));
}

struct owner_controller *owner_controller_create(const struct owner_controller_options *opt)
{
	struct owner_controller *o = xmalloc_zero(1, sizeof(*o));
	struct pool_options po = *opt->base;

	o->opt = *opt;
	o->opt.base = NULL;
	o->clock = po.clock;
	o->target = (struct owner_request_target){ opt->recorder, po.may_send, po.ctx };
	o->world = owner_world_create(&opt->which->namespaces);
	o->env = (struct owner_plan_env){ .label_keys = &opt->which->label_keys,
					  .annotation_keys = &opt->which->annotation_keys,
					  .without_queue_name = opt->which->without_queue_name,
					  .pods_ready = opt->wait_pods_ready,
					  .may_start = may_start,
					  .ctx = o };
	owner_world_env(o->world, &o->env);
	o->owners = strmap_create(owner_free);
	o->pods = strmap_create(pod_free);
	o->workloads = strmap_create(workload_free);
	o->prebuilt = strmap_create(free);
	o->below = strmap_create(owner_controller_nest_free);
	po.name = "owners";
	po.ops = &owner_request_ops;
	po.ctx = &o->target;
	po.may_send = owner_request_may_send;
	po.slots = POOL_SLOTS;
	po.refused_max_ns = POOL_REFUSED_MAX_NS;
	o->pool = pool_create(&po);
	return o;
}

void owner_controller_destroy(struct owner_controller *o)
{
	if (o == NULL) {
		return;
	}
	pool_destroy(o->pool);
	strmap_destroy(o->owners);
	strmap_destroy(o->pods);
	strmap_destroy(o->workloads);
	strmap_destroy(o->prebuilt);
	strmap_destroy(o->below);
	owner_world_destroy(o->world);
	strmap_destroy(o->believed);
	free(o);
}

struct pool *owner_controller_pool(struct owner_controller *o)
{
	return o->pool;
}
