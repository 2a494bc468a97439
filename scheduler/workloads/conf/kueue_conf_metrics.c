#include "scheduler/workloads/conf/kueue_conf_metrics.h"

#include "api/meta/validate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

#define CUSTOM "metrics.customLabels"
#define LOCALS "metrics.localQueueMetrics"
#define PREFIX "custom_"

struct reading {
	const struct jdoc *d;
	struct arena *arena;
	kueue_conf_metrics_warn_fn warn;
	void *ctx;
	struct kueue_conf_metrics *out;
	struct kueue_conf_metrics_label *labels;
	size_t of_kind[KUEUE_CONF_METRICS_KINDS_];
};

static bool has_gate(const struct reading *r, const char *name, bool otherwise)
{
	return jdoc_bool(jdoc_get(jdoc_get(r->d, "featureGates"), name), otherwise);
}

/* Absent is as good as the kind. */
static int expect(const struct jdoc *d, enum jdoc_kind kind, const char *field, const char *what,
		  struct err *err)
{
	return jdoc_kind(d) == JDOC_NULL || jdoc_kind(d) == kind
		       ? 0
		       : err_set(err, ERR_INVALID, "%s: must be %s", field, what);
}

/* --- customLabels ------------------------------------------------------------------------------*/

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alphanumeric(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

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

static int read_kind(const struct jdoc *d, enum kueue_conf_metrics_kind *ret, struct err *err)
{
	static const char *const names[] = { "ClusterQueue", "LocalQueue", "Cohort", "Workload" };
	const char *name = jdoc_str_or(jdoc_get(d, "sourceKind"), names[0]);

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_streq(name, names[i])) {
			*ret = (enum kueue_conf_metrics_kind)i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID,
		       "sourceKind: must be ClusterQueue, LocalQueue, Cohort or Workload");
}

static bool is_in(const struct kueue_conf_metrics_label *l, const char *value)
{
	for (size_t i = 0; i < l->ntracked; i++) {
		if (str_streq(l->tracked[i], value)) {
			return true;
		}
	}
	return false;
}

static int read_tracked(struct reading *r, const struct jdoc *list,
			struct kueue_conf_metrics_label *l, struct err *err)
{
	bool workload = l->kind == KUEUE_CONF_METRICS_WORKLOAD;
	size_t most =
		workload ? KUEUE_CONF_METRICS_WORKLOAD_VALUES : KUEUE_CONF_METRICS_TRACKED_MAX;

	if (expect(list, JDOC_ARRAY, "trackedValues", "a list", err) < 0) {
		return -ERR_INVALID;
	}
	if (jdoc_count(list) > most || (workload && jdoc_count(list) == 0)) {
		return err_set(err, ERR_INVALID, "trackedValues: must be %d to %zu", workload,
			       most);
	}
	l->tracked = arena_zero(r->arena, jdoc_count(list) + 1, sizeof(*l->tracked));
	for (const struct jdoc *v = jdoc_first(list); v != NULL; v = jdoc_next(v)) {
		if (jdoc_str(v) == NULL || is_in(l, jdoc_str(v))) {
			return err_set(err, ERR_INVALID, "trackedValues: must be different texts");
		}
		l->tracked[l->ntracked++] = arena_dup(r->arena, jdoc_str(v));
	}
	return 0;
}

static int read_key(struct reading *r, const struct jdoc *d, const char *name,
		    struct kueue_conf_metrics_label *l, struct err *err)
{
	const char *label = jdoc_str_or(jdoc_get(d, "sourceLabelKey"), "");
	const char *annotation = jdoc_str_or(jdoc_get(d, "sourceAnnotationKey"), "");
	const char *key = annotation[0] != '\0' ? annotation : label[0] != '\0' ? label : name;

	if (label[0] != '\0' && annotation[0] != '\0') {
		return err_set(err, ERR_INVALID,
			       "sourceAnnotationKey: not together with sourceLabelKey");
	}
	if (!validate_is_qualified_name(str_of(key))) {
		return err_set(err, ERR_INVALID, "%s: no key of a label: \"%s\"",
			       annotation[0] != '\0' ? "sourceAnnotationKey"
			       : label[0] != '\0'    ? "sourceLabelKey"
						     : "name",
			       key);
	}
	l->is_annotation = annotation[0] != '\0';
	l->key = arena_dup(r->arena, key);
	return 0;
}

static bool is_taken(const struct reading *r, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (str_streq(r->labels[i].name + strlen(PREFIX), name)) {
			return true;
		}
	}
	return false;
}

static int read_label(struct reading *r, const struct jdoc *d, size_t n, struct err *err)
{
	struct kueue_conf_metrics_label *l = &r->labels[n];
	const char *name = jdoc_str_or(jdoc_get(d, "name"), "");

	if (!is_label_name(name) || is_taken(r, n, name)) {
		return err_set(err, ERR_INVALID,
			       "name: must be letters, digits and _, begin with a letter, and "
			       "stand once");
	}
	l->name = arena_printf(r->arena, PREFIX "%s", name);
	if (read_kind(d, &l->kind, err) < 0 || read_key(r, d, name, l, err) < 0 ||
	    read_tracked(r, jdoc_get(d, "trackedValues"), l, err) < 0) {
		return -ERR_INVALID;
	}
	if (++r->of_kind[l->kind] > (l->kind == KUEUE_CONF_METRICS_WORKLOAD
					     ? KUEUE_CONF_METRICS_WORKLOAD_MAX
					     : KUEUE_CONF_METRICS_LABELS_OF_KIND)) {
		return err_set(err, ERR_INVALID, "sourceKind: too many labels of this kind");
	}
	return 0;
}

static int read_labels(struct reading *r, struct err *err)
{
	const struct jdoc *list = jdoc_path(r->d, CUSTOM);
	size_t n = jdoc_count(list), i = 0;

	if (expect(list, JDOC_ARRAY, CUSTOM, "a list", err) < 0) {
		return -ERR_INVALID;
	}
	if (n > KUEUE_CONF_METRICS_LABELS_MAX) {
		return err_set(err, ERR_INVALID, CUSTOM ": more than %d items",
			       KUEUE_CONF_METRICS_LABELS_MAX);
	}
	r->labels = arena_zero(r->arena, n + 1, sizeof(*r->labels));
	for (const struct jdoc *d = jdoc_first(list); d != NULL; d = jdoc_next(d), i++) {
		if (read_label(r, d, i, err) < 0) {
			return err_path(err, CUSTOM "[%zu].", i);
		}
	}
	if (n > 0 && !has_gate(r, "CustomMetricLabels", false)) {
		r->warn(r->ctx, CUSTOM, "without effect: the gate CustomMetricLabels is off");
		return 0;
	}
	r->out->labels = r->labels;
	r->out->nlabels = n;
	return 0;
}

/* --- the rest ----------------------------------------------------------------------------------*/

static int read_locals(struct reading *r, struct err *err)
{
	const struct jdoc *locals = jdoc_path(r->d, LOCALS);
	const struct jdoc *selector = jdoc_get(locals, "localQueueSelector");
	const struct jdoc *enable = jdoc_get(locals, "enable");
	bool listed = jdoc_kind(locals) != JDOC_NULL;

	if (expect(locals, JDOC_OBJECT, LOCALS, "an object", err) < 0 ||
	    expect(enable, JDOC_BOOL, LOCALS ".enable", "a boolean", err) < 0) {
		return -ERR_INVALID;
	}
	r->out->local_queues = has_gate(r, "LocalQueueMetrics", true) && jdoc_bool(enable, !listed);
	r->out->some_local_queues = jdoc_kind(selector) != JDOC_NULL;
	if (r->out->some_local_queues &&
	    selector_read(selector, r->arena, &r->out->of_local_queues, err) < 0) {
		return err_wrap(err, LOCALS ".localQueueSelector");
	}
	return 0;
}

static void warn_nobody(void *ctx UNUSED, const char *field UNUSED, const char *what UNUSED)
{
}

int kueue_conf_metrics_read(const struct jdoc *d, struct arena *arena,
			    kueue_conf_metrics_warn_fn warn, void *ctx,
			    struct kueue_conf_metrics *ret, struct err *err)
{
	const struct jdoc *resources = jdoc_path(d, "metrics.enableClusterQueueResources");
	struct kueue_conf_metrics out = { .queue_resources = jdoc_bool(resources, false) };
	struct reading r = { .d = d,
			     .arena = arena,
			     .warn = warn == NULL ? warn_nobody : warn,
			     .ctx = ctx,
			     .out = &out };

	out.cohorts = has_gate(&r, "MetricsForCohorts", true);
	out.creation_latency = has_gate(&r, "MetricForWorkloadCreationLatency", true);
	if (expect(resources, JDOC_BOOL, "metrics.enableClusterQueueResources", "a boolean", err) <
		    0 ||
	    read_locals(&r, err) < 0 || read_labels(&r, err) < 0) {
		return -ERR_INVALID;
	}
	*ret = out;
	return 0;
}
