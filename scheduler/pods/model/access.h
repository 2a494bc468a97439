/* scheduler/pods/model/access.h: which namespaces may use which queues. A Queue may carry the
 * annotation headgate.io/namespace-selector, a label selector in kubectl's syntax: it and all
 * queues below it are for pods of the namespaces that it matches alone. One that does not parse
 * matches none; a Queue without it is for all. The result for a PodGroup is podgroup->barred_by.
 * The label kubernetes.io/metadata.name, which the API server puts on every Namespace, holds of one
 * that is not known here, too. Owner: the cluster. Pure. */
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

/* labels are copied; NULL: the namespace is gone. True: some podgroup->barred_by is another one
 * now. */
bool access_set_namespace(struct cluster *c, struct str name, const struct field_map *labels);
/* text: of the annotation; NULL: none. True when it is another one than before; then
 * queue_topology_changed() is to follow, which judges all PodGroups anew. */
bool access_set_queue(struct cluster *c, struct str queue, const char *text);
/* -ERR_INVALID says why the queue's selector does not parse. */
int access_check_queue(const struct cluster *c, struct str queue, struct err *err);

/* Called by the cluster when a PodGroup names another queue, and when the tree has changed. */
bool access_settle_podgroup(struct cluster *c,
			    struct podgroup *g); /* true: it is another result now */
bool access_settle(struct cluster *c);           /* likewise, of any PodGroup */

#endif
