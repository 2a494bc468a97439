#include "scheduler/multikueue/fleet/fleet_active.h"

#include <stdlib.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "kube/pool.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/base/object_write.h"
#include "scheduler/multikueue/check_active.h"
#include "scheduler/multikueue/manager/manager.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_offers.h"
#include "scheduler/multikueue/worker/link.h"

#define ACTIVE "Active"
#define INTERVAL_NS CLOCK_NS_PER_S
/* A watch that is cut, or an API server that restarts, makes no queue inactive. */
#define GRACE_NS (5 * CLOCK_NS_PER_S)
/* Between two writes that change nothing but the message, in which the number of attempts and the
 * time of the next one are; and before one is repeated that had no effect. */
#define REPEAT_NS (30 * CLOCK_NS_PER_S)

struct written {
	bool in_flight;
	int64_t again_at; /* mono ns: not before, unless status or reason have changed */
};

struct fleet_active {
	const struct fleet_clusters *clusters;
	const struct fleet_offers *offers;
	struct pool *pool;
	const struct clock *clock;
	struct strmap *written; /* struct written, by number of the resource and name: "3/a" */
	int64_t at;             /* mono ns */
};

/* The condition as it is to be. */
struct wanted {
	const char *status, *reason;
	struct strbuf message;
	int64_t since;      /* wall ns, if the status changes */
	bool message_waits; /* a change of the message alone waits for REPEAT_NS */
};

struct fleet_active *fleet_active_create(const struct fleet_clusters *clusters,
					 const struct fleet_offers *offers, struct pool *pool,
					 const struct clock *clock)
{
	struct fleet_active *a = xmalloc_zero(1, sizeof(*a));

	*a = (struct fleet_active){ .clusters = clusters,
				    .offers = offers,
				    .pool = pool,
				    .clock = clock,
				    .written = strmap_create(free) };
	return a;
}

void fleet_active_destroy(struct fleet_active *a)
{
	if (a != NULL) {
		strmap_destroy(a->written);
		free(a);
	}
}

void fleet_active_note(struct fleet_active *a)
{
	a->at = 0;
}

/* --- writes ------------------------------------------------------------------------------------*/

static struct written *written_of(struct fleet_active *a, enum sched_resource r, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct written *w;

	strbuf_printf(&key, "%u/%s", (unsigned)r, name);
	w = strmap_get(a->written, strbuf_str(&key));
	if (w == NULL) {
		w = xmalloc_zero(1, sizeof(*w));
		strmap_set(a->written, strbuf_str(&key), w);
	}
	return w;
}

static void format(enum sched_resource r, const struct api_meta *meta, struct api_condition *c,
		   struct strbuf *out)
{
	if (r == SCHED_MULTIKUEUE_CLUSTERS) {
		struct api_multikueue_cluster o;

		decode_init(&multikueue_cluster_fields, &o);
		o.api_version = KUEUE_API_VERSION;
		o.kind = "MultiKueueCluster";
		o.meta.name = meta->name;
		o.meta.uid = meta->uid;
		o.status.conditions.v = c;
		o.status.conditions.n = 1;
		encode_text(&multikueue_cluster_fields, &o, out);
	} else {
		struct api_admission_check o;

		decode_init(&kueue_admission_check_fields, &o);
		o.api_version = KUEUE_API_VERSION;
		o.kind = "AdmissionCheck";
		o.meta.name = meta->name;
		o.meta.uid = meta->uid;
		o.status.conditions.v = c;
		o.status.conditions.n = 1;
		encode_text(&kueue_admission_check_fields, &o, out);
	}
}

static void send(struct fleet_active *a, enum sched_resource r, const struct api_meta *meta,
		 struct api_condition *c)
{
	CLEANUP(strbuf_finish)
	struct strbuf path = STRBUF_INIT, body = STRBUF_INIT, key = STRBUF_INIT;
	struct object_write_spec spec = { .request = SCHED_REQ_CLUSTER_STATUS,
					  .resource = r,
					  .method = HTTP_PATCH,
					  .key = str_of(meta->name),
					  .content_type = "application/apply-patch+yaml" };

	format(r, meta, c, &body);
	sched_kinds_path(r, NULL, meta->name, "status", &path);
	strbuf_add_c(&path, "?fieldManager=" MANAGER_FIELD_MANAGER "&force=true");
	spec.path = path.p;
	spec.body = strbuf_str(&body);
	strbuf_printf(&key, "active %u %s", (unsigned)r, meta->name);
	pool_add(a->pool, strbuf_str(&key), object_write_new(&spec));
}

/* Writes the condition if it differs from the one that the object has. */
static void set(struct fleet_active *a, enum sched_resource r, const struct api_meta *meta,
		const struct api_conditions *conditions, const struct wanted *w)
{
	const struct api_condition *now = meta_condition(conditions, ACTIVE);
	struct written *last = written_of(a, r, meta->name);
	bool same = now != NULL && str_streq(now->status, w->status);
	struct api_condition c = { .type = ACTIVE,
				   .status = w->status,
				   .reason = w->reason,
				   .message = w->message.p == NULL ? "" : w->message.p,
				   .observed_generation = meta->generation,
				   .last_transition = same ? now->last_transition : w->since };
	int64_t mono = clock_mono(a->clock);

	if (last->in_flight ||
	    (same && str_streq(now->reason, w->reason) &&
	     (str_streq(now->message, c.message) || (w->message_waits && mono < last->again_at)))) {
		return;
	}
	if (mono < last->again_at && last->again_at - mono > REPEAT_NS - INTERVAL_NS) {
		return; /* just written, and not read yet */
	}
	last->in_flight = true;
	last->again_at = mono + REPEAT_NS;
	send(a, r, meta, &c);
}

/* --- conditions --------------------------------------------------------------------------------*/

static const struct fleet_cluster *find(const struct fleet_active *a, const char *name)
{
	const struct fleet_cluster *k = fleet_clusters_any(a->clusters, str_of(name));

	return k == NULL || k->is_gone ? NULL : k;
}

/* A connection that has just begun, or was just lost, says nothing yet. */
static bool is_settled(const struct fleet_active *a, const struct fleet_cluster *k)
{
	int64_t lost_at = link_lost_at(k->link), now = clock_wall(a->clock);

	return link_is_up(k->link) ||
	       (link_is_settled(k->link) && (now < lost_at || now - lost_at >= GRACE_NS));
}

static enum check_active_cluster state_of(void *ctx, const char *name)
{
	const struct fleet_active *a = ctx;
	const struct fleet_cluster *k = find(a, name);
	const struct api_multikueue_cluster *o = fleet_clusters_object(a->clusters, name);
	bool up;

	if (k == NULL || o == NULL) {
		return CHECK_ACTIVE_MISSING;
	}
	up = is_settled(a, k) ? link_is_up(k->link)
			      : meta_condition_is_true(&o->status.conditions, ACTIVE);
	return up ? CHECK_ACTIVE_USABLE : CHECK_ACTIVE_INACTIVE;
}

static bool find_config(void *ctx, const char *name, struct check_active_config *ret)
{
	const struct fleet_active *a = ctx;
	const struct field_strs *clusters = fleet_offers_config(a->offers, name);

	if (clusters == NULL) {
		return false;
	}
	*ret = (struct check_active_config){ name, clusters->v, clusters->n };
	return true;
}

static void set_check(void *ctx, const struct api_admission_check *check)
{
	struct fleet_active *a = ctx;
	const struct check_active_source source = { find_config, state_of, a };
	struct wanted w = { .message = STRBUF_INIT, .since = clock_wall(a->clock) };

	w.status = check_active(check->spec.parameters, &source, &w.reason, &w.message);
	set(a, SCHED_ADMISSION_CHECKS, &check->meta, &check->status.conditions, &w);
	strbuf_finish(&w.message);
}

static void set_cluster(struct fleet_active *a, const struct fleet_cluster *k)
{
	const struct api_multikueue_cluster *o = fleet_clusters_object(a->clusters, k->name);
	struct wanted w = { .message = STRBUF_INIT,
			    .since = link_lost_at(k->link),
			    .message_waits = true };

	if (o == NULL || !is_settled(a, k)) {
		return;
	}
	if (w.since == CLOCK_NEVER) { /* it is up */
		w.since = clock_wall(a->clock);
	}
	w.status = link_condition(k->link, &w.reason, &w.message);
	set(a, SCHED_MULTIKUEUE_CLUSTERS, &o->meta, &o->status.conditions, &w);
	strbuf_finish(&w.message);
}

int64_t fleet_active_step(struct fleet_active *a)
{
	int64_t mono = clock_mono(a->clock);

	if (mono < a->at) {
		return a->at;
	}
	a->at = mono + INTERVAL_NS;
	for (size_t i = 0; i < fleet_clusters_count(a->clusters); i++) {
		const struct fleet_cluster *k = fleet_clusters_at(a->clusters, i);

		if (!k->is_gone) {
			set_cluster(a, k);
		}
	}
	fleet_offers_each(a->offers, set_check, a);
	return a->at;
}

void fleet_active_done(struct fleet_active *a, const struct sched_msg *m)
{
	CLEANUP(xmalloc_freep)
	char *name = xmalloc_dup_n(m->key.p, m->key.len);
	struct written *w = written_of(a, m->resource, name);

	w->in_flight = false;
	if (m->outcome == SCHED_REJECTED) {
		log_warn("condition Active not written", LOG_STR("object", name),
			 LOG_STR("error", m->text));
	}
}
