/* scheduler/workloads/ingest/workload_cache.h: owner of struct quota_model and its forest: turns
 * messages (objects of kueue.x-k8s.io and their company, outcomes of writes) into changes of the
 * model, and keeps for each Workload its status as it should stand: what was read, and what was
 * decided since. Owner: the sched thread. No I/O, no clock: `now` is given (wall ns).
 *
 * Everything comes from the API: a Workload with QuotaReserved and an admission in its status holds
 * that quota, all others wait. No Workload is placed before the first LIST of every kind is
 * complete.
 *
 * Writes: workload_cache_edit and workload_cache_commit change a status; workload_cache_next_write
 * hands out the statuses to be sent. While a status is dirty or in flight, updates of the Workload
 * are deferred: the latest one waits for the outcome, and one that is older than the write is
 * dropped. So a decision is never undone by an earlier update. The writes of a Workload go one
 * after the other, and each names the resourceVersion that was read: other clients write parts of
 * the status, and a Workload that has finished meanwhile must be neither admitted nor evicted. A
 * write that fails takes the decision back: quota that was assumed is released, and the Workload is
 * tried again after a backoff, which doubles up to a minute, or up to ten for what the API server
 * calls invalid. Until then a Workload that holds quota is no candidate for preemption. When the
 * object is read again it is tried at once.
 *
 * Inadmissible Workloads return to the heap when something changed in their tree. Such flushes are
 * gathered for WORKLOAD_CACHE_FLUSH_NS (Kueue: the batch period of the queue manager), and for
 * longer where many return, so that a flush takes a small part of the time. Meanwhile a Workload
 * that is still in the heap may take the quota that was freed, although one that returns would go
 * first. */
#ifndef SCHEDULER_WORKLOADS_INGEST_WORKLOAD_CACHE_H
#define SCHEDULER_WORKLOADS_INGEST_WORKLOAD_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/str.h"
#include "scheduler/base/message.h"
#include "scheduler/workloads/status/workload_status.h"

#define WORKLOAD_CACHE_FLUSH_NS (CLOCK_NS_PER_S / 10)
#define WORKLOAD_CACHE_FLUSH_EACH_NS (CLOCK_NS_PER_MS / 50) /* for each that came back before */
#define WORKLOAD_CACHE_FLUSH_MOST_NS CLOCK_NS_PER_S

struct workload_cache;
struct kueue_conf;

/* Called on the sched thread while a message is applied; may be NULL each. A listener that needs an
 * object for longer takes a reference to its message. */
struct workload_cache_listener {
	/* All kinds but Workloads, Jobs and Namespaces included; also without a change of the spec.
	 * m->object: as it was decoded; NULL: deleted. */
	void (*on_object)(void *ctx, struct sched_msg *m);
	/* After the model has taken it; when it is deleted, after the model has forgotten it. Not
	 * called for updates that are older than what was written. id: that of struct workload; m:
	 * its object is the Workload as it was decoded; NULL: deleted. */
	void (*on_workload)(void *ctx, uint32_t id, struct str key, struct sched_msg *m);
	void (*on_bad_object)(void *ctx, enum sched_resource r, struct str key, const char *text);
	/* The status became another one: a write of another client was read, or one of ours was
	 * acknowledged. Not called for a Workload that is read for the first time, nor for one that
	 * was finished before. */
	void (*on_status)(void *ctx, const struct workload *w, const struct workload_status *before,
			  const struct workload_status *after);
	/* A write has succeeded or failed for good. */
	void (*on_written)(void *ctx, const struct workload *w, enum sched_outcome outcome,
			   const char *text);
	void *ctx;
};

/* conf is borrowed and must outlive the cache. */
struct workload_cache *workload_cache_create(const struct kueue_conf *conf,
					     const struct workload_cache_listener *listener);
void workload_cache_destroy(struct workload_cache *c); /* NULL is fine */
/* Statuses of finished Workloads are kept as a whole, to be shown. */
void workload_cache_keep_finished(struct workload_cache *c);
/* The fields of preemption gates that the API server serves (api/kueue/preemption_gate.h); 0, as at
 * first: not known. */
void workload_cache_serve_gates(struct workload_cache *c, unsigned served);
struct quota_model *workload_cache_model(const struct workload_cache *c);
struct forest *workload_cache_forest(const struct workload_cache *c);

/* Objects of this kind change the model; those of others are handed to the listener alone. */
bool workload_cache_reads(enum sched_resource r);
/* Applies UPSERT, DELETE, SYNCED and REQUEST_DONE of what the Workload engine looks at; others have
 * no effect. */
void workload_cache_apply(struct workload_cache *c, struct sched_msg *m, int64_t now);
bool workload_cache_is_synced(const struct workload_cache *c); /* and everything is placed */
/* Brings trees up to date and does what is due: flushes, ends of backoffs. Returns when it wants
 * to be called again (wall ns), INT64_MAX: not before something changes. */
int64_t workload_cache_settle(struct workload_cache *c, int64_t now);
/* The same, without gathering what is to be tried again: for a clock that stands still. */
void workload_cache_settle_at_once(struct workload_cache *c, int64_t now);
/* The leader remembers what LocalQueues use (admission fair sharing) and calls this; until then,
 * and after the lease is lost, it is read from their statuses. Returns as workload_cache_settle. */
int64_t workload_cache_sample(struct workload_cache *c, int64_t now);
/* True when something changed since the last call that a cycle may decide differently for. */
bool workload_cache_take_dirty(struct workload_cache *c);
/* Counts changes of the model. */
uint64_t workload_cache_changes(const struct workload_cache *c);
/* Counts changes of queues, cohorts, flavors and checks, on which the status of Workloads depends.
 */
uint64_t workload_cache_specs(const struct workload_cache *c);

/* A Workload that is to be read once more: it waits and its requests are to be computed again,
 * because a LimitRange or a RuntimeClass changed; or it has changed in the API since it was read.
 * False: none is left. */
bool workload_cache_next_unread(struct workload_cache *c, const struct workload **ret);

/* The status as it should stand; lives until the next call, or until the Workload is read or
 * committed. Of one that is finished: that it is, since nothing else counts any more. */
const struct workload_status *workload_cache_status(const struct workload_cache *c,
						    const struct workload *w);
/* A write was refused because the Workload had changed, and it has not been read since: its status
 * in the API may be another one, for example that of an eviction with a lost answer. */
bool workload_cache_is_outdated(const struct workload *w);
/* Its status was refused: nothing is to be decided about it before (wall ns), unless it is read
 * again; MODEL_TIME_NONE: at any time. */
int64_t workload_cache_retry_at(const struct workload *w);
/* The ClusterQueue in which the status says that it holds quota; NULL: none. */
const char *workload_cache_queue(const struct workload *w);
/* resourceVersion of the object as it was read. */
int64_t workload_cache_version(const struct workload *w);
/* The status that the API has or is about to get by the write that is in flight, without what was
 * decided since; NULL: nothing was. Valid until the next commit. */
const struct workload_status *workload_cache_written(const struct workload_cache *c,
						     const struct workload *w);
/* A copy of the status to be changed; one at a time, and no message before
 * workload_cache_commit. */
struct workload_status *workload_cache_edit(struct workload_cache *c, const struct workload *w);
/* The copy becomes the status, and is to be used no more. False: nothing is to be written, since it
 * says nothing new or the Workload is finished. */
bool workload_cache_commit(struct workload_cache *c, const struct workload *w);
/* Has the effect of an update without an admission, where no update comes: the Workload gives its
 * quota back and waits. */
void workload_cache_give_back(struct workload_cache *c, const struct workload *w, int64_t now);

/* A write that is to be sent: a status as a whole. */
struct workload_cache_write {
	const struct workload *workload;
	const struct workload_status *status;
	const struct workload_status *before; /* as it was read */
	int64_t resource_version;             /* the object must have it */
	uint64_t version;                     /* of the write; comes back in REQUEST_DONE */
	bool refused;                         /* the last write of this Workload was */
};
/* One at a time per Workload; the statuses live until the next call. False: none is left. */
bool workload_cache_next_write(struct workload_cache *c, struct workload_cache_write *ret);

#endif
