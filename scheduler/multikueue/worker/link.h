/* scheduler/multikueue/worker/link.h: the connection to one worker cluster (MultiKueueCluster):
 * made as soon as it is due (scheduler/multikueue/connection.h), kept, and made anew when it is
 * lost. It lists and watches the replicas, which are the Workloads, batch Jobs and (if they are
 * needed) pods and objects of configured kinds with the label of this manager, and all LocalQueues;
 * it learns which fields of preemption gates the API server serves; and it has the pool through
 * which replicas are written.
 *
 * Each connection has a number that none had before it. All messages of a connection carry it
 * (sched_msg.source): objects, SYNCED, answers to writes, and WATCH and GATE_FIELDS, which are for
 * link_handle. A message with another number is of an earlier connection and is to be dropped. A
 * new connection lists everything again: what its lists have not shown by the time it is up exists
 * no more. Writes that were not answered when their connection ended may have had their effect, and
 * may not be answered any more.
 *
 * Owner: the fleet thread, which none of these functions keeps waiting for the network: what may
 * block when a connection ends runs on a thread of its own. */
#ifndef SCHEDULER_MULTIKUEUE_WORKER_LINK_H
#define SCHEDULER_MULTIKUEUE_WORKER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "api/kueue/custom_kinds.h"

struct clock;
struct custom_lists;
struct err;
struct kubeconfig;
struct link;
struct metric_registry;
struct pool;
struct pool_limiter;
struct sched_msg;
struct strbuf;
struct transport;

#define LINK_MAX_QUEUED 50000
#define LINK_MAX_OBJECTS 100000

struct link_options {
	const char *cluster; /* name of the MultiKueueCluster; copied */
	const char *origin;  /* of our replicas: value of the label multikueue-origin; copied */
	const struct clock *clock;
	struct metric_registry *counters;
	struct pool_limiter *limiter; /* of the writes to this cluster; NULL: no limit */
	int64_t request_timeout_ns;
	bool manual; /* the owner steps link_pool; no thread is started */
	/* Jobs are as necessary as Workloads: a connection on which they cannot be read has failed,
	 * and messages keep their status as text (message_json.h). The same of pods, which are not
	 * read otherwise. */
	bool needs_jobs, needs_pods;
	bool needs_gates; /* the condition says when the cluster has no preemption gates */
	/* Kinds of jobs besides (custom_watch.h). A connection does without those that cannot be
	 * read. Borrowed. */
	struct custom_kinds customs;
	/* Messages about objects that were posted and not yet handled, and objects in one list: a
	 * cluster that exceeds them is cut off, so that it does not fill the memory that all share.
	 * 0: LINK_MAX_QUEUED, LINK_MAX_OBJECTS */
	unsigned max_queued, max_objects;
	uint64_t seed;
	/* Makes a transport to the cluster; each connection has one for watches and one for
	 * requests. The fleet thread; does not block. */
	int (*connect)(void *ctx, const char *cluster, const struct kubeconfig *cfg,
		       struct transport **ret, struct err *err);
	uint64_t (*next_source)(void *ctx); /* never the same, never 0. The fleet thread */
	void (*post)(void *ctx, struct sched_msg *msg); /* any thread, until link_destroy returns */
	bool (*may_send)(void *ctx); /* asked before each write; any thread; NULL: always */
	void *ctx;
};

struct link *link_create(const struct link_options *opt);
/* Waits for connections that are being closed, which takes seconds where a name cannot be resolved:
 * while others go on, link_configure(l, NULL, ...) first, and this when link_is_closed. NULL is
 * fine. */
void link_destroy(struct link *l);
/* No connection is left that would have to be waited for. */
bool link_is_closed(const struct link *l);

/* The kubeconfig of the cluster, which the link takes over. One that is equal to the present one
 * changes nothing; another one ends the connection, and is tried at once. NULL: there is none that
 * can be used; reason (static) and message are those of the condition Active. */
void link_configure(struct link *l, struct kubeconfig *cfg_take, const char *reason,
		    const char *message);
/* Does what is due. Returns the time at which it is to be called again (mono ns), if no message
 * comes before; CLOCK_NEVER: only a message matters. */
int64_t link_step(struct link *l);
/* To be given each message of a worker before anything is made of it. False: it is not of the
 * present connection. */
bool link_handle(struct link *l, const struct sched_msg *m);

/* All lists are complete, except those that were refused (link_add_refused), and objects arrive.
 * Changes in link_configure, link_step and link_handle alone. */
bool link_is_up(const struct link *l);
/* The number of the present connection, from its first object on; 0: there is none. */
uint64_t link_source(const struct link *l);
/* Wall ns since which there is no connection, whatever failed after it (workerLostTimeout counts
 * from it); CLOCK_NEVER: it is up. */
int64_t link_lost_at(const struct link *l);
/* The fields of status.preemptionGates that the API server serves (api/kueue/preemption_gate.h); 0:
 * not known. Read anew with each connection. */
unsigned link_gate_fields(const struct link *l);
/* It serves none of them: its Workloads have no preemption gates, and preempt as they like. */
bool link_lacks_gates(const struct link *l);
/* It is or was up, or an attempt, or the kubeconfig, has failed: the condition below says more than
 * that it has just begun. */
bool link_is_settled(const struct link *l);
/* The condition Active of the MultiKueueCluster: its status ("True"), reason and message, which is
 * appended, and names the lists that were refused. */
const char *link_condition(const struct link *l, const char **ret_reason, struct strbuf *message);
/* Appends the lists of Jobs and LocalQueues that the API server refuses, for which the connection
 * does not wait, each with its answer; appends nothing if there are none. */
void link_add_refused(const struct link *l, struct strbuf *out);

/* The state of the configured kinds there. Changes in link_step and link_handle alone. */
const struct custom_lists *link_customs(const struct link *l);

/* For writes to the cluster (scheduler/base/object_write.h); NULL: there is no connection. Valid
 * until the next call of link_configure, link_step, link_handle or link_destroy. */
struct pool *link_pool(const struct link *l);
/* For requests of other modules: calls alone, no pools. NULL: there is no connection. Valid as
 * link_pool. Calls in flight when the connection ends get ERR_CANCELLED, on any thread, at the
 * latest before link_destroy returns. */
struct transport *link_transport(const struct link *l);
#endif
