/* scheduler/app/quota_labels.h: of which LocalQueues there are metrics, and the labels that the
 * configuration adds to those of queues and cohorts, as the objects were last seen. Owner: the
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
/* Their values, of an object by name ("namespace/name"); "" each of one that was not seen. */
void quota_labels_values(const struct quota_labels *l, enum quota_conf_metrics_kind kind,
			 struct str key, const char **ret);
/* The object is there as it is, or (NULL) gone. True: series that it had are no more of it. */
bool quota_labels_seen(struct quota_labels *l, enum quota_conf_metrics_kind kind, struct str key,
		       const struct api_meta *m);
/* There are metrics of the LocalQueue ("namespace/name"). */
bool quota_labels_shows(const struct quota_labels *l, struct str key);

#endif
