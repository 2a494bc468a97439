#include "apiserver/rules/validate.h"

#include <regex.h>

#include "apiserver/kstatus.h"
#include "apiserver/rules/admission.h"
#include "apiserver/rules/kind_rules.h"
#include "apiserver/rules/pods.h"
#include "apiserver/server.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"
#include "schema/meta_rules.h"
#include "schema/schema.h"

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
				causes_add_value(causes, "spec.versions.schema", m,
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
	size_t i = 0;

	if (plural == NULL || group == NULL || group[0] == '\0' ||
	    jdoc_path_str(doc, "spec.names.kind") == NULL) {
		causes_add(causes, "FieldValueRequired", "spec.names",
			   "Required value: group, plural and kind");
		return;
	}
	name = xmalloc_printf("%s.%s", plural, group);
	if (!jdoc_is_str(jdoc_path(doc, "metadata.name"), name)) {
		causes_add_value(causes, "metadata.name", jdoc_path(doc, "metadata.name"),
				 "must be spec.names.plural+\".\"+spec.group");
	}
	if (!jdoc_is_str(scope, "Namespaced") && !jdoc_is_str(scope, "Cluster")) {
		causes_add(causes, "FieldValueNotSupported", "spec.scope",
			   "Unsupported value: \"%s\": supported values: \"Cluster\", "
			   "\"Namespaced\"",
			   jdoc_str_or(scope, ""));
	}
	for (const struct jdoc *v = jdoc_first(versions); v != NULL; v = jdoc_next(v)) {
		if (jdoc_path(v, "schema.openAPIV3Schema") == NULL) {
			CLEANUP(xmalloc_freep)
			char *at = xmalloc_printf("spec.versions[%zu].schema.openAPIV3Schema", i);

			causes_add(causes, "FieldValueRequired", at, "Required value");
		}
		i++;
		served += jdoc_bool(jdoc_get(v, "storage"), false);
		check_patterns(jdoc_get(v, "schema"), causes);
	}
	if (served != 1) {
		causes_add_value(causes, "spec.versions", versions,
				 "must have exactly one version marked as storage version");
	}
}

int validate_object(struct call *c, const struct jdoc *doc, const struct jdoc *old)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
	const struct jdoc *meta = jdoc_get(doc, "metadata");
	const struct meta_rules_kind kind = { c->res->group, c->res->kind, c->res->is_custom };

	meta_rules_check(&kind, doc, old, causes);
	if (c->res->schema != NULL) {
		schema_validate(c->res->schema, c->res->patterns, doc, causes);
	} else if ((c->res->flags & RESOURCE_POD) != 0) {
		pods_validate(c, doc, old, causes);
	} else if (str_streq(c->res->kind, "CustomResourceDefinition")) {
		check_crd(doc, causes);
	} else if (str_has_suffix(str_of(c->res->kind), "WebhookConfiguration")) {
		admission_check_registration(doc, causes);
	} else {
		kind_rules_check(c->res, doc, old, causes);
	}
	if (jdoc_first(causes) == NULL) {
		return 0;
	}
	/* Both kinds of events are validated as the old one. */
	return kstatus_invalid_kind(
		c->resp, str_streq(c->res->group, "events.k8s.io") ? "" : c->res->group,
		c->res->kind, str_of(jdoc_str_or(jdoc_get(meta, "name"), "")), causes);
}
