#include "controllers/quota_status.h"

#include <stdlib.h>

#include "api/kueue_keys.h"
#include "api/meta.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/xmalloc.h"
#include "controllers/object_write.h"
#include "enc/json_out.h"
#include "kube/pool.h"
#include "model/from_api_quota.h"
#include "quota/share.h"

#define FIELD_MANAGER "headgate-quota-status"
#define UNIT INT64_C(1000000000) /* in nano */
#define MILLION ((__int128)1000000)
#define SLOTS 4 /* what else is written goes first */

struct known { /* of one object */
	int64_t generation;
	bool has_active, active; /* the condition, as it was written or seen last */
	int64_t active_at;
	uint64_t sent;         /* hash of the status that was sent last, 0: none */
	bool flies;            /* it is under way */
	int64_t read, written; /* resourceVersions: of the last update, of the last answer */
};

/* Sums over the Workloads of a queue. */
struct totals {
	int64_t pending, reserving, admitted;
	struct quota_amounts reserved, used; /* by pair */
};

struct quota_status {
	struct object_write_target target;
	struct pool *pool;
	struct strmap *known;
	struct VEC(struct totals) locals; /* by id */
};

struct quota_status *quota_status_create(const struct pool_options *base,
					 void (*post)(void *ctx, struct sched_msg *msg))
{
	struct quota_status *s = xmalloc_zero(1, sizeof(*s));

	s->known = strmap_create(free);
	s->pool = object_write_pool(base, "quota-status", SLOTS, post, &s->target);
	return s;
}

static void clear_locals(struct quota_status *s)
{
	for (size_t i = 0; i < s->locals.n; i++) {
		quota_amounts_finish(&s->locals.v[i].reserved);
		quota_amounts_finish(&s->locals.v[i].used);
	}
	vec_clear(&s->locals);
}

void quota_status_destroy(struct quota_status *s)
{
	if (s != NULL) {
		pool_destroy(s->pool);
		clear_locals(s);
		vec_finish(&s->locals);
		strmap_destroy(s->known);
		free(s);
	}
}

struct pool *quota_status_pool(struct quota_status *s)
{
	return s->pool;
}

/* --- objects -----------------------------------------------------------------------------------*/

static const struct kind {
	enum sched_resource resource;
	const char *kind, *plural;
} kinds[] = {
	{ SCHED_CLUSTER_QUEUES, "ClusterQueue", "clusterqueues" },
	{ SCHED_COHORTS, "Cohort", "cohorts" },
	{ SCHED_LOCAL_QUEUES, "LocalQueue", "localqueues" },
};

static const struct kind *find_kind(enum sched_resource r)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (kinds[i].resource == r) {
			return &kinds[i];
		}
	}
	return NULL;
}

static void make_key(const struct kind *k, struct str key, struct strbuf *out)
{
	strbuf_printf(out, "%s/", k->plural);
	strbuf_add_str(out, key);
}

/* Somebody else wrote after us. */
static bool is_overwritten(struct known *k)
{
	if (k->flies || k->sent == 0 || k->read <= k->written) {
		return false;
	}
	k->sent = 0;
	return true;
}

static void key_of(const struct kind *kind, const struct api_meta *meta, struct strbuf *out)
{
	strbuf_printf(out, "%s/", kind->plural);
	if (kind->resource == SCHED_LOCAL_QUEUES) {
		strbuf_printf(out, "%s/", meta->namespace_);
	}
	strbuf_add_c(out, meta->name);
}

bool quota_status_seen(struct quota_status *s, enum sched_resource r, const struct api_meta *meta,
		       const struct api_condition *active)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	const struct kind *kind = find_kind(r);
	struct known *k;

	if (kind == NULL) {
		return false;
	}
	key_of(kind, meta, &name);
	k = strmap_get(s->known, strbuf_str(&name));
	if (k == NULL) {
		k = xmalloc_zero(1, sizeof(*k));
		strmap_set(s->known, strbuf_str(&name), k);
	}
	k->generation = meta->generation;
	k->read = meta_version(meta);
	if (k->sent == 0 && active != NULL && active->last_transition != FIELD_NO_TIME) {
		k->has_active = true;
		k->active = str_streq(active->status, "True");
		k->active_at = active->last_transition;
	}
	return is_overwritten(k);
}

bool quota_status_done(struct quota_status *s, const struct sched_msg *m)
{
	struct known *k = strmap_get(s->known, m->key);

	if (k == NULL) {
		return false;
	}
	k->flies = false;
	if (m->outcome == SCHED_CANCELLED) {
		k->sent = 0;
		return true;
	}
	k->written = m->resource_version;
	return m->outcome == SCHED_DONE && is_overwritten(k);
}

void quota_status_gone(struct quota_status *s, enum sched_resource r, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	const struct kind *kind = find_kind(r);

	if (kind != NULL) {
		make_key(kind, key, &name);
		(void)strmap_remove(s->known, strbuf_str(&name));
	}
}

/* --- one object --------------------------------------------------------------------------------*/

struct writing {
	struct quota_status *s;
	const struct forest *f;
	const struct quota *q;
	int64_t now;
	const struct kind *kind;
	struct str key;
	struct known *known;
	struct strbuf body;
	struct json_out o;
};

/* False: the object was not seen, or is gone. */
static bool begin(struct writing *w, enum sched_resource r, struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;

	w->kind = find_kind(r);
	w->key = key;
	make_key(w->kind, key, &name);
	w->known = strmap_get(w->s->known, strbuf_str(&name));
	if (w->known == NULL) {
		return false;
	}
	strbuf_reset(&w->body);
	json_out_init(&w->o, &w->body);
	json_out_object(&w->o);
	json_out_kv(&w->o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(&w->o, "kind", w->kind->kind);
	json_out_key(&w->o, "metadata");
	json_out_object(&w->o);
	if (r == SCHED_LOCAL_QUEUES) {
		struct str rest = key, space = str_next(&rest, '/');

		json_out_key(&w->o, "namespace");
		json_out_slice(&w->o, space);
		key = rest;
	}
	json_out_key(&w->o, "name");
	json_out_slice(&w->o, key);
	json_out_object_end(&w->o);
	json_out_key(&w->o, "status");
	json_out_object(&w->o);
	return true;
}

static void make_path(const struct writing *w, struct strbuf *out)
{
	struct str name = w->key;

	strbuf_add_c(out, "/apis/" KUEUE_API_VERSION "/");
	if (w->kind->resource == SCHED_LOCAL_QUEUES) {
		struct str space = str_next(&name, '/');

		strbuf_printf(out, "namespaces/" STR_FMT "/", STR_ARG(space));
	}
	strbuf_printf(out, "%s/" STR_FMT "/status?fieldManager=" FIELD_MANAGER "&force=true",
		      w->kind->plural, STR_ARG(name));
}

static void end(struct writing *w)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, key = STRBUF_INIT;
	struct object_write_spec spec = { .request = SCHED_REQ_QUOTA_STATUS,
					  .resource = w->kind->resource,
					  .method = HTTP_PATCH,
					  .content_type = "application/apply-patch+yaml" };
	uint64_t hash;

	json_out_object_end(&w->o);
	json_out_object_end(&w->o);
	json_out_end(&w->o);
	hash = str_hash(strbuf_str(&w->body)) | 1;
	if (hash == w->known->sent) {
		return;
	}
	w->known->sent = hash;
	w->known->flies = true;
	make_path(w, &path);
	make_key(w->kind, w->key, &key);
	spec.path = path.p;
	spec.key = strbuf_str(&key);
	spec.body = strbuf_str(&w->body);
	pool_add(w->s->pool, spec.key, object_write_new(&spec));
}

static void write_active(struct writing *w, bool active, const char *reason, const char *message)
{
	struct known *k = w->known;
	char at[CLOCK_RFC3339_MAX];

	if (!k->has_active || k->active != active) {
		k->has_active = true;
		k->active = active;
		k->active_at = w->now;
	}
	clock_format_time(k->active_at, at);
	json_out_key(&w->o, "conditions");
	json_out_array(&w->o);
	json_out_object(&w->o);
	json_out_kv(&w->o, "type", KUEUE_ACTIVE);
	json_out_kv(&w->o, "status", active ? "True" : "False");
	if (k->generation != 0) {
		json_out_kv_int(&w->o, "observedGeneration", k->generation);
	}
	json_out_kv(&w->o, "lastTransitionTime", at);
	json_out_kv(&w->o, "reason", reason);
	json_out_kv(&w->o, "message", message);
	json_out_object_end(&w->o);
	json_out_array_end(&w->o);
}

static void write_amount(struct json_out *o, const char *key, const char *resource, int64_t amount)
{
	char text[QUANTITY_TEXT_MAX];

	from_api_quota_amount_text(resource, amount, text);
	json_out_kv(o, key, text);
}

static int64_t borrowed(const struct writing *w, const struct quota_node *n, uint32_t pair,
			int64_t total)
{
	int64_t nominal = forest_nominal(w->f, n->id, pair);

	return n->parent_id != MODEL_NONE && total > nominal ? total - nominal : 0;
}

/* By flavor, in the order of the ClusterQueue. */
static void write_usages(struct writing *w, const char *key, const struct quota_node *n,
			 const struct quota_amounts *used)
{
	json_out_key(&w->o, key);
	json_out_array(&w->o);
	for (size_t g = 0; g < n->groups.n; g++) {
		const struct quota_group *group = &n->groups.v[g];

		for (size_t i = 0; i < group->nflavors; i++) {
			json_out_object(&w->o);
			json_out_kv(&w->o, "name", w->q->flavors.v[group->flavors[i]]->name);
			json_out_key(&w->o, "resources");
			json_out_array(&w->o);
			for (size_t r = 0; r < group->nresources; r++) {
				uint32_t pair = quota_pair_find(w->q, group->flavors[i],
								group->resources[r]);
				const char *name = quota_resource_name(w->q, group->resources[r]);
				int64_t total = quota_amounts_get(used, pair);

				json_out_object(&w->o);
				json_out_kv(&w->o, "name", name);
				write_amount(&w->o, "total", name, total);
				if (w->kind->resource == SCHED_CLUSTER_QUEUES) {
					write_amount(&w->o, "borrowed", name,
						     borrowed(w, n, pair, total));
				}
				json_out_object_end(&w->o);
			}
			json_out_array_end(&w->o);
			json_out_object_end(&w->o);
		}
	}
	json_out_array_end(&w->o);
}

static void write_totals(struct writing *w, const struct quota_node *n, const struct totals *t)
{
	json_out_kv_int(&w->o, "pendingWorkloads", t->pending);
	json_out_kv_int(&w->o, "reservingWorkloads", t->reserving);
	json_out_kv_int(&w->o, "admittedWorkloads", t->admitted);
	if (n != NULL) {
		write_usages(w, "flavorsReservation", n, &t->reserved);
		write_usages(w, "flavorsUsage", n, &t->used);
	}
}

static void write_share(struct writing *w, const struct quota_node *n)
{
	if (!w->q->options.fair_sharing) {
		return;
	}
	json_out_key(&w->o, "fairSharing");
	json_out_object(&w->o);
	json_out_kv_int(&w->o, "weightedShare", share_status(share_of(w->f, n->id, NULL)));
	json_out_object_end(&w->o);
}

/* What it used of late, by resource; fractions of what is counted in millions are nobody's news. */
static void write_consumed(struct writing *w, const struct quota_local *l)
{
	char text[QUANTITY_TEXT_MAX], at[CLOCK_RFC3339_MAX];

	if (!w->q->options.admission_fair_sharing || l->sampled_at == MODEL_TIME_NONE ||
	    l->consumed.n == 0) {
		return;
	}
	json_out_key(&w->o, "fairSharing");
	json_out_object(&w->o);
	json_out_kv_int(&w->o, "weightedShare", 0);
	json_out_key(&w->o, "admissionFairSharingStatus");
	json_out_object(&w->o);
	json_out_key(&w->o, "consumedResources");
	json_out_object(&w->o);
	for (size_t i = 0; i < l->consumed.n; i++) {
		struct quantity amount = { l->consumed.v[i].nano, QUANTITY_DECIMAL_SI };

		if (amount.nano >= MILLION * UNIT) {
			amount.nano -= amount.nano % UNIT;
		}
		quantity_format(amount, text);
		json_out_kv(&w->o, quota_resource_name(w->q, l->consumed.v[i].resource), text);
	}
	json_out_object_end(&w->o);
	clock_format_time(l->sampled_at, at);
	json_out_kv(&w->o, "lastUpdate", at);
	json_out_object_end(&w->o);
	json_out_object_end(&w->o);
}

/* --- sums --------------------------------------------------------------------------------------*/

static void add_usage(struct totals *t, const struct workload *w)
{
	t->reserving++;
	t->admitted += w->admitted;
	for (size_t i = 0; i < w->usage.n; i++) {
		quota_amounts_add(&t->reserved, w->usage.v[i].id, w->usage.v[i].value);
		if (w->admitted) {
			quota_amounts_add(&t->used, w->usage.v[i].id, w->usage.v[i].value);
		}
	}
}

static void sum_locals(struct quota_status *s, const struct quota *q)
{
	clear_locals(s);
	for (size_t i = 0; i < q->locals.n; i++) {
		vec_push(&s->locals, ((struct totals){ 0 }));
	}
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];
		const struct quota_local *l;

		if (w == NULL || (w->holds == MODEL_NONE && w->where == QUOTA_NOWHERE)) {
			continue;
		}
		l = quota_local_of(q, w);
		if (l != NULL && w->holds != MODEL_NONE) {
			add_usage(&s->locals.v[l->id], w);
		} else if (l != NULL) {
			s->locals.v[l->id].pending++;
		}
	}
}

/* --- kinds -------------------------------------------------------------------------------------*/

static void run_queue(struct writing *w, const struct quota_node *n)
{
	CLEANUP(strbuf_finish) struct strbuf message = STRBUF_INIT;
	const struct quota_queue *queue = n->queue;
	struct totals t = { .pending = (int64_t)(queue->heap.n + queue->inadmissible.n) };
	bool active = queue->inactive == QUOTA_ACTIVE;

	if (!begin(w, SCHED_CLUSTER_QUEUES, str_of(n->name))) {
		return;
	}
	for (size_t i = 0; i < queue->holders.n; i++) {
		add_usage(&t, queue->holders.v[i].w);
	}
	strbuf_add_c(&message, active ? "Can admit new workloads" : "Can't admit new workloads");
	if (!active && queue->inactive_what != NULL) {
		strbuf_printf(&message, ": %s", queue->inactive_what);
	}
	write_active(w, active, quota_queue_reason(queue->inactive), message.p);
	write_totals(w, n, &t);
	write_share(w, n);
	end(w);
	quota_amounts_finish(&t.reserved);
	quota_amounts_finish(&t.used);
}

static void run_local(struct writing *w, const struct quota_local *l)
{
	const struct quota_node *n =
		l->queue == NULL ? NULL : quota_queue_find(w->q, str_of(l->queue));

	if (!begin(w, SCHED_LOCAL_QUEUES, str_of(l->key))) {
		return;
	}
	if (l->stop != QUOTA_RUN) {
		write_active(w, false, "Stopped", "The LocalQueue is stopped");
	} else if (n == NULL || !n->exists) {
		write_active(w, false, "ClusterQueueDoesNotExist",
			     "Can't submit new workloads to the ClusterQueue");
	} else if (n->queue->inactive != QUOTA_ACTIVE) {
		write_active(w, false, "ClusterQueueIsInactive",
			     "Can't submit new workloads to the ClusterQueue");
	} else {
		write_active(w, true, "Ready", "Can submit new workloads to the ClusterQueue");
	}
	write_totals(w, n == NULL || !n->exists ? NULL : n, &w->s->locals.v[l->id]);
	write_consumed(w, l);
	end(w);
}

static void run_cohort(struct writing *w, const struct quota_node *n)
{
	if (w->q->options.fair_sharing && begin(w, SCHED_COHORTS, str_of(n->name))) {
		write_share(w, n);
		end(w);
	}
}

void quota_status_run(struct quota_status *s, const struct forest *f, int64_t now)
{
	const struct quota *q = forest_world(f);
	struct writing w = { .s = s, .f = f, .q = q, .now = now, .body = STRBUF_INIT };

	sum_locals(s, q);
	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n != NULL && n->exists && n->is_queue) {
			run_queue(&w, n);
		} else if (n != NULL && n->exists) {
			run_cohort(&w, n);
		}
	}
	for (size_t i = 0; i < q->locals.n; i++) {
		if (q->locals.v[i] != NULL) {
			run_local(&w, q->locals.v[i]);
		}
	}
	clear_locals(s);
	strbuf_finish(&w.body);
}
