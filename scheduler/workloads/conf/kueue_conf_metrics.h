/* scheduler/workloads/conf/kueue_conf_metrics.h: the part `metrics` of Kueue's configuration file:
 * which metrics there are, of which LocalQueues, and which labels of queues and cohorts they bear.
 * Immutable after loading. Any thread. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_METRICS_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/meta/selector.h"
#include "enc/config.h"

#define KUEUE_CONF_METRICS_LABELS_MAX 20    /* customLabels */
#define KUEUE_CONF_METRICS_LABELS_OF_KIND 6 /* of one sourceKind */
#define KUEUE_CONF_METRICS_TRACKED_MAX 16   /* trackedValues */
#define KUEUE_CONF_METRICS_WORKLOAD_MAX 2   /* the same for Workloads */
#define KUEUE_CONF_METRICS_WORKLOAD_VALUES 12
#define KUEUE_CONF_METRICS_UNTRACKED "kueue.x-k8s.io/_UNTRACKED_VALUE_"

enum kueue_conf_metrics_kind { /* sourceKind */
			       KUEUE_CONF_METRICS_CLUSTER_QUEUE,
			       KUEUE_CONF_METRICS_LOCAL_QUEUE,
			       KUEUE_CONF_METRICS_COHORT,
			       KUEUE_CONF_METRICS_WORKLOAD,
			       KUEUE_CONF_METRICS_KINDS_
};

struct kueue_conf_metrics_label {
	const char *name; /* as Prometheus sees it: "custom_team" */
	const char *key;  /* of the label or annotation it comes from */
	bool is_annotation;
	enum kueue_conf_metrics_kind kind;
	const char **tracked; /* only these values; none: all are */
	size_t ntracked;
};

struct kueue_conf_metrics {    /* which metrics there are */
	bool queue_resources;  /* metrics.enableClusterQueueResources */
	bool local_queues;     /* gate LocalQueueMetrics, metrics.localQueueMetrics.enable */
	bool cohorts;          /* gate MetricsForCohorts */
	bool creation_latency; /* gate MetricForWorkloadCreationLatency */
	bool some_local_queues;
	struct selector of_local_queues; /* some_local_queues: those with these labels */
	bool custom_labels;              /* gate CustomMetricLabels; off: there are no labels */
	/* Those of Workloads have one to KUEUE_CONF_METRICS_WORKLOAD_VALUES tracked values. */
	const struct kueue_conf_metrics_label *labels;
	size_t nlabels;
};

/* Of the object `metrics`, for struct kueue_conf_metrics. Gates set cohorts, creation_latency and
 * custom_labels, and may switch off local_queues. The context of the reader is the struct
 * kueue_conf of which it is a part. */
extern const struct config_row kueue_conf_metrics_rows[];
/* After the rows and the gates. */
void kueue_conf_metrics_finish(struct kueue_conf_metrics *m, struct config_reader *r);

#endif
