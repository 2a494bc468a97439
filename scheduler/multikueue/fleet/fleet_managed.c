#include "scheduler/multikueue/fleet/fleet_managed.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_workload.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/fleet/fleet_clusters.h"
#include "scheduler/multikueue/manager/replica_body.h"

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

static void free_there(struct fleet_there *t)
{
	message_free(t->replica);
	message_free(t->job);
	end_write(&t->replica_write);
	end_write(&t->job_write);
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
	end_write(&g->job_write);
	free(g->job_key);
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

void fleet_managed_set_replica(struct fleet_there *t, struct sched_msg *m,
			       const struct replica_body_manager *by, uint64_t source)
{
	const struct api_workload *w = m == NULL ? NULL : m->object;
	bool is_ours = w != NULL && replica_body_is_ours(&w->meta, by);

	if (m == NULL) {
		note_gone(&t->replica_write, t->replica);
	}
	t->replica_foreign = w != NULL && !is_ours;
	t->replica_taken = t->replica_taken && !is_ours;
	t->replica_source = source;
	set_message(&t->replica, is_ours ? m : NULL);
}

static bool is_job_of(const struct sched_msg *m, const char *workload,
		      const struct replica_body_manager *by)
{
	const struct api_job *job = m->object;
	const char *name = replica_body_workload_of(&job->meta), *slash = strchr(workload, '/');
	size_t space = slash == NULL ? 0 : (size_t)(slash - workload);

	return replica_body_is_ours(&job->meta, by) && slash != NULL &&
	       str_streq(name, slash + 1) &&
	       str_eq(str_of(job->meta.namespace_), (struct str){ workload, space });
}

static void set_job(struct fleet_there *t, struct sched_msg *m)
{
	if (m != NULL) {
		t->job_sent = t->job_taken = false;
	}
	set_message(&t->job, m);
}

void fleet_managed_find_job(struct fleet_managed *g, struct fleet_there *t, const char *workload,
			    struct sched_msg *m, const struct replica_body_manager *by)
{
	struct sched_msg *found;

	if (g->job_key == NULL) {
		if (m != NULL && is_job_of(m, workload, by)) {
			set_job(t, m);
		}
		return;
	}
	found = strmap_get(t->cluster->jobs, str_of(g->job_key));
	t->job_foreign = found != NULL && !is_job_of(found, workload, by);
	set_job(t, t->job_foreign ? NULL : found);
}

void fleet_managed_drop_job(struct fleet_there *t, struct sched_msg *gone)
{
	note_gone(&t->job_write, gone);
	t->job_foreign = false;
	if (t->job != NULL && str_eq(t->job->key, gone->key)) {
		set_message(&t->job, NULL);
	}
}

void fleet_managed_lose(struct fleet_there *t)
{
	end_write(&t->replica_write);
	end_write(&t->job_write);
	t->tries = (struct fleet_tries){ .failures = 0 };
}

void fleet_managed_reach(struct fleet_there *t, uint64_t source)
{
	if (t->replica_source != source) {
		set_message(&t->replica, NULL);
		t->replica_foreign = false;
	}
	if (t->job != NULL && t->job->source != source) {
		set_message(&t->job, NULL);
	}
	t->replica_taken = t->job_taken = t->job_sent = false;
	t->looks = 0;
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

bool fleet_managed_is_gone(const struct fleet_managed *g)
{
	for (size_t i = 0; i < g->there.n; i++) {
		const struct fleet_there *t = g->there.v[i];

		if (!t->cluster->is_gone && (t->replica != NULL || t->job != NULL)) {
			return false;
		}
	}
	return true;
}
