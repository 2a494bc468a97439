/* scheduler/workloads/metrics/metric_families.h: the metrics of the Workload engine by the names,
 * types, labels and buckets that Kueue gives them (kueue_*). Each has the label replica_role, and
 * those of queues and cohorts have what metrics.customLabels adds, QF_ADMITTED that of Workloads as
 * well. Those that the configuration switches off do not exist, and values for them are dropped.
 * Beside them there is kueue_build_info, which stands for itself. Owner: the sched thread; scraping
 * threads read the registry. */
#ifndef SCHEDULER_WORKLOADS_METRICS_METRIC_FAMILIES_H
#define SCHEDULER_WORKLOADS_METRICS_METRIC_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>

#include "scheduler/base/message.h"

struct api_meta;
struct metric_registry;
struct kueue_conf_metrics;

enum metric_families_id {
	/* health */
	QF_ATTEMPTS, /* the first of all */
	QF_ATTEMPT_DURATION,
	QF_CREATION_LATENCY, /* gate MetricForWorkloadCreationLatency */
	QF_GATE_REMOVAL,
	/* ClusterQueues */
	QF_PENDING,
	QF_HASHES,
	QF_UNADMITTED,
	QF_PREEMPTION_GATED, /* not of Kueue; with preemption gates */
	QF_RESERVED_TOTAL,
	QF_RESERVED_WAIT,
	QF_ADMITTED_TOTAL,
	QF_ADMITTED_WAIT,
	QF_CHECKS_WAIT,
	QF_READY_WAIT,
	QF_ADMITTED_READY_WAIT,
	QF_FINISHED_TOTAL,
	QF_FINISHED,
	QF_EXECUTION,
	QF_EVICTED_TOTAL,
	QF_EVICTED_ONCE_TOTAL,
	QF_EVICTION_LATENCY,
	QF_READY_TO_EVICTED,
	QF_PREEMPTED_TOTAL,
	QF_PREEMPTION_SKIPS,
	QF_RECOMPUTATIONS,
	QF_RESERVING,
	QF_ADMITTED,
	QF_STATUS,
	QF_INFO,
	QF_SHARE,
	QF_RESERVATION, /* from here on: metrics.enableClusterQueueResources */
	QF_USAGE,
	QF_RESOURCE_PENDING,
	QF_NOMINAL,
	QF_BORROWING_LIMIT,
	QF_LENDING_LIMIT,
	/* Cohorts: gate MetricsForCohorts */
	QF_COHORT_SHARE,
	QF_COHORT_INFO,
	QF_COHORT_QUOTA,
	QF_COHORT_RESERVATIONS,
	QF_COHORT_ADMITTED_TOTAL,
	QF_COHORT_ADMITTED,
	/* LocalQueues: gate LocalQueueMetrics */
	QF_LOCAL_PENDING,
	QF_LOCAL_UNADMITTED,
	QF_LOCAL_RESERVED_TOTAL,
	QF_LOCAL_RESERVED_WAIT,
	QF_LOCAL_ADMITTED_TOTAL,
	QF_LOCAL_ADMITTED_WAIT,
	QF_LOCAL_CHECKS_WAIT,
	QF_LOCAL_READY_WAIT,
	QF_LOCAL_ADMITTED_READY_WAIT,
	QF_LOCAL_FINISHED_TOTAL,
	QF_LOCAL_FINISHED,
	QF_LOCAL_EXECUTION,
	QF_LOCAL_EVICTED_TOTAL,
	QF_LOCAL_RESERVING,
	QF_LOCAL_ADMITTED,
	QF_LOCAL_STATUS,
	QF_LOCAL_FAIR_USAGE,
	QF_LOCAL_RESERVATION, /* these two: metrics.enableClusterQueueResources as well */
	QF_LOCAL_USAGE,
	QF_COUNT_
};

struct metric_families;

/* conf: borrowed. role: leader or standalone; static. */
struct metric_families *metric_families_create(struct metric_registry *r,
					       const struct kueue_conf_metrics *conf,
					       const char *role);
void metric_families_destroy(struct metric_families *f); /* NULL is fine */
/* False: the configuration switches it off. */
bool metric_families_has(const struct metric_families *f, enum metric_families_id id);
/* values: of the labels in metric_families_describe. Values of a LocalQueue that the configuration
 * excludes are dropped. */
void metric_families_add(struct metric_families *f, enum metric_families_id id,
			 const char *const *values, double n);
void metric_families_set(struct metric_families *f, enum metric_families_id id,
			 const char *const *values, double value); /* not QF_ADMITTED */
/* QF_ADMITTED of the Workloads of one sort: those with the same values of the labels that the
 * configuration adds of Workloads. There is one sort when it adds none. */
void metric_families_admitted(struct metric_families *f, const char *queue, size_t sort,
			      double value);
size_t metric_families_sorts(const struct metric_families *f);
/* Below metric_families_sorts, of a Workload by "namespace/name". */
size_t metric_families_sort(const struct metric_families *f, struct str key);
void metric_families_observe(struct metric_families *f, enum metric_families_id id,
			     const char *const *values, double seconds);
/* begin and end replace all gauges but QF_PREEMPTION_SKIPS: those not set in between are removed.
 */
void metric_families_begin(struct metric_families *f);
void metric_families_end(struct metric_families *f);
/* A ClusterQueue, Cohort or LocalQueue ("namespace/name") was read, or is gone (NULL): removes
 * series that are not of it any more. Other kinds have no effect. */
void metric_families_seen(struct metric_families *f, enum sched_resource r, struct str key,
			  const struct api_meta *m);
/* The same of a Workload. */
void metric_families_workload(struct metric_families *f, struct str key, const struct api_meta *m);

/* For the documentation: name without "kueue_", type ("counter", ...), labels as "a, b", help. */
struct metric_families_row {
	const char *name, *type, *labels, *help;
};
struct metric_families_row metric_families_describe(enum metric_families_id id);

#endif
