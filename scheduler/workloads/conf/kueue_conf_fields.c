#include "scheduler/workloads/conf/kueue_conf_fields.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "enc/json/jdoc.h"

struct name {
	const char *name;
	const struct name *below; /* ends with a row without a name; NULL: anything */
};

static const struct name webhook[] = {
	{ "port", NULL }, { "host", NULL }, { "certDir", NULL }, { NULL, NULL }
};
static const struct name health[] = { { "healthProbeBindAddress", NULL },
				      { "readinessEndpointName", NULL },
				      { "livenessEndpointName", NULL },
				      { NULL, NULL } };
static const struct name custom_labels[] = {
	{ "name", NULL },       { "sourceLabelKey", NULL }, { "sourceAnnotationKey", NULL },
	{ "sourceKind", NULL }, { "trackedValues", NULL },  { NULL, NULL }
};
static const struct name local_metrics[] = { { "enable", NULL },
					     { "localQueueSelector", NULL },
					     { NULL, NULL } };
static const struct name metrics[] = { { "bindAddress", NULL },
				       { "enableClusterQueueResources", NULL },
				       { "customLabels", custom_labels },
				       { "localQueueMetrics", local_metrics },
				       { NULL, NULL } };
static const struct name client[] = { { "qps", NULL }, { "burst", NULL }, { NULL, NULL } };
static const struct name certs[] = { { "enable", NULL },
				     { "webhookServiceName", NULL },
				     { "webhookSecretName", NULL },
				     { NULL, NULL } };
static const struct name requeuing[] = { { "timestamp", NULL },
					 { "backoffLimitCount", NULL },
					 { "backoffBaseSeconds", NULL },
					 { "backoffMaxSeconds", NULL },
					 { NULL, NULL } };
static const struct name pods_ready[] = { { "timeout", NULL },
					  { "recoveryTimeout", NULL },
					  { "blockAdmission", NULL },
					  { "requeuingStrategy", requeuing },
					  { NULL, NULL } };
static const struct name integrations[] = { { "frameworks", NULL },
					    { "externalFrameworks", NULL },
					    { "labelKeysToCopy", NULL },
					    { NULL, NULL } };
static const struct name fair_sharing[] = { { "preemptionStrategies", NULL }, { NULL, NULL } };
static const struct name admission_fair[] = { { "usageHalfLifeTime", NULL },
					      { "usageSamplingInterval", NULL },
					      { "resourceWeights", NULL },
					      { NULL, NULL } };
static const struct name transformations[] = { { "input", NULL },
					       { "strategy", NULL },
					       { "multiplyBy", NULL },
					       { "outputs", NULL },
					       { NULL, NULL } };
static const struct name resources[] = { { "quotaCheckStrategy", NULL },
					 { "excludeResourcePrefixes", NULL },
					 { "transformations", transformations },
					 { "deviceClassMappings", NULL },
					 { NULL, NULL } };
static const struct name retention_workloads[] = { { "afterFinished", NULL },
						   { "afterDeactivatedByKueue", NULL },
						   { NULL, NULL } };
static const struct name retention[] = { { "workloads", retention_workloads }, { NULL, NULL } };
static const struct name visibility[] = { { "bindAddress", NULL },
					  { "bindPort", NULL },
					  { NULL, NULL } };
static const struct name tls[] = { { "minVersion", NULL },
				   { "cipherSuites", NULL },
				   { "curvePreferences", NULL },
				   { NULL, NULL } };
static const struct name top[] = {
	{ "apiVersion", NULL },
	{ "kind", NULL },
	{ "namespace", NULL },
	{ "manageJobsWithoutQueueName", NULL },
	{ "managedJobsNamespaceSelector", NULL },
	{ "webhook", webhook },
	{ "health", health },
	{ "pprofBindAddress", NULL },
	{ "metrics", metrics },
	{ "leaderElection", NULL },
	{ "controller", NULL },
	{ "clientConnection", client },
	{ "internalCertManagement", certs },
	{ "waitForPodsReady", pods_ready },
	{ "integrations", integrations },
	{ "multiKueue", NULL },
	{ "fairSharing", fair_sharing },
	{ "admissionFairSharing", admission_fair },
	{ "resources", resources },
	{ "featureGates", NULL },
	{ "objectRetentionPolicies", retention },
	{ "visibilityServer", visibility },
	{ "tls", tls },
	{ NULL, NULL },
};

static int check_names(const struct jdoc *d, const struct name *names, struct err *err);

static const struct name *find(const struct name *names, const char *name)
{
	for (; names->name != NULL; names++) {
		if (str_streq(names->name, name)) {
			return names;
		}
	}
	return NULL;
}

/* In a list every item has the same fields. The depth is that of the tables. */
static int check_value(const struct jdoc *d, const struct name *below, struct err *err)
{
	size_t i = 0;

	if (jdoc_kind(d) != JDOC_ARRAY) {
		return check_names(d, below, err);
	}
	for (const struct jdoc *item = jdoc_first(d); item != NULL; item = jdoc_next(item), i++) {
		if (check_names(item, below, err) < 0) {
			return err_path(err, "[%zu].", i);
		}
	}
	return 0;
}

static int check_names(const struct jdoc *d, const struct name *names, struct err *err)
{
	if (jdoc_kind(d) != JDOC_OBJECT) {
		return 0; /* a wrong kind is for those to tell who read it */
	}
	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
		const struct name *n = find(names, jdoc_key(m));

		if (n == NULL) {
			return err_set(err, ERR_INVALID, "%s: unknown field", jdoc_key(m));
		}
		if (n->below != NULL && check_value(m, n->below, err) < 0) {
			return err_path(err, "%s%s", n->name,
					jdoc_kind(m) == JDOC_ARRAY ? "" : ".");
		}
	}
	return 0;
}

int kueue_conf_fields_check(const struct jdoc *d, struct err *err)
{
	return check_names(d, top, err);
}
