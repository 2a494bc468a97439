/* test/play/mirror.h: the cluster as seen from outside: pods, nodes, queues and PodGroups as JSON
 * trees, kept by reflectors of its own. Simulated kubelets, the simulated autoscaler, the timeline
 * and the oracle read only this. Everything happens on the transport's thread;
 * mirror_wait blocks another thread until a condition holds there. */
#ifndef TEST_PLAY_MIRROR_H
#define TEST_PLAY_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct clock;
struct jdoc;
struct mirror;
struct transport;

enum mirror_resource {
	MIRROR_PODS,
	MIRROR_NODES,
	MIRROR_QUEUES,
	MIRROR_PODGROUPS,
	MIRROR_JOBS,      /* seen only after mirror_follow */
	MIRROR_WORKLOADS, /* likewise */
	MIRROR_RESOURCE_COUNT_
};

/* old NULL: added; now NULL: deleted. Trees are borrowed. */
typedef void (*mirror_listen_fn)(void *ctx, enum mirror_resource r, struct str key,
				 const struct jdoc *old, const struct jdoc *now);
typedef bool (*mirror_cond_fn)(void *ctx, const struct mirror *m);
typedef bool (*mirror_each_fn)(void *ctx, struct str key,
			       const struct jdoc *object); /* false stops */

/* Everything seen, for checks in resourceVersion order afterwards. text absent: deleted. */
struct mirror_record {
	int64_t resource_version;
	int64_t at; /* when it was seen, monotonic ns of the mirror's clock */
	enum mirror_resource resource;
	char *key, *text;
};

struct mirror *mirror_create(struct transport *t, const struct clock *clock, bool keep_history);
void mirror_listen(struct mirror *m, mirror_listen_fn fn, void *ctx); /* before mirror_start */
void mirror_follow(struct mirror *m, enum mirror_resource r);         /* before mirror_start */
void mirror_start(struct mirror *m);
/* Call after the transport has been destroyed. */
void mirror_destroy(struct mirror *m);

/* On the transport's thread (listeners, conditions), or after it has ended. */
const struct jdoc *mirror_get(const struct mirror *m, enum mirror_resource r, const char *key);
size_t mirror_count(const struct mirror *m, enum mirror_resource r);
void mirror_each(const struct mirror *m, enum mirror_resource r, mirror_each_fn fn, void *ctx);
bool mirror_is_synced(const struct mirror *m);
/* Counts what the watches said: as long as it stays, the functions above answer the same. */
uint64_t mirror_changes(const struct mirror *m);
struct transport *mirror_transport(const struct mirror *m);
const struct clock *mirror_clock(const struct mirror *m);

/* Any other thread: true when the condition held before the timeout. */
bool mirror_wait(struct mirror *m, mirror_cond_fn cond, void *ctx, int64_t timeout_ns);
/* The changes seen until now, sorted by resourceVersion; valid until the next call. One thread. */
const struct mirror_record *mirror_history(struct mirror *m, size_t *ret_count);

/* Small readers of pods. */
bool mirror_pod_is_gated(const struct jdoc *pod);
const struct jdoc *mirror_pod_condition(const struct jdoc *pod, const char *type); /* NULL */
/* PodScheduled=False with reason exactly Unschedulable, no node, no deletion, no nomination: what
 * Cluster Autoscaler acts on. */
bool mirror_pod_triggers_scale_up(const struct jdoc *pod);

#endif
