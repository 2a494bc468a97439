/* common/api/volcano/keys.h: annotation and label keys, fixed names. The gate's are in gate.h. */
#ifndef COMMON_API_VOLCANO_KEYS_H
#define COMMON_API_VOLCANO_KEYS_H

/* The API group of Queues and PodGroups. */
#define KEYS_VOLCANO_GROUP "scheduling.volcano.sh"
#define KEYS_VOLCANO_VERSION "v1beta1"
#define KEYS_VOLCANO_API_VERSION KEYS_VOLCANO_GROUP "/" KEYS_VOLCANO_VERSION

#define KEYS_GROUP_NAME "scheduling.k8s.io/group-name"
#define KEYS_GROUP_MIN_MEMBER "scheduling.volcano.sh/group-min-member"
#define KEYS_QUEUE_NAME "scheduling.volcano.sh/queue-name"
#define KEYS_TASK_SPEC "volcano.sh/task-spec"
#define KEYS_TASK_PRIORITY "volcano.sh/task-priority"
#define KEYS_PREEMPTABLE "volcano.sh/preemptable"
/* Kubernetes' own, of ReplicaSets: pods of a lower cost are deleted first. */
#define KEYS_DELETION_COST "controller.kubernetes.io/pod-deletion-cost"
#define KEYS_HIERARCHY "volcano.sh/hierarchy"
#define KEYS_HIERARCHY_WEIGHTS "volcano.sh/hierarchy-weights"
#define KEYS_CLOSED_BY_PARENT "volcano.sh/closed-by-parent"
/* On a Queue: label selector of the namespaces that may use it and the queues below it. */
#define KEYS_NAMESPACE_SELECTOR "headgate.io/namespace-selector"
#define KEYS_NAMESPACE_NAME "kubernetes.io/metadata.name" /* on every Namespace */
#define KEYS_RESERVED "headgate.io/reserved"              /* value: the queue charged */
/* An annotation on every pod that Headgate bound (the API server copies a Binding's annotations to
 * the pod) and on every PodGroup that it created. It distinguishes them from those of other
 * programs, also after a change of leader or a lost answer. Value: the component. */
#define KEYS_BOUND_BY "headgate.io/bound-by"
#define KEYS_MADE_BY "headgate.io/made-by"
/* On a Job from its start until its template is restored: admission may have changed the template.
 * Value: "true". */
#define KEYS_STARTED "headgate.io/started"
#define KEYS_COMPONENT "headgate-scheduler"

#define KEYS_DEFAULT_SCHEDULER "volcano"
#define KEYS_DEFAULT_QUEUE "default"
#define KEYS_ROOT_QUEUE "root"

#define KEYS_CONDITION_SCHEDULED "PodScheduled"
/* On pods: the number of reservations that ended without a node; in the condition's message it
 * comes first. */
/* Label or annotation of a pod: a duration for which it is not to be evicted. */
#define KEYS_COOLDOWN "volcano.sh/cooldown-time"
#define KEYS_CONDITION_DISRUPTION "DisruptionTarget"
#define KEYS_CONDITION_ATTEMPTS "headgate.io/ReservationTimedOut"
#define KEYS_REASON_GATED "SchedulingGated"
#define KEYS_REASON_UNSCHEDULABLE "Unschedulable"
#define KEYS_REASON_NOT_READY "NotReadyForScheduling"
#define KEYS_REASON_SCHEDULABLE "Schedulable"
#define KEYS_REASON_ERROR "SchedulerError"

#define KEYS_DEQUEUE_FIFO "fifo"
#define KEYS_QUEUE_OPEN "Open"
#define KEYS_QUEUE_CLOSED "Closed"
#define KEYS_QUEUE_CLOSING "Closing"

#endif
