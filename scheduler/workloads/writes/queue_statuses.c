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
#include "kube/pool.h"
#include "scheduler/base/object_write.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/queue_statuses_body.h"
#include "scheduler/workloads/writes/workload_counts.h"

#define FIELD_MANAGER "headgate-quota-status"
#define INTERVAL_NS CLOCK_NS_PER_S /* between two statuses of one object that tell of numbers */
/* What is handed out at once: news, which is little on the whole, and numbers. Those change all the
 * time where Workloads come and go, and would leave the API server little time for them. */
#define NEWS_MAX 32
#define NUMBERS_MIN 4
#define NUMBERS_MAX 16
#define PORTIONS 128 /* for all whose numbers differ, within these bounds */

struct known {         /* of one object */
	uint32_t id;   /* in the world; MODEL_NONE: it was not found there yet */
	bool is_local; /* a LocalQueue, else a node */
	int64_t generation;
	bool has_active, active; /* the condition, as it was written or seen last */
	int64_t active_at;
	bool told;             /* a status was acknowledged */
	int64_t told_at;       /* mono: one was handed out */
	uint64_t told_of;      /* what it was made of: fingerprint, 0: look again */
	uint64_t sent;         /* hash of the status that was sent last, 0: none */
	bool flies;            /* it is under way */
	int64_t read, written; /* resourceVersions: of the last update, of the last answer */
};

struct knowns { /* by id in the world; NULL: not known, or not found yet */
	struct known **v;
	size_t n, cap;
};

enum rank {       /* what goes first */
	    BUSY, /* nobody was told of the object, and it has Workloads */
	    NEWS, /* nobody was told of it, or of its being active or not */
	    NUMBERS,
};

struct due { /* an object that has something to tell */
	const struct quota_node *node;
	const struct local_queue *local; /* NULL: it is a node */
	struct known *known;
	size_t place;
	uint64_t print;
	enum rank rank;
};

struct queue_statuses {
	struct object_write_target target;
	struct pool *pool;
	struct strmap *known; /* "plural/key" */
	struct knowns nodes, locals;
	struct workload_counts totals;
	struct VEC(struct due) due; /* scratch */
	size_t under_way;
	size_t next; /* place of the one whose turn it is: nodes, then LocalQueues */
};

struct queue_statuses *queue_statuses_create(const struct pool_options *base,
					     void (*post)(void *ctx, struct sched_msg *msg))
{
	struct queue_statuses *s = xmalloc_zero(1, sizeof(*s));

	s->known = strmap_create(free);
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
		strmap_destroy(s->known);
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

/* Somebody else wrote after us. */
static bool is_overwritten(struct known *k)
{
	if (k->flies || k->sent == 0 || k->read <= k->written) {
		return false;
	}
	k->sent = k->told_of = 0;
	return true;
}

static void set_flies(struct queue_statuses *s, struct known *k, bool flies)
{
	s->under_way += flies;
	s->under_way -= k->flies;
	k->flies = flies;
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
	struct known *k;

	if (!has_status(r)) {
		return false;
	}
	key_of(r, meta, &name);
	k = strmap_get(s->known, strbuf_str(&name));
	if (k == NULL) {
		k = xmalloc_zero(1, sizeof(*k));
		k->id = MODEL_NONE;
		k->is_local = r == SCHED_LOCAL_QUEUES;
		strmap_set(s->known, strbuf_str(&name), k);
	}
	if (k->generation != meta->generation) {
		k->generation = meta->generation;
		k->told_of = 0;
	}
	k->read = meta_version(meta);
	if (k->sent == 0 && active != NULL && active->last_transition != FIELD_NO_TIME) {
		k->has_active = true;
		k->active = str_streq(active->status, "True");
		k->active_at = active->last_transition;
	}
	return is_overwritten(k);
}

bool queue_statuses_done(struct queue_statuses *s, const struct sched_msg *m)
{
	struct known *k = strmap_get(s->known, m->key);

	if (k == NULL) {
		return false;
	}
	set_flies(s, k, false);
	if (m->outcome == SCHED_CANCELLED) {
		k->sent = k->told_of = 0;
		k->told = false;
		return true;
	}
	k->told = true;
	k->written = m->resource_version;
	return m->outcome == SCHED_DONE && is_overwritten(k);
}

static struct knowns *knowns_of(struct queue_statuses *s, bool is_local)
{
	return is_local ? &s->locals : &s->nodes;
}

static void unbind(struct queue_statuses *s, struct known *k)
{
	if (k->id != MODEL_NONE) {
		knowns_of(s, k->is_local)->v[k->id] = NULL;
		k->id = MODEL_NONE;
	}
}

void queue_statuses_gone(struct queue_statuses *s, enum sched_resource r, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	struct known *k = NULL;

	if (has_status(r)) {
		make_key(r, key, &name);
		k = strmap_get(s->known, strbuf_str(&name));
	}
	if (k != NULL) {
		unbind(s, k);
		set_flies(s, k, false);
		(void)strmap_remove(s->known, strbuf_str(&name));
	}
}

/* What is known of the object with that id; NULL: it was not seen, or is gone. */
static struct known *find(struct queue_statuses *s, enum sched_resource r, uint32_t id,
			  const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct knowns *list = knowns_of(s, r == SCHED_LOCAL_QUEUES);
	struct known *k;

	while (list->n <= id) {
		vec_push(list, NULL);
	}
	if (list->v[id] != NULL) {
		return list->v[id];
	}
	make_key(r, str_of(name), &key);
	k = strmap_get(s->known, strbuf_str(&key));
	if (k != NULL) {
		unbind(s, k);
		k->id = id;
		k->told_of = 0;
		list->v[id] = k;
	}
	return k;
}

/* --- what a status is made of ------------------------------------------------------------------*/

/* Statuses whose fingerprints are equal are equal: these are compared a thousand at a time. What
 * only a new generation changes is not in it. */

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

/* What a LocalQueue tells of its ClusterQueue. */
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

	if (forest_world(f)->options.fair_sharing) {
		h = mix(1, (uint64_t)share_status(share_of(f, n->id, NULL)));
	}
	if (n->is_queue) {
		const char *what = n->queue->inactive_what;

		h = mix(h, what == NULL ? 0 : str_hash(str_of(what)));
		h = mix_totals(mix_groups(h, n), &s->totals.nodes.v[n->id]);
	}
	return h | 1;
}

static uint64_t print_local(const struct queue_statuses *s, const struct quota *q,
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
static bool is_active(const struct quota *q, const struct due *d)
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
					       .generation = d->known->generation,
					       .since = d->known->active_at };

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
	set_flies(s, d->known, true);
}

/* False: it says what was said before. */
static bool tell(struct queue_statuses *s, const struct forest *f, const struct due *d, int64_t now)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	bool active = is_active(forest_world(f), d);
	struct known *k = d->known;
	uint64_t hash;

	if (!k->has_active || k->active != active) {
		k->has_active = true;
		k->active = active;
		k->active_at = now;
	}
	make_body(s, f, d, &body);
	hash = str_hash(strbuf_str(&body)) | 1;
	k->told_of = d->print;
	if (k->sent == hash) {
		return false;
	}
	k->sent = hash;
	send(s, d, strbuf_str(&body));
	return true;
}

/* --- whose turn it is --------------------------------------------------------------------------*/

static void look(struct queue_statuses *s, const struct quota *q, struct due *d)
{
	struct known *k = d->known;

	if (k == NULL || k->told_of == d->print) {
		return;
	}
	if (!k->told) {
		const struct workload_counts_of *t = totals_of(s, d);

		d->rank = t->pending + t->reserving > 0 ? BUSY : NEWS;
	} else {
		d->rank = k->has_active && k->active != is_active(q, d) ? NEWS : NUMBERS;
	}
	vec_push(&s->due, *d);
}

static void look_at(struct queue_statuses *s, const struct forest *f, size_t place)
{
	const struct quota *q = forest_world(f);
	struct due d = { .place = place };

	if (place >= q->nodes.n) {
		d.local = q->locals.v[place - q->nodes.n];
		if (d.local != NULL) {
			d.known = find(s, SCHED_LOCAL_QUEUES, d.local->id, d.local->key);
			d.print = print_local(s, q, d.local);
			look(s, q, &d);
		}
		return;
	}
	d.node = q->nodes.v[place];
	if (d.node != NULL && d.node->exists && (d.node->is_queue || q->options.fair_sharing)) {
		d.known = find(s, resource_of(&d), d.node->id, d.node->name);
		d.print = print_node(s, f, d.node);
		look(s, q, &d);
	}
}

/* All that have something to tell, beginning with the one whose turn it is. */
static void look_around(struct queue_statuses *s, const struct forest *f)
{
	const struct quota *q = forest_world(f);
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

/* Hands out what is due of one rank. Returns when to look again; CLOCK_NEVER: nothing is left. */
static int64_t hand_out(struct queue_statuses *s, const struct forest *f, enum rank rank,
			size_t *room, const struct queue_statuses_time *at)
{
	int64_t again = CLOCK_NEVER;

	for (size_t i = 0; i < s->due.n; i++) {
		const struct due *d = &s->due.v[i];
		int64_t from = rank == NUMBERS ? d->known->told_at + INTERVAL_NS : at->mono;

		if (d->rank != rank) {
			continue;
		}
		if (from > at->mono || *room == 0) {
			again = clock_earlier(again, clock_later(from, at->mono));
		} else if (tell(s, f, d, at->wall)) {
			d->known->told_at = at->mono;
			(*room)--;
			s->next = rank == NUMBERS ? d->place + 1 : s->next;
		}
	}
	return again;
}

int64_t queue_statuses_run(struct queue_statuses *s, const struct forest *f,
			   const struct queue_statuses_time *at, bool *ret_news)
{
	size_t numbers, news = NEWS_MAX;
	int64_t again;

	workload_counts_sum(&s->totals, forest_world(f));
	look_around(s, f);
	numbers = numbers_at_once(s);
	again = hand_out(s, f, BUSY, &news, at);
	again = clock_earlier(again, hand_out(s, f, NEWS, &news, at));
	*ret_news = news < NEWS_MAX;
	return clock_earlier(again, hand_out(s, f, NUMBERS, &numbers, at));
}
