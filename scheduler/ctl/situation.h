/* scheduler/ctl/situation.h: the cluster as the scheduler would see it now, for verbs that only
 * look: from consistent lists of a live cluster, or from a dump file. With a session opened over
 * it, so that limits and fits are the scheduler's own answers. One thread. */
#ifndef SCHEDULER_CTL_SITUATION_H
#define SCHEDULER_CTL_SITUATION_H

#include "ctl/cluster_args.h"

struct cluster;
struct queue_totals;
struct session;
struct situation;

int situation_load(const struct cluster_args *f, struct situation **ret, struct err *err);
void situation_destroy(struct situation *s);
void situation_destroyp(struct situation **ps);
const struct cluster *situation_cluster(const struct situation *s);
struct session *situation_session(const struct situation *s);
const struct queue_totals *situation_totals(const struct situation *s); /* by queue id */

/* Text of an amount in dimension dim: "1500m", "2Gi", "unlimited". buf of at least 64 bytes. */
const char *situation_amount(unsigned dim, long long amount, char *buf);

#endif
