/* scheduler/workloads/metrics/metric_labels.h: of which LocalQueues there are metrics, and the
 * labels that the configuration adds to those of queues, cohorts and Workloads, as the objects were
 * last seen. Workloads are many and their values few: those with the same ones are of one sort.
 * Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_METRICS_METRIC_LABELS_H
#define SCHEDULER_WORKLOADS_METRICS_METRIC_LABELS_H

#include "base/str.h"
#include "scheduler/workloads/conf/kueue_conf_metrics.h"

struct api_meta;
struct metric_labels;

struct metric_labels *metric_labels_create(const struct kueue_conf_metrics *conf); /* borrowed */
void metric_labels_destroy(struct metric_labels *l); /* NULL is fine */
/* Names of the labels of a kind, in the order of the configuration; ret has room for
 * KUEUE_CONF_METRICS_LABELS_OF_KIND. */
size_t metric_labels_names(const struct metric_labels *l, enum kueue_conf_metrics_kind kind,
			   const char **ret);
/* Whether the configuration says anything about objects of the kind. */
bool metric_labels_matter(const struct metric_labels *l, enum kueue_conf_metrics_kind kind);
/* How many it returns, like metric_labels_names. Their values, of an object by name
 * ("namespace/name"); "" each of one that was not seen. Not of Workloads. */
size_t metric_labels_values(const struct metric_labels *l, enum kueue_conf_metrics_kind kind,
			    struct str key, const char **ret);
/* The object is there as it is, or (NULL) gone. True: series that it had are no more of it. */
bool metric_labels_seen(struct metric_labels *l, enum kueue_conf_metrics_kind kind, struct str key,
			const struct api_meta *m);
/* The same of a Workload. */
void metric_labels_workload(struct metric_labels *l, struct str key, const struct api_meta *m);
/* Sorts of Workloads; 1 without labels of them. */
size_t metric_labels_sorts(const struct metric_labels *l);
/* That of a Workload ("namespace/name"), below metric_labels_sorts; the last of one that was not
 * seen. */
size_t metric_labels_sort(const struct metric_labels *l, struct str key);
/* The values of a sort, in the order of metric_labels_names; returns how many. */
size_t metric_labels_sort_values(const struct metric_labels *l, size_t sort, const char **ret);
/* There are metrics of the LocalQueue ("namespace/name"). */
bool metric_labels_shows(const struct metric_labels *l, struct str key);

#endif
