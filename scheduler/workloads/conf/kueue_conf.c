#include "scheduler/workloads/conf/kueue_conf.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/workloads/conf/kueue_conf_times.h"
#include "scheduler/workloads/conf/kueue_gates.h"
#include "scheduler/workloads/model/quota_store.h"

#define DEFAULT_SAMPLING_NS (INT64_C(300) * 1000000000)

struct reading {
	const struct jdoc *d;
	struct kueue_conf *conf;
	kueue_conf_warn_fn warn;
	void *ctx;
};

/* The value must be of the kind, or absent. */
static int expect(const struct jdoc *d, enum jdoc_kind kind, const char *field, struct err *err)
{
	static const char *const names[] = { "null",   "a boolean", "a number",
					     "a text", "a list",    "an object" };

	if (jdoc_kind(d) == JDOC_NULL || jdoc_kind(d) == kind) {
		if (jdoc_count(d) > KUEUE_CONF_MAX_ITEMS &&
		    (kind == JDOC_ARRAY || kind == JDOC_OBJECT)) {
			return err_set(err, ERR_INVALID, "%s: more than %d items", field,
				       KUEUE_CONF_MAX_ITEMS);
		}
		return 0;
	}
	return err_set(err, ERR_INVALID, "%s: must be %s", field, names[kind]);
}

static void warn_about(const struct reading *r, const char *field, const char *what)
{
	CLEANUP(xmalloc_freep) char *text = NULL;

	if (r->warn != NULL && what != NULL) {
		text = xmalloc_printf("%s: %s", field, what);
		r->warn(r->ctx, text);
	}
}

static int read_gate(struct reading *r, const struct jdoc *g, struct err *err)
{
	CLEANUP(xmalloc_freep) char *field = xmalloc_printf("featureGates.%s", jdoc_key(g));
	struct str name = str_of(jdoc_key(g));
	bool on = jdoc_bool(g, false);
	int code = expect(g, JDOC_BOOL, field, err);

	if (code < 0 || jdoc_kind(g) == JDOC_NULL) {
		return code;
	}
	if (!kueue_gates_set(name, on, &r->conf->options)) {
		warn_about(r, field, "no such feature gate");
	} else {
		warn_about(r, field, kueue_gates_missing(name, on));
	}
	return 0;
}

/* A gate that is switched on needs others, which are on unless they are switched off. */
static int check_needs(const struct jdoc *g, const struct jdoc *gates, struct err *err)
{
	const char *needed;

	for (size_t i = 0; jdoc_bool(g, false); i++) {
		needed = kueue_gates_needed(str_of(jdoc_key(g)), i);
		if (needed == NULL) {
			break;
		}
		if (!jdoc_bool(jdoc_get(gates, needed), true)) {
			return err_set(err, ERR_INVALID,
				       "featureGates.%s: requires %s to be enabled", jdoc_key(g),
				       needed);
		}
	}
	return 0;
}

static int read_gates(struct reading *r, struct err *err)
{
	const struct jdoc *gates = jdoc_get(r->d, "featureGates");
	int code = expect(gates, JDOC_OBJECT, "featureGates", err);

	for (const struct jdoc *g = jdoc_first(gates); code == 0 && g != NULL; g = jdoc_next(g)) {
		code = read_gate(r, g, err);
	}
	for (const struct jdoc *g = jdoc_first(gates); code == 0 && g != NULL; g = jdoc_next(g)) {
		code = check_needs(g, gates, err);
	}
	return code;
}

static int read_strategies(struct reading *r, const struct jdoc *list, struct err *err)
{
	struct quota_options *o = &r->conf->options;
	int code = expect(list, JDOC_ARRAY, "fairSharing.preemptionStrategies", err);

	if (code < 0 || jdoc_first(list) == NULL) {
		return code;
	}
	o->lte_final = o->lt_initial = false;
	for (const struct jdoc *s = jdoc_first(list); s != NULL; s = jdoc_next(s)) {
		if (jdoc_is_str(s, "LessThanOrEqualToFinalShare") && !o->lt_initial) {
			o->lte_final = true;
		} else if (jdoc_is_str(s, "LessThanInitialShare")) {
			o->lt_initial = true;
		} else {
			return err_set(
				err, ERR_INVALID,
				"fairSharing.preemptionStrategies: must be "
				"LessThanOrEqualToFinalShare, LessThanInitialShare, or both in "
				"this order");
		}
	}
	return 0;
}

static int read_fair_sharing(struct reading *r, struct err *err)
{
	const struct jdoc *fair = jdoc_get(r->d, "fairSharing");
	int code = expect(fair, JDOC_OBJECT, "fairSharing", err);

	r->conf->options.fair_sharing = jdoc_kind(fair) == JDOC_OBJECT;
	return code < 0 ? code : read_strategies(r, jdoc_get(fair, "preemptionStrategies"), err);
}

static int read_duration(const struct jdoc *d, const char *field, int64_t *ret, struct err *err)
{
	if (jdoc_kind(d) == JDOC_NULL) {
		return 0;
	}
	if (clock_parse_duration(str_of(jdoc_str_or(d, "?")), ret) < 0) {
		return err_set(err, ERR_INVALID, "%s: not a duration like 5m", field);
	}
	return 0;
}

static int read_weights(struct reading *r, const struct jdoc *map, struct err *err)
{
	static const char field[] = "admissionFairSharing.resourceWeights";
	struct kueue_conf *c = r->conf;
	struct quota_usage_rules *rules = &c->options.usage;
	struct quota_usage_weight *weights;
	int code = expect(map, JDOC_OBJECT, field, err);

	if (code < 0) {
		return code;
	}
	weights = arena_zero(c->arena, jdoc_count(map) + 1, sizeof(weights[0]));
	rules->weights = weights;
	for (const struct jdoc *m = jdoc_first(map); m != NULL; m = jdoc_next(m)) {
		double weight = jdoc_num(m, -1);

		if (!(weight >= 0)) {
			return err_set(err, ERR_INVALID, "%s.%s: must be a number, not negative",
				       field, jdoc_key(m));
		}
		weights[rules->nweights++] =
			(struct quota_usage_weight){ arena_dup(c->arena, jdoc_key(m)), weight };
	}
	return 0;
}

static int read_admission_fair_sharing(struct reading *r, struct err *err)
{
	static const char field[] = "admissionFairSharing";
	const struct jdoc *d = jdoc_get(r->d, field);
	struct kueue_conf *c = r->conf;
	int code = expect(d, JDOC_OBJECT, field, err);

	c->options.usage.sampling_ns = DEFAULT_SAMPLING_NS;
	c->options.admission_fair_sharing = jdoc_kind(d) == JDOC_OBJECT;
	if (code == 0) {
		code = read_duration(jdoc_get(d, "usageHalfLifeTime"),
				     "admissionFairSharing.usageHalfLifeTime",
				     &c->options.usage.half_life_ns, err);
	}
	if (code == 0) {
		code = read_duration(jdoc_get(d, "usageSamplingInterval"),
				     "admissionFairSharing.usageSamplingInterval",
				     &c->options.usage.sampling_ns, err);
	}
	return code < 0 ? code : read_weights(r, jdoc_get(d, "resourceWeights"), err);
}

static int read_outputs(struct kueue_conf *c, const struct jdoc *map,
			struct kueue_conf_resources_transformation *t, struct err *err)
{
	static const char field[] = "resources.transformations.outputs";
	struct field_resource *list;
	int code = expect(map, JDOC_OBJECT, field, err);

	if (code < 0) {
		return code;
	}
	list = arena_zero(c->arena, jdoc_count(map) + 1, sizeof(*list));
	t->outputs.v = list;
	for (const struct jdoc *m = jdoc_first(map); m != NULL; m = jdoc_next(m)) {
		CLEANUP(xmalloc_freep) char *number = NULL;
		const char *text = jdoc_str(m);
		struct field_resource *out = &list[t->outputs.n++];

		if (jdoc_kind(m) == JDOC_NUMBER) {
			number = xmalloc_printf("%.17g", jdoc_num(m, 0));
			text = number;
		}
		out->name = arena_dup(c->arena, jdoc_key(m));
		code = quantity_parse(str_of(text == NULL ? "" : text), &out->amount, err);
		if (code < 0) {
			return err_wrap(err, "%s.%s", field, out->name);
		}
	}
	return 0;
}

static int read_transformation(struct kueue_conf *c, const struct jdoc *d,
			       struct kueue_conf_resources_transformation *t, struct err *err)
{
	const char *input = jdoc_str(jdoc_get(d, "input"));
	const char *strategy = jdoc_str_or(jdoc_get(d, "strategy"), "Retain");

	if (input == NULL || input[0] == '\0') {
		return err_set(err, ERR_INVALID, "resources.transformations.input: missing");
	}
	t->input = arena_dup(c->arena, input);
	t->replace = str_streq(strategy, "Replace");
	t->multiply_by = arena_dup(c->arena, jdoc_str(jdoc_get(d, "multiplyBy")));
	if (!t->replace && !str_streq(strategy, "Retain")) {
		return err_set(err, ERR_INVALID,
			       "resources.transformations.strategy: must be Retain or Replace");
	}
	return read_outputs(c, jdoc_get(d, "outputs"), t, err);
}

static int read_excluded(struct kueue_conf *c, const struct jdoc *list, struct err *err)
{
	const char **excluded;
	int code = expect(list, JDOC_ARRAY, "resources.excludeResourcePrefixes", err);

	if (code < 0) {
		return code;
	}
	excluded = arena_zero(c->arena, jdoc_count(list) + 1, sizeof(*excluded));
	c->resources.excluded = excluded;
	for (const struct jdoc *s = jdoc_first(list); s != NULL; s = jdoc_next(s)) {
		if (jdoc_str(s) == NULL) {
			return err_set(err, ERR_INVALID,
				       "resources.excludeResourcePrefixes: must be texts");
		}
		excluded[c->resources.nexcluded++] = arena_dup(c->arena, jdoc_str(s));
	}
	return 0;
}

static int read_resources(struct reading *r, struct err *err)
{
	const struct jdoc *d = jdoc_get(r->d, "resources"), *list = jdoc_get(d, "transformations");
	const char *check = jdoc_str_or(jdoc_get(d, "quotaCheckStrategy"), "BlockUndeclared");
	struct kueue_conf *c = r->conf;
	struct kueue_conf_resources_transformation *items;
	int code = expect(d, JDOC_OBJECT, "resources", err);

	c->options.ignore_undeclared = str_streq(check, "IgnoreUndeclared");
	if (code == 0 && !c->options.ignore_undeclared && !str_streq(check, "BlockUndeclared")) {
		code = err_set(err, ERR_INVALID,
			       "resources.quotaCheckStrategy: must be BlockUndeclared or "
			       "IgnoreUndeclared");
	}
	if (code == 0) {
		code = read_excluded(c, jdoc_get(d, "excludeResourcePrefixes"), err);
	}
	if (code == 0) {
		code = expect(list, JDOC_ARRAY, "resources.transformations", err);
	}
	items = arena_zero(c->arena, jdoc_count(list) + 1, sizeof(*items));
	c->resources.transformations = items;
	for (const struct jdoc *t = jdoc_first(list); code == 0 && t != NULL; t = jdoc_next(t)) {
		code = read_transformation(c, t, &items[c->resources.ntransformations++], err);
	}
	return code;
}

static int read_block_admission(struct reading *r, struct err *err)
{
	const struct jdoc *d = jdoc_path(r->d, "waitForPodsReady.blockAdmission");
	const struct jdoc *off = jdoc_path(r->d, "featureGates.DisableWaitForPodsReady");

	r->conf->options.block_admission = jdoc_bool(d, false) && !jdoc_bool(off, false);
	return expect(d, JDOC_BOOL, "waitForPodsReady.blockAdmission", err);
}

static void on_metrics_warning(void *ctx, const char *field, const char *what)
{
	warn_about(ctx, field, what);
}

static int read_metrics(struct reading *r, struct err *err)
{
	return kueue_conf_metrics_read(r->d, r->conf->arena, on_metrics_warning, r,
				       &r->conf->metrics, err);
}

static bool is_in(const struct field_strs *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++) {
		if (str_streq(list->v[i], text)) {
			return true;
		}
	}
	return false;
}

/* Kueue: what metrics tell of Workloads comes from their Jobs and pods. */
static void copy_metric_labels(struct kueue_conf *c)
{
	const struct kueue_conf_metrics *m = &c->metrics;
	size_t most = c->owners.label_keys.n + m->nlabels + 1;
	const char **keys[] = { arena_zero(c->arena, most, sizeof(*keys[0])),
				arena_zero(c->arena, most, sizeof(*keys[0])) };
	struct field_strs out[] = { { keys[0], 0 }, { keys[1], 0 } };

	for (size_t i = 0; i < c->owners.label_keys.n; i++) {
		if (!is_in(&out[0], c->owners.label_keys.v[i])) {
			keys[0][out[0].n++] = c->owners.label_keys.v[i];
		}
	}
	for (size_t i = 0; i < m->nlabels; i++) {
		const struct kueue_conf_metrics_label *l = &m->labels[i];

		if (l->kind == KUEUE_CONF_METRICS_WORKLOAD &&
		    !is_in(&out[l->is_annotation], l->key)) {
			keys[l->is_annotation][out[l->is_annotation].n++] = l->key;
		}
	}
	c->owners.label_keys = out[0];
	c->owners.annotation_keys = out[1];
}

static int read_timestamp(struct reading *r, struct err *err)
{
	const struct jdoc *d = jdoc_path(r->d, "waitForPodsReady.requeuingStrategy.timestamp");

	r->conf->options.timestamp_creation = jdoc_is_str(d, "Creation");
	if (jdoc_kind(d) != JDOC_NULL && !jdoc_is_str(d, "Creation") &&
	    !jdoc_is_str(d, "Eviction")) {
		return err_set(err, ERR_INVALID,
			       "waitForPodsReady.requeuingStrategy.timestamp: must be Eviction or "
			       "Creation");
	}
	return 0;
}

static int read_all(struct reading *r, struct err *err)
{
	static int (*const parts[])(struct reading *, struct err *) = {
		read_fair_sharing, read_admission_fair_sharing, read_resources,
		read_timestamp,    read_block_admission,        read_metrics,
		read_gates, /* last: gates turn off what the file turns on */
	};
	const char *kind = jdoc_str(jdoc_get(r->d, "kind"));
	int code = expect(r->d, JDOC_OBJECT, "the configuration", err);

	if (code == 0 && kind != NULL && !str_streq(kind, "Configuration")) {
		code = err_set(err, ERR_INVALID, "kind: must be Configuration, not %s", kind);
	}
	for (size_t i = 0; code == 0 && i < ARRAY_LEN(parts); i++) {
		code = parts[i](r, err);
	}
	code = code < 0 ? code : kueue_conf_times_read(r->d, &r->conf->times, err);
	code = code < 0 ? code
			: kueue_conf_owners_read(r->d, r->conf->arena, &r->conf->owners, err);
	if (code == 0) {
		copy_metric_labels(r->conf);
	}
	return code;
}

int kueue_conf_read(const struct jdoc *d, kueue_conf_warn_fn warn, void *ctx,
		    struct kueue_conf **ret, struct err *err)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = xmalloc_zero(1, sizeof(*c));
	struct reading r = { d, c, warn, ctx };
	int code;

	c->arena = arena_create(0);
	quota_options_default(&c->options);
	code = read_all(&r, err);
	if (code == 0) {
		*ret = take_ptr(&c);
	}
	return code;
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
