/* scheduler/app/quota_labels.h: of which LocalQueues there are metrics, and the labels that the
 * configuration adds to those of queues, cohorts and Workloads, as the objects were last seen.
 * Workloads are many and their values few: those with the same ones are of one sort. Owner: the
 * sched thread. */
#ifndef SCHEDULER_APP_QUOTA_LABELS_H
#define SCHEDULER_APP_QUOTA_LABELS_H

#include "base/str.h"
#include "conf/quota_conf_metrics.h"

struct api_meta;
struct quota_labels;

struct quota_labels *quota_labels_create(const struct quota_conf_metrics *conf); /* borrowed */
void quota_labels_destroy(struct quota_labels *l);                               /* NULL is fine */
/* Names of the labels of a kind, in the order of the configuration; ret has room for
 * QUOTA_CONF_METRICS_LABELS_OF_KIND. */
size_t quota_labels_names(const struct quota_labels *l, enum quota_conf_metrics_kind kind,
			  const char **ret);
/* Whether the configuration says anything about objects of the kind. */
bool quota_labels_matter(const struct quota_labels *l, enum quota_conf_metrics_kind kind);
/* How many it returns, like quota_labels_names. Their values, of an object by name
 * ("namespace/name"); "" each of one that was not seen. Not of Workloads. */
size_t quota_labels_values(const struct quota_labels *l, enum quota_conf_metrics_kind kind,
			   struct str key, const char **ret);
/* The object is there as it is, or (NULL) gone. True: series that it had are no more of it. */
bool quota_labels_seen(struct quota_labels *l, enum quota_conf_metrics_kind kind, struct str key,
		       const struct api_meta *m);
/* The same of a Workload. */
void quota_labels_workload(struct quota_labels *l, struct str key, const struct api_meta *m);
/* Sorts of Workloads; 1 without labels of them. */
size_t quota_labels_sorts(const struct quota_labels *l);
/* That of a Workload ("namespace/name"), below quota_labels_sorts; the last of one that was not
 * seen. */
size_t quota_labels_sort(const struct quota_labels *l, struct str key);
/* The values of a sort, in the order of quota_labels_names; returns how many. */
size_t quota_labels_sort_values(const struct quota_labels *l, size_t sort, const char **ret);
/* There are metrics of the LocalQueue ("namespace/name"). */
bool quota_labels_shows(const struct quota_labels *l, struct str key);

#endif
