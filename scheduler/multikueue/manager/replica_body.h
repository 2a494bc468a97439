/* scheduler/multikueue/manager/replica_body.h: the bodies of writes to a worker cluster: the
 * replica of a Workload, the Job on it, and small writes about both. Replica and Job are made from
 * the JSON of the local objects, so that members that no field table knows get there as well. Pure.
 */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_REPLICA_BODY_H
#define SCHEDULER_MULTIKUEUE_MANAGER_REPLICA_BODY_H

#include <stdbool.h>
#include <stdint.h>

struct api_meta;
struct api_workload;
struct jdoc;
struct strbuf;

#define REPLICA_BODY_MANAGER "headgate.io/multikueue-manager" /* annotation */

/* Of an object of a job, where another one may have its name here later: the UID of the local one.
 */
#define REPLICA_BODY_FOR "headgate.io/multikueue-uid" /* annotation */

/* The same, where the object does not show its end: the UID of the Workload on its cluster, which
 * has finished. Written to the object as it was read, so that its last status has been read by
 * then. */
#define REPLICA_BODY_ENDED "headgate.io/multikueue-ended" /* annotation */

/* A manager, as its objects on worker clusters name it. Managers that share a worker should have
 * origins of their own; the annotation shows it where they do not. */
struct replica_body_manager {
	const char *origin;  /* of the label kueue.x-k8s.io/multikueue-origin */
	const char *cluster; /* of the annotation: the UID of the Namespace kube-system of the
			      * manager's cluster; NULL: not known */
};

/* The object bears the label of this manager, and no annotation of another one. Objects of Kueue's
 * manager have no annotation, and those that ours takes over from it are kept. Any other object of
 * the same name is that of a user, or of another manager: it is neither read nor written. */
bool replica_body_is_ours(const struct api_meta *m, const struct replica_body_manager *by);
/* The Workload that the object of a job on a worker cluster was made for (annotation, else label);
 * NULL: none. */
const char *replica_body_workload_of(const struct api_meta *object);

/* To create. Of the local Workload: name, namespace, spec; labels without the UID of its job, by
 * which a worker would finish it for want of a job; annotations without the preemption token and
 * without the gate that a webhook adds. Its preemption gates are those of this cluster alone; the
 * replica has the gate of MultiKueue if gated, and no other. */
void replica_body_create(const struct jdoc *local, const struct replica_body_manager *by,
			 bool gated, struct strbuf *out);
/* For the objects of a job. One with the kind given, and the name and the namespace of `of`; a copy
 * of a map, or an empty one (NULL, or of another kind). The caller owns them. */
struct jdoc *replica_body_object(const char *api_version, const char *kind, const struct jdoc *of);
struct jdoc *replica_body_map(const struct jdoc *map);
/* Labels and annotations of the object, which take those given: it is this manager's, and names the
 * Workload as prebuilt, by annotation and, if it fits (63 bytes), by label, for workers of any
 * version. A user may have written the same keys. */
void replica_body_name(const struct jdoc *workload, const struct replica_body_manager *by,
		       struct jdoc *labels_take, struct jdoc *notes_take, struct jdoc *object);

/* Merge patch of the replica, of this version of it. */
void replica_body_priority(const struct api_workload *local, const struct api_meta *replica,
			   struct strbuf *out);
/* Merge patch of the remote object of a job, of this version of it: its WorkloadPriorityClass. */
void replica_body_class(const struct api_meta *local, const struct api_meta *remote,
			struct strbuf *out);
/* The same: REPLICA_BODY_ENDED by this replica. */
void replica_body_ended(const struct api_meta *replica, const struct api_meta *remote,
			struct strbuf *out);
/* Apply of the replica's status: asks the worker to deactivate it. message is cut to the length of
 * a condition's; now: wall ns. */
void replica_body_evict(const struct api_meta *replica, const char *message, int64_t now,
			struct strbuf *out);
bool replica_body_has_finalizer(const struct api_meta *replica); /* ours */
/* Merge patch of the replica without our finalizer, of this version of it. */
void replica_body_without_finalizer(const struct api_meta *replica, struct strbuf *out);
/* DeleteOptions: of this object alone (UID), its dependents in the background. */
void replica_body_delete(const struct api_meta *m, struct strbuf *out);

#endif
