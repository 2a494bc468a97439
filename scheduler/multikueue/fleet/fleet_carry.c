#include "scheduler/multikueue/fleet/fleet_carry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/local_body.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_locals.h"
#include "scheduler/multikueue/records/fleet_managed.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker/custom_lists.h"
#include "scheduler/multikueue/worker/custom_watch.h"
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

void fleet_carry_end(struct fleet_carry_step *s)
{
	jdoc_destroy(s->workload_doc);
	s->workload_doc = NULL;
	strbuf_finish(&s->replica);
}

static int64_t version_of(const struct sched_msg *m)
{
	return m == NULL ? 0 : m->resource_version;
}

static bool may_write(const struct request *r, const struct fleet_write *w, int64_t version)
{
	struct fleet_managed *g = r->s->w->managed;
	const struct fleet_tries *tries = r->t == NULL ? &g->tries : &r->t->tries;

	return !fleet_managed_awaits(w, version, r->s->now) &&
	       !fleet_managed_is_paused(tries, r->s->now) && (tries->idle & 1u << r->a->act) == 0;
}

static bool may_write_there(const struct request *r, const struct fleet_object *o)
{
	return may_write(r, &o->write, version_of(o->object));
}

/* key: of the object that is written; the answer is matched to the object by it. The pool has
 * writes of several kinds, so an item's name there is kind and key; that of a write of the
 * orchestrator is the key alone. */
static void send(struct request *r, struct fleet_write *w, int64_t version, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf item = STRBUF_INIT;
	struct pool *pool = r->t == NULL ? r->c->pool : link_pool(r->t->cluster->link);

	r->spec.key = str_of(r->s->w->key);
	r->spec.about = key;
	r->spec.path = r->path.p;
	r->spec.body = strbuf_str(&r->body);
	r->spec.names_version = r->spec.once = true;
	strbuf_printf(&item, "%s " STR_FMT, sched_kinds_label(r->spec.resource), STR_ARG(key));
	free(w->event);
	*w = (struct fleet_write){ .in_flight = true, .act = r->a->act, .sent = version };
	if (r->a->event != NULL) {
		w->event = xmalloc_dup(r->a->event);
		w->warning = r->a->warning;
	}
	pool_add(pool, strbuf_str(&item), object_write_new(&r->spec));
	strbuf_reset(&r->path);
	strbuf_reset(&r->body);
}

static void on_replica(struct request *r)
{
	struct fleet_object *o = &r->t->replica;

	r->spec.request = SCHED_REQ_REPLICA;
	r->spec.resource = SCHED_WORKLOADS;
	send(r, &o->write, version_of(o->object), str_of(r->s->w->key));
}

static void on_part(struct request *r, struct fleet_part *part)
{
	r->spec.request = SCHED_REQ_REPLICA_JOB;
	r->spec.resource = part->resource;
	send(r, &part->o.write, version_of(part->o.object), str_of(part->key));
}

static const struct custom_lists *customs_of(const struct request *r)
{
	return r->t == NULL ? r->c->opt.customs : link_customs(r->t->cluster->link);
}

/* False: the API server does not serve the kind, as far as is known. */
static bool object_path(struct request *r, enum sched_resource k, struct str key, const char *sub,
			const char *query)
{
	if (k != SCHED_CUSTOM) {
		sched_kinds_key_path(k, key, sub, &r->path);
	} else if (!custom_lists_key_path(customs_of(r), key, sub, &r->path)) {
		return false;
	}
	strbuf_add_c(&r->path, query);
	return true;
}

static void workload_path(struct request *r, struct str key, const char *sub, const char *query)
{
	sched_kinds_key_path(SCHED_WORKLOADS, key, sub, &r->path);
	strbuf_add_c(&r->path, query);
}

static const struct api_meta *meta_of(const struct fleet_part *part)
{
	enum carried c;

	return part->o.object != NULL && carried_find(part->resource, &c)
		       ? carried_row(c)->meta(part->o.object->object)
		       : NULL;
}

/* --- on a worker -------------------------------------------------------------------------------*/

/* The body of a create is made; the path of the collection, too. */
static void create(struct request *r, const struct api_meta *local)
{
	strbuf_add_c(&r->path, "?" MANAGER);
	r->spec.method = HTTP_POST;
	r->spec.content_type = JSON;
	r->spec.reads_existing = true;
	r->spec.name = local->name;
}

static void create_replica(struct request *r)
{
	const struct jdoc *doc = may_write_there(r, &r->t->replica) ? workload_doc(r->s) : NULL;

	if (doc != NULL) {
		const struct api_meta *local = &fleet_workload_local(r->s->w)->meta;

		if (r->s->replica.len == 0) {
			replica_body_create(doc, r->c->opt.by, r->c->opt.gated, &r->s->replica);
		}
		strbuf_add_str(&r->body, strbuf_str(&r->s->replica));
		sched_kinds_path(SCHED_WORKLOADS, local->namespace_, NULL, NULL, &r->path);
		create(r, local);
		on_replica(r);
	}
}

/* False: as object_path. */
static bool collection_path(struct request *r, const struct fleet_part *part,
			    const char *namespace_)
{
	if (part->resource == SCHED_CUSTOM) {
		return custom_lists_collection(customs_of(r), str_of(part->key), &r->path);
	}
	sched_kinds_path(part->resource, namespace_, NULL, NULL, &r->path);
	return true;
}

static void create_part(struct request *r, struct fleet_part *part, const struct fleet_local *local)
{
	CLEANUP(jdoc_destroyp) struct jdoc *parsed = NULL;
	const struct api_meta *meta = r->s->kind->meta(local->object->object);
	const struct jdoc *workload = may_write_there(r, &part->o) ? workload_doc(r->s) : NULL;
	const struct jdoc *doc = workload == NULL ? NULL : document(&parsed, local->object->json);

	if (doc != NULL && collection_path(r, part, meta->namespace_)) {
		r->s->kind->create(doc, workload, r->c->opt.by, &r->body);
		create(r, meta);
		on_part(r, part);
		fleet_managed_note_sent(part, r->s->now);
	}
}

/* True: it is there, and not being deleted. */
static bool delete_part(struct request *r, struct fleet_part *part)
{
	const struct api_meta *meta = meta_of(part);

	if (meta == NULL || meta->deleted != FIELD_NO_TIME) {
		return false;
	}
	if (may_write_there(r, &part->o) &&
	    object_path(r, part->resource, str_of(part->key), NULL, "")) {
		replica_body_delete(meta, &r->body);
		r->spec.method = HTTP_DELETE;
		r->spec.content_type = JSON;
		on_part(r, part);
	}
	return true;
}

/* One step of it; the next follows when this one is seen. The job goes first, so that nothing of
 * the worker takes it for one that lost its Workload. */
static void delete_replica(struct request *r)
{
	const struct sched_msg *m = r->t->replica.object;
	const struct api_workload *w = m == NULL ? NULL : m->object;
	bool waits = false;

	for (size_t i = 0; i < r->t->parts.n; i++) {
		waits |= delete_part(r, r->t->parts.v[i]);
	}
	if (waits || w == NULL || !may_write_there(r, &r->t->replica)) {
		return;
	}
	workload_path(r, m->key, NULL, "");
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
	const struct sched_msg *m = r->t->replica.object;
	const struct api_workload *w = m->object;

	if (!may_write_there(r, &r->t->replica)) {
		return;
	}
	r->spec.method = HTTP_PATCH;
	if (r->a->act == MANAGER_EVICT_REPLICA) {
		replica_body_evict(&w->meta, r->a->message, r->s->now, &r->body);
		workload_path(r, m->key, "status",
			      "?fieldManager=" MANAGER_EVICT_FIELD_MANAGER "&force=true");
		r->spec.content_type = APPLY;
	} else {
		replica_body_priority(fleet_workload_local(r->s->w), &w->meta, &r->body);
		workload_path(r, m->key, NULL, "?" MANAGER);
		r->spec.content_type = MERGE;
	}
	on_replica(r);
}

static void update_part(struct request *r, struct fleet_part *part, const struct fleet_local *local)
{
	const struct api_workload *replica =
		r->t->replica.object == NULL ? NULL : r->t->replica.object->object;

	if (!may_write_there(r, &part->o) ||
	    !object_path(r, part->resource, str_of(part->key), NULL, "?" MANAGER)) {
		return;
	}
	if (r->a->act == MANAGER_END_JOB) {
		replica_body_ended(&replica->meta, meta_of(part), &r->body);
	} else {
		replica_body_class(r->s->kind->meta(local->object->object), meta_of(part),
				   &r->body);
	}
	r->spec.method = HTTP_PATCH;
	r->spec.content_type = MERGE;
	on_part(r, part);
}

/* --- local -------------------------------------------------------------------------------------*/

/* from: the object there; NULL: nothing runs any more. */
static void sync_local(struct request *r, struct fleet_local *local, const struct fleet_part *from)
{
	CLEANUP(jdoc_destroyp) struct jdoc *here = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *there = NULL;
	const struct sched_msg *m = local->object;

	if (!may_write(r, &local->write, m->resource_version) ||
	    !object_path(r, m->resource, m->key, "status", "?" MANAGER) ||
	    document(&here, m->json) == NULL ||
	    (from != NULL && document(&there, from->o.object->json) == NULL)) {
		return;
	}
	if (from == NULL) {
		r->s->kind->reset(here, &r->body);
	} else {
		const struct carried_object a = { .object = m->object,
						  .digest = local->digest.value },
					    b = { .object = from->o.object->object,
						  .digest = from->digest.value };

		r->s->kind->sync(here, there, r->s->kind->due(&a, &b), r->s->now, &r->body);
	}
	r->spec.request = SCHED_REQ_JOB_STATUS;
	r->spec.resource = m->resource;
	r->spec.method = HTTP_PATCH;
	r->spec.content_type = MERGE;
	send(r, &local->write, m->resource_version, m->key);
}

static void write_status(struct request *r, const char *cluster)
{
	struct fleet_write *w = &r->s->w->managed->workload_write;
	const struct sched_msg *local = r->s->w->local;
	struct local_body of = { .check = r->s->check, .cluster = cluster, .now = r->s->now };

	if (!may_write(r, w, local->resource_version) ||
	    fleet_workload_awaits_token(r->s->w)) { /* a write to the same object */
		return;
	}
	of.local = workload_doc(r->s);
	if (of.local == NULL) {
		return;
	}
	if (r->a->act == MANAGER_FINISH) {
		local_body_finished(&of, r->a, &r->body);
		workload_path(r, local->key, "status", "?" MANAGER "&force=true");
	} else {
		local_body_admission(&of, r->a, &r->body);
		workload_path(r, local->key, "status",
			      "?fieldManager=" KUEUE_FIELD_MANAGER "&force=true");
	}
	r->spec.request = SCHED_REQ_DISPATCH;
	r->spec.resource = SCHED_WORKLOADS;
	r->spec.method = HTTP_PATCH;
	r->spec.content_type = APPLY;
	send(r, w, local->resource_version, local->key);
	w->cluster = cluster;
}

void fleet_carry_out(struct fleet_carry *c, struct fleet_carry_step *s,
		     const struct manager_action *a, const struct fleet_carry_on *on)
{
	/* A local write waits for failures there, not for those of the cluster. */
	bool remote = a->act <= MANAGER_DELETE_JOB;
	struct request r = { .c = c, .s = s, .a = a, .t = remote ? on->t : NULL };

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
		create_part(&r, on->part, on->local);
		break;
	case MANAGER_UPDATE_JOB:
	case MANAGER_END_JOB:
		update_part(&r, on->part, on->local);
		break;
	case MANAGER_DELETE_JOB:
		(void)delete_part(&r, on->part);
		break;
	case MANAGER_SYNC_JOB:
	case MANAGER_RESET_JOB:
		sync_local(&r, on->local, on->part);
		break;
	case MANAGER_NOMINATE:
	case MANAGER_SET_CLUSTER:
	case MANAGER_SET_CHECK:
	case MANAGER_FINISH:
		write_status(&r, on->t == NULL ? NULL : on->t->cluster->name);
		break;
	case MANAGER_ACT_COUNT_:
		break;
	}
	strbuf_finish(&r.path);
	strbuf_finish(&r.body);
}

static bool is_look_due(const struct fleet_object *o, int64_t now, int64_t *at)
{
	if (!o->taken || o->write.in_flight) {
		return false;
	}
	if (o->look_at > now && o->look_at - now <= LOOK_NS << MAX_DOUBLED) {
		*at = clock_earlier(*at, o->look_at);
		return false;
	}
	return true;
}

int64_t fleet_carry_look(struct fleet_carry *c, struct fleet_workload *w, struct fleet_there *t,
			 int64_t now)
{
	const struct manager_action none = { .act = MANAGER_CREATE_REPLICA };
	struct fleet_carry_step s = { .w = w, .now = now };
	struct request r = { .c = c, .s = &s, .a = &none, .t = t, .spec.method = HTTP_GET };
	int64_t at = CLOCK_NEVER;

	for (size_t i = 0; i < t->parts.n; i++) {
		struct fleet_part *part = t->parts.v[i];

		if (is_look_due(&part->o, now, &at) &&
		    object_path(&r, part->resource, str_of(part->key), NULL, "")) {
			on_part(&r, part);
			part->o.write.looks = true;
		}
	}
	if (is_look_due(&t->replica, now, &at)) {
		workload_path(&r, str_of(w->key), NULL, "");
		on_replica(&r);
		t->replica.write.looks = true;
	}
	strbuf_finish(&r.path);
	strbuf_finish(&r.body);
	return at;
}

/* --- answers -----------------------------------------------------------------------------------*/

static void record_as(const struct fleet_carry *c, const struct fleet_workload *w, bool warning,
		      const char *reason, const char *message)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct recorder_object about = { .api_version = KUEUE_API_VERSION,
					       .kind = "Workload",
					       .name = local == NULL ? NULL : local->meta.name,
					       .namespace_ = local == NULL ? NULL
									   : local->meta.namespace_,
					       .uid = local == NULL ? NULL : local->meta.uid };

	if (local != NULL) {
		recorder_event(c->opt.recorder, &about, warning, reason, message);
	}
	if (warning) {
		log_warn("MultiKueue", LOG_STR("workload", w->key), LOG_STR("message", message));
	} else {
		log_info("MultiKueue", LOG_STR("workload", w->key), LOG_STR("message", message));
	}
}

static void record(const struct fleet_carry *c, const struct fleet_workload *w, bool warning,
		   const char *message)
{
	record_as(c, w, warning, MANAGER_EVENT_REASON, message);
}

void fleet_carry_too_large(struct fleet_carry *c, const struct fleet_carry_step *s,
			   const struct fleet_there *t, const struct api_meta *local, bool here)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "The status of %s %s is not copied: the object is larger than %u KiB on ",
		      s->kind->kind, local->name, CUSTOM_WATCH_MAX_BYTES >> 10);
	if (here) {
		strbuf_add_c(&text, "the manager cluster");
	} else {
		strbuf_printf(&text, "worker cluster \"%s\"", t->cluster->name);
	}
	record_as(c, s->w, true, FLEET_CARRY_TOO_LARGE, text.p);
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
	struct fleet_there *t;   /* NULL: local */
	struct fleet_object *o;  /* there; NULL: local */
	struct fleet_part *part; /* of the job there; NULL: o is the replica, or local */
	struct fleet_write *write;
	struct fleet_tries *tries;
	const struct sched_msg *m;
	int64_t now;
};

static void take_name(const struct answer *a)
{
	unsigned times;

	assert(a->o != NULL);
	times = a->o->looks < MAX_DOUBLED ? a->o->looks : MAX_DOUBLED;
	a->o->taken = true;
	if (a->part != NULL) {
		a->part->sent = false;
	}
	a->o->looks++;
	a->o->look_at = a->now + (LOOK_NS << times);
}

static void on_looked(const struct answer *a)
{
	assert(a->o != NULL);
	if (a->m->outcome != SCHED_GONE) {
		take_name(a);
	} else {
		a->o->taken = false;
	}
}

/* A create has found an object of the name: it is this manager's, from a create without an answer,
 * or a foreign one. */
static void on_existing(const struct answer *a)
{
	const struct sched_msg *m = a->m;
	const struct api_workload *replica = m->object;
	bool ours;

	ours = a->part != NULL
		       ? fleet_managed_is_part_of(m, a->w->key, a->c->opt.by)
		       : replica != NULL && replica_body_is_ours(&replica->meta, a->c->opt.by);
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
	if (a->part != NULL && a->write->act == MANAGER_CREATE_JOB) {
		a->part->sent = false;
	}
}

static void on_done(const struct answer *a)
{
	struct fleet_write *write = a->write;
	int64_t version = a->m->resource_version;
	bool deletes = write->act == MANAGER_DELETE_REPLICA || write->act == MANAGER_DELETE_JOB;
	bool is_deletion = deletes && version <= write->sent;

	a->tries->failures = 0;
	/* Until it is seen to go: changes of before may still be shown. */
	write->written = is_deletion ? INT64_MAX : version;
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
	return a->o != NULL && !is_create(a->write) && a->o->object == NULL;
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
		      struct fleet_local *local, const struct sched_msg *m, int64_t now)
{
	struct answer a = { .c = c, .w = w, .t = t, .m = m, .now = now };

	if (t == NULL) {
		a.write = local == NULL ? &w->managed->workload_write : &local->write;
		a.tries = &w->managed->tries;
	} else {
		a.part = m->request == SCHED_REQ_REPLICA_JOB
				 ? fleet_managed_part(t, m->resource, str_of(m->about), true)
				 : NULL;
		a.o = a.part == NULL ? &t->replica : &a.part->o;
		a.write = &a.o->write;
		a.tries = &t->tries;
	}
	if (!a.write->in_flight) {
		return; /* of an object that another one has replaced */
	}
	a.write->in_flight = false;
	a.write->done_at = now;
	if (a.write->looks) {
		on_looked(&a);
	} else {
		on_answer(&a);
	}
	if (is_gone(&a)) {
		a.write->written = 0;
	}
	free(a.write->event);
	a.write->event = NULL;
}
