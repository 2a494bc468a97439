#include "apiserver/rules/defaults.h"

#include <stdio.h>

#include "apiserver/kstatus.h"
#include "apiserver/rules/pods.h"
#include "apiserver/server.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "schema/schema.h"

static void set_if_absent(struct jdoc *obj, const char *key, struct jdoc *value_take)
{
	const struct jdoc *v = jdoc_get(obj, key);

	if (obj == NULL || (v != NULL && jdoc_kind(v) != JDOC_NULL)) {
		jdoc_destroy(value_take);
		return;
	}
	jdoc_set_take(obj, key, value_take);
}

static int default_namespace(struct call *c, struct jdoc *doc)
{
	const char *name = jdoc_path_str(doc, "metadata.name");
	struct jdoc *labels = jdoc_ensure_object(jdoc_get_mut(doc, "metadata"), "labels");
	struct jdoc *status = jdoc_ensure_object(doc, "status");
	struct jdoc *finalizers;

	(void)c;
	if (name != NULL && labels != NULL) {
		jdoc_set_str(labels, "kubernetes.io/metadata.name", name);
	}
	finalizers = jdoc_ensure_array(jdoc_ensure_object(doc, "spec"), "finalizers");
	if (finalizers != NULL && jdoc_first(finalizers) == NULL) {
		jdoc_append_take(finalizers, jdoc_new_str("kubernetes"));
	}
	set_if_absent(status, "phase", jdoc_new_str("Active"));
	return 0;
}

/* Amounts as a decode and encode by Kubernetes leaves them; what is none stays. */
static void canonical(struct jdoc *list)
{
	for (const struct jdoc *m = jdoc_first(list); m != NULL;) {
		const struct jdoc *next = jdoc_next(m);
		CLEANUP(strbuf_finish) struct strbuf raw = STRBUF_INIT;
		char text[QUANTITY_TEXT_MAX];
		struct quantity q;

		if (jdoc_kind(m) == JDOC_NUMBER) {
			jdoc_format(m, &raw);
		} else {
			strbuf_add_c(&raw, jdoc_str_or(m, ""));
		}
		if (quantity_parse(strbuf_str(&raw), &q, NULL) == 0) {
			quantity_format(q, text);
			if (!jdoc_is_str(m, text)) {
				jdoc_set_str(list, jdoc_key(m), text);
			}
		}
		m = next;
	}
}

static int default_node(struct call *c, struct jdoc *doc)
{
	struct jdoc *status = jdoc_ensure_object(doc, "status");
	const struct jdoc *capacity = jdoc_get(status, "capacity");
	struct jdoc *conditions = jdoc_get_mut(status, "conditions");

	(void)c;
	(void)jdoc_ensure_object(doc, "spec");
	if (capacity != NULL) {
		set_if_absent(status, "allocatable", jdoc_copy(capacity));
	}
	canonical(jdoc_get_mut(status, "capacity"));
	canonical(jdoc_get_mut(status, "allocatable"));
	for (size_t i = 0; i < jdoc_count(conditions); i++) {
		set_if_absent(jdoc_at_mut(conditions, i), "lastHeartbeatTime", jdoc_new_null());
		set_if_absent(jdoc_at_mut(conditions, i), "lastTransitionTime", jdoc_new_null());
	}
	return 0;
}

static int default_replicas(struct call *c, struct jdoc *doc)
{
	struct jdoc *spec = jdoc_ensure_object(doc, "spec");

	if (str_streq(c->res->plural, "jobs")) {
		/* Without a parallelism, a job is one pod; with one, it is a work queue. */
		if (jdoc_get(spec, "parallelism") == NULL) {
			set_if_absent(spec, "completions", jdoc_new_int(1));
		}
		set_if_absent(spec, "parallelism", jdoc_new_int(1));
		set_if_absent(spec, "completionMode", jdoc_new_str("NonIndexed"));
		set_if_absent(spec, "backoffLimit", jdoc_new_int(6));
		set_if_absent(spec, "suspend", jdoc_new_bool(false));
	} else if (!str_streq(c->res->plural, "daemonsets")) {
		set_if_absent(spec, "replicas", jdoc_new_int(1));
	}
	(void)jdoc_ensure_object(doc, "status");
	return 0;
}

/* Moves stringData into data, in base64. */
static int default_secret(struct call *c, struct jdoc *doc)
{
	const struct jdoc *texts = jdoc_get(doc, "stringData");

	(void)c;
	set_if_absent(doc, "type", jdoc_new_str("Opaque"));
	for (const struct jdoc *t = jdoc_first(texts); t != NULL; t = jdoc_next(t)) {
		CLEANUP(strbuf_finish) struct strbuf encoded = STRBUF_INIT;

		base64_encode(str_of(jdoc_str_or(t, "")), &encoded);
		jdoc_set_str(jdoc_ensure_object(doc, "data"), jdoc_key(t), encoded.p);
	}
	jdoc_remove(doc, "stringData");
	return 0;
}

static int default_config_map(struct call *c, struct jdoc *doc)
{
	(void)c;
	if (jdoc_count(jdoc_get(doc, "data")) == 0) {
		jdoc_remove(doc, "data");
	}
	return 0;
}

static int default_event(struct call *c, struct jdoc *doc)
{
	(void)c;
	set_if_absent(doc, "eventTime", jdoc_new_null());
	set_if_absent(doc, "reportingComponent", jdoc_new_str(""));
	set_if_absent(doc, "reportingInstance", jdoc_new_str(""));
	return 0;
}

static int default_priority_class(struct call *c, struct jdoc *doc)
{
	(void)c;
	set_if_absent(doc, "preemptionPolicy", jdoc_new_str("PreemptLowerPriority"));
	return 0;
}

static int default_webhooks(struct call *c, struct jdoc *doc)
{
	struct jdoc *hooks = jdoc_get_mut(doc, "webhooks");
	bool mutating = str_has_prefix(str_of(c->res->plural), "mutating");

	for (size_t i = 0; i < jdoc_count(hooks); i++) {
		struct jdoc *h = jdoc_at_mut(hooks, i);
		struct jdoc *rules = jdoc_get_mut(h, "rules");

		set_if_absent(h, "failurePolicy", jdoc_new_str("Fail"));
		set_if_absent(h, "matchPolicy", jdoc_new_str("Equivalent"));
		set_if_absent(h, "namespaceSelector", jdoc_new_object());
		set_if_absent(h, "objectSelector", jdoc_new_object());
		set_if_absent(h, "timeoutSeconds", jdoc_new_int(10));
		if (mutating) {
			set_if_absent(h, "reinvocationPolicy", jdoc_new_str("Never"));
		}
		for (size_t k = 0; k < jdoc_count(rules); k++) {
			set_if_absent(jdoc_at_mut(rules, k), "scope", jdoc_new_str("*"));
		}
	}
	return 0;
}

static void add_condition(struct jdoc *conditions, const char *type, const char *reason,
			  const char *at)
{
	struct jdoc *c = jdoc_append_take(conditions, jdoc_new_object());

	jdoc_set_str(c, "type", type);
	jdoc_set_str(c, "status", "True");
	jdoc_set_str(c, "lastTransitionTime", at);
	jdoc_set_str(c, "reason", reason);
	jdoc_set_str(c, "message", "");
}

static void default_stored_versions(const struct jdoc *spec, struct jdoc *status)
{
	const struct jdoc *versions = jdoc_get(spec, "versions");
	struct jdoc *stored;

	if (jdoc_get(status, "storedVersions") != NULL) {
		return;
	}
	stored = jdoc_ensure_array(status, "storedVersions");
	for (const struct jdoc *v = jdoc_first(versions); v != NULL; v = jdoc_next(v)) {
		if (jdoc_bool(jdoc_get(v, "storage"), false)) {
			jdoc_append_take(stored,
					 jdoc_new_str(jdoc_str_or(jdoc_get(v, "name"), "")));
		}
	}
}

static int default_crd(struct call *c, struct jdoc *doc)
{
	struct jdoc *spec = jdoc_ensure_object(doc, "spec");
	struct jdoc *names = jdoc_ensure_object(spec, "names");
	struct jdoc *status = jdoc_ensure_object(doc, "status");
	struct jdoc *conditions = jdoc_ensure_array(status, "conditions");
	const char *kind = jdoc_str_or(jdoc_get(names, "kind"), "");
	CLEANUP(xmalloc_freep) char *list_kind = xmalloc_printf("%sList", kind);
	CLEANUP(xmalloc_freep) char *singular = xmalloc_dup(kind);
	char at[CLOCK_RFC3339_MAX];

	for (char *p = singular; *p != '\0'; p++) {
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
	}
	set_if_absent(names, "listKind", jdoc_new_str(list_kind));
	set_if_absent(names, "singular", jdoc_new_str(singular));
	set_if_absent(jdoc_ensure_object(spec, "conversion"), "strategy", jdoc_new_str("None"));
	default_stored_versions(spec, status);
	if (conditions != NULL && jdoc_first(conditions) == NULL) {
		clock_format_time(c->now, at);
		add_condition(conditions, "NamesAccepted", "NoConflicts", at);
		add_condition(conditions, "Established", "InitialNamesAccepted", at);
	}
	if (names != NULL) {
		jdoc_set_take(status, "acceptedNames", jdoc_copy(names));
	}
	return 0;
}

static const struct {
	const char *group, *plural;
	int (*apply)(struct call *c, struct jdoc *doc);
} built_in[] = {
	{ "", "pods", pods_default },
	{ "", "namespaces", default_namespace },
	{ "", "nodes", default_node },
	{ "", "secrets", default_secret },
	{ "", "configmaps", default_config_map },
	{ "", "events", default_event },
	{ "apps", "deployments", default_replicas },
	{ "apps", "replicasets", default_replicas },
	{ "apps", "statefulsets", default_replicas },
	{ "apps", "daemonsets", default_replicas },
	{ "batch", "jobs", default_replicas },
	{ "scheduling.k8s.io", "priorityclasses", default_priority_class },
	{ "admissionregistration.k8s.io", "mutatingwebhookconfigurations", default_webhooks },
	{ "admissionregistration.k8s.io", "validatingwebhookconfigurations", default_webhooks },
	{ "apiextensions.k8s.io", "customresourcedefinitions", default_crd },
};

int defaults_apply(struct call *c, struct jdoc *doc)
{
	if (c->res->schema != NULL) {
		schema_prune(c->res->schema, doc);
		schema_default(c->res->schema, doc);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(built_in); i++) {
		if (str_streq(c->res->group, built_in[i].group) &&
		    str_streq(c->res->plural, built_in[i].plural)) {
			return built_in[i].apply(c, doc);
		}
	}
	return 0;
}
