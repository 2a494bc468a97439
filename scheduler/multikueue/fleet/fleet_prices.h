/* scheduler/multikueue/fleet/fleet_prices.h: the cost of preempting for a Workload on each worker
 * cluster that asks for it (ORCHESTRATE_COST). A cluster is read when its price is needed
 * (worker/survey.h), and what was read serves all Workloads for a few seconds. A cluster that
 * cannot be read, for example for lack of rights, has no prices for a minute, and its costs are not
 * known (orchestrate.h says what follows). Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_PRICES_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_PRICES_H

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct fleet_clusters;
struct fleet_holders;
struct fleet_prices;
struct fleet_view;
struct fleet_workload;
struct kueue_conf;
struct sched_msg;

struct fleet_prices_options {
	const struct kueue_conf *conf; /* of the workers, as far as it decides about preemption */
	const struct clock *clock;
	void (*post)(void *ctx, struct sched_msg *msg); /* gets SCHED_MSG_SURVEY; any thread */
	void *ctx;
};

/* Texts and objects of opt must outlive it. */
struct fleet_prices *fleet_prices_create(const struct fleet_prices_options *opt);
/* After the connections. NULL is fine. */
void fleet_prices_destroy(struct fleet_prices *p);
/* Sets the costs of the candidates of the view, which is of w. False: some are being read, and a
 * SURVEY message follows. With fewer than two candidates there is nothing to compare: true. */
bool fleet_prices_set(struct fleet_prices *p, struct fleet_view *view,
		      const struct fleet_workload *w, struct fleet_clusters *clusters,
		      const struct fleet_holders *holders);
/* The Workload was granted the token for this cluster: its victims there, which are none of those
 * promised to other holders, are promised to it, and are no victims of others until it holds the
 * token no more. */
void fleet_prices_promise(struct fleet_prices *p, struct fleet_workload *w, const char *cluster,
			  const struct fleet_holders *holders);
/* A Workload has the token for this cluster no more: its victims have left since the cluster was
 * read, or the room that they left is used. It is read again before the next price. */
void fleet_prices_ended(struct fleet_prices *p, const char *cluster);
/* SCHED_MSG_SURVEY. cluster: that of its connection. */
void fleet_prices_handle(struct fleet_prices *p, const char *cluster, struct sched_msg *m);
/* The connection to this cluster has ended. */
void fleet_prices_lost(struct fleet_prices *p, const char *cluster);
/* Why this cluster could not be read last; NULL: it could. Lives until the next call of another
 * function. */
const char *fleet_prices_error(const struct fleet_prices *p, const char *cluster);

#endif
