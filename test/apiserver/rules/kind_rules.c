#include "apiserver/rules/kind_rules.h"

#include <ctype.h>

#include "apiserver/kstatus.h"
#include "apiserver/store/resource.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"

#define CONFIG_MAX (1 << 20)

static bool is_config_key(const char *key)
{
	for (const char *p = key; *p != '\0'; p++) {
		if (!isalnum((unsigned char)*p) && strchr("-_.", *p) == NULL) {
			return false;
		}
	}
	return key[0] != '\0';
}

static size_t check_data(const struct jdoc *doc, const char *member, struct jdoc *causes)
{
	size_t size = 0;

	for (const struct jdoc *d = jdoc_first(jdoc_get(doc, member)); d != NULL;
	     d = jdoc_next(d)) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s[%s]", member, jdoc_key(d));
		CLEANUP(jdoc_destroyp) struct jdoc *key = jdoc_new_str(jdoc_key(d));

		if (!is_config_key(jdoc_key(d))) {
			causes_add_value(causes, at, key,
					 "a valid config key must consist of alphanumeric "
					 "characters, '-', '_' or '.' (e.g. 'key.name',  or "
					 "'KEY_NAME',  or 'key-name', regex used for validation "
					 "is '[-._a-zA-Z0-9]+')");
		}
		size += strlen(jdoc_str_or(d, ""));
	}
	return size;
}

static void check_immutable(const struct jdoc *doc, const struct jdoc *old, struct jdoc *causes)
{
	static const char *const members[] = { "data", "binaryData" };
	static const char why[] = "Forbidden: field is immutable when `immutable` is set";

	if (!jdoc_bool(jdoc_get(old, "immutable"), false)) {
		return;
	}
	if (!jdoc_bool(jdoc_get(doc, "immutable"), false)) {
		causes_add(causes, "FieldValueForbidden", "immutable", why);
	}
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (!jdoc_equal(jdoc_get(doc, members[i]), jdoc_get(old, members[i]))) {
			causes_add(causes, "FieldValueForbidden", members[i], why);
		}
	}
}

static void check_config_map(const struct jdoc *doc, const struct jdoc *old, struct jdoc *causes)
{
	size_t size;

	check_immutable(doc, old, causes);
	size = check_data(doc, "data", causes) + check_data(doc, "binaryData", causes);
	if (size > CONFIG_MAX) {
		causes_add(causes, "FieldValueTooLong", "[]",
			   "Too long: may not be more than %d bytes", CONFIG_MAX);
	}
}

static void check_lease(const struct jdoc *doc, const struct jdoc *old UNUSED, struct jdoc *causes)
{
	const struct jdoc *duration = jdoc_path(doc, "spec.leaseDurationSeconds");
	const struct jdoc *transitions = jdoc_path(doc, "spec.leaseTransitions");

	if (jdoc_kind(duration) != JDOC_NULL && jdoc_int(duration, 1) <= 0) {
		causes_add_value(causes, "spec.leaseDurationSeconds", duration,
				 "must be greater than 0");
	}
	if (jdoc_kind(transitions) != JDOC_NULL && jdoc_int(transitions, 0) < 0) {
		causes_add_value(causes, "spec.leaseTransitions", transitions,
				 "must be greater than or equal to 0");
	}
}

static void check_event(const struct jdoc *doc, const struct jdoc *old, struct jdoc *causes)
{
	const struct jdoc *about = jdoc_path(doc, "involvedObject.namespace");
	const char *ns = jdoc_str_or(jdoc_path(doc, "metadata.namespace"), "");

	/* Events about objects outside of namespaces live in "default". */
	if (old == NULL && !str_streq(jdoc_str_or(about, ""), ns) &&
	    !(jdoc_str_or(about, "")[0] == '\0' && str_streq(ns, "default"))) {
		causes_add_value(causes, "involvedObject.namespace", about,
				 "does not match event.namespace");
	}
}

static void check_new_event(const struct jdoc *doc, const struct jdoc *old, struct jdoc *causes)
{
	static const char *const needed[] = { "reportingController", "reportingInstance", "action",
					      "reason" };

	if (old != NULL) {
		return;
	}
	if (jdoc_kind(jdoc_get(doc, "eventTime")) == JDOC_NULL) {
		causes_add(causes, "FieldValueRequired", "eventTime", "Required value");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
		if (jdoc_str_or(jdoc_get(doc, needed[i]), "")[0] == '\0') {
			causes_add(causes, "FieldValueRequired", needed[i], "Required value");
		}
	}
}

static bool is_same_template(const struct jdoc *spec, const struct jdoc *old, bool directives_too)
{
	static const struct {
		const char *at, *member;
	} directives[] = {
		{ "metadata", "labels" },      { "metadata", "annotations" },
		{ "spec", "nodeSelector" },    { "spec", "tolerations" },
		{ "spec", "schedulingGates" }, { "spec", "affinity" },
	};
	const struct jdoc *now = jdoc_get(spec, "template"), *then = jdoc_get(old, "template");
	CLEANUP(jdoc_destroyp) struct jdoc *a = now == NULL ? NULL : jdoc_copy(now);
	CLEANUP(jdoc_destroyp) struct jdoc *b = then == NULL ? NULL : jdoc_copy(then);

	if (a == NULL || b == NULL) {
		return a == b;
	}
	for (size_t i = 0; directives_too && i < ARRAY_LEN(directives); i++) {
		(void)jdoc_remove(jdoc_ensure_object(a, directives[i].at), directives[i].member);
		(void)jdoc_remove(jdoc_ensure_object(b, directives[i].at), directives[i].member);
	}
	return jdoc_equal(a, b);
}

/* Kubernetes 1.36: nothing of it may run, and it was never started or is known to have stopped. */
static bool may_move(const struct jdoc *job)
{
	const struct jdoc *status = jdoc_get(job, "status");
	bool stopped = jdoc_kind(jdoc_get(status, "startTime")) == JDOC_NULL;

	for (const struct jdoc *c = jdoc_first(jdoc_get(status, "conditions")); c != NULL;
	     c = jdoc_next(c)) {
		stopped |= jdoc_is_str(jdoc_get(c, "type"), "Suspended") &&
			   jdoc_is_str(jdoc_get(c, "status"), "True");
	}
	return jdoc_bool(jdoc_path(job, "spec.suspend"), false) && stopped &&
	       jdoc_int(jdoc_get(status, "active"), 0) == 0;
}

static void check_job(const struct jdoc *doc, const struct jdoc *old, struct jdoc *causes)
{
	const struct jdoc *spec = jdoc_get(doc, "spec"), *was = jdoc_get(old, "spec");
	bool suspended = jdoc_bool(jdoc_get(was, "suspend"), false);
	bool started = jdoc_kind(jdoc_path(old, "status.startTime")) != JDOC_NULL;
	bool indexed = jdoc_is_str(jdoc_get(spec, "completionMode"), "Indexed");

	if (old == NULL) {
		return;
	}
	if (!is_same_template(spec, was, may_move(old))) {
		causes_add_value(causes, "spec.template", jdoc_get(spec, "template"),
				 "field is immutable");
	}
	if (!jdoc_equal(jdoc_get(spec, "completions"), jdoc_get(was, "completions")) &&
	    !(indexed &&
	      jdoc_equal(jdoc_get(spec, "completions"), jdoc_get(spec, "parallelism")))) {
		causes_add_value(causes, "spec.completions", jdoc_get(spec, "completions"),
				 "field is immutable");
	}
	if (started && !suspended &&
	    !jdoc_equal(jdoc_path(doc, "status.startTime"), jdoc_path(old, "status.startTime"))) {
		causes_add(causes, "FieldValueRequired", "status.startTime",
			   "startTime cannot be removed for unsuspended job");
	}
}

void kind_rules_check(const struct resource *res, const struct jdoc *doc, const struct jdoc *old,
		      struct jdoc *causes)
{
	static const struct {
		const char *group, *kind;
		void (*check)(const struct jdoc *doc, const struct jdoc *old, struct jdoc *causes);
	} rows[] = {
		{ "", "ConfigMap", check_config_map },
		{ "", "Event", check_event },
		{ "events.k8s.io", "Event", check_new_event },
		{ "coordination.k8s.io", "Lease", check_lease },
		{ "batch", "Job", check_job },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows) && !res->is_custom; i++) {
		if (str_streq(res->group, rows[i].group) && str_streq(res->kind, rows[i].kind)) {
			rows[i].check(doc, old, causes);
		}
	}
}
