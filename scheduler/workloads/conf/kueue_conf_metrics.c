#include "scheduler/workloads/conf/kueue_conf_metrics.h"

#include "api/meta/validate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/config.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define PREFIX "custom_"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alphanumeric(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* It becomes the end of the name of a Prometheus label. */
static bool is_label_name(const char *s)
{
	if (!is_letter(s[0])) {
		return false;
	}
	for (; *s != '\0'; s++) {
		if (!is_alphanumeric(*s) && *s != '_') {
			return false;
		}
	}
	return true;
}

static const char *plain_name(const struct kueue_conf_metrics_label *l)
{
	return l->name + strlen(PREFIX);
}

static int read_key(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	struct kueue_conf_metrics_label *l = at;

	l->key = jdoc_is_str(d, "") ? NULL : arena_dup(r->arena, jdoc_str(d));
	return l->key == NULL || validate_is_qualified_name(str_of(l->key))
		       ? 0
		       : config_fail(r, NULL, err, "no key of a label: \"%s\"", l->key);
}

static int read_annotation_key(struct config_reader *r, const struct jdoc *d, void *at,
			       struct err *err)
{
	struct kueue_conf_metrics_label *l = at;

	l->is_annotation = !jdoc_is_str(d, "");
	if (l->is_annotation && l->key != NULL) {
		return config_fail(r, NULL, err, "not together with sourceLabelKey");
	}
	return l->is_annotation ? read_key(r, d, at, err) : 0;
}

static int check_name(struct config_reader *r, struct kueue_conf_metrics_label *l, struct err *err)
{
	const struct kueue_conf *c = r->ctx;
	bool is_taken = false;

	for (size_t i = 0; i < c->metrics.nlabels && l->name != NULL; i++) {
		is_taken = is_taken || str_streq(plain_name(&c->metrics.labels[i]), l->name);
	}
	if (l->name == NULL || is_taken || !is_label_name(l->name)) {
		return config_fail(r, "name", err,
				   "must be letters, digits and _, begin with a letter, and stand "
				   "once");
	}
	/* Without a source the name is the key of the label. */
	if (l->key == NULL && !validate_is_qualified_name(str_of(l->name))) {
		return config_fail(r, "name", err, "no key of a label: \"%s\"", l->name);
	}
	l->name = arena_printf(r->arena, PREFIX "%s", l->name);
	l->key = l->key == NULL ? plain_name(l) : l->key;
	return 0;
}

/* Every value makes a series. Those of Workloads are free text of tenants, so they must be listed;
 * those of queues may be, and are bounded by the number of queues. */
static int check_tracked(struct config_reader *r, const struct kueue_conf_metrics_label *l,
			 struct err *err)
{
	bool workload = l->kind == KUEUE_CONF_METRICS_WORKLOAD;
	size_t most =
		workload ? KUEUE_CONF_METRICS_WORKLOAD_VALUES : KUEUE_CONF_METRICS_TRACKED_MAX;

	if (l->ntracked > most || (workload && l->ntracked == 0)) {
		return config_fail(r, "trackedValues", err, "must be %d to %zu", workload, most);
	}
	for (size_t i = 0; i < l->ntracked; i++) {
		for (size_t k = 0; k < i; k++) {
			if (str_streq(l->tracked[i], l->tracked[k])) {
				return config_fail(r, "trackedValues", err, "must be different");
			}
		}
	}
	return 0;
}

static int check_label(struct config_reader *r, const struct jdoc *d UNUSED, void *at,
		       struct err *err)
{
	const struct kueue_conf *c = r->ctx;
	struct kueue_conf_metrics_label *l = at;
	size_t of_kind = 1;

	for (size_t i = 0; i < c->metrics.nlabels; i++) {
		of_kind += c->metrics.labels[i].kind == l->kind;
	}
	if (of_kind > (l->kind == KUEUE_CONF_METRICS_WORKLOAD
			       ? KUEUE_CONF_METRICS_WORKLOAD_MAX
			       : KUEUE_CONF_METRICS_LABELS_OF_KIND)) {
		return config_fail(r, "sourceKind", err, "too many labels of this kind");
	}
	return check_name(r, l, err) < 0 ? -ERR_INVALID : check_tracked(r, l, err);
}

static const struct config_choice kinds[] = {
	{ "ClusterQueue", KUEUE_CONF_METRICS_CLUSTER_QUEUE },
	{ "LocalQueue", KUEUE_CONF_METRICS_LOCAL_QUEUE },
	{ "Cohort", KUEUE_CONF_METRICS_COHORT },
	{ "Workload", KUEUE_CONF_METRICS_WORKLOAD },
	{ NULL, 0 },
};

#define LABEL struct kueue_conf_metrics_label
static const struct config_row label_rows[] = {
	{ "name", CONFIG_AT(LABEL, TEXT, name) },
	{ "sourceKind", CONFIG_CHOICE_AT(LABEL, kinds, kind) },
	{ "sourceLabelKey", .type = CONFIG_CUSTOM, .kind = JDOC_STRING, .read = read_key },
	{ "sourceAnnotationKey", .type = CONFIG_CUSTOM, .kind = JDOC_STRING,
	  .read = read_annotation_key },
	{ "trackedValues", CONFIG_ITEMS_AT(LABEL, LIST, tracked, ntracked),
	  .read = config_read_text },
	{ .type = CONFIG_END },
};

#define METRICS struct kueue_conf_metrics
static const struct config_row local_queues[] = {
	{ "enable", CONFIG_AT(METRICS, BOOL, local_queues) },
	{ "localQueueSelector",
	  CONFIG_CUSTOM_AT(METRICS, JDOC_OBJECT, kueue_conf_owners_read_selector, of_local_queues),
	  .present = CONFIG_FLAG(METRICS, some_local_queues) },
	{ .type = CONFIG_END },
};
const struct config_row kueue_conf_metrics_rows[] = {
	{ "bindAddress", .type = CONFIG_IGNORED },
	{ "enableClusterQueueResources", CONFIG_AT(METRICS, BOOL, queue_resources) },
	{ "localQueueMetrics", .type = CONFIG_OBJECT, .rows = local_queues,
	  .absent = CONFIG_FLAG(METRICS, local_queues) },
	{ "customLabels", CONFIG_ITEMS_AT(METRICS, LIST, labels, nlabels),
	  .max = KUEUE_CONF_METRICS_LABELS_MAX, .rows = label_rows, .read = check_label },
	{ .type = CONFIG_END },
};

/* After all rows: the gate may come behind the labels in the file. */
void kueue_conf_metrics_finish(struct kueue_conf_metrics *m, struct config_reader *r)
{
	if (m->nlabels > 0 && !m->custom_labels) {
		config_warn(r, "metrics.customLabels",
			    "without effect: the gate CustomMetricLabels is off");
		m->nlabels = 0;
	}
}
