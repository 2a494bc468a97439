#include "apiserver/validate.h"

#include <ctype.h>
#include <regex.h>

#include "apiserver/admission.h"
#include "apiserver/kstatus.h"
#include "apiserver/pods.h"
#include "apiserver/schema.h"
#include "apiserver/server.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool validate_is_dns_label(struct str s)
{
	if (s.len == 0 || s.len > 63) {
		return false;
	}
	for (size_t i = 0; i < s.len; i++) {
		bool edge = i == 0 || i == s.len - 1;

		if (!is_lower_alnum(s.p[i]) && (edge || s.p[i] != '-')) {
			return false;
		}
	}
	return true;
}

bool validate_is_dns_subdomain(struct str s)
{
	size_t start = 0;

	if (s.len == 0 || s.len > 253) {
		return false;
	}
	for (size_t i = 0; i <= s.len; i++) {
		if (i < s.len && s.p[i] != '.') {
			continue;
		}
		if (i == start || !is_lower_alnum(s.p[start]) || !is_lower_alnum(s.p[i - 1])) {
			return false;
		}
		start = i + 1;
	}
	for (size_t i = 0; i < s.len; i++) {
		if (!is_lower_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '.') {
			return false;
		}
	}
	return true;
}

bool validate_is_label_value(struct str s)
{
	if (s.len > 63) {
		return false;
	}
	for (size_t i = 0; i < s.len; i++) {
		bool edge = i == 0 || i == s.len - 1;
		char c = s.p[i];

		if (!isalnum((unsigned char)c) && (edge || (c != '-' && c != '_' && c != '.'))) {
			return false;
		}
	}
	return true;
}

bool validate_is_qualified_name(struct str s)
{
	const char *slash = s.len == 0 ? NULL : memchr(s.p, '/', s.len);

	if (slash != NULL) {
		struct str prefix = { s.p, (size_t)(slash - s.p) };

		if (!validate_is_dns_subdomain(prefix)) {
			return false;
		}
		s.len -= prefix.len + 1;
		s.p = slash + 1;
	}
	return s.len > 0 && validate_is_label_value(s);
}

static const char subdomain_rule[] =
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
	"'.', and must start and end with an alphanumeric character";

static void check_name(const struct call *c, const struct jdoc *meta, struct jdoc *causes)
{
	const char *name = jdoc_str_or(jdoc_get(meta, "name"), "");
	bool loose = str_has_prefix(str_of(c->res->group), "rbac.");

	if (name[0] == '\0') {
		kstatus_cause(causes, "FieldValueRequired", "metadata.name",
			      "Required value: name or generateName is required");
	} else if (!loose && !validate_is_dns_subdomain(str_of(name))) {
		kstatus_cause_value(causes, "metadata.name", jdoc_get(meta, "name"),
				    subdomain_rule);
	}
}

static void check_maps(const struct jdoc *meta, struct jdoc *causes)
{
	const struct jdoc *labels = jdoc_get(meta, "labels");
	const struct jdoc *annotations = jdoc_get(meta, "annotations");

	if (labels != NULL && jdoc_kind(labels) != JDOC_OBJECT && jdoc_kind(labels) != JDOC_NULL) {
		kstatus_cause_value(causes, "metadata.labels", labels, "must be a map");
		return;
	}
	for (const struct jdoc *l = jdoc_first(labels); l != NULL; l = jdoc_next(l)) {
		if (!validate_is_qualified_name(str_of(jdoc_key(l))) || jdoc_str(l) == NULL ||
		    !validate_is_label_value(str_of(jdoc_str(l)))) {
			kstatus_cause_value(causes, "metadata.labels", l,
					    "a valid label must be an empty string or consist of "
					    "alphanumeric characters, '-', '_' or '.'");
		}
	}
	for (const struct jdoc *a = jdoc_kind(annotations) == JDOC_OBJECT ? jdoc_first(annotations)
									  : NULL;
	     a != NULL; a = jdoc_next(a)) {
		if (jdoc_str(a) == NULL) {
			kstatus_cause_value(causes, "metadata.annotations", a, "must be a string");
		}
	}
}

static void check_finalizers(const struct jdoc *doc, const struct jdoc *old, struct jdoc *causes)
{
	const struct jdoc *now = jdoc_path(doc, "metadata.finalizers");
	const struct jdoc *before = jdoc_path(old, "metadata.finalizers");

	if (old == NULL || jdoc_path(old, "metadata.deletionTimestamp") == NULL) {
		return;
	}
	for (const struct jdoc *f = jdoc_first(now); f != NULL; f = jdoc_next(f)) {
		bool known = false;

		for (const struct jdoc *b = jdoc_first(before); b != NULL; b = jdoc_next(b)) {
			known = known || jdoc_equal(b, f);
		}
		if (!known) {
			kstatus_cause(causes, "FieldValueForbidden", "metadata.finalizers",
				      "Forbidden: no new finalizers can be added if the object is "
				      "being deleted, found new finalizers []string{\"%s\"}",
				      jdoc_str_or(f, ""));
		}
	}
}

/* Patterns that POSIX cannot compile are refused when the CRD is registered. */
static void check_patterns(const struct jdoc *schema, struct jdoc *causes)
{
	for (const struct jdoc *m = jdoc_first(schema); m != NULL; m = jdoc_next(m)) {
		const char *key = jdoc_key(m);
		regex_t re;

		if (jdoc_kind(m) == JDOC_OBJECT || jdoc_kind(m) == JDOC_ARRAY) {
			check_patterns(m, causes);
		} else if (key != NULL && str_streq(key, "pattern") && jdoc_str(m) != NULL) {
			if (regcomp(&re, jdoc_str(m), REG_EXTENDED | REG_NOSUB) != 0) {
				kstatus_cause_value(causes, "spec.versions.schema", m,
						    "pattern outside the supported subset");
			} else {
				regfree(&re);
			}
		}
	}
}

static void check_crd(const struct jdoc *doc, struct jdoc *causes)
{
	const char *plural = jdoc_path_str(doc, "spec.names.plural");
	const char *group = jdoc_path_str(doc, "spec.group");
	const struct jdoc *scope = jdoc_path(doc, "spec.scope");
	CLEANUP(xmalloc_freep) char *name = NULL;
	const struct jdoc *versions = jdoc_path(doc, "spec.versions");
	unsigned served = 0;

	if (plural == NULL || group == NULL || group[0] == '\0' ||
	    jdoc_path_str(doc, "spec.names.kind") == NULL) {
		kstatus_cause(causes, "FieldValueRequired", "spec.names",
			      "Required value: group, plural and kind");
		return;
	}
	name = xmalloc_printf("%s.%s", plural, group);
	if (!jdoc_is_str(jdoc_path(doc, "metadata.name"), name)) {
		kstatus_cause_value(causes, "metadata.name", jdoc_path(doc, "metadata.name"),
				    "must be spec.names.plural+\".\"+spec.group");
	}
	if (!jdoc_is_str(scope, "Namespaced") && !jdoc_is_str(scope, "Cluster")) {
		kstatus_cause_value(causes, "spec.scope", scope, "must be Cluster or Namespaced");
	}
	for (const struct jdoc *v = jdoc_first(versions); v != NULL; v = jdoc_next(v)) {
		served += jdoc_bool(jdoc_get(v, "storage"), false);
		check_patterns(jdoc_get(v, "schema"), causes);
	}
	if (served != 1) {
		kstatus_cause_value(causes, "spec.versions", versions,
				    "must have exactly one version marked as storage version");
	}
}

int validate_object(struct call *c, const struct jdoc *doc, const struct jdoc *old)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
	const struct jdoc *meta = jdoc_get(doc, "metadata");

	if (old == NULL) {
		check_name(c, meta, causes);
	}
	check_maps(meta, causes);
	check_finalizers(doc, old, causes);
	if (c->res->schema != NULL) {
		schema_validate(c->res->schema, doc, causes);
	} else if ((c->res->flags & RESOURCE_POD) != 0) {
		pods_validate(c, doc, old, causes);
	} else if (str_streq(c->res->kind, "CustomResourceDefinition")) {
		check_crd(doc, causes);
	} else if (str_has_suffix(str_of(c->res->kind), "WebhookConfiguration")) {
		admission_check_registration(doc, causes);
	}
	if (jdoc_first(causes) == NULL) {
		return 0;
	}
	return kstatus_invalid(c->resp, c->res, str_of(jdoc_str_or(jdoc_get(meta, "name"), "")),
			       causes);
}
