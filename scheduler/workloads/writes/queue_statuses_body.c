#include "scheduler/workloads/writes/queue_statuses_body.h"

#include "api/kueue/kueue_keys.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/workload_counts.h"

#define UNIT INT64_C(1000000000) /* in nano */
#define MILLION ((__int128)1000000)

struct writing {
	const struct queue_statuses_body *b;
	const struct quota *q;
	struct json_out o;
};

/* --- head and tail -----------------------------------------------------------------------------*/

static void begin(struct writing *w, const struct queue_statuses_body *b, const char *kind,
		  struct strbuf *out)
{
	w->b = b;
	w->q = forest_world(b->forest);
	json_out_init(&w->o, out);
	json_out_object(&w->o);
	json_out_kv(&w->o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(&w->o, "kind", kind);
	json_out_key(&w->o, "metadata");
	json_out_object(&w->o);
}

static void begin_status(struct writing *w, const char *name)
{
	json_out_kv(&w->o, "name", name);
	json_out_object_end(&w->o);
	json_out_key(&w->o, "status");
	json_out_object(&w->o);
}

static void end(struct writing *w)
{
	json_out_object_end(&w->o);
	json_out_object_end(&w->o);
	json_out_end(&w->o);
}

/* --- parts -------------------------------------------------------------------------------------*/

static void write_active(struct writing *w, bool active, const char *reason, const char *message)
{
	char at[CLOCK_RFC3339_MAX];

	clock_format_time(w->b->since, at);
	json_out_key(&w->o, "conditions");
	json_out_array(&w->o);
	json_out_object(&w->o);
	json_out_kv(&w->o, "type", KUEUE_ACTIVE);
	json_out_kv(&w->o, "status", active ? "True" : "False");
	if (w->b->generation != 0) {
		json_out_kv_int(&w->o, "observedGeneration", w->b->generation);
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

	from_kueue_amount_text(resource, amount, text);
	json_out_kv(o, key, text);
}

static int64_t borrowed(const struct writing *w, const struct quota_node *n, uint32_t pair,
			int64_t total)
{
	int64_t nominal = forest_nominal(w->b->forest, n->id, pair);

	return n->parent_id != MODEL_NONE && total > nominal ? total - nominal : 0;
}

/* By flavor, in the order of the ClusterQueue. */
static void write_usages(struct writing *w, const char *key, const struct quota_node *n,
			 const struct quota_amounts *used, bool borrows)
{
	json_out_key(&w->o, key);
	json_out_array(&w->o);
	for (size_t g = 0; g < n->groups.n; g++) {
		const struct resource_group *group = &n->groups.v[g];

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
				if (borrows) {
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

/* n: whose flavors they are; NULL: there is none. borrows: what is borrowed of them is said. */
static void write_totals(struct writing *w, const struct quota_node *n,
			 const struct workload_counts_of *t, bool borrows)
{
	json_out_kv_int(&w->o, "pendingWorkloads", t->pending);
	json_out_kv_int(&w->o, "reservingWorkloads", t->reserving);
	json_out_kv_int(&w->o, "admittedWorkloads", t->admitted);
	if (n != NULL) {
		write_usages(w, "flavorsReservation", n, &t->reserved, borrows);
		write_usages(w, "flavorsUsage", n, &t->used, borrows);
	}
}

static void write_share(struct writing *w, const struct quota_node *n)
{
	if (!w->q->options.fair_sharing) {
		return;
	}
	json_out_key(&w->o, "fairSharing");
	json_out_object(&w->o);
	json_out_kv_int(&w->o, "weightedShare", share_status(share_of(w->b->forest, n->id, NULL)));
	json_out_object_end(&w->o);
}

/* What it used of late, by resource; fractions of what is counted in millions are nobody's news. */
static void write_consumed(struct writing *w, const struct local_queue *l)
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

/* --- kinds -------------------------------------------------------------------------------------*/

bool queue_statuses_body_is_active(const struct quota_node *n)
{
	return n->queue->inactive == QUOTA_ACTIVE;
}

void queue_statuses_body_queue(const struct queue_statuses_body *b, const struct quota_node *n,
			       struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf message = STRBUF_INIT;
	const struct cluster_queue *queue = n->queue;
	bool active = queue_statuses_body_is_active(n);
	struct writing w;

	strbuf_add_c(&message, active ? "Can admit new workloads" : "Can't admit new workloads");
	if (!active && queue->inactive_what != NULL) {
		strbuf_printf(&message, ": %s", queue->inactive_what);
	}
	begin(&w, b, "ClusterQueue", out);
	begin_status(&w, n->name);
	write_active(&w, active, cluster_queue_reason(queue->inactive), message.p);
	write_totals(&w, n, &b->totals->nodes.v[n->id], true);
	write_share(&w, n);
	end(&w);
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

bool queue_statuses_body_local_is_active(const struct quota *q, const struct local_queue *l)
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
	const struct quota_node *n = quota_local_queue(forest_world(b->forest), l);
	enum readiness r = readiness_of(l, n);
	struct writing w;

	begin(&w, b, "LocalQueue", out);
	json_out_kv(&w.o, "namespace", l->namespace_);
	begin_status(&w, l->name);
	write_active(&w, r == READY, texts[r][0], texts[r][1]);
	write_totals(&w, n, &b->totals->locals.v[l->id], false);
	write_consumed(&w, l);
	end(&w);
}

void queue_statuses_body_cohort(const struct queue_statuses_body *b, const struct quota_node *n,
				struct strbuf *out)
{
	struct writing w;

	begin(&w, b, "Cohort", out);
	begin_status(&w, n->name);
	write_share(&w, n);
	end(&w);
}
