#include "scheduler/multikueue/records/fleet_managed.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_workload.h"
#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/replica_body.h"
#include "scheduler/multikueue/records/fleet_clusters.h"

struct fleet_managed *fleet_managed_create(void)
{
	struct fleet_managed *g = xmalloc_zero(1, sizeof(*g));

	g->round_at = MANAGER_NOT_KNOWN;
	return g;
}

static void end_write(struct fleet_write *w)
{
	free(w->event);
	*w = (struct fleet_write){ .in_flight = false };
}

static void set_message(struct sched_msg **at, struct sched_msg *m)
{
	struct sched_msg *old = *at;

	*at = m == NULL ? NULL : message_ref(m);
	message_free(old);
}

static void free_part(struct fleet_part *part)
{
	message_free(part->o.object);
	end_write(&part->o.write);
	free(part->key);
	free(part);
}

static void free_there(struct fleet_there *t)
{
	message_free(t->replica.object);
	end_write(&t->replica.write);
	for (size_t i = 0; i < t->parts.n; i++) {
		free_part(t->parts.v[i]);
	}
	vec_finish(&t->parts);
	free(t);
}

void fleet_managed_destroy(struct fleet_managed *g)
{
	if (g == NULL) {
		return;
	}
	for (size_t i = 0; i < g->there.n; i++) {
		free_there(g->there.v[i]);
	}
	vec_finish(&g->there);
	end_write(&g->workload_write);
	free(g->job);
	free(g);
}

struct fleet_there *fleet_managed_find(const struct fleet_managed *g, const struct fleet_cluster *k)
{
	for (size_t i = 0; i < g->there.n; i++) {
		if (g->there.v[i]->cluster == k) {
			return g->there.v[i];
		}
	}
	return NULL;
}

struct fleet_there *fleet_managed_there(struct fleet_managed *g, struct fleet_cluster *k)
{
	struct fleet_there *t = fleet_managed_find(g, k);

	if (t == NULL) {
		t = xmalloc_zero(1, sizeof(*t));
		t->cluster = k;
		vec_push(&g->there, t);
	}
	return t;
}

void fleet_managed_renew(struct fleet_managed *g)
{
	end_write(&g->workload_write);
	g->tries = (struct fleet_tries){ .failures = 0 };
	g->round_at = MANAGER_NOT_KNOWN;
	for (size_t i = 0; i < g->there.n; i++) {
		g->there.v[i]->compared.here = 0;
	}
}

void fleet_managed_changed(struct fleet_managed *g)
{
	g->tries.idle = 0;
	for (size_t i = 0; i < g->there.n; i++) {
		g->there.v[i]->tries.idle = 0;
	}
}

/* --- objects on a worker -----------------------------------------------------------------------*/

static int64_t version_of(const struct sched_msg *m)
{
	return m == NULL ? 0 : m->resource_version;
}

/* The deletion of an object that a create has followed is older than what the create made. Of any
 * other write nothing is to be seen any more. */
static void note_gone(struct fleet_write *w, const struct sched_msg *gone)
{
	bool creates = w->act == MANAGER_CREATE_REPLICA || w->act == MANAGER_CREATE_JOB;

	if (!creates || w->written <= version_of(gone) + 1) {
		w->written = 0;
	}
}

static const char *uid_of(const struct sched_msg *m)
{
	const struct api_workload *w = m->object;
	enum carried c;

	return carried_find(m->resource, &c) ? carried_row(c)->meta(m->object)->uid : w->meta.uid;
}

/* A list may show the object that has taken the place of one without the deletion of that one. */
static void note_other(struct fleet_object *o, const struct sched_msg *m)
{
	if (o->object != NULL && m != NULL && m->object != NULL &&
	    !str_streq(uid_of(o->object), uid_of(m))) {
		note_gone(&o->write, o->object);
	}
}

/* Generations of another object count from 1 again. */
static bool is_same_replica(const struct fleet_there *t, const struct api_workload *w)
{
	return t->replica.object != NULL && w != NULL &&
	       str_streq(uid_of(t->replica.object), w->meta.uid);
}

void fleet_managed_set_replica(struct fleet_there *t, struct sched_msg *m,
			       const struct replica_body_manager *by, uint64_t source)
{
	const struct api_workload *w = m == NULL ? NULL : m->object;
	bool is_ours = w != NULL && replica_body_is_ours(&w->meta, by);

	if (m == NULL) {
		note_gone(&t->replica.write, t->replica.object);
	}
	note_other(&t->replica, m);
	t->compared.here = is_same_replica(t, w) ? t->compared.here : 0;
	t->replica.foreign = w != NULL && !is_ours;
	t->replica.taken = t->replica.taken && !is_ours;
	t->replica_source = source;
	set_message(&t->replica.object, is_ours ? m : NULL);
}

bool fleet_managed_is_part_of(const struct sched_msg *m, const char *workload,
			      const struct replica_body_manager *by)
{
	const char *slash = strchr(workload, '/'), *name;
	const struct api_meta *meta;
	enum carried c;

	if (slash == NULL || m->object == NULL || !carried_find(m->resource, &c)) {
		return false;
	}
	meta = carried_row(c)->meta(m->object);
	name = replica_body_workload_of(meta);
	return replica_body_is_ours(meta, by) && str_streq(name, slash + 1) &&
	       str_eq(str_of(meta->namespace_),
		      (struct str){ workload, (size_t)(slash - workload) });
}

/* The place of the first part that does not come before this name. */
static size_t place_of(const struct fleet_there *t, enum sched_resource r, struct str key)
{
	size_t from = 0, to = t->parts.n;

	while (from < to) {
		size_t i = from + (to - from) / 2;
		const struct fleet_part *part = t->parts.v[i];
		int by = part->resource != r ? (part->resource > r) - (part->resource < r)
					     : str_cmp(str_of(part->key), key);

		if (by < 0) {
			from = i + 1;
		} else {
			to = i;
		}
	}
	return from;
}

struct fleet_part *fleet_managed_part(struct fleet_there *t, enum sched_resource r, struct str key,
				      bool add)
{
	size_t at = place_of(t, r, key);
	struct fleet_part *part = at < t->parts.n ? t->parts.v[at] : NULL;

	if (part != NULL && part->resource == r && str_eq_c(key, part->key)) {
		return part;
	}
	if (!add) {
		return NULL;
	}
	part = xmalloc_zero(1, sizeof(*part));
	part->resource = r;
	part->key = xmalloc_dup_n(key.p, key.len);
	vec_push(&t->parts, part);
	memmove(&t->parts.v[at + 1], &t->parts.v[at],
		(t->parts.n - 1 - at) * sizeof(t->parts.v[0]));
	t->parts.v[at] = part;
	return part;
}

void fleet_managed_see(struct fleet_there *t, struct fleet_part *part, const char *workload,
		       const struct replica_body_manager *by)
{
	struct sched_msg *found =
		fleet_clusters_carried(t->cluster, part->resource, str_of(part->key));

	note_other(&part->o, found);
	part->o.foreign = found != NULL && !fleet_managed_is_part_of(found, workload, by);
	found = part->o.foreign ? NULL : found;
	if (found != NULL) {
		part->sent = part->o.taken = false;
	}
	set_message(&part->o.object, found);
}

void fleet_managed_drop(struct fleet_part *part, const struct sched_msg *gone)
{
	note_gone(&part->o.write, gone);
	part->o.foreign = false;
	set_message(&part->o.object, NULL);
}

static bool is_known(const struct fleet_part *part)
{
	return part->o.object != NULL || part->sent || part->o.write.in_flight;
}

void fleet_managed_tidy(struct fleet_there *t,
			bool (*wanted)(const void *ctx, const struct fleet_part *part),
			const void *ctx)
{
	size_t n = 0;

	for (size_t i = 0; i < t->parts.n; i++) {
		struct fleet_part *part = t->parts.v[i];

		if (is_known(part) || wanted(ctx, part)) {
			t->parts.v[n++] = part;
		} else {
			free_part(part);
		}
	}
	t->parts.n = n;
}

void fleet_managed_lose(struct fleet_there *t)
{
	end_write(&t->replica.write);
	for (size_t i = 0; i < t->parts.n; i++) {
		end_write(&t->parts.v[i]->o.write);
	}
	t->tries = (struct fleet_tries){ .failures = 0 };
}

static void reach(struct fleet_object *o, bool shown)
{
	if (!shown) {
		set_message(&o->object, NULL);
		o->foreign = false;
	}
	o->taken = false;
	o->looks = 0;
}

void fleet_managed_reach(struct fleet_there *t, uint64_t source)
{
	reach(&t->replica, t->replica_source == source);
	for (size_t i = 0; i < t->parts.n; i++) {
		struct fleet_part *part = t->parts.v[i];

		reach(&part->o, part->o.object == NULL || part->o.object->source == source);
		part->sent = false;
	}
}

uint64_t fleet_managed_digest(struct fleet_digest *d, const struct sched_msg *m)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	enum carried c;

	if (d->of != 0 && d->of == m->resource_version) {
		return d->value;
	}
	if (!carried_find(m->resource, &c) || carried_row(c)->digest == NULL || m->json.p == NULL ||
	    jdoc_parse(m->json, &doc, NULL) < 0) {
		return 0;
	}
	*d = (struct fleet_digest){ m->resource_version, carried_row(c)->digest(doc) };
	return d->value;
}

void fleet_managed_note_sent(struct fleet_part *part, int64_t now)
{
	part->sent = true;
	part->sent_at = now;
}

bool fleet_managed_is_sent(const struct fleet_part *part, int64_t now)
{
	return part->sent &&
	       (part->o.write.in_flight || part->o.write.written != 0 ||
		(now >= part->sent_at && now - part->sent_at <= FLEET_MANAGED_SENT_NS));
}

/* --- writes ------------------------------------------------------------------------------------*/

bool fleet_managed_awaits(const struct fleet_write *w, int64_t version, int64_t now)
{
	return w->in_flight || (w->written > version && now >= w->done_at &&
				now - w->done_at < FLEET_MANAGED_AWAIT_NS);
}

/* A time that is further off than a pause is from before the clock was set back. */
bool fleet_managed_is_paused(const struct fleet_tries *t, int64_t now)
{
	return t->until > now && t->until - now <= FLEET_MANAGED_MAX_PAUSE_NS;
}

static bool has_part(const struct fleet_there *t)
{
	for (size_t i = 0; i < t->parts.n; i++) {
		if (t->parts.v[i]->o.object != NULL) {
			return true;
		}
	}
	return false;
}

bool fleet_managed_is_gone(const struct fleet_managed *g)
{
	for (size_t i = 0; i < g->there.n; i++) {
		const struct fleet_there *t = g->there.v[i];

		if (!t->cluster->is_gone && (t->replica.object != NULL || has_part(t))) {
			return false;
		}
	}
	return true;
}
