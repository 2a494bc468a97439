/* common/api/kueue_defaults.h: what the CRDs of kueue.x-k8s.io/v1beta2 default, applied to decoded
 * objects, for those that did not come through an API server. What is set stays; an empty string
 * counts as absent. Texts and quantities filled in are constant and outlive any arena. Any thread.
 *
 *   ClusterQueue.spec.queueingStrategy                      BestEffortFIFO
 *   ClusterQueue.spec.flavorFungibility.whenCanBorrow       MayStopSearch
 *   ClusterQueue.spec.flavorFungibility.whenCanPreempt      TryNextFlavor
 *   ClusterQueue.spec.preemption.reclaimWithinCohort        Never
 *   ClusterQueue.spec.preemption.borrowWithinCohort.policy  Never
 *   ClusterQueue.spec.preemption.withinClusterQueue         Never
 *   ClusterQueue.spec.stopPolicy, LocalQueue.spec.stopPolicy None
 *   {ClusterQueue,Cohort,LocalQueue}.spec.fairSharing.weight 1
 *   Workload.spec.active                                    true
 *   Workload.spec.priority                                  0
 *   Workload.spec.podSets[].name, .count                    main, 1
 *   Workload.status.admission.podSetAssignments[].name      main
 *   Workload.status.admission.podSetAssignments[].count     the count of the pod set
 * The namespaceSelector has no default: without one no namespace is selected. The names that
 * v1beta1 used in flavorFungibility become those of v1beta2: Borrow and Preempt are MayStopSearch.
 */
#ifndef COMMON_API_KUEUE_DEFAULTS_H
#define COMMON_API_KUEUE_DEFAULTS_H

struct api_cluster_queue;
struct api_cohort;
struct api_local_queue;
struct api_workload;

/* Each fills in what is absent of the object. */
void kueue_defaults_cluster_queue(struct api_cluster_queue *cq);
void kueue_defaults_cohort(struct api_cohort *cohort);
void kueue_defaults_local_queue(struct api_local_queue *lq);
void kueue_defaults_workload(struct api_workload *w);

#endif
