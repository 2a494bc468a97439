#include "scheduler/workloads/conf/kueue_conf.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/config.h"
#include "enc/yaml.h"

static void remember(void *ctx, const char *text)
{
	strbuf_printf(ctx, "%s;", text);
}

static int read_text(const char *text, struct strbuf *warnings, struct kueue_conf **ret,
		     struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(str_of(text), &d, err), 0);
	return kueue_conf_read(d, remember, warnings, ret, err);
}

static void without_a_file_kueue_defaults_hold(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;

	(void)state;
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &c, NULL), 0);
	assert_false(c->options.fair_sharing);
	assert_true(c->options.partial_admission);
	assert_false(c->options.timestamp_creation);
	assert_false(c->options.admission_fair_sharing);
	assert_int_equal(c->options.heads, 1);
	assert_int_equal(c->resources.ntransformations, 0);
}

static void fields_of_the_configuration(void **state)
{
	static const char text[] =
		"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
		"health: {healthProbeBindAddress: ':8081'}\n"
		"featureGates: {PriorityBoost: true, NoSuchGate: true, TASBalancedPlacement: "
		"true,\n"
		"  ConcurrentAdmission: false}\n"
		"fairSharing: {preemptionStrategies: [LessThanInitialShare]}\n"
		"admissionFairSharing: {usageHalfLifeTime: 168h, usageSamplingInterval: 10s,\n"
		"  resourceWeights: {cpu: 2, memory: 0.5}}\n"
		"resources:\n  quotaCheckStrategy: IgnoreUndeclared\n"
		"  excludeResourcePrefixes: [example.com/]\n"
		"  transformations:\n"
		"  - {input: nvidia.com/mig, strategy: Replace, multiplyBy: pods,\n"
		"     outputs: {gpu: 500m, mem: 5Gi}}\n"
		"waitForPodsReady: {requeuingStrategy: {timestamp: Creation}}\n";
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
	CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;

	(void)state;
	assert_int_equal(read_text(text, &warnings, &c, NULL), 0);
	assert_string_equal(warnings.p, "featureGates.NoSuchGate: no such feature gate;"
					"featureGates.TASBalancedPlacement: topology-aware "
					"scheduling is not supported yet;");
	assert_true(c->options.priority_boost);
	assert_true(c->options.fair_sharing);
	assert_false(c->options.lte_final);
	assert_true(c->options.lt_initial);
	assert_true(c->options.admission_fair_sharing);
	assert_int_equal(c->options.usage.half_life_ns, INT64_C(168) * 3600 * 1000000000);
	assert_int_equal(c->options.usage.sampling_ns, INT64_C(10000000000));
	assert_int_equal(c->options.usage.nweights, 2);
	assert_true(c->options.usage.weights[1].weight > 0.49 &&
		    c->options.usage.weights[1].weight < 0.51);
	assert_true(c->options.ignore_undeclared);
	assert_int_equal(c->resources.nexcluded, 1);
	assert_string_equal(c->resources.excluded[0], "example.com/");
	assert_int_equal(c->resources.ntransformations, 1);
	assert_true(c->resources.transformations[0].replace);
	assert_string_equal(c->resources.transformations[0].multiply_by, "pods");
	assert_int_equal(c->resources.transformations[0].outputs.n, 2);
	assert_int_equal(quantity_milli(c->resources.transformations[0].outputs.v[0].amount), 500);
	assert_true(c->options.timestamp_creation);
}

static void fair_sharing_is_on_when_it_is_there(void **state)
{
	static const struct {
		const char *text;
		bool on;
	} rows[] = {
		{ "fairSharing: {}\n", true },
		{ "fairSharing: {preemptionStrategies: []}\n", true },
		{ "fairSharing: null\n", false },
		{ "kind: Configuration\n", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;

		unit_row(rows[i].text);
		assert_int_equal(read_text(rows[i].text, NULL, &c, NULL), 0);
		assert_int_equal(c->options.fair_sharing, rows[i].on);
		assert_true(c->options.lte_final && c->options.lt_initial);
	}
}

static void errors_name_the_field(void **state)
{
	static const char *const rows[][2] = {
		{ "multiKueue: {orchestratedPreemption: {order: Random}}",
		  "multiKueue.orchestratedPreemption.order: must be FirstSignal, ConfigOrder or "
		  "Cost, not Random" },
		{ "kind: Deployment\n", "kind: must be Configuration, not Deployment" },
		{ "- 1\n", "must be an object, not a list" },
		{ "featureGates: [a]\n", "featureGates: must be an object, not a list" },
		{ "featureGates: {PriorityBoost: 1}\n",
		  "featureGates.PriorityBoost: must be a boolean, not a number" },
		{ "fairSharing: true\n", "fairSharing: must be an object, not a boolean" },
		{ "fairSharing: {preemptionStrategies: [X]}\n",
		  "fairSharing.preemptionStrategies: must be LessThanOrEqualToFinalShare, "
		  "LessThanInitialShare, or both in this order" },
		{ "fairSharing: {preemptionStrategies: [LessThanInitialShare, "
		  "LessThanOrEqualToFinalShare]}\n",
		  "fairSharing.preemptionStrategies: must be LessThanOrEqualToFinalShare, "
		  "LessThanInitialShare, or both in this order" },
		{ "admissionFairSharing: {usageHalfLifeTime: 5}\n",
		  "admissionFairSharing.usageHalfLifeTime: not a duration like 5m" },
		{ "admissionFairSharing: {resourceWeights: {cpu: -1}}\n",
		  "admissionFairSharing.resourceWeights.cpu: must be a number, not negative" },
		{ "resources: {quotaCheckStrategy: Maybe}\n",
		  "resources.quotaCheckStrategy: must be BlockUndeclared or IgnoreUndeclared, "
		  "not Maybe" },
		{ "resources: {excludeResourcePrefixes: [1]}\n",
		  "resources.excludeResourcePrefixes[0]: must be a string, not a number" },
		{ "resources: {transformations: [{}]}\n",
		  "resources.transformations[0].input: missing" },
		{ "resources: {transformations: [{input: a, strategy: X}]}\n",
		  "resources.transformations[0].strategy: must be Retain or Replace, not X" },
		{ "resources: {transformations: [{input: a, outputs: {b: 1x}}]}\n",
		  "resources.transformations[0].outputs.b: invalid quantity \"1x\"" },
		{ "waitForPodsReady: {blockAdmission: 1}\n",
		  "waitForPodsReady.blockAdmission: must be a boolean, not a number" },
		{ "featureGates: {UnadmittedWorkloadsExplicitStatus: true, "
		  "UnadmittedWorkloadsObservability: false}\n",
		  "featureGates.UnadmittedWorkloadsExplicitStatus: requires "
		  "UnadmittedWorkloadsObservability to be enabled" },
		{ "featureGates: {TopologyAwareScheduling: false, TASBalancedPlacement: true}\n",
		  "featureGates.TASBalancedPlacement: requires TopologyAwareScheduling to be "
		  "enabled" },
		{ "waitForPodsReady: {requeuingStrategy: {timestamp: Now}}\n",
		  "waitForPodsReady.requeuingStrategy.timestamp: must be Eviction or Creation, not "
		  "Now" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;
		struct err err = ERR_INIT;

		unit_row(rows[i][0]);
		assert_int_equal(read_text(rows[i][0], &warnings, &c, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i][1]);
		assert_null(c);
	}
}

#define S INT64_C(1000000000)

static void time_limits_have_defaults(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
	const struct quota_times *t;

	(void)state;
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &c, NULL), 0);
	t = &c->times;
	assert_true(t->wait_pods_ready);
	assert_int_equal(t->ready_ns, 1800 * S);
	assert_int_equal(t->recovery_ns, 1800 * S);
	assert_int_equal(t->backoff_base_ns, 60 * S);
	assert_int_equal(t->backoff_max_ns, 3600 * S);
	assert_int_equal(t->backoff_limit, -1);
	assert_int_equal(t->keep_finished_ns, -1);
	assert_int_equal(t->keep_deactivated_ns, -1);
	assert_false(t->explicit_status);
}

static void time_limits_can_be_set(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
	CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;
	const struct quota_times *t;

	(void)state;
	assert_int_equal(read_text("waitForPodsReady: {timeout: 5m, recoveryTimeout: 3m, "
				   "blockAdmission: true,\n"
				   "  requeuingStrategy: {backoffBaseSeconds: 10,\n"
				   "    backoffMaxSeconds: 20, backoffLimitCount: 0}}\n"
				   "objectRetentionPolicies: {workloads: {afterFinished: 0s,\n"
				   "  afterDeactivatedByKueue: 1h}}\n"
				   "featureGates: {DisableWaitForPodsReady: true,\n"
				   "  UnadmittedWorkloadsExplicitStatus: true}\n",
				   &warnings, &c, NULL),
			 0);
	t = &c->times;
	assert_true(!c->options.block_admission);
	assert_false(t->wait_pods_ready);
	assert_int_equal(t->ready_ns, 300 * S);
	assert_int_equal(t->recovery_ns, 180 * S);
	assert_int_equal(t->backoff_base_ns, 10 * S);
	assert_int_equal(t->backoff_max_ns, 20 * S);
	assert_int_equal(t->backoff_limit, 0);
	assert_int_equal(t->keep_finished_ns, 0);
	assert_int_equal(t->keep_deactivated_ns, 3600 * S);
	assert_true(t->explicit_status);
}

static void multikueue_has_defaults(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
	const struct kueue_conf_multikueue *m;

	(void)state;
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &c, NULL), 0);
	m = &c->multikueue;
	assert_null(m->origin);
	assert_int_equal(m->preemption_timeout_ns, 300 * S);
	assert_int_equal(m->preemption_order, KUEUE_CONF_COST);
	assert_int_equal(m->window_ns, 10 * S);
	assert_int_equal(m->progress_ns, 1200 * S);
	assert_int_equal(m->probe_ns, 20 * S);
	assert_int_equal(m->per_queue, 1);
	assert_int_equal(m->gc_ns, 60 * S);
	assert_int_equal(m->worker_lost_ns, 900 * S);
	assert_null(m->dispatcher);
	assert_int_equal(m->step_size, 3);
}

static void multikueue_can_be_set(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
	CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;
	const struct kueue_conf_multikueue *m;

	(void)state;
	assert_int_equal(
		read_text("multiKueue:\n  origin: blue\n  singleClusterPreemptionTimeout: 1m\n"
			  "  orchestratedPreemption: {order: ConfigOrder, collectionWindow: 0s,"
			  " progressTimeout: 2m, reactionTimeout: 3s, maxPerClusterQueue: 4}\n"
			  "  gcInterval: 0s\n  workerLostTimeout: 1h\n  dispatcherName: d\n"
			  "  incrementalDispatcherConfig: {stepSize: 2}\n",
			  &warnings, &c, NULL),
		0);
	m = &c->multikueue;
	assert_string_equal(m->origin, "blue");
	assert_int_equal(m->preemption_timeout_ns, 60 * S);
	assert_int_equal(m->preemption_order, KUEUE_CONF_CONFIG_ORDER);
	assert_int_equal(m->window_ns, 0);
	assert_int_equal(m->progress_ns, 120 * S);
	assert_int_equal(m->probe_ns, 3 * S);
	assert_int_equal(m->per_queue, 4);
	assert_int_equal(m->gc_ns, 0);
	assert_int_equal(m->worker_lost_ns, 3600 * S);
	assert_string_equal(m->dispatcher, "d");
	assert_int_equal(m->step_size, 2);
}

#define LONG "a123456789a123456789a123456789a123456789a123456789a123456789"

/* A manager with such an origin could neither list nor make replicas. */
static void an_origin_is_a_label(void **state)
{
	static const struct {
		const char *origin;
		bool good;
	} rows[] = {
		{ LONG "abc", true }, { LONG "abcd", false }, { "'a b'", false },
		{ "-a", false },      { "a/b", false },       { "a.b_c", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf("multiKueue: {origin: %s}", rows[i].origin);
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		struct err err = ERR_INIT;

		unit_row(rows[i].origin);
		assert_int_equal(read_text(text, NULL, &c, &err), rows[i].good ? 0 : -ERR_INVALID);
		assert_true(rows[i].good ||
			    (str_has_prefix(str_of(err.text), "multiKueue.origin: ") &&
			     strstr(err.text, "value of a label") != NULL));
	}
}

static void errors_in_times_name_the_field(void **state)
{
	static const struct {
		const char *text, *field;
	} cases[] = {
		{ "waitForPodsReady: {timeout: soon}", "waitForPodsReady.timeout" },
		{ "waitForPodsReady: {recoveryTimeout: 3}", "waitForPodsReady.recoveryTimeout" },
		{ "waitForPodsReady: {requeuingStrategy: {backoffLimitCount: -1}}",
		  "waitForPodsReady.requeuingStrategy.backoffLimitCount" },
		{ "waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 1.5}}",
		  "waitForPodsReady.requeuingStrategy.backoffBaseSeconds" },
		{ "waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: 4294967296}}",
		  "waitForPodsReady.requeuingStrategy.backoffMaxSeconds" },
		{ "objectRetentionPolicies: {workloads: {afterFinished: x}}",
		  "objectRetentionPolicies.workloads.afterFinished" },
		{ "objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: 5}}",
		  "objectRetentionPolicies.workloads.afterDeactivatedByKueue" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		struct err err = ERR_INIT;

		unit_row(cases[i].text);
		assert_int_equal(read_text(cases[i].text, NULL, &c, &err), -ERR_INVALID);
		assert_true(str_has_prefix(str_of(err.text), cases[i].field));
		assert_null(c);
	}
}

#define FRAMEWORKS "multiKueue: {externalFrameworks: "

static void frameworks_are_read(void **state)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;

	(void)state;
	assert_int_equal(read_text(FRAMEWORKS "[{name: Foo.v1.example.com}, "
					      "{name: JobSet.v1alpha2.jobset.x-k8s.io}]}",
				   NULL, &c, NULL),
			 0);
	assert_int_equal(c->multikueue.frameworks.n, 2);
	assert_string_equal(c->multikueue.frameworks.v[0].name, "Foo.v1.example.com");
	assert_string_equal(c->multikueue.frameworks.v[1].kind, "JobSet");
	assert_string_equal(c->multikueue.frameworks.v[1].api_version, "jobset.x-k8s.io/v1alpha2");
}

/* As in Kueue, which makes no adapters for them then. */
static void frameworks_have_a_gate(void **state)
{
	static const struct {
		const char *text, *warning;
		size_t want;
	} rows[] = {
		{ "featureGates: {MultiKueueAdaptersForCustomJobs: false}\n" FRAMEWORKS
		  "[{name: A.v1.b}]}",
		  "multiKueue.externalFrameworks: without effect: the gate "
		  "MultiKueueAdaptersForCustomJobs is off;",
		  0 },
		{ "featureGates: {MultiKueueAdaptersForCustomJobs: true}\n" FRAMEWORKS
		  "[{name: A.v1.b}]}",
		  "", 1 },
		{ "featureGates: {MultiKueueAdaptersForCustomJobs: null}\n" FRAMEWORKS
		  "[{name: A.v1.b}]}",
		  "", 1 },
		{ "featureGates: {MultiKueueAdaptersForCustomJobs: false}\n", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;

		unit_row_number(i);
		assert_int_equal(read_text(rows[i].text, &warnings, &c, NULL), 0);
		assert_int_equal(c->multikueue.frameworks.n, rows[i].want);
		assert_string_equal(warnings.len == 0 ? "" : warnings.p, rows[i].warning);
	}
}

static void bad_frameworks_are_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "[Foo.v1.example.com]}",
		  "multiKueue.externalFrameworks[0]: must be an object, not a string" },
		{ "Foo.v1.example.com}",
		  "multiKueue.externalFrameworks: must be a list, not a string" },
		{ "[{}]}", "multiKueue.externalFrameworks[0].name: missing" },
		{ "[{name: 1}]}",
		  "multiKueue.externalFrameworks[0].name: must be a string, not a number" },
		{ "[{name: A.v1.b}, {name: Foo.v1}]}",
		  "multiKueue.externalFrameworks[1].name: \"Foo.v1\" is not Kind.version.group" },
		{ "[{name: Job.v1.batch}]}",
		  "multiKueue.externalFrameworks[0].name: \"Job.v1.batch\" is carried without "
		  "being listed" },
		{ "[{name: A.v1.b}, {name: A.v2.b}, {name: A.v1.b}]}",
		  "multiKueue.externalFrameworks: \"A.v1.b\" is listed twice" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep) char *text = xmalloc_printf(FRAMEWORKS "%s", rows[i][0]);
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		struct err err = ERR_INIT;

		unit_row(rows[i][0]);
		assert_int_equal(read_text(text, NULL, &c, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i][1]);
	}
}

/* At the limit and one beyond. */
static void frameworks_are_limited(void **state)
{
	(void)state;
	for (unsigned n = CUSTOM_KINDS_MAX; n <= CUSTOM_KINDS_MAX + 1; n++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		strbuf_add_c(&text, FRAMEWORKS "[");
		for (unsigned i = 0; i < n; i++) {
			strbuf_printf(&text, "{name: F%u.v1.g},", i);
		}
		strbuf_add_c(&text, "]}");
		assert_int_equal(read_text(text.p, NULL, &c, NULL),
				 n > CUSTOM_KINDS_MAX ? -ERR_INVALID : 0);
	}
}

/* Each setting of Kueue's own processes. */
#define FOR_KUEUE_ALONE                                                                            \
	"webhook: {port: 1, host: h, certDir: d}\nhealth: {healthProbeBindAddress: a, "            \
	"readinessEndpointName: r, livenessEndpointName: l}\npprofBindAddress: a\n"                \
	"metrics: {bindAddress: a}\nleaderElection: {leaderElect: true}\n"                         \
	"controller: {groupKindConcurrency: {Job.batch: 5}}\n"                                     \
	"clientConnection: {qps: 50, burst: 100}\ninternalCertManagement: {enable: true, "         \
	"webhookServiceName: s, webhookSecretName: t}\nmultiKueue: {externalFrameworks: []}\n"     \
	"resources: {deviceClassMappings: []}\nvisibilityServer: {bindAddress: a, bindPort: 1}\n"  \
	"tls: {minVersion: v, cipherSuites: [], curvePreferences: []}\n"

/* Without strict reading an unknown field is a warning. */
static void unknown_fields_are_refused(void **state)
{
	static const struct {
		const char *text, *error; /* NULL: fine */
	} rows[] = {
		{ "", NULL },
		{ "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n", NULL },
		{ "featureGates: {Whatever: true}\nmultiKueue: {dispatcherName: d}\n", NULL },
		{ "multiKueue: {any: thing}\n", "multiKueue.any: unknown field" },
		{ "waitForPodsReady: {requeuingStrategy: {timestamp: Creation}}\n", NULL },
		{ "resources: {transformations: [{input: a, outputs: {b: 1}}]}\n", NULL },
		{ "pprofBindAddress: :8083\nwebhook: {host: h}\n", NULL },
		{ FOR_KUEUE_ALONE, NULL },
		{ "fairSharin: {}\n", "fairSharin: unknown field" },
		{ "fairSharing: {strategies: []}\n", "fairSharing.strategies: unknown field" },
		{ "waitForPodsReady: {requeuingStrategy: {timestmp: x}}\n",
		  "waitForPodsReady.requeuingStrategy.timestmp: unknown field" },
		{ "resources: {transformations: [{input: a}, {input: b, inputs: c}]}\n",
		  "resources.transformations[1].inputs: unknown field" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		CLEANUP(strbuf_finish) struct strbuf warnings = STRBUF_INIT;
		struct err err = ERR_INIT;
		int r;

		unit_row(rows[i].text);
		assert_int_equal(yaml_parse(str_of(rows[i].text), &d, NULL), 0);
		r = kueue_conf_read_strict(d, NULL, NULL, &c, &err);
		assert_int_equal(r, rows[i].error == NULL ? 0 : -ERR_INVALID);
		if (rows[i].error != NULL) {
			assert_string_equal(err.text, rows[i].error);
			assert_int_equal(kueue_conf_read(d, remember, &warnings, &c, NULL), 0);
			assert_true(str_has_prefix(strbuf_str(&warnings), rows[i].error));
		}
	}
}

static void expect_keys(const struct field_strs *list, const char *a, const char *b)
{
	assert_int_equal(list->n, (a != NULL) + (b != NULL));
	assert_true(a == NULL || str_streq(list->v[0], a));
	assert_true(b == NULL || str_streq(list->v[1], b));
}

/* Workloads have no other labels than those that they get of their Jobs and pods. */
static void labels_of_workload_metrics_are_copied(void **state)
{
	static const char labels[] =
		"metrics: {customLabels: [\n"
		"  {name: team, sourceKind: Workload, trackedValues: [a]},\n"
		"  {name: cost, sourceKind: Workload, sourceAnnotationKey: x/cost, trackedValues: "
		"[b]},\n"
		"  {name: site}, {name: room, sourceAnnotationKey: room}]}\n"
		"integrations: {labelKeysToCopy: [%s]}\nfeatureGates: {CustomMetricLabels: %s}\n";
	static const struct {
		const char *copied, *gate, *keys[2], *annotation;
	} rows[] = {
		{ "", "true", { "team", NULL }, "x/cost" },
		{ "own, own", "true", { "own", "team" }, "x/cost" },
		{ "team", "true", { "team", NULL }, "x/cost" },
		{ "own", "false", { "own", NULL }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, warnings = STRBUF_INIT;

		unit_row(rows[i].copied);
		strbuf_printf(&text, labels, rows[i].copied, rows[i].gate);
		assert_int_equal(read_text(text.p, &warnings, &c, NULL), 0);
		expect_keys(&c->owners.label_keys, rows[i].keys[0], rows[i].keys[1]);
		expect_keys(&c->owners.annotation_keys, rows[i].annotation, NULL);
	}
}

static void lists_have_a_limit(void **state)
{
	(void)state;
	for (size_t extra = 0; extra < 2; extra++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(kueue_conf_destroyp) struct kueue_conf *c = NULL;
		struct err err = ERR_INIT;

		strbuf_add_c(&text, "resources: {excludeResourcePrefixes: [a");
		for (size_t i = 1; i < CONFIG_MAX_ITEMS + extra; i++) {
			strbuf_add_c(&text, ", a");
		}
		strbuf_add_c(&text, "]}\n");
		assert_int_equal(read_text(text.p, NULL, &c, &err), extra == 0 ? 0 : -ERR_INVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_kueue_defaults_hold),
		cmocka_unit_test(fields_of_the_configuration),
		cmocka_unit_test(fair_sharing_is_on_when_it_is_there),
		cmocka_unit_test(errors_name_the_field),
		cmocka_unit_test(time_limits_have_defaults),
		cmocka_unit_test(time_limits_can_be_set),
		cmocka_unit_test(multikueue_has_defaults),
		cmocka_unit_test(multikueue_can_be_set),
		cmocka_unit_test(frameworks_are_read),
		cmocka_unit_test(frameworks_have_a_gate),
		cmocka_unit_test(bad_frameworks_are_refused),
		cmocka_unit_test(frameworks_are_limited),
		cmocka_unit_test(an_origin_is_a_label),
		cmocka_unit_test(errors_in_times_name_the_field),
		cmocka_unit_test(unknown_fields_are_refused),
		cmocka_unit_test(labels_of_workload_metrics_are_copied),
		cmocka_unit_test(lists_have_a_limit),
	};

	return cmocka_run_group_tests_name("workloads/conf/kueue_conf", tests, NULL, NULL);
}
