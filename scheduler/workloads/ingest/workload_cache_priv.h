/* scheduler/workloads/ingest/workload_cache_priv.h: shared by the files of the Workload cache.
 * Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_INGEST_WORKLOAD_CACHE_PRIV_H
#define SCHEDULER_WORKLOADS_INGEST_WORKLOAD_CACHE_PRIV_H

#include "scheduler/workloads/forest/forest.h"
#include "scheduler/workloads/ingest/workload_cache.h"

struct workload_status_pack;
struct err;
struct from_kueue_rules;
struct strmap;

/* The status of a Workload in the API and its writes: struct workload's `state`, set while the
 * cache has it. Statuses are owned and packed (workloads/status/workload_status_pack.h). */
struct workload_state {
	struct workload_status_pack *status; /* as it should stand; NULL: not read yet */
	struct workload_status_pack
		*before; /* as it was read last; NULL: neither dirty nor in flight */
	struct workload_status_pack
		*sent_status; /* as it is under way; NULL: it has not changed since */
	const char *queue;    /* where the status says it holds quota, interned; NULL: nowhere */
	unsigned failures;    /* writes in a row that failed */
	bool finished;        /* the status is that of a finished one, of which not all is kept */
	bool dirty;           /* the status is to be written */
	bool in_flight;       /* a write is under way: the next one waits for its outcome */
	bool unacknowledged;  /* it may hold quota by a write that was never answered */
	bool outdated;        /* the API has a status that has not been read yet */
	bool requeued;        /* Requeued=True since it was read: worth a new try when it is read */
	uint64_t sent;        /* number of the latest write */
	int64_t version;      /* resourceVersion of the last write */
	int64_t stale_up_to;  /* of an outdated one: updates up to this resourceVersion are old */
	int64_t read;         /* resourceVersion of what was read last */
	int64_t retry_at;     /* wall ns: no write before; MODEL_TIME_NONE */
	struct sched_msg *deferred; /* update that came while it was dirty or in flight */
};

/* Statuses as they are read from where they are packed; each lives until the next one of its use.
 */
enum workload_cache_use {
	WORKLOAD_CACHE_DRAFT,  /* workload_cache_edit */
	WORKLOAD_CACHE_SHOWN,  /* workload_cache_status */
	WORKLOAD_CACHE_BEFORE, /* for the listener, and what is to be sent */
	WORKLOAD_CACHE_AFTER,
	WORKLOAD_CACHE_USE_COUNT_
};
struct workload_cache_statuses {
	struct workload_status of[WORKLOAD_CACHE_USE_COUNT_];
};

struct workload_cache {
	struct quota_model *q;
	struct forest *forest;
	const struct kueue_conf *conf;
	struct from_kueue_rules *rules;
	struct workload_cache_listener listener;
	struct VEC(uint32_t) to_write; /* workloads that are dirty */
	struct VEC(uint32_t) unread;   /* workloads to be read once more */
	struct VEC(uint32_t) refused;  /* workloads that hold quota and could not be written */
	struct VEC(uint32_t) flushes;  /* nodes */
	struct VEC(struct sched_msg *) early; /* Workloads before all else is known */
	struct strmap *seen; /* "resource/key" -> struct seen, of objects with a spec */
	struct workload_cache_statuses *statuses;
	size_t n_woken_last_flush; /* Workloads that returned to their heaps */
	int64_t flush_at;          /* wall ns; INT64_MAX: nothing to flush */
	int64_t timers_at;         /* wall ns: the next end of a backoff */
	int64_t sample_at;         /* wall ns: the use of LocalQueues is to be sampled */
	uint64_t writes, changes, specs;
	bool synced[SCHED_RESOURCE_COUNT_];
	bool drafted;       /* workload_cache_edit was called, workload_cache_commit was not yet */
	bool placed;        /* everything was listed and put in its place */
	bool nodes_stale;   /* quota_nodes_changed is to be called */
	bool pending_stale; /* queues of waiting Workloads may have changed */
	bool flush_all;
	bool keeps_finished; /* all of the statuses of finished Workloads */
	bool samples;        /* their use is worked out here, not read */
	bool dirty;
};

/* Brings the trees up to date; before quota is held or released. */
void workload_cache_settle_nodes(struct workload_cache *c);
/* The Workloads that wait in the tree of the node are tried again, soon. */
void workload_cache_want_flush(struct workload_cache *c, uint32_t node, int64_t now);
void workload_cache_want_flush_all(struct workload_cache *c, int64_t now);
/* Carries a status that was decided or taken back over to w. */
void workload_cache_workload_flags(struct workload *w, const struct workload_status *status);
/* NULL gives NULL. */
const struct workload_status *workload_cache_unpack(const struct workload_cache *c,
						    const struct workload_status_pack *from,
						    enum workload_cache_use use);

/* workload_cache_reads, of everything but Workloads. */
bool workload_cache_objects_reads(enum sched_resource r);
/* Everything but Workloads. -ERR_INVALID: the object cannot be used, nothing changed. */
int workload_cache_objects_upsert(struct workload_cache *c, struct sched_msg *m, int64_t now,
				  struct err *err);
void workload_cache_objects_remove(struct workload_cache *c, struct sched_msg *m, int64_t now);
/* An empty map for `seen` of the cache. */
struct strmap *workload_cache_objects_seen(void);

void workload_cache_workload_upsert(struct workload_cache *c, struct sched_msg *m, int64_t now);
/* Of a Workload that did not decode or makes no sense: m->object is what can be read of it. */
void workload_cache_workload_keep(struct workload_cache *c, struct sched_msg *m, int64_t now);
void workload_cache_workload_remove(struct workload_cache *c, struct str key, int64_t now);
void workload_cache_workload_give_back(struct workload_cache *c, struct workload *w, int64_t now);
void workload_cache_workload_done(struct workload_cache *c, const struct sched_msg *m, int64_t now);
void workload_cache_workload_free(struct workload_state *s); /* NULL is fine */
/* Ends the backoff of refused writes that is over. Returns the next end; INT64_MAX: none. */
int64_t workload_cache_workload_retry(struct workload_cache *c, int64_t now);
/* After all LISTs: each Workload holds its quota or waits. */
void workload_cache_workload_place_all(struct workload_cache *c, int64_t now);
/* After ClusterQueues or LocalQueues came or went: each Workload holds quota or waits where it
 * should. */
void workload_cache_workload_place_again(struct workload_cache *c, int64_t now);

#endif
