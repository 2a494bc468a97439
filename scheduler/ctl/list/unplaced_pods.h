/* scheduler/ctl/list/unplaced_pods.h: pods of other schedulers that are ungated and have no node:
 * they hold quota that Headgate cannot take back. One thread. */
#ifndef SCHEDULER_CTL_LIST_UNPLACED_PODS_H
#define SCHEDULER_CTL_LIST_UNPLACED_PODS_H

#include <stdio.h>

struct json_out;
struct live_cluster;
struct queue;
struct unplaced_pods;

/* Borrows s. */
struct unplaced_pods *unplaced_pods_create(const struct live_cluster *s);
void unplaced_pods_destroyp(struct unplaced_pods **pp);
/* A table, after an empty line; nothing if there are none. */
void unplaced_pods_print(const struct unplaced_pods *p, FILE *to);
/* The member "unplacedPods" of a queue: those that are charged to this very queue. */
void unplaced_pods_write(const struct unplaced_pods *p, const struct queue *q, struct json_out *o);

#endif
