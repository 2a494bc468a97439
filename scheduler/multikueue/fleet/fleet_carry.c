#include "scheduler/multikueue/fleet/fleet_carry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "obs/metric.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/base/object_write.h"
#include "scheduler/multikueue/fleet/fleet_clusters.h"
#include "scheduler/multikueue/fleet/fleet_managed.h"
#include "scheduler/multikueue/fleet/fleet_workload.h"
#include "scheduler/multikueue/manager/local_body.h"
#include "scheduler/multikueue/manager/mirror.h"
#include "scheduler/multikueue/worker/link.h"

#define POOL_SLOTS 64
#define FAILED_PAUSE_NS CLOCK_NS_PER_S        /* after the first failure; doubles */
#define REFUSED_PAUSE_NS (5 * CLOCK_NS_PER_S) /* the same after a refusal */
#define LOOK_NS (60 * CLOCK_NS_PER_S)         /* until a taken name is looked at; doubles */
#define MAX_DOUBLED 8
#define JSON "application/json"
#define MERGE "application/merge-patch+json"
#define APPLY "application/apply-patch+yaml"
#define MANAGER "fieldManager=" MANAGER_FIELD_MANAGER

struct fleet_carry {
	struct fleet_carry_options opt;
	struct object_write_target target;
	struct pool *pool;
	struct metric_family *dispatched, *admitted;
};

struct fleet_carry *fleet_carry_create(const struct fleet_carry_options *opt,
				       const struct pool_options *base)
{
	static const char *const labels[] = { "cluster_queue", "cluster", "replica_role", NULL };
	struct fleet_carry *c = xmalloc_zero(1, sizeof(*c));

	c->opt = *opt;
	c->pool = object_write_pool(base, "multikueue", POOL_SLOTS, opt->post, &c->target);
	c->dispatched = metric_register(opt->counters, "multikueue_workloads_dispatched_total",
					"Replicas that were made on a worker cluster",
					METRIC_COUNTER, labels);
	c->admitted = metric_register(opt->counters, "multikueue_workloads_admitted_total",
				      "Workloads that a worker cluster was the first to admit",
				      METRIC_COUNTER, labels);
	return c;
}

void fleet_carry_destroy(struct fleet_carry *c)
{
	if (c != NULL) {
		pool_destroy(c->pool);
		free(c);
	}
}

struct pool *fleet_carry_pool(struct fleet_carry *c)
{
	return c->pool;
}

/* --- requests ----------------------------------------------------------------------------------*/

/* A request as it is put together. */
struct request {
	struct fleet_carry *c;
	struct fleet_carry_step *s;
	const struct manager_action *a;
	struct fleet_there *t; /* NULL: local */
	struct strbuf path, body;
	struct object_write_spec spec;
};

static const struct jdoc *document(struct jdoc **at, struct str text)
{
	if (*at == NULL && text.p != NULL) {
		(void)jdoc_parse(text, at, NULL); /* it has been decoded: it is JSON */
	}
	return *at;
}

static const struct jdoc *workload_doc(struct fleet_carry_step *s)
{
	return document(&s->workload_doc, s->w->local->json);
}

static const struct jdoc *job_doc(struct fleet_carry_step *s)
{
	return s->job == NULL ? NULL : document(&s->job_doc, s->job->json);
}

void fleet_carry_end(struct fleet_carry_step *s)
{
	jdoc_destroy(s->workload_doc);
	jdoc_destroy(s->job_doc);
	s->workload_doc = s->job_doc = NULL;
}

static bool may_write(const struct request *r, const struct fleet_write *w, int64_t version)
{
	struct fleet_managed *g = r->s->w->managed;
	const struct fleet_tries *tries = r->t == NULL ? &g->tries : &r->t->tries;

	return !fleet_managed_awaits(w, version, r->s->now) &&
	       !fleet_managed_is_paused(tries, r->s->now) && (tries->idle & 1u << r->a->act) == 0;
}

/* kind: the writes to one Workload's objects differ in it in the pool, where the orchestrator's
 * have the bare key. */
static void send(struct request *r, struct fleet_write *w, int64_t version, const char *kind)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct pool *pool = r->t == NULL ? r->c->pool : link_pool(r->t->cluster->link);

	r->spec.key = str_of(r->s->w->key);
	r->spec.path = r->path.p;
	r->spec.body = strbuf_str(&r->body);
	r->spec.names_version = r->spec.once = true;
	strbuf_printf(&key, "%s %s", kind, r->s->w->key);
	free(w->event);
	*w = (struct fleet_write){ .in_flight = true, .act = r->a->act, .sent = version };
	if (r->a->event != NULL) {
		w->event = xmalloc_dup(r->a->event);
		w->warning = r->a->warning;
	}
	pool_add(pool, strbuf_str(&key), object_write_new(&r->spec));
}

static void on_replica(struct request *r)
{
	r->spec.request = SCHED_REQ_REPLICA;
	r->spec.resource = SCHED_WORKLOADS;
	send(r, &r->t->replica_write, r->t->replica == NULL ? 0 : r->t->replica->resource_version,
	     "replica");
}

static void on_job(struct request *r)
{
	r->spec.request = SCHED_REQ_REPLICA_JOB;
	r->spec.resource = SCHED_JOBS;
	send(r, &r->t->job_write, r->t->job == NULL ? 0 : r->t->job->resource_version, "job");
}

static void object_path(struct request *r, enum sched_resource k, struct str key, const char *sub,
			const char *query)
{
	sched_kinds_key_path(k, key, sub, &r->path);
	strbuf_add_c(&r->path, query);
}

static bool may_write_replica(const struct request *r)
{
	return may_write(r, &r->t->replica_write,
			 r->t->replica == NULL ? 0 : r->t->replica->resource_version);
}

static bool may_write_job(const struct request *r)
{
	return may_write(r, &r->t->job_write, r->t->job == NULL ? 0 : r->t->job->resource_version);
}

/* --- on a worker -------------------------------------------------------------------------------*/

static void create_replica(struct request *r)
{
	const struct api_workload *local = fleet_workload_local(r->s->w);
	const struct jdoc *doc = may_write_replica(r) ? workload_doc(r->s) : NULL;

	if (doc == NULL) {
		return;
	}
	replica_body_create(doc, r->c->opt.by, r->c->opt.gated, &r->body);
	sched_kinds_path(SCHED_WORKLOADS, local->meta.namespace_, NULL, NULL, &r->path);
	strbuf_add_c(&r->path, "?" MANAGER);
	r->spec.method = HTTP_POST;
	r->spec.content_type = JSON;
	r->spec.reads_existing = true;
	r->spec.name = local->meta.name;
	on_replica(r);
}

static void create_job(struct request *r)
{
	const struct jdoc *workload = may_write_job(r) ? workload_doc(r->s) : NULL;
	const struct jdoc *doc = workload == NULL ? NULL : job_doc(r->s);
	const struct api_job *job = doc == NULL ? NULL : r->s->job->object;

	if (job == NULL) {
		return;
	}
	replica_body_job(doc, workload, r->c->opt.by, &r->body);
	sched_kinds_path(SCHED_JOBS, job->meta.namespace_, NULL, NULL, &r->path);
	strbuf_add_c(&r->path, "?" MANAGER);
	r->spec.method = HTTP_POST;
	r->spec.content_type = JSON;
	r->spec.reads_existing = true;
	r->spec.name = job->meta.name;
	on_job(r);
	r->t->job_sent = true;
	r->t->job_sent_at = r->s->now;
}

/* One step of it; the next follows when this one is seen. The Job goes first, so that nothing of
 * the worker takes it for one that lost its Workload. */
static void delete_replica(struct request *r)
{
	const struct api_job *job = r->t->job == NULL ? NULL : r->t->job->object;
	const struct api_workload *w = r->t->replica == NULL ? NULL : r->t->replica->object;

	if (job != NULL && job->meta.deleted == FIELD_NO_TIME) {
		if (may_write_job(r)) {
			replica_body_delete(&job->meta, &r->body);
			object_path(r, SCHED_JOBS, r->t->job->key, NULL, "");
			r->spec.method = HTTP_DELETE;
			r->spec.content_type = JSON;
			on_job(r);
		}
		return;
	}
	if (w == NULL || !may_write_replica(r)) {
		return;
	}
	object_path(r, SCHED_WORKLOADS, r->t->replica->key, NULL, "");
	if (replica_body_has_finalizer(&w->meta)) {
		replica_body_without_finalizer(&w->meta, &r->body);
		strbuf_add_c(&r->path, "?" MANAGER);
		r->spec.method = HTTP_PATCH;
		r->spec.content_type = MERGE;
	} else {
		replica_body_delete(&w->meta, &r->body);
		r->spec.method = HTTP_DELETE;
		r->spec.content_type = JSON;
	}
	on_replica(r);
}

static void update_replica(struct request *r)
{
	const struct api_workload *w = r->t->replica->object;

	if (!may_write_replica(r)) {
		return;
	}
	r->spec.method = HTTP_PATCH;
	if (r->a->act == MANAGER_EVICT_REPLICA) {
		replica_body_evict(&w->meta, r->a->message, r->s->now, &r->body);
		object_path(r, SCHED_WORKLOADS, r->t->replica->key, "status",
			    "?fieldManager=" MANAGER_EVICT_FIELD_MANAGER "&force=true");
		r->spec.content_type = APPLY;
	} else {
		replica_body_priority(fleet_workload_local(r->s->w), &w->meta, &r->body);
		object_path(r, SCHED_WORKLOADS, r->t->replica->key, NULL, "?" MANAGER);
		r->spec.content_type = MERGE;
	}
	on_replica(r);
}

static void update_job(struct request *r)
{
	const struct api_job *remote = r->t->job->object;

	if (!may_write_job(r)) {
		return;
	}
	replica_body_class(r->s->job->object, &remote->meta, &r->body);
	object_path(r, SCHED_JOBS, r->t->job->key, NULL, "?" MANAGER);
	r->spec.method = HTTP_PATCH;
	r->spec.content_type = MERGE;
	on_job(r);
}

/* --- local -------------------------------------------------------------------------------------*/

static void sync_job(struct request *r, const struct fleet_there *from)
{
	struct fleet_write *w = &r->s->w->managed->job_write;
	CLEANUP(jdoc_destroyp) struct jdoc *remote = NULL;
	const struct jdoc *local;

	if (r->s->job == NULL || !may_write(r, w, r->s->job->resource_version)) {
		return;
	}
	local = job_doc(r->s);
	if (local == NULL) {
		return;
	}
	if (from == NULL) {
		mirror_reset(local, &r->body);
	} else if (mirror_due(r->s->job->object, from->job->object) == MIRROR_SUSPENDED) {
		mirror_suspended(local, r->s->now, &r->body);
	} else if (document(&remote, from->job->json) != NULL) {
		mirror_copy(local, remote, &r->body);
	} else {
		return;
	}
	object_path(r, SCHED_JOBS, r->s->job->key, "status", "?" MANAGER);
	r->spec.request = SCHED_REQ_JOB_STATUS;
	r->spec.resource = SCHED_JOBS;
	r->spec.method = HTTP_PATCH;
	r->spec.content_type = MERGE;
	send(r, w, r->s->job->resource_version, "job");
}

static void write_status(struct request *r, const char *cluster)
{
	struct fleet_write *w = &r->s->w->managed->workload_write;
	const struct sched_msg *local = r->s->w->local;
	struct local_body of = { .check = r->s->check, .cluster = cluster, .now = r->s->now };

	if (!may_write(r, w, local->resource_version)) {
		return;
	}
	of.local = workload_doc(r->s);
	if (of.local == NULL) {
		return;
	}
	if (r->a->act == MANAGER_FINISH) {
		local_body_finished(&of, r->a, &r->body);
		object_path(r, SCHED_WORKLOADS, local->key, "status", "?" MANAGER "&force=true");
	} else {
		local_body_admission(&of, r->a, &r->body);
		object_path(r, SCHED_WORKLOADS, local->key, "status",
			    "?fieldManager=" KUEUE_FIELD_MANAGER "&force=true");
	}
	r->spec.request = SCHED_REQ_DISPATCH;
	r->spec.resource = SCHED_WORKLOADS;
	r->spec.method = HTTP_PATCH;
	r->spec.content_type = APPLY;
	send(r, w, local->resource_version, "workload");
	w->cluster = cluster;
}

void fleet_carry_out(struct fleet_carry *c, struct fleet_carry_step *s,
		     const struct manager_action *a, struct fleet_there *t)
{
	/* A local write waits for failures there, not for those of the cluster. */
	bool remote = a->act <= MANAGER_UPDATE_JOB;
	struct request r = { .c = c, .s = s, .a = a, .t = remote ? t : NULL };

	switch (a->act) {
	case MANAGER_CREATE_REPLICA:
		create_replica(&r);
		break;
	case MANAGER_UPDATE_REPLICA:
	case MANAGER_EVICT_REPLICA:
		update_replica(&r);
		break;
	case MANAGER_DELETE_REPLICA:
		delete_replica(&r);
		break;
	case MANAGER_CREATE_JOB:
		create_job(&r);
		break;
	case MANAGER_UPDATE_JOB:
		update_job(&r);
		break;
	case MANAGER_SYNC_JOB:
	case MANAGER_RESET_JOB:
		sync_job(&r, t);
		break;
	case MANAGER_NOMINATE:
	case MANAGER_SET_CLUSTER:
	case MANAGER_SET_CHECK:
	case MANAGER_FINISH:
		write_status(&r, t == NULL ? NULL : t->cluster->name);
		break;
	case MANAGER_ACT_COUNT_:
		break;
	}
	strbuf_finish(&r.path);
	strbuf_finish(&r.body);
}

int64_t fleet_carry_look(struct fleet_carry *c, struct fleet_workload *w, struct fleet_there *t,
			 int64_t now)
{
	const struct manager_action none = { .act = MANAGER_CREATE_REPLICA };
	struct fleet_carry_step s = { .w = w, .now = now };
	struct request r = { .c = c, .s = &s, .a = &none, .t = t };
	struct fleet_write *write = t->job_taken ? &t->job_write : &t->replica_write;

	if (!t->job_taken && !t->replica_taken) {
		return CLOCK_NEVER;
	}
	if (t->look_at > now && t->look_at - now <= LOOK_NS << MAX_DOUBLED) {
		return t->look_at;
	}
	if (write->in_flight) {
		return CLOCK_NEVER;
	}
	r.spec.method = HTTP_GET;
	if (t->job_taken) {
		object_path(&r, SCHED_JOBS, str_of(w->managed->job_key), NULL, "");
		on_job(&r);
	} else {
		object_path(&r, SCHED_WORKLOADS, str_of(w->key), NULL, "");
		on_replica(&r);
	}
	write->looks = true;
	strbuf_finish(&r.path);
	return CLOCK_NEVER;
}

/* --- answers -----------------------------------------------------------------------------------*/

static void record(const struct fleet_carry *c, const struct fleet_workload *w, bool warning,
		   const char *message)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct recorder_object about = { .api_version = KUEUE_API_VERSION,
					       .kind = "Workload",
					       .name = local == NULL ? NULL : local->meta.name,
					       .namespace_ = local == NULL ? NULL
									   : local->meta.namespace_,
					       .uid = local == NULL ? NULL : local->meta.uid };

	if (local != NULL) {
		recorder_event(c->opt.recorder, &about, warning, MANAGER_EVENT_REASON, message);
	}
	if (warning) {
		log_warn("MultiKueue", LOG_STR("workload", w->key), LOG_STR("message", message));
	} else {
		log_info("MultiKueue", LOG_STR("workload", w->key), LOG_STR("message", message));
	}
}

static void count(struct metric_family *f, const struct fleet_workload *w, const char *cluster)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct api_workload_admission *a = local == NULL ? NULL : local->status.admission;
	const char *values[] = { a == NULL || a->cluster_queue == NULL ? "" : a->cluster_queue,
				 cluster, "leader", NULL };

	metric_cell_add(metric_cell(f, values), 1);
}

static void pause_after(struct fleet_tries *t, int64_t least, int64_t now)
{
	unsigned times = t->failures < MAX_DOUBLED ? t->failures : MAX_DOUBLED;

	t->failures++;
	t->until = now + clock_earlier(least << times, FLEET_MANAGED_MAX_PAUSE_NS);
}

/* An answer, and the place that it is about. Objects are looked at and created on workers alone. */
struct answer {
	const struct fleet_carry *c;
	struct fleet_workload *w;
	struct fleet_there *t; /* NULL: local */
	struct fleet_write *write;
	struct fleet_tries *tries;
	const struct sched_msg *m;
	int64_t now;
};

static void take_name(const struct answer *a)
{
	struct fleet_there *t = a->t;
	unsigned times;

	assert(t != NULL);
	times = t->looks < MAX_DOUBLED ? t->looks : MAX_DOUBLED;
	if (a->m->request == SCHED_REQ_REPLICA_JOB) {
		t->job_taken = true;
		t->job_sent = false;
	} else {
		t->replica_taken = true;
	}
	t->looks++;
	t->look_at = a->now + (LOOK_NS << times);
}

static void on_looked(const struct answer *a)
{
	assert(a->t != NULL);
	if (a->m->outcome != SCHED_GONE) {
		take_name(a);
	} else if (a->m->request == SCHED_REQ_REPLICA_JOB) {
		a->t->job_taken = false;
	} else {
		a->t->replica_taken = false;
	}
}

/* A create has found an object of the name: it is this manager's, from a create without an answer,
 * or a foreign one. */
static void on_existing(const struct answer *a)
{
	const struct sched_msg *m = a->m;
	const struct api_workload *replica = m->object;
	const struct api_job *job = m->object;
	bool is_job = m->request == SCHED_REQ_REPLICA_JOB, ours = false;

	if (m->object != NULL && is_job) {
		const char *slash = strchr(a->w->key, '/');

		ours = replica_body_is_ours(&job->meta, a->c->opt.by) && slash != NULL &&
		       str_streq(replica_body_workload_of(&job->meta), slash + 1);
	} else if (m->object != NULL) {
		ours = replica_body_is_ours(&replica->meta, a->c->opt.by);
	}
	if (ours) {
		a->write->written = m->resource_version;
	} else {
		take_name(a);
	}
}

static void on_refused(const struct answer *a)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct fleet_there *t = a->t;

	strbuf_printf(&text, "%s%s%s was refused: %s", manager_act_name(a->write->act),
		      t == NULL ? "" : " on ", t == NULL ? "" : t->cluster->name, a->m->text);
	record(a->c, a->w, true, text.p);
	pause_after(a->tries, REFUSED_PAUSE_NS, a->now);
	if (a->write->act == MANAGER_CREATE_JOB) {
		assert(a->t != NULL);
		a->t->job_sent = false;
	}
}

static void on_done(const struct answer *a)
{
	struct fleet_write *write = a->write;
	int64_t version = a->m->resource_version;
	bool is_deletion = write->act == MANAGER_DELETE_REPLICA && version <= write->sent;

	a->tries->failures = 0;
	write->written = is_deletion ? write->sent + 1 : version;
	if (!is_deletion && write->sent != 0 && version == write->sent) {
		a->tries->idle |= 1u << write->act;
	}
	if (write->act == MANAGER_CREATE_REPLICA) {
		assert(a->t != NULL);
		count(a->c->dispatched, a->w, a->t->cluster->name);
	} else if (write->act == MANAGER_SET_CLUSTER && write->event != NULL) {
		count(a->c->admitted, a->w, write->cluster);
	} else if (write->act == MANAGER_NOMINATE) {
		a->w->managed->round_at = a->now;
	}
	if (write->event != NULL) {
		record(a->c, a->w, write->warning, write->event);
	}
}

static bool is_create(const struct fleet_write *w)
{
	return w->act == MANAGER_CREATE_REPLICA || w->act == MANAGER_CREATE_JOB;
}

/* The object of a worker that was written to was seen to go meanwhile. */
static bool is_gone(const struct answer *a)
{
	return a->t != NULL && !is_create(a->write) &&
	       (a->write == &a->t->job_write ? a->t->job : a->t->replica) == NULL;
}

static void on_answer(const struct answer *a)
{
	bool creates = is_create(a->write);

	switch (a->m->outcome) {
	case SCHED_DONE:
		on_done(a);
		break;
	case SCHED_STALE:
		a->tries->failures = 0;
		if (creates) {
			on_existing(a);
		} else {
			a->write->written = a->write->sent + 1; /* when the change is seen */
		}
		break;
	case SCHED_GONE:
		if (creates) { /* its namespace does not exist */
			on_refused(a);
		} else {
			a->write->written = a->write->sent + 1;
		}
		break;
	case SCHED_REJECTED:
		on_refused(a);
		break;
	case SCHED_CANCELLED:
	case SCHED_UNANSWERED:
		pause_after(a->tries, FAILED_PAUSE_NS, a->now);
		break;
	}
}

void fleet_carry_done(struct fleet_carry *c, struct fleet_workload *w, struct fleet_there *t,
		      const struct sched_msg *m, int64_t now)
{
	struct fleet_managed *g = w->managed;
	struct fleet_write *write =
		t == NULL
			? (m->request == SCHED_REQ_JOB_STATUS ? &g->job_write : &g->workload_write)
			: (m->request == SCHED_REQ_REPLICA_JOB ? &t->job_write : &t->replica_write);
	struct answer a = { c, w, t, write, t == NULL ? &g->tries : &t->tries, m, now };

	if (!write->in_flight) {
		return; /* of an object that another one has replaced */
	}
	write->in_flight = false;
	write->done_at = now;
	if (write->looks) {
		on_looked(&a);
	} else {
		on_answer(&a);
	}
	if (is_gone(&a)) {
		write->written = 0;
	}
	free(write->event);
	write->event = NULL;
}
