#include "scheduler/workloads/writes/queue_statuses_body.h"

#include "api/core/resource_amount.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/workload_counts.h"

#define UNIT INT64_C(1000000000) /* in nano */
#define MILLION ((__int128)1000000)

/* --- parts -------------------------------------------------------------------------------------*/

static void add_active(const struct queue_statuses_body *b, bool active, const char *reason,
		       const char *message, struct arena *arena, struct api_conditions *ret)
{
	FIELD_LIST_MAKE(ret, 1, arena);
	ret->v[0] = (struct api_condition){
		.type = KUEUE_ACTIVE,
		.status = active ? "True" : "False",
		.observed_generation = b->generation,
		.last_transition = b->since,
		.reason = reason,
		.message = message,
	};
}

/* Kueue: without a cohort nothing is borrowed, even if more is in use than the quota. */
static struct quantity borrowed(const struct forest *f, const struct quota_node *n, uint32_t pair,
				const char *resource, int64_t total)
{
	int64_t nominal = forest_nominal(f, n->id, pair);
	bool borrows = n->parent_id != MODEL_NONE && total > nominal;

	return resource_amount_quantity(resource, borrows ? total - nominal : 0);
}

struct used { /* usage of the flavors of a node */
	const struct forest *forest;
	const struct quota_node *node;
	const struct quota_amounts *amounts;
	bool borrows; /* with the borrowed amounts */
};

static void add_flavor(const struct used *u, const struct resource_group *group, uint32_t flavor,
		       struct arena *arena, struct api_flavor_usage *ret)
{
	const struct quota_model *q = forest_model(u->forest);

	ret->name = q->flavors.v[flavor]->name;
	FIELD_LIST_MAKE(&ret->resources, group->nresources, arena);
	for (size_t i = 0; i < group->nresources; i++) {
		struct api_resource_usage *to = &ret->resources.v[i];
		uint32_t pair = quota_pair_find(q, flavor, group->resources[i]);
		int64_t total = quota_amounts_get(u->amounts, pair);

		to->name = quota_resource_name(q, group->resources[i]);
		to->total = quantity_dup(resource_amount_quantity(to->name, total), arena);
		if (u->borrows) {
			to->borrowed = quantity_dup(
				borrowed(u->forest, u->node, pair, to->name, total), arena);
		}
	}
}

/* By flavor, in the order of the ClusterQueue. Those that nothing uses are listed, too, with 0. */
static void add_usages(const struct used *u, struct arena *arena, struct api_flavor_usages *ret)
{
	size_t flavors = 0, n = 0;

	for (size_t g = 0; g < u->node->groups.n; g++) {
		flavors += u->node->groups.v[g].nflavors;
	}
	FIELD_LIST_MAKE(ret, flavors, arena);
	for (size_t g = 0; g < u->node->groups.n; g++) {
		const struct resource_group *group = &u->node->groups.v[g];

		for (size_t i = 0; i < group->nflavors; i++) {
			add_flavor(u, group, group->flavors[i], arena, &ret->v[n++]);
		}
	}
}

/* n: the ClusterQueue; NULL: there is none, and no usage of flavors. */
static void add_totals(const struct forest *f, const struct quota_node *n,
		       const struct workload_counts_of *t, bool borrows, struct arena *arena,
		       struct api_queue_totals *ret)
{
	struct used u = { .forest = f, .node = n, .borrows = borrows };

	ret->pending = t->pending;
	ret->reserving = t->reserving;
	ret->admitted = t->admitted;
	if (n != NULL) {
		u.amounts = &t->reserved;
		add_usages(&u, arena, &ret->flavors_reservation);
		u.amounts = &t->used;
		add_usages(&u, arena, &ret->flavors_usage);
	}
}

/* Kueue writes a share only where fair sharing is configured. */
static struct api_fair_sharing_status *share(const struct forest *f, const struct quota_node *n,
					     struct arena *arena)
{
	struct api_fair_sharing_status *ret;

	if (!forest_model(f)->options.fair_sharing) {
		return NULL;
	}
	ret = arena_zero(arena, 1, sizeof(*ret));
	ret->weighted_share = share_status(share_of(f, n->id, NULL));
	return ret;
}

/* Amounts of a million and more are written without fractions. */
struct api_local_fair_sharing_status *queue_statuses_body_consumed(const struct quota_model *q,
								   const struct local_queue *l,
								   struct arena *arena)
{
	struct api_local_fair_sharing_status *ret;
	struct field_resource *v;

	if (!q->options.admission_fair_sharing || l->sampled_at == MODEL_TIME_NONE ||
	    l->consumed.n == 0) {
		return NULL;
	}
	v = arena_zero(arena, l->consumed.n, sizeof(*v));
	for (size_t i = 0; i < l->consumed.n; i++) {
		v[i].name = quota_resource_name(q, l->consumed.v[i].resource);
		v[i].amount = (struct quantity){ l->consumed.v[i].nano, QUANTITY_DECIMAL_SI };
		if (v[i].amount.nano >= MILLION * UNIT) {
			v[i].amount.nano -= v[i].amount.nano % UNIT;
		}
	}
	ret = arena_zero(arena, 1, sizeof(*ret));
	ret->admission = arena_zero(arena, 1, sizeof(*ret->admission));
	ret->admission->consumed = (struct field_resources){ v, l->consumed.n };
	ret->admission->last_update = l->sampled_at;
	return ret;
}

/* --- kinds -------------------------------------------------------------------------------------*/

bool queue_statuses_body_is_active(const struct quota_node *n)
{
	return n->queue->inactive == QUOTA_ACTIVE;
}

void queue_statuses_body_queue(const struct queue_statuses_body *b, const struct quota_node *n,
			       struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf message = STRBUF_INIT;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct cluster_queue *queue = n->queue;
	bool active = queue_statuses_body_is_active(n);
	struct api_cluster_queue o;

	strbuf_add_c(&message, active ? "Can admit new workloads" : "Can't admit new workloads");
	/* The object to mend: a flavor that is missing, a check that is not Active, a Workload that
	 * cannot be read. */
	if (!active && queue->inactive_what != NULL) {
		strbuf_printf(&message, ": %s", queue->inactive_what);
	}
	decode_init(&kueue_cluster_queue_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "ClusterQueue";
	o.meta.name = n->name;
	add_active(b, active, cluster_queue_reason(queue->inactive), message.p, arena,
		   &o.status.conditions);
	add_totals(b->forest, n, &b->totals->nodes.v[n->id], true, arena, &o.status.totals);
	o.status.fair_sharing = share(b->forest, n, arena);
	encode_text(&kueue_cluster_queue_fields, &o, out);
}

enum readiness { STOPPED, NO_QUEUE, QUEUE_INACTIVE, READY };

static enum readiness readiness_of(const struct local_queue *l, const struct quota_node *n)
{
	if (l->stop != QUOTA_RUN) {
		return STOPPED;
	}
	if (n == NULL) {
		return NO_QUEUE;
	}
	return queue_statuses_body_is_active(n) ? READY : QUEUE_INACTIVE;
}

bool queue_statuses_body_local_is_active(const struct quota_model *q, const struct local_queue *l)
{
	return readiness_of(l, quota_local_queue(q, l)) == READY;
}

void queue_statuses_body_local(const struct queue_statuses_body *b, const struct local_queue *l,
			       struct strbuf *out)
{
	static const char *const texts[][2] = {
		[STOPPED] = { "Stopped", "The LocalQueue is stopped" },
		[NO_QUEUE] = { "ClusterQueueDoesNotExist",
			       "Can't submit new workloads to the ClusterQueue" },
		[QUEUE_INACTIVE] = { "ClusterQueueIsInactive",
				     "Can't submit new workloads to the ClusterQueue" },
		[READY] = { "Ready", "Can submit new workloads to the ClusterQueue" },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct quota_model *q = forest_model(b->forest);
	const struct quota_node *n = quota_local_queue(q, l);
	enum readiness r = readiness_of(l, n);
	struct api_local_queue o;

	decode_init(&kueue_local_queue_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "LocalQueue";
	o.meta.name = l->name;
	o.meta.namespace_ = l->namespace_;
	add_active(b, r == READY, texts[r][0], texts[r][1], arena, &o.status.conditions);
	add_totals(b->forest, n, &b->totals->locals.v[l->id], false, arena, &o.status.totals);
	o.status.fair_sharing = queue_statuses_body_consumed(q, l, arena);
	encode_text(&kueue_local_queue_fields, &o, out);
}

void queue_statuses_body_cohort(const struct queue_statuses_body *b, const struct quota_node *n,
				struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_cohort o;

	decode_init(&kueue_cohort_fields, &o);
	o.api_version = KUEUE_API_VERSION;
	o.kind = "Cohort";
	o.meta.name = n->name;
	o.status.fair_sharing = share(b->forest, n, arena);
	encode_text(&kueue_cohort_fields, &o, out);
}
