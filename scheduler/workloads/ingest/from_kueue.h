/* scheduler/workloads/ingest/from_kueue.h: reads decoded objects of kueue.x-k8s.io, and the core
 * objects that they depend on, into struct quota_model. Objects may come in any order; absent
 * fields get the defaults of the CRDs. Errors name kind, object and field path. Every function
 * checks the whole object before it changes anything but the tables of names: after an error the
 * model is as before. Nothing here changes which Workloads hold quota or are pending. Owner: the
 * sched thread. Pure.
 *
 * After the deletion of an object the caller calls:
 *   ResourceFlavor         quota_flavor_clear, cluster_queue_check_all
 *   ClusterQueue, Cohort   quota_node_clear, quota_nodes_changed
 *   LocalQueue             quota_local_remove
 *   Namespace              quota_namespace_remove
 *   AdmissionCheck         quota_check_remove, cluster_queue_check_all
 *   Topology               quota_topology_set, cluster_queue_check_all
 *   Workload               quota_workload_remove */
#ifndef SCHEDULER_WORKLOADS_INGEST_FROM_KUEUE_H
#define SCHEDULER_WORKLOADS_INGEST_FROM_KUEUE_H

#include "enc/field.h"
#include "scheduler/workloads/conf/kueue_conf_resources.h"
#include "scheduler/workloads/model/quota_store.h"

struct api_admission_check;
struct api_cluster_queue;
struct api_cohort;
struct api_limit_range;
struct api_local_queue;
struct api_namespace;
struct api_resource_flavor;
struct api_runtime_class;
struct api_topology;
struct api_workload;
struct workload_status;
struct err;

/* The caller calls cluster_queue_check_all afterwards. A taint of an unknown effect is an error. */
int from_kueue_flavor(struct quota_model *q, const struct api_resource_flavor *rf, struct err *err);
void from_kueue_check(struct quota_model *q, const struct api_admission_check *ac);
void from_kueue_topology(struct quota_model *q, const struct api_topology *t);
/* The caller calls quota_nodes_changed afterwards, once for all that changed together. */
int from_kueue_queue(struct quota_model *q, const struct api_cluster_queue *cq, struct err *err);
int from_kueue_cohort(struct quota_model *q, const struct api_cohort *c, struct err *err);
/* Leaves its consumption alone, which comes from the status: from_kueue_local_usage. */
int from_kueue_local(struct quota_model *q, const struct api_local_queue *lq, struct err *err);
/* Labels. */
int from_kueue_namespace(struct quota_model *q, const struct api_namespace *ns, struct err *err);

/* Reads its consumption and when that was sampled from status.fairSharing; no effect without one.
 * The caller calls usage_weigh afterwards. */
void from_kueue_local_usage(struct quota_model *q, struct local_queue *l,
			    const struct api_local_queue *lq);

/* The names of settings in the API, by their values (enum quota_strategy, ...); NULL ends each
 * list. */
extern const char *const from_kueue_strategies[],
	*const from_kueue_stops[], *const from_kueue_searches[],
					   *const from_kueue_preferences[],
						   *const from_kueue_policies[];

/* Of a resource: cpu in thousandths, everything else in whole units, rounded up. The other way:
 * api/core/resource_amount.h. */
int64_t from_kueue_amount(struct str resource, struct quantity amount);

/* --- requests of pod sets -----------------------------------------------------------------------
 */

/* The LimitRanges, the RuntimeClasses and the resources of the configuration, on which a request
 * depends besides the Workload. Workloads that were read before a change keep their requests until
 * they are read again. */
struct from_kueue_rules;
/* resources may be NULL and must outlive the rules. */
struct from_kueue_rules *from_kueue_rules_create(const struct kueue_conf_resources *resources);
void from_kueue_rules_destroy(struct from_kueue_rules *r); /* NULL is fine */
/* Objects are copied. Removal by key ("namespace/name", "name"); unknown ones have no effect. */
void from_kueue_rules_limits(struct from_kueue_rules *r, const struct api_limit_range *lr);
void from_kueue_rules_no_limits(struct from_kueue_rules *r, struct str key);
void from_kueue_rules_runtime(struct from_kueue_rules *r, const struct api_runtime_class *rc);
void from_kueue_rules_no_runtime(struct from_kueue_rules *r, struct str name);

/* --- Workloads ----------------------------------------------------------------------------------
 */

/* The parts of the status that decisions can change. Texts go to to->arena, which is set before. */
void from_kueue_status(struct quota_model *q, const struct api_workload *w,
		       struct workload_status *to);

/* A Workload as it was read, before it becomes a struct workload. */
struct from_kueue_workload {
	struct workload w; /* only what comes from the object; its arena and lists are owned */
	const char
		*queue; /* ClusterQueue of its admission, when it holds quota; NULL: it does not */
};

/* Reads the spec; status is the result of from_kueue_status. A finished Workload has no pod
 * sets. Reclaimable pods are subtracted; the held quota is scaled to the pods that are left (Kueue:
 * ReclaimablePods). */
int from_kueue_workload_read(struct quota_model *q, const struct from_kueue_rules *rules,
			     const struct api_workload *aw, const struct workload_status *status,
			     struct from_kueue_workload *ret, struct err *err);
/* For a Workload that from_kueue_workload_read refuses, or that did not decode as a whole
 * (decode_partial): reads the quota that it holds by its status, as far as that is readable, and no
 * pod sets. -ERR_NOT_FOUND: it holds nothing. */
int from_kueue_workload_keep(struct quota_model *q, const struct api_workload *aw,
			     const struct workload_status *status, struct from_kueue_workload *ret);
/* Whether w holds the quota that r says: the same amounts in the same queue. If not, the caller
 * releases w before from_kueue_workload_apply and makes it hold again afterwards. */
bool from_kueue_workload_holds(const struct quota_model *q, const struct from_kueue_workload *r,
			       const struct workload *w);
/* Moves r into w, which is new or was read before; its pending side and its holding stay. True: a
 * change for which it is worth a new try (see pending_update). */
bool from_kueue_workload_apply(struct from_kueue_workload *r, struct workload *w);
/* Frees r when it was not applied; no effect after from_kueue_workload_apply. */
void from_kueue_workload_finish(struct from_kueue_workload *r);

#endif
