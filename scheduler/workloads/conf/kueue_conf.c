#include "scheduler/workloads/conf/kueue_conf.h"

#include <stdlib.h>

#include "api/meta/validate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/config.h"
#include "scheduler/workloads/conf/kueue_gates.h"
#include "scheduler/workloads/model/quota_store.h"

/* --- resources -------------------------------------------------------------------------------- */

static int read_output(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	CLEANUP(xmalloc_freep) char *number = NULL;
	const char *text = jdoc_str_or(d, "");
	struct field_resource *out = at;
	struct err inner = ERR_INIT;

	if (jdoc_kind(d) == JDOC_NUMBER) {
		/* YAML reads 1.5 as a number; a quantity is a text. */
		number = xmalloc_printf("%.17g", jdoc_num(d, 0));
		text = number;
	}
	out->name = arena_dup(r->arena, jdoc_key(d));
	return quantity_parse(str_of(text), &out->amount, &inner) < 0
		       ? config_fail(r, NULL, err, "%s", inner.text)
		       : 0;
}

#define TRANSFORMATION struct kueue_conf_resources_transformation
static const struct config_choice strategies[] = { { "Retain", 0 }, { "Replace", 1 }, { NULL, 0 } };
static const struct config_row transformation[] = {
	{ "input", CONFIG_AT(TRANSFORMATION, TEXT, input), .required = true },
	{ "strategy", CONFIG_CHOICE_AT(TRANSFORMATION, strategies, replace) },
	{ "multiplyBy", CONFIG_AT(TRANSFORMATION, TEXT, multiply_by) },
	{ "outputs", CONFIG_ITEMS_AT(TRANSFORMATION, MAP, outputs.v, outputs.n),
	  .read = read_output },
	{ .type = CONFIG_END },
};

/* --- fair sharing ----------------------------------------------------------------------------- */

static int read_strategies(struct config_reader *r, const struct jdoc *list, void *at,
			   struct err *err)
{
	struct quota_options *o = at;

	/* Kueue: an empty list is as good as none, which means both. */
	if (jdoc_first(list) == NULL) {
		return 0;
	}
	o->lte_final = o->lt_initial = false;
	for (const struct jdoc *s = jdoc_first(list); s != NULL; s = jdoc_next(s)) {
		if (jdoc_is_str(s, "LessThanOrEqualToFinalShare") && !o->lt_initial) {
			o->lte_final = true;
		} else if (jdoc_is_str(s, "LessThanInitialShare")) {
			o->lt_initial = true;
		} else {
			return config_fail(r, NULL, err,
					   "must be LessThanOrEqualToFinalShare, "
					   "LessThanInitialShare, or both in this order");
		}
	}
	return 0;
}

static int read_weight(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	struct quota_usage_weight *w = at;

	w->resource = arena_dup(r->arena, jdoc_key(d));
	w->weight = jdoc_num(d, -1);
	return w->weight >= 0 ? 0 : config_fail(r, NULL, err, "must be a number, not negative");
}

/* --- feature gates ---------------------------------------------------------------------------- */

static int read_gate(struct config_reader *r, const struct jdoc *g, void *at, struct err *err)
{
	struct str name = str_of(jdoc_key(g));
	bool on = jdoc_bool(g, false);
	const char *missing = kueue_gates_missing(name, on);

	if (jdoc_kind(g) == JDOC_NULL) {
		return 0; /* as if it were not written */
	}
	if (config_expect(r, g, JDOC_BOOL, err) < 0) {
		return -ERR_INVALID;
	}
	if (!kueue_gates_set(name, on, at)) {
		config_warn(r, NULL, "no such feature gate");
	} else if (missing != NULL) {
		config_warn(r, NULL, "%s", missing);
	}
	return 0;
}

/* A gate that is switched on needs others, which are on unless they are switched off. */
static int check_needs(struct config_reader *r, const struct jdoc *gates, void *at UNUSED,
		       struct err *err)
{
	const char *needed;

	for (const struct jdoc *g = jdoc_first(gates); g != NULL; g = jdoc_next(g)) {
		for (size_t i = 0; jdoc_bool(g, false); i++) {
			needed = kueue_gates_needed(str_of(jdoc_key(g)), i);
			if (needed == NULL) {
				break;
			}
			/* Kueue refuses such a file, too. */
			if (!jdoc_bool(jdoc_get(gates, needed), true)) {
				return config_fail(r, jdoc_key(g), err, "requires %s to be enabled",
						   needed);
			}
		}
	}
	return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

#define AT(type, member) CONFIG_AT(struct kueue_conf, type, member)
#define CHOICE(names, member) CONFIG_CHOICE_AT(struct kueue_conf, names, member)
#define ITEMS(type, list, count) CONFIG_ITEMS_AT(struct kueue_conf, type, list, count)
#define IGNORED .type = CONFIG_IGNORED
#define OBJECT(table) .type = CONFIG_OBJECT, .rows = (table)
#define OBJECT_OF(...) OBJECT(((const struct config_row[]){ __VA_ARGS__, { .type = CONFIG_END } }))

static const struct config_row fair_sharing[] = {
	{ "preemptionStrategies",
	  CONFIG_CUSTOM_AT(struct kueue_conf, JDOC_ARRAY, read_strategies, options) },
	{ .type = CONFIG_END },
};
static const struct config_row admission_fair_sharing[] = {
	{ "usageHalfLifeTime", AT(DURATION, options.usage.half_life_ns) },
	{ "usageSamplingInterval", AT(DURATION, options.usage.sampling_ns),
	  .def = 300 * CLOCK_NS_PER_S },
	{ "resourceWeights", ITEMS(MAP, options.usage.weights, options.usage.nweights),
	  .read = read_weight },
	{ .type = CONFIG_END },
};

static const struct config_choice checks[] = { { "BlockUndeclared", 0 },
					       { "IgnoreUndeclared", 1 },
					       { NULL, 0 } };
static const struct config_row resources[] = {
	{ "quotaCheckStrategy", CHOICE(checks, options.ignore_undeclared) },
	{ "excludeResourcePrefixes", ITEMS(LIST, resources.excluded, resources.nexcluded),
	  .read = config_read_text },
	{ "transformations", ITEMS(LIST, resources.transformations, resources.ntransformations),
	  .rows = transformation },
	{ "deviceClassMappings", IGNORED },
	{ .type = CONFIG_END },
};

static const struct config_choice timestamps[] = { { "Eviction", 0 },
						   { "Creation", 1 },
						   { NULL, 0 } };
static const struct config_row requeuing[] = {
	{ "timestamp", CHOICE(timestamps, options.timestamp_creation) },
	{ "backoffBaseSeconds", AT(SECONDS, times.backoff_base_ns), .def = 60 * CLOCK_NS_PER_S },
	{ "backoffMaxSeconds", AT(SECONDS, times.backoff_max_ns), .def = 3600 * CLOCK_NS_PER_S },
	{ "backoffLimitCount", AT(COUNT, times.backoff_limit), .def = -1 },
	{ .type = CONFIG_END },
};
static const struct config_row pods_ready[] = {
	{ "timeout", AT(DURATION, times.ready_ns), .def = 1800 * CLOCK_NS_PER_S },
	{ "recoveryTimeout", AT(DURATION, times.recovery_ns), .def = -1 },
	{ "blockAdmission", AT(BOOL, options.block_admission) },
	{ "requeuingStrategy", OBJECT(requeuing) },
	{ .type = CONFIG_END },
};

static const struct config_row workload_retention[] = {
	{ "afterFinished", AT(DURATION, times.keep_finished_ns), .def = -1 },
	{ "afterDeactivatedByKueue", AT(DURATION, times.keep_deactivated_ns), .def = -1 },
	{ .type = CONFIG_END },
};
static const struct config_row retention[] = {
	{ "workloads", OBJECT(workload_retention) },
	{ .type = CONFIG_END },
};

static const struct config_choice preemption_orders[] = {
	{ "FirstSignal", KUEUE_CONF_FIRST_SIGNAL },
	{ "ConfigOrder", KUEUE_CONF_CONFIG_ORDER },
	{ "Cost", KUEUE_CONF_COST },
	{ NULL, 0 },
};
/* Ours: Kueue has no settings for it. */
static const struct config_row orchestrated_preemption[] = {
	{ "order", CHOICE(preemption_orders, multikueue.preemption_order), .def = KUEUE_CONF_COST },
	{ "collectionWindow", AT(DURATION, multikueue.window_ns), .def = 10 * CLOCK_NS_PER_S },
	{ "progressTimeout", AT(DURATION, multikueue.progress_ns), .def = 1200 * CLOCK_NS_PER_S },
	{ "reactionTimeout", AT(DURATION, multikueue.probe_ns), .def = 20 * CLOCK_NS_PER_S },
	{ "maxPerClusterQueue", AT(COUNT, multikueue.per_queue), .def = 1, .max = 1000 },
	{ .type = CONFIG_END },
};
static const struct config_row incremental_dispatcher[] = {
	{ "stepSize", AT(COUNT, multikueue.step_size), .def = 3, .max = 1000 },
	{ .type = CONFIG_END },
};

/* The rows of the item have read its name. */
static int read_framework(struct config_reader *r, const struct jdoc *d UNUSED, void *at,
			  struct err *err)
{
	struct custom_kind *k = at;
	struct err inner = ERR_INIT;

	if (custom_kinds_parse(k->name, r->arena, k, &inner) < 0) {
		return config_fail(r, "name", err, "%s", inner.text);
	}
	return str_streq(k->group, "batch") && str_streq(k->kind, "Job")
		       ? config_fail(r, "name", err, "\"%s\" is carried without being listed",
				     k->name)
		       : 0;
}

static int check_frameworks(struct config_reader *r, const struct jdoc *d UNUSED, void *at,
			    struct err *err)
{
	const struct custom_kinds *k = at;

	for (size_t i = 0; i < k->n; i++) {
		const struct custom_kind *first = custom_kinds_find(k, str_of(k->v[i].name));

		if (first != &k->v[i]) {
			return config_fail(r, NULL, err, "\"%s\" is listed twice", k->v[i].name);
		}
	}
	return 0;
}

/* It is the value of a label of each replica, and part of the selector of each list. */
static int check_origin(struct config_reader *r, const struct jdoc *d UNUSED, void *at,
			struct err *err)
{
	const char *origin = *(const char *const *)at;

	return validate_is_label_value(str_of(origin))
		       ? 0
		       : config_fail(r, NULL, err, "\"%s\" is not the value of a label", origin);
}

static const struct config_row framework[] = {
	{ "name", CONFIG_AT(struct custom_kind, TEXT, name), .required = true },
	{ .type = CONFIG_END },
};
static const struct config_row multikueue[] = {
	{ "gcInterval", AT(DURATION, multikueue.gc_ns), .def = 60 * CLOCK_NS_PER_S },
	{ "origin", AT(TEXT, multikueue.origin) },
	{ "origin",
	  CONFIG_CUSTOM_AT(struct kueue_conf, JDOC_STRING, check_origin, multikueue.origin) },
	{ "workerLostTimeout", AT(DURATION, multikueue.worker_lost_ns),
	  .def = 900 * CLOCK_NS_PER_S },
	{ "dispatcherName", AT(TEXT, multikueue.dispatcher) },
	{ "incrementalDispatcherConfig", OBJECT(incremental_dispatcher) },
	{ "externalFrameworks", ITEMS(LIST, multikueue.frameworks.v, multikueue.frameworks.n),
	  .rows = framework, .read = read_framework, .max = CUSTOM_KINDS_MAX },
	{ "externalFrameworks", CONFIG_CUSTOM_AT(struct kueue_conf, JDOC_ARRAY, check_frameworks,
						 multikueue.frameworks) },
	{ "clusterProfile", IGNORED },
	/* KEP-8303; Kueue has it as a constant. */
	{ "singleClusterPreemptionTimeout", AT(DURATION, multikueue.preemption_timeout_ns),
	  .def = 300 * CLOCK_NS_PER_S },
	{ "orchestratedPreemption", OBJECT(orchestrated_preemption) },
	{ .type = CONFIG_END },
};

static const struct config_choice kinds[] = { { "Configuration", 0 }, { NULL, 0 } };
static const struct config_row rows[] = {
	{ "apiVersion", IGNORED },
	{ "kind", .type = CONFIG_CHOICE, .choices = kinds },
	{ CONFIG_OBJECT_AT(struct kueue_conf, kueue_conf_owners_rows, owners) },
	{ "webhook", OBJECT_OF({ "port", IGNORED }, { "host", IGNORED }, { "certDir", IGNORED }) },
	{ "health",
	  OBJECT_OF({ "healthProbeBindAddress", IGNORED }, { "readinessEndpointName", IGNORED },
		    { "livenessEndpointName", IGNORED }) },
	{ "pprofBindAddress", IGNORED },
	{ "metrics", CONFIG_OBJECT_AT(struct kueue_conf, kueue_conf_metrics_rows, metrics) },
	{ "leaderElection", IGNORED },
	{ "controller", IGNORED },
	{ "clientConnection", OBJECT_OF({ "qps", IGNORED }, { "burst", IGNORED }) },
	{ "internalCertManagement",
	  OBJECT_OF({ "enable", IGNORED }, { "webhookServiceName", IGNORED },
		    { "webhookSecretName", IGNORED }) },
	{ "waitForPodsReady", OBJECT(pods_ready) },
	{ "multiKueue", OBJECT(multikueue) },
	{ "fairSharing", OBJECT(fair_sharing),
	  .present = CONFIG_FLAG(struct kueue_conf, options.fair_sharing) },
	{ "admissionFairSharing", OBJECT(admission_fair_sharing),
	  .present = CONFIG_FLAG(struct kueue_conf, options.admission_fair_sharing) },
	{ "resources", OBJECT(resources) },
	{ "objectRetentionPolicies", OBJECT(retention) },
	{ "visibilityServer", OBJECT_OF({ "bindAddress", IGNORED }, { "bindPort", IGNORED }) },
	{ "tls", OBJECT_OF({ "minVersion", IGNORED }, { "cipherSuites", IGNORED },
			   { "curvePreferences", IGNORED }) },
	/* Last: gates turn off what the file turns on. */
	{ "featureGates", .type = CONFIG_MAP, .read = read_gate },
	{ "featureGates", .type = CONFIG_CUSTOM, .kind = JDOC_OBJECT, .read = check_needs },
	{ .type = CONFIG_END },
};

/* Adds the key unless it is there. */
static void add_key(struct field_strs *list, const char **room, const char *key)
{
	for (size_t i = 0; i < list->n; i++) {
		if (str_streq(list->v[i], key)) {
			return;
		}
	}
	room[list->n++] = key;
}

/* As in Kueue, custom labels of Workload metrics come from labels and annotations of Jobs and pods:
 * Workloads get a copy of them. */
static void copy_metric_labels(struct kueue_conf *c)
{
	const struct kueue_conf_metrics *m = &c->metrics;
	size_t most = c->owners.label_keys.n + m->nlabels + 1;
	const char **keys[] = { arena_zero(c->arena, most, sizeof(*keys[0])),
				arena_zero(c->arena, most, sizeof(*keys[0])) };
	struct field_strs out[] = { { keys[0], 0 }, { keys[1], 0 } };

	for (size_t i = 0; i < c->owners.label_keys.n; i++) {
		add_key(&out[0], keys[0], c->owners.label_keys.v[i]);
	}
	for (size_t i = 0; i < m->nlabels; i++) {
		const struct kueue_conf_metrics_label *l = &m->labels[i];

		if (l->kind == KUEUE_CONF_METRICS_WORKLOAD) {
			add_key(&out[l->is_annotation], keys[l->is_annotation], l->key);
		}
	}
	c->owners.label_keys = out[0];
	c->owners.annotation_keys = out[1];
}

static int warn_unknown(struct config_reader *r, const struct config_row *t UNUSED,
			const char *key UNUSED, struct err *err UNUSED)
{
	config_warn(r, NULL, "unknown field");
	return 0;
}

static int refuse_unknown(struct config_reader *r, const struct config_row *t UNUSED,
			  const char *key UNUSED, struct err *err)
{
	return config_fail(r, NULL, err, "unknown field");
}

/* After all rows: the gate comes behind the kinds. */
static void finish_frameworks(struct kueue_conf_multikueue *m, struct config_reader *r)
{
	if (m->frameworks.n > 0 && !m->custom_jobs) {
		config_warn(r, "multiKueue.externalFrameworks",
			    "without effect: the gate MultiKueueAdaptersForCustomJobs is off");
		m->frameworks.n = 0;
	}
}

static int read_file(const struct jdoc *d, config_unknown_fn unknown, kueue_conf_warn_fn warn,
		     void *ctx, struct kueue_conf **ret, struct err *err)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = xmalloc_zero(1, sizeof(*c));
	CLEANUP(config_finish)
	struct config_reader r = {
		.ctx = c, .warn = warn, .warn_ctx = ctx, .unknown = unknown, .path = STRBUF_INIT
	};

	r.arena = c->arena = arena_create(0);
	quota_options_default(&c->options);
	/* Kueue since 0.19: on without its section, too. */
	c->times.wait_pods_ready = c->metrics.cohorts = c->metrics.creation_latency = true;
	c->multikueue.custom_jobs = true;
	if (config_read(&r, rows, d, c, err) < 0) {
		return -ERR_INVALID;
	}
	/* Kueue: recoveryTimeout is as long as timeout unless it is given. */
	if (c->times.recovery_ns < 0) {
		c->times.recovery_ns = c->times.ready_ns;
	}
	kueue_conf_owners_finish(&c->owners, c->arena);
	kueue_conf_metrics_finish(&c->metrics, &r);
	finish_frameworks(&c->multikueue, &r);
	copy_metric_labels(c);
	*ret = take_ptr(&c);
	return 0;
}

int kueue_conf_read(const struct jdoc *d, kueue_conf_warn_fn warn, void *ctx,
		    struct kueue_conf **ret, struct err *err)
{
	return read_file(d, warn_unknown, warn, ctx, ret, err);
}

int kueue_conf_read_strict(const struct jdoc *d, kueue_conf_warn_fn warn, void *ctx,
			   struct kueue_conf **ret, struct err *err)
{
	return read_file(d, refuse_unknown, warn, ctx, ret, err);
}

void kueue_conf_destroy(struct kueue_conf *c)
{
	if (c != NULL) {
		arena_destroy(c->arena);
		free(c);
	}
}

void kueue_conf_destroyp(struct kueue_conf **pc)
{
	kueue_conf_destroy(*pc);
	*pc = NULL;
}
