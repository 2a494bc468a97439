/* scheduler/ctl/explain/live_cluster.h: the cluster as the scheduler would see it now, for
 * read-only verbs: from consistent lists of a live cluster, or from a dump file. A session is open
 * on it, so that limits and fits are the scheduler's own answers. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_LIVE_CLUSTER_H
#define SCHEDULER_CTL_EXPLAIN_LIVE_CLUSTER_H

#include "scheduler/ctl/cli/cluster_args.h"

struct cluster;
struct queue_totals;
struct session;
struct live_cluster;

/* Reads the dump that f names, else the cluster that it names, with one request for each page of
 * 500 objects. The caller destroys *ret. Objects that cannot be read are named on standard error
 * and left out. Errors are those of the requests, among them -ERR_FORBIDDEN where a right to list a
 * needed kind is missing; -ERR_INVALID: the configuration of the scheduler, or the dump. */
int live_cluster_load(const struct cluster_args *f, struct live_cluster **ret, struct err *err);
void live_cluster_destroy(struct live_cluster *s); /* NULL is fine */
void live_cluster_destroyp(struct live_cluster **ps);
/* Each of these lives as long as s. */
const struct cluster *live_cluster_cluster(const struct live_cluster *s);
struct session *live_cluster_session(const struct live_cluster *s);
const struct queue_totals *live_cluster_totals(const struct live_cluster *s); /* by queue id */

/* Text of an amount in dimension dim: "1500m", "2Gi", "unlimited". buf of at least 64 bytes. */
const char *live_cluster_amount(unsigned dim, long long amount, char *buf);

#endif
