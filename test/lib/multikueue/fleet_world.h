/* test/lib/multikueue/fleet_world.h: a fleet of clusters in one process and virtual time: the
 * embedded API servers of a manager and of some worker clusters ("w0", "w1", ...), and the
 * orchestrator between them with its own connections. Servers outlive the orchestrator, which may
 * be killed at any time. One thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_WORLD_H
#define TEST_LIB_MULTIKUEUE_FLEET_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "api/kueue/custom_kinds.h"
#include "base/strbuf.h"
#include "scheduler/multikueue/manager/manager.h"
#include "scheduler/orchestrate/orchestrate.h"

#define FLEET_WORLD_MANAGER (-1)
#define FLEET_WORLD_MAX 100 /* workers; as many as a MultiKueueConfig may name */

struct fleet_pipe_log;
struct fleet_world;
struct jdoc;
struct metric_registry;

/* The manager's AdmissionCheck "mk" names the MultiKueueConfig "all", with the workers in order. */
struct fleet_world *fleet_world_create(unsigned workers, const struct orchestrate_options *opt,
				       unsigned max_open, uint64_t seed);
/* From the next start on the process is the manager of MultiKueue. gated: it orchestrates, too. */
void fleet_world_manage(struct fleet_world *w, const struct manager_options *opt, int64_t gc_ns);
/* A world of which the manager has run for 2 s, and collects garbage each minute. */
struct fleet_world *fleet_world_managed(unsigned workers, const struct manager_options *opt);
/* The same: that manager carries pods, too. */
void fleet_world_carry_pods(struct fleet_world *w);
/* The same: kinds of the configuration, which are borrowed. */
void fleet_world_carry(struct fleet_world *w, struct custom_kinds kinds);
void fleet_world_destroy(struct fleet_world *w);
int64_t fleet_world_time(const struct fleet_world *w); /* ns since its beginning */
int64_t fleet_world_wall(const struct fleet_world *w); /* ns, of the manager's clock */

/* A request to a server (its number, or FLEET_WORLD_MANAGER), which takes effect at once. Returns
 * the status of the answer. patch: a merge patch. */
int fleet_world_create_object(struct fleet_world *w, int server, const char *collection,
			      const char *json);
int fleet_world_patch(struct fleet_world *w, int server, const char *path, const char *patch);
int fleet_world_delete(struct fleet_world *w, int server, const char *path);
/* The object; NULL: there is none. The caller destroys it. */
struct jdoc *fleet_world_get(struct fleet_world *w, int server, const char *path);

/* Everything that is possible without time passing happens; then time passes, ns in all. */
void fleet_world_run(struct fleet_world *w, int64_t ns);
/* One half step of one connection, chosen by the seed; false: nothing is possible. */
bool fleet_world_step(struct fleet_world *w);
/* Requests and streams of the connection are lost, or (hangs) delivered only when this ends. */
void fleet_world_cut(struct fleet_world *w, unsigned worker, bool cut);
void fleet_world_hang(struct fleet_world *w, int server, bool hangs);
/* The server refuses what the orchestrator patches: tokens, or on a worker gates. */
void fleet_world_refuse(struct fleet_world *w, int server, bool refuses);
/* Rules of apiserver/faults.h, until the next ones. Not together with the two around this. */
void fleet_world_faults(struct fleet_world *w, int server, const char *script);
/* A worker answers creates of the process with this status, without effect; 0: it does not. */
void fleet_world_refuse_creates(struct fleet_world *w, unsigned worker, int status);
/* The process of the orchestrator dies, without or with those requests arriving that it has sent.
 */
void fleet_world_kill(struct fleet_world *w, bool flush);
void fleet_world_start(struct fleet_world *w);
/* The core of this cluster runs as a process of its own (fleet_core.h), until the end. Its queues
 * are the caller's to make. conf: Kueue's Configuration as JSON; NULL: the defaults. */
void fleet_world_start_core(struct fleet_world *w, int server, const char *conf);
/* From now on requests of all processes are reported (fleet_pipe.h). */
void fleet_world_log(struct fleet_world *w, const struct fleet_pipe_log *log);
/* The manager's wall clock is set by so much. */
void fleet_world_set_clock(struct fleet_world *w, int64_t by);
bool fleet_world_is_connected(struct fleet_world *w, unsigned worker); /* all lists are complete */
struct metric_registry *fleet_world_metrics(struct fleet_world *w);
/* CPU time that the process has taken since this was called last, ms: all but what HTTP and TLS
 * would take; not the servers, of which a connection is a call. */
struct fleet_world_spent {
	double deciding; /* messages and decisions */
	double client;   /* answers and watches: cut up and decoded into messages */
	double writes;   /* pools: requests are made and sent */
};
struct fleet_world_spent fleet_world_take_spent(struct fleet_world *w);
int64_t fleet_world_heartbeat(const struct fleet_world *w); /* of the orchestrator's last step */

/* A Workload "default/NAME" that has the manager's quota and is offered to all workers, with a
 * gated replica on each. */
void fleet_world_offer(struct fleet_world *w, const char *name, int priority);
/* Its replica on one worker alone, when it is missing there. */
void fleet_world_offer_to(struct fleet_world *w, unsigned worker, const char *name, int priority);
/* A Workload of priority 0 that the worker has admitted. A worker's ClusterQueue has 1 CPU, for
 * which Workloads of a higher priority may preempt. */
void fleet_world_fill(struct fleet_world *w, unsigned worker, const char *name, const char *cpu);
/* A worker's scheduler writes the status of the replica. */
enum fleet_world_state {
	FLEET_WORLD_GATED, /* it signals */
	FLEET_WORLD_NO_FIT,
	FLEET_WORLD_PREEMPTING,
	FLEET_WORLD_RESERVED,
	FLEET_WORLD_ADMITTED,
	FLEET_WORLD_EVICTED, /* its gates are closed by the same write */
};
void fleet_world_report(struct fleet_world *w, unsigned worker, const char *name,
			enum fleet_world_state state);
/* The gate of the replica is open. */
bool fleet_world_is_open(struct fleet_world *w, unsigned worker, const char *name);
/* The number of the one worker with an open gate; -1: none; -2: several. */
int fleet_world_open(struct fleet_world *w, const char *name);
/* How many events of the manager's cluster have this reason, are about an object of this name and
 * have this text in their message; NULL: any. */
unsigned fleet_world_events(struct fleet_world *w, const char *reason, const char *object,
			    const char *part);
/* The token's text on the manager, appended; "": none. */
void fleet_world_token(struct fleet_world *w, const char *name, struct strbuf *out);

#endif
