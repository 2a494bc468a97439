#include "scheduler/workloads/writes/preemption_cost.h"

#include <stdlib.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_cost.h"
#include "api/kueue/kueue_keys.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "process/log.h"
#include "scheduler/base/object_write.h"
#include "scheduler/workloads/model/quota_store.h"

#define POOL_SLOTS 32
#define INTERVAL_NS CLOCK_NS_PER_S /* writes of one Workload are gathered */
#define MANY 4096                  /* seen ones that are remembered singly */

/* A ClusterQueue with annotations. */
struct cost_queue {
	struct kueue_cost cost;
	char *uid, *bad; /* bad: an error that is still to be reported; NULL: none */
};

/* A Workload with a cost that differs, or differed, from the wanted one. */
struct open {
	char *uid;
	uint32_t id;
	bool in_flight;        /* a write is under way */
	bool foreign;          /* the field is another manager's */
	int64_t read;          /* resourceVersion of the last update */
	int64_t written;       /* that of the last answer: older updates do not show it */
	int64_t refused_until; /* monotonic */
};

struct preemption_cost {
	struct object_write_target target;
	struct pool *pool;
	struct recorder *recorder;
	struct strmap *queues;    /* struct cost_queue by name */
	struct strmap *open;      /* struct open by key */
	struct VEC(uint32_t) due; /* ids of Workloads to look at */
	bool all;                 /* look at all of them */
	bool reported;            /* no queue has an error to report */
	uint64_t specs;
	int64_t next_at, refused_until; /* monotonic; refused_until: the earliest */
};

static void queue_free(void *value)
{
	struct cost_queue *q = value;

	free(q->uid);
	free(q->bad);
	free(q);
}

static void open_free(void *value)
{
	struct open *o = value;

	free(o->uid);
	free(o);
}

struct preemption_cost *preemption_cost_create(const struct pool_options *base,
					       struct recorder *recorder,
					       void (*post)(void *ctx, struct sched_msg *msg))
{
	struct preemption_cost *c = xmalloc_zero(1, sizeof(*c));

	c->recorder = recorder;
	c->queues = strmap_create(queue_free);
	c->open = strmap_create(open_free);
	c->all = c->reported = true;
	c->refused_until = CLOCK_NEVER;
	c->pool = object_write_pool(base, "preemption-cost", POOL_SLOTS, post, &c->target);
	return c;
}

void preemption_cost_destroy(struct preemption_cost *c)
{
	if (c != NULL) {
		pool_destroy(c->pool);
		strmap_destroy(c->queues);
		strmap_destroy(c->open);
		vec_finish(&c->due);
		free(c);
	}
}

struct pool *preemption_cost_pool(struct preemption_cost *c)
{
	return c->pool;
}

/* --- what is seen ------------------------------------------------------------------------------*/

/* A wrong annotation keeps its default and is reported. */
static void read_annotation(const struct field_map *annotations, const char *key,
			    struct quantity *value, struct strbuf *bad)
{
	struct err err = ERR_INIT;

	if (kueue_cost_read(annotations, key, value, &err) < 0) {
		strbuf_printf(bad, "%smetadata.annotations[%s]: %s", bad->len > 0 ? "; " : "", key,
			      err.text);
	}
}

static struct kueue_cost cost_of(const struct cost_queue *q)
{
	return q == NULL ? kueue_cost_default() : q->cost;
}

static bool is_same(const struct kueue_cost *a, const struct kueue_cost *b)
{
	return quantity_cmp(a->base, b->base) == 0 && quantity_cmp(a->weight, b->weight) == 0;
}

void preemption_cost_queue(struct preemption_cost *c, struct str name,
			   const struct api_cluster_queue *cq)
{
	struct kueue_cost before = cost_of(strmap_get(c->queues, name)), now = kueue_cost_default();
	CLEANUP(strbuf_finish) struct strbuf bad = STRBUF_INIT;
	const struct kueue_cost absent = now;
	struct cost_queue *q;

	if (cq != NULL) {
		read_annotation(&cq->meta.annotations, KUEUE_COST_BASE, &now.base, &bad);
		read_annotation(&cq->meta.annotations, KUEUE_COST_WEIGHT, &now.weight, &bad);
	}
	/* Other rules of a queue change the cost of all its Workloads. */
	c->all = c->all || !is_same(&before, &now);
	if (cq == NULL || (is_same(&now, &absent) && bad.len == 0)) {
		(void)strmap_remove(c->queues, name);
		return;
	}
	q = xmalloc_zero(1, sizeof(*q));
	q->cost = now;
	q->uid = xmalloc_dup(cq->meta.uid == NULL ? "" : cq->meta.uid);
	q->bad = bad.len > 0 ? strbuf_steal(&bad, NULL) : NULL;
	/* The event waits for the next run, which only the leader makes. */
	c->reported = c->reported && q->bad == NULL;
	strmap_set(c->queues, name, q);
}

/* The list stays bounded: beyond MANY, all Workloads are looked at. */
static void look_at(struct preemption_cost *c, uint32_t id)
{
	if (c->due.n == MANY) {
		vec_clear(&c->due);
		c->all = true;
	}
	if (!c->all) {
		vec_push(&c->due, id);
	}
}

/* The record may be that of an earlier Workload of this name. */
static struct open *find(const struct preemption_cost *c, const struct workload *w)
{
	struct open *o = strmap_get(c->open, str_of(w->key));

	return o != NULL && str_streq(o->uid, w->object.uid) ? o : NULL;
}

void preemption_cost_seen(struct preemption_cost *c, const struct workload *w, int64_t version)
{
	struct open *o = find(c, w);

	if (o != NULL) {
		o->read = version;
	}
	/* Any update is looked at: the count of preemptions, the cost itself or the queue may have
	 * changed. */
	look_at(c, w->id);
}

void preemption_cost_gone(struct preemption_cost *c, struct str key)
{
	(void)strmap_remove(c->open, key);
}

void preemption_cost_done(struct preemption_cost *c, const struct sched_msg *m, int64_t now)
{
	struct open *o = strmap_get(c->open, m->key);

	if (o == NULL || !o->in_flight) {
		return;
	}
	o->in_flight = false;
	switch (m->outcome) {
	case SCHED_DONE:
		o->written = m->resource_version;
		break;
	case SCHED_STALE:
	case SCHED_UNANSWERED:
		/* The API server refused the apply, since another manager owns the field. No second
		 * attempt while the field is there: consider(). */
		o->foreign = true;
		log_v(3, "preemption cost belongs to another manager",
		      LOG_SLICE("workload", m->key), LOG_STR("error", m->text));
		break;
	case SCHED_REJECTED:
		o->refused_until = now + POOL_REFUSED_MAX_NS;
		break;
	case SCHED_GONE: /* its deletion is on the way */
	case SCHED_CANCELLED:
		break;
	}
	look_at(c, o->id);
}

/* --- what is written ---------------------------------------------------------------------------*/

/* Without force: a conflict is the answer that the field is another manager's. The UID keeps a new
 * Workload of the name from getting the cost of an old one. */
static void send(struct preemption_cost *c, const struct workload *w, struct quantity cost)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	struct object_write_spec spec = { .request = SCHED_REQ_PREEMPTION_COST,
					  .resource = SCHED_WORKLOADS,
					  .method = HTTP_PATCH,
					  .key = str_of(w->key),
					  .content_type = "application/apply-patch+yaml",
					  .keeps_foreign_fields = true };
	const char *name = quota_workload_name(w);
	char text[QUANTITY_TEXT_MAX];
	struct api_workload object;

	quantity_format(cost, text);
	decode_init(&kueue_workload_fields, &object);
	object.api_version = KUEUE_API_VERSION;
	object.kind = "Workload";
	object.meta.name = name;
	object.meta.namespace_ = w->object.namespace_;
	object.meta.uid = w->object.uid;
	object.status.preemption_cost = &cost;
	encode_text(&kueue_workload_fields, &object, &body);
	sched_kinds_path(SCHED_WORKLOADS, w->object.namespace_, name, "status", &path);
	strbuf_add_c(&path, "?fieldManager=" PREEMPTION_COST_MANAGER);
	spec.path = path.p;
	spec.body = strbuf_str(&body);
	pool_add(c->pool, spec.key, object_write_new(&spec));
	log_v(3, "preemption cost", LOG_STR("workload", w->key), LOG_STR("cost", text),
	      LOG_INT("preemptions", w->object.preemptions));
}

/* The ClusterQueue that it holds quota of, or waits for; an unknown one has no annotations. */
static const struct cost_queue *queue_of(const struct preemption_cost *c,
					 const struct quota_model *q, const struct workload *w)
{
	const struct local_queue *l;

	if (w->holding.node != MODEL_NONE) {
		return strmap_get(c->queues, str_of(q->nodes.v[w->holding.node]->name));
	}
	if (strmap_count(c->queues) == 0) {
		return NULL;
	}
	l = quota_local_of(q, w);
	return l == NULL || l->queue == NULL ? NULL : strmap_get(c->queues, str_of(l->queue));
}

static struct open *begin(struct preemption_cost *c, const struct workload *w)
{
	struct open *o = find(c, w);

	if (o == NULL) {
		o = xmalloc_zero(1, sizeof(*o));
		o->uid = xmalloc_dup(w->object.uid);
		strmap_set(c->open, str_of(w->key), o);
	}
	o->id = w->id;
	return o;
}

/* 1. While a write of ours is under way, or its result has not been read, the cost in the model is
 *    not the one in the API.
 * 2. Nothing is written for a cost that is right.
 * 3. A field of another manager is left alone until that manager removes it.
 * 4. A refused write is repeated after a pause.
 * 5. Otherwise the cost is applied. */
static void consider(struct preemption_cost *c, const struct quota_model *q,
		     const struct workload *w, int64_t now)
{
	struct kueue_cost rule = cost_of(queue_of(c, q, w));
	struct quantity cost = kueue_cost_of(&rule, w->object.preemptions);
	struct open *o = find(c, w);

	if (o != NULL && (o->in_flight || o->read < o->written)) {
		return; /* outcome, or the update that shows it, is on the way */
	}
	if (w->flags.finished || cost.nano == w->object.cost) {
		(void)strmap_remove(c->open, str_of(w->key));
		return;
	}
	if (o != NULL && o->foreign && w->object.has_cost) {
		return;
	}
	if (o != NULL && o->refused_until > now) {
		c->refused_until =
			o->refused_until < c->refused_until ? o->refused_until : c->refused_until;
		return;
	}
	o = begin(c, w);
	o->foreign = false;
	o->in_flight = true;
	send(c, w, cost);
}

static bool report_bad(struct str name, void *value, void *ctx)
{
	struct preemption_cost *c = ctx;
	struct cost_queue *q = value;
	CLEANUP(xmalloc_freep) char *copy = xmalloc_dup_n(name.p, name.len);
	struct recorder_object about = { .api_version = KUEUE_API_VERSION,
					 .kind = "ClusterQueue",
					 .name = copy,
					 .uid = q->uid };

	if (q->bad != NULL) {
		recorder_event(c->recorder, &about, true, "InvalidPreemptionCost", q->bad);
		free(q->bad);
		q->bad = NULL;
	}
	return true;
}

int64_t preemption_cost_run(struct preemption_cost *c, const struct quota_model *q, uint64_t specs,
			    int64_t now)
{
	c->all = c->all || specs != c->specs || c->refused_until <= now;
	if (!c->all && c->due.n == 0 && c->reported) {
		return c->refused_until;
	}
	if (now < c->next_at) {
		return c->next_at;
	}
	if (!c->reported) {
		strmap_each(c->queues, report_bad, c);
		c->reported = true;
	}
	/* The earliest end of a pause is found again by going through all of them. */
	c->refused_until = c->all ? CLOCK_NEVER : c->refused_until;
	for (size_t i = 0; i < (c->all ? q->workloads.n : c->due.n); i++) {
		uint32_t id = c->all ? (uint32_t)i : c->due.v[i];

		if (id < q->workloads.n && q->workloads.v[id] != NULL) {
			consider(c, q, q->workloads.v[id], now);
		}
	}
	vec_clear(&c->due);
	c->all = false;
	c->specs = specs;
	c->next_at = now + INTERVAL_NS;
	return c->refused_until;
}
