/* scheduler/pods/model/access.h: which namespaces may use which queues. A Queue may have the
 * annotation headgate.io/namespace-selector, a label selector in kubectl's syntax: it and all
 * queues below it are only for pods of the namespaces that it matches. A selector that does not
 * parse matches none; a Queue without the annotation is for all namespaces. The result for a
 * PodGroup is podgroup->barred_by. The label kubernetes.io/metadata.name, which every Namespace
 * has, also counts for a namespace that is not known here. Owner: the cluster. Pure. */
#ifndef SCHEDULER_PODS_MODEL_ACCESS_H
#define SCHEDULER_PODS_MODEL_ACCESS_H

#include <stdbool.h>

#include "base/str.h"

struct access;
struct cluster;
struct err;
struct field_map;
struct podgroup;
struct queue;

struct access *access_create(void);
void access_destroy(struct access *a); /* NULL is fine */

/* labels are copied; NULL: the namespace was deleted. True: some podgroup->barred_by has changed.
 */
bool access_set_namespace(struct cluster *c, struct str name, const struct field_map *labels);
/* The value of a label of the namespace; NULL: it has none. */
const char *access_namespace_label(const struct cluster *c, const char *name, const char *key);
/* Calls fn for each namespace that is known. */
void access_each_namespace(const struct cluster *c,
			   void (*fn)(void *ctx, struct str name, const struct field_map *labels),
			   void *ctx);
/* text: the annotation; NULL: none. True: it has changed; then call queue_topology_changed(), which
 * checks all PodGroups again. */
bool access_set_queue(struct cluster *c, struct str queue, const char *text);
/* -ERR_INVALID says why the queue's selector does not parse. */
int access_check_queue(const struct cluster *c, struct str queue, struct err *err);

/* Called by the cluster when a PodGroup names another queue, and when the tree has changed. */
bool access_update_podgroup(struct cluster *c,
			    struct podgroup *g); /* true: the result has changed */
bool access_update(struct cluster *c);           /* the same for all PodGroups */

#endif
