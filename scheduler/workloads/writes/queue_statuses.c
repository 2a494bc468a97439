#include "scheduler/workloads/writes/queue_statuses.h"

#include <stdlib.h>

#include "api/kinds.h"
#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/mix.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "kube/pool.h"
#include "scheduler/base/object_write.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/queue_statuses_body.h"
#include "scheduler/workloads/writes/workload_counts.h"

#define FIELD_MANAGER "headgate-quota-status"
#define INTERVAL_NS CLOCK_NS_PER_S /* between two statuses of one object with changed counts */
/* How many are sent at once: changes of Active, which are rare, and counts. Those change all the
 * time where Workloads come and go, and would leave the API server little time for Workloads. */
#define NEWS_MAX 32
#define NUMBERS_MIN 4
#define NUMBERS_MAX 16
#define PORTIONS 128 /* rounds for all changed counts, within these bounds */

struct tracked_object { /* an object with a status */
	uint32_t id;    /* in the model; MODEL_NONE: it was not found there yet */
	bool is_local;  /* a LocalQueue, else a node */
	int64_t generation;
	bool has_active, active; /* the condition, as it was written or seen last */
	int64_t active_at;
	bool acknowledged;     /* a status was acknowledged */
	int64_t sent_at;       /* mono: when the last one was sent */
	uint64_t fingerprint;  /* of the data of the last status; 0: compute it again */
	uint64_t sent_hash;    /* hash of the status that was sent last, 0: none */
	bool in_flight;        /* it is under way */
	int64_t read, written; /* resourceVersions: of the last update, of the last answer */
};

struct tracked_objects
VEC(struct tracked_object *); /* by id in the model; NULL: not known, or not found yet */

enum rank {       /* the order of sending */
	    BUSY, /* the object has no status yet, and has Workloads */
	    NEWS, /* it has no status yet, or Active changes */
	    NUMBERS,
};

struct due { /* an object with a status to send */
	const struct quota_node *node;
	const struct local_queue *local; /* NULL: it is a node */
	struct tracked_object *object;
	size_t place;
	uint64_t fingerprint;
	enum rank rank;
};

struct queue_statuses {
	struct object_write_target target;
	struct pool *pool;
	struct strmap *tracked; /* "plural/key" */
	struct tracked_objects nodes, locals;
	struct workload_counts totals;
	struct VEC(struct due) due; /* scratch */
	size_t under_way;
	size_t next; /* place of the next one in turn: nodes, then LocalQueues */
};

struct queue_statuses *queue_statuses_create(const struct pool_options *base,
					     void (*post)(void *ctx, struct sched_msg *msg))
{
	struct queue_statuses *s = xmalloc_zero(1, sizeof(*s));

	s->tracked = strmap_create(free);
	s->pool = object_write_pool(base, "quota-status", NEWS_MAX + NUMBERS_MAX, post, &s->target);
	return s;
}

void queue_statuses_destroy(struct queue_statuses *s)
{
	if (s != NULL) {
		pool_destroy(s->pool);
		workload_counts_finish(&s->totals);
		vec_finish(&s->nodes);
		vec_finish(&s->locals);
		vec_finish(&s->due);
		strmap_destroy(s->tracked);
		free(s);
	}
}

struct pool *queue_statuses_pool(struct queue_statuses *s)
{
	return s->pool;
}

bool queue_statuses_is_idle(const struct queue_statuses *s)
{
	return s->under_way == 0 || pool_unanswered(s->pool) == 0;
}

/* --- objects -----------------------------------------------------------------------------------*/

static bool has_status(enum sched_resource r)
{
	return r == SCHED_CLUSTER_QUEUES || r == SCHED_COHORTS || r == SCHED_LOCAL_QUEUES;
}

static void make_key(enum sched_resource r, struct str key, struct strbuf *out)
{
	strbuf_printf(out, "%s/" STR_FMT, sched_kinds_names(r)->plural, STR_ARG(key));
}

/* Another writer changed the object after our last write. The hash is forgotten, so that the status
 * is sent even if it is equal to the last one. */
static bool is_overwritten(struct tracked_object *k)
{
	if (k->in_flight || k->sent_hash == 0 || k->read <= k->written) {
		return false;
	}
	k->sent_hash = k->fingerprint = 0;
	return true;
}

static void set_in_flight(struct queue_statuses *s, struct tracked_object *k, bool in_flight)
{
	s->under_way += in_flight;
	s->under_way -= k->in_flight;
	k->in_flight = in_flight;
}

static void key_of(enum sched_resource r, const struct api_meta *meta, struct strbuf *out)
{
	const struct kinds_row *k = sched_kinds_names(r);

	strbuf_printf(out, "%s/", k->plural);
	if (k->namespaced) {
		strbuf_printf(out, "%s/", meta->namespace_);
	}
	strbuf_add_c(out, meta->name);
}

bool queue_statuses_seen(struct queue_statuses *s, enum sched_resource r,
			 const struct api_meta *meta, const struct api_condition *active)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	struct tracked_object *k;

	if (!has_status(r)) {
		return false;
	}
	key_of(r, meta, &name);
	k = strmap_get(s->tracked, strbuf_str(&name));
	if (k == NULL) {
		k = xmalloc_zero(1, sizeof(*k));
		k->id = MODEL_NONE;
		k->is_local = r == SCHED_LOCAL_QUEUES;
		strmap_set(s->tracked, strbuf_str(&name), k);
	}
	/* observedGeneration is in the status, but not in the fingerprint. */
	if (k->generation != meta->generation) {
		k->generation = meta->generation;
		k->fingerprint = 0;
	}
	k->read = meta_version(meta);
	/* Before our first write the API knows since when it is Active; after that we do. */
	if (k->sent_hash == 0 && active != NULL && active->last_transition != FIELD_NO_TIME) {
		k->has_active = true;
		k->active = str_streq(active->status, "True");
		k->active_at = active->last_transition;
	}
	return is_overwritten(k);
}

bool queue_statuses_done(struct queue_statuses *s, const struct sched_msg *m)
{
	struct tracked_object *k = strmap_get(s->tracked, m->key);

	if (k == NULL) {
		return false;
	}
	set_in_flight(s, k, false);
	if (m->outcome == SCHED_CANCELLED) {
		/* Not sent, because leadership was lost: the next round sends it again. */
		k->sent_hash = k->fingerprint = 0;
		k->acknowledged = false;
		return true;
	}
	k->acknowledged = true;
	k->written = m->resource_version;
	return m->outcome == SCHED_DONE && is_overwritten(k);
}

static struct tracked_objects *tracked_of(struct queue_statuses *s, bool is_local)
{
	return is_local ? &s->locals : &s->nodes;
}

/* The id may be another object's by now, which is found by its name. The caller sets another one,
 * or frees k. */
static void unbind(struct queue_statuses *s, const struct tracked_object *k)
{
	if (k->id != MODEL_NONE) {
		tracked_of(s, k->is_local)->v[k->id] = NULL;
	}
}

void queue_statuses_gone(struct queue_statuses *s, enum sched_resource r, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	struct tracked_object *k = NULL;

	if (has_status(r)) {
		make_key(r, key, &name);
		k = strmap_get(s->tracked, strbuf_str(&name));
	}
	if (k != NULL) {
		unbind(s, k);
		set_in_flight(s, k, false);
		(void)strmap_remove(s->tracked, strbuf_str(&name));
	}
}

/* The object with that id; NULL: it was not seen, or is gone. */
static struct tracked_object *find(struct queue_statuses *s, enum sched_resource r, uint32_t id,
				   const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct tracked_objects *list = tracked_of(s, r == SCHED_LOCAL_QUEUES);
	struct tracked_object *k;

	/* Ids are given again, and objects may be seen before the model has them: the name finds an
	 * object once, then its id does. */
	while (list->n <= id) {
		vec_push(list, NULL);
	}
	if (list->v[id] != NULL) {
		return list->v[id];
	}
	make_key(r, str_of(name), &key);
	k = strmap_get(s->tracked, strbuf_str(&key));
	if (k != NULL) {
		unbind(s, k);
		k->id = id;
		k->fingerprint = 0;
		list->v[id] = k;
	}
	return k;
}

/* --- fingerprints of statuses ------------------------------------------------------------------*/

/* Statuses with equal fingerprints are equal: these are compared a thousand at a time. Fields that
 * only a new generation changes are left out. */

static uint64_t mix_amounts(uint64_t h, const struct quota_amounts *a)
{
	for (size_t i = 0; i < a->n; i++) {
		h = mix(mix(h, a->v[i].id), (uint64_t)a->v[i].value);
	}
	return mix(h, a->n);
}

static uint64_t mix_totals(uint64_t h, const struct workload_counts_of *t)
{
	h = mix(mix(mix(h, (uint64_t)t->pending), (uint64_t)t->reserving), (uint64_t)t->admitted);
	return mix_amounts(mix_amounts(h, &t->reserved), &t->used);
}

/* The part of a ClusterQueue that is in the status of its LocalQueues. */
static uint64_t mix_groups(uint64_t h, const struct quota_node *n)
{
	for (size_t g = 0; g < n->groups.n; g++) {
		const struct resource_group *group = &n->groups.v[g];

		for (size_t i = 0; i < group->nflavors; i++) {
			h = mix(h, group->flavors[i]);
		}
		for (size_t i = 0; i < group->nresources; i++) {
			h = mix(h, group->resources[i]);
		}
	}
	return mix(h, n->queue->inactive);
}

static uint64_t print_node(const struct queue_statuses *s, const struct forest *f,
			   const struct quota_node *n)
{
	uint64_t h = 0;

	if (forest_model(f)->options.fair_sharing) {
		h = mix(1, (uint64_t)share_status(share_of(f, n->id, NULL)));
	}
	if (n->is_queue) {
		const char *what = n->queue->inactive_what;

		h = mix(h, what == NULL ? 0 : str_hash(str_of(what)));
		h = mix_totals(mix_groups(h, n), &s->totals.nodes.v[n->id]);
	}
	/* 0 means that there is none. */
	return h | 1;
}

static uint64_t print_local(const struct queue_statuses *s, const struct quota_model *q,
			    const struct local_queue *l)
{
	const struct quota_node *n = quota_local_queue(q, l);
	uint64_t h = mix(0, l->stop);

	if (n != NULL) {
		h = mix_groups(h, n);
	}
	if (q->options.admission_fair_sharing) {
		h = mix(mix(h, (uint64_t)l->sampled_at), l->consumed.n);
	}
	return mix_totals(h, &s->totals.locals.v[l->id]) | 1;
}

/* --- one object --------------------------------------------------------------------------------*/

static enum sched_resource resource_of(const struct due *d)
{
	if (d->local != NULL) {
		return SCHED_LOCAL_QUEUES;
	}
	return d->node->is_queue ? SCHED_CLUSTER_QUEUES : SCHED_COHORTS;
}

static const struct workload_counts_of *totals_of(const struct queue_statuses *s,
						  const struct due *d)
{
	return d->local != NULL ? &s->totals.locals.v[d->local->id]
				: &s->totals.nodes.v[d->node->id];
}

/* Cohorts have no such condition. */
static bool is_active(const struct quota_model *q, const struct due *d)
{
	if (d->local != NULL) {
		return queue_statuses_body_local_is_active(q, d->local);
	}
	return d->node->is_queue && queue_statuses_body_is_active(d->node);
}

static void make_body(const struct queue_statuses *s, const struct forest *f, const struct due *d,
		      struct strbuf *out)
{
	const struct queue_statuses_body b = { .forest = f,
					       .totals = &s->totals,
					       .generation = d->object->generation,
					       .since = d->object->active_at };

	if (d->local != NULL) {
		queue_statuses_body_local(&b, d->local, out);
	} else if (d->node->is_queue) {
		queue_statuses_body_queue(&b, d->node, out);
	} else {
		queue_statuses_body_cohort(&b, d->node, out);
	}
}

static void send(struct queue_statuses *s, const struct due *d, struct str body)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, key = STRBUF_INIT;
	enum sched_resource r = resource_of(d);
	struct str name = str_of(d->local != NULL ? d->local->key : d->node->name);
	struct object_write_spec spec = { .request = SCHED_REQ_QUOTA_STATUS,
					  .resource = r,
					  .method = HTTP_PATCH,
					  .content_type = "application/apply-patch+yaml",
					  .body = body,
					  .retries_refused = true };

	sched_kinds_key_path(r, name, "status", &path);
	strbuf_add_c(&path, "?fieldManager=" FIELD_MANAGER "&force=true");
	make_key(r, name, &key);
	spec.path = path.p;
	spec.key = strbuf_str(&key);
	pool_add(s->pool, spec.key, object_write_new(&spec));
	set_in_flight(s, d->object, true);
}

/* False: the status is the same as the last one. */
static bool send_if_changed(struct queue_statuses *s, const struct forest *f, const struct due *d,
			    int64_t now)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	bool active = is_active(forest_model(f), d);
	struct tracked_object *k = d->object;
	uint64_t hash;

	if (!k->has_active || k->active != active) {
		k->has_active = true;
		k->active = active;
		k->active_at = now;
	}
	make_body(s, f, d, &body);
	/* Equal fingerprints save the text; different ones may still give an equal text, which is
	 * not sent. */
	hash = str_hash(strbuf_str(&body)) | 1;
	k->fingerprint = d->fingerprint;
	if (k->sent_hash == hash) {
		return false;
	}
	k->sent_hash = hash;
	send(s, d, strbuf_str(&body));
	return true;
}

/* --- the order of sending ----------------------------------------------------------------------*/

/* An object without a status comes before changed counts: its user sees nothing of it yet. Those
 * with Workloads come first of all. */
static void look(struct queue_statuses *s, const struct quota_model *q, struct due *d)
{
	struct tracked_object *k = d->object;

	if (k == NULL || k->fingerprint == d->fingerprint) {
		return;
	}
	if (!k->acknowledged) {
		const struct workload_counts_of *t = totals_of(s, d);

		d->rank = t->pending + t->reserving > 0 ? BUSY : NEWS;
	} else {
		d->rank = k->has_active && k->active != is_active(q, d) ? NEWS : NUMBERS;
	}
	vec_push(&s->due, *d);
}

static void look_at(struct queue_statuses *s, const struct forest *f, size_t place)
{
	const struct quota_model *q = forest_model(f);
	struct due d = { .place = place };

	if (place >= q->nodes.n) {
		d.local = q->locals.v[place - q->nodes.n];
		if (d.local != NULL) {
			d.object = find(s, SCHED_LOCAL_QUEUES, d.local->id, d.local->key);
			d.fingerprint = print_local(s, q, d.local);
			look(s, q, &d);
		}
		return;
	}
	d.node = q->nodes.v[place];
	if (d.node != NULL && d.node->exists && (d.node->is_queue || q->options.fair_sharing)) {
		d.object = find(s, resource_of(&d), d.node->id, d.node->name);
		d.fingerprint = print_node(s, f, d.node);
		look(s, q, &d);
	}
}

/* Lists all objects with a status to send, beginning with the next one in turn. */
static void look_around(struct queue_statuses *s, const struct forest *f)
{
	const struct quota_model *q = forest_model(f);
	size_t n = q->nodes.n + q->locals.n;

	vec_clear(&s->due);
	for (size_t i = 0; i < n; i++) {
		look_at(s, f, (s->next + i) % n);
	}
}

static size_t numbers_at_once(const struct queue_statuses *s)
{
	size_t n = s->due.n / PORTIONS;

	return n < NUMBERS_MIN ? NUMBERS_MIN : n > NUMBERS_MAX ? NUMBERS_MAX : n;
}

/* Sends the statuses of one rank. Returns when to look again; CLOCK_NEVER: nothing is left. */
static int64_t send_rank(struct queue_statuses *s, const struct forest *f, enum rank rank,
			 size_t *room, const struct queue_statuses_time *at)
{
	int64_t again = CLOCK_NEVER;

	for (size_t i = 0; i < s->due.n; i++) {
		const struct due *d = &s->due.v[i];
		/* Changed counts of one object go out once a second at most; news does not wait. */
		int64_t from = rank == NUMBERS ? d->object->sent_at + INTERVAL_NS : at->mono;

		if (d->rank != rank) {
			continue;
		}
		if (from > at->mono || *room == 0) {
			again = clock_earlier(again, clock_later(from, at->mono));
		} else if (send_if_changed(s, f, d, at->wall)) {
			d->object->sent_at = at->mono;
			(*room)--;
			/* The next round goes on behind the last one sent, so that each gets its
			 * turn. */
			s->next = rank == NUMBERS ? d->place + 1 : s->next;
		}
	}
	return again;
}

/* 1. Counts of all queues as they are now: each status shows the moment at which it is sent.
 * 2. All objects are looked at in turn, and those with another fingerprint than the last time are
 *    listed.
 * 3. New objects and changes of Active are sent, then counts; of each only so many. The rest waits
 *    for the next round. */
int64_t queue_statuses_run(struct queue_statuses *s, const struct forest *f,
			   const struct queue_statuses_time *at, bool *ret_news)
{
	size_t numbers, news = NEWS_MAX;
	int64_t again;

	workload_counts_sum(&s->totals, forest_model(f));
	look_around(s, f);
	numbers = numbers_at_once(s);
	again = send_rank(s, f, BUSY, &news, at);
	again = clock_earlier(again, send_rank(s, f, NEWS, &news, at));
	*ret_news = news < NEWS_MAX;
	return clock_earlier(again, send_rank(s, f, NUMBERS, &numbers, at));
}
