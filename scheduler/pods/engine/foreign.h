/* scheduler/pods/engine/foreign.h: reports other programs that use our scheduler names: a Warning
 * event on each pod or PodGroup, metrics, a log line (at most one a minute), and a text for health
 * checks. pods/ingest/cache.h decides which binds and PodGroups are foreign. Owner: the sched
 * thread; foreign_describe from any thread. */
#ifndef SCHEDULER_PODS_ENGINE_FOREIGN_H
#define SCHEDULER_PODS_ENGINE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metric_registry;
struct foreign;
struct podgroup;
struct recorder;
struct task;

struct foreign *foreign_create(struct metric_registry *r);
void foreign_destroy(struct foreign *f); /* NULL is fine */
/* t was bound to the node by another program. now: wall ns. */
void foreign_bind(struct foreign *f, struct recorder *recorder, const struct task *t,
		  const char *node, int64_t now);
/* The PodGroup of g was created by another program. */
void foreign_podgroup(struct foreign *f, struct recorder *recorder, const struct podgroup *g,
		      int64_t now);
/* Describes the latest report, its time, and the totals; false: there was none, text is unchanged.
 */
bool foreign_describe(struct foreign *f, char *text, size_t size);

#endif
