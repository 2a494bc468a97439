#include "schema/meta_rules.h"

#include <ctype.h>

#include "api/meta/validate.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"

#define ANNOTATIONS_MAX 262144
#define EDGES "and must start and end with an alphanumeric character "

static const char subdomain_rule[] =
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
	"'.', " EDGES "(e.g. 'example.com', regex used for validation is "
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
static const char label_name_rule[] =
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
	"'-', " EDGES "(e.g. 'my-name',  or '123-abc', regex used for validation is "
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
static const char label_value_rule[] =
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
	"'.', " EDGES "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
#define NAME_RULE                                                                                  \
	"must consist of alphanumeric characters, '-', '_' or '.', " EDGES                         \
	"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "              \
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
static const char name_part_rule[] = "name part " NAME_RULE;
static const char qualified_rule[] =
	"a qualified name " NAME_RULE
	" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
static const char label_key_rule[] =
	"a valid label key " NAME_RULE
	" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_label_text(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		bool edge = i == 0 || i == s.len - 1;

		if (!is_lower_alnum(s.p[i]) && (edge || s.p[i] != '-')) {
			return false;
		}
	}
	return s.len > 0;
}

static bool is_subdomain_text(struct str s)
{
	while (s.p != NULL) {
		if (!is_label_text(str_next(&s, '.'))) {
			return false;
		}
	}
	return true;
}

static bool is_value_text(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		bool edge = i == 0 || i == s.len - 1;
		char c = s.p[i];

		if (!isalnum((unsigned char)c) && (edge || (c != '-' && c != '_' && c != '.'))) {
			return false;
		}
	}
	return true;
}

/* The reason why s is no qualified name; NULL: it is one. */
static const char *why_not_qualified(struct str s, const char *many_slashes)
{
	const char *slash = s.len == 0 ? NULL : memchr(s.p, '/', s.len);
	struct str prefix = { s.p, slash == NULL ? 0 : (size_t)(slash - s.p) };

	if (slash != NULL) {
		s.len -= prefix.len + 1;
		s.p = slash + 1;
		if (s.len > 0 && memchr(s.p, '/', s.len) != NULL) {
			return many_slashes;
		}
		if (prefix.len == 0) {
			return "prefix part must be non-empty";
		}
		if (!validate_is_dns_subdomain(prefix)) {
			return "prefix part a lowercase RFC 1123 subdomain must consist of lower "
			       "case alphanumeric characters, '-' or '.'";
		}
	}
	if (s.len == 0) {
		return "name part must be non-empty";
	}
	if (s.len > 63) {
		return "name part must be no more than 63 bytes";
	}
	return is_value_text(s) ? NULL : name_part_rule;
}

static void refuse_text(struct jdoc *causes, const char *field, const char *text, const char *why)
{
	CLEANUP(jdoc_destroyp) struct jdoc *value = jdoc_new_str(text);

	causes_add_value(causes, field, value, why);
}

void meta_rules_check_qualified(const char *field, const char *name, struct jdoc *causes)
{
	const char *why = why_not_qualified(str_of(name), qualified_rule);

	if (why != NULL) {
		refuse_text(causes, field, name, why);
	}
}

void meta_rules_check_label_name(const char *field, const char *name, struct jdoc *causes)
{
	if (strlen(name) > 63) {
		refuse_text(causes, field, name, "must be no more than 63 bytes");
	}
	if (!is_label_text(str_of(name))) {
		refuse_text(causes, field, name, label_name_rule);
	}
}

static void check_name(const struct meta_rules_kind *kind, const struct jdoc *meta,
		       struct jdoc *causes)
{
	const char *name = jdoc_str_or(jdoc_get(meta, "name"), "");

	if (name[0] == '\0') {
		causes_add(causes, "FieldValueRequired", "metadata.name",
			   "Required value: name or generateName is required");
		return;
	}
	/* Names of RBAC objects may be nearly any text that fits into a path. */
	if (str_has_prefix(str_of(kind->group), "rbac.")) {
		return;
	}
	if (str_streq(kind->name, "Namespace") && !kind->is_custom) {
		if (strchr(name, '.') != NULL) {
			refuse_text(causes, "metadata.name", name, "must not contain dots");
			return;
		}
		meta_rules_check_label_name("metadata.name", name, causes);
		return;
	}
	if (strlen(name) > 253) {
		refuse_text(causes, "metadata.name", name, "must be no more than 253 characters");
	}
	if (!is_subdomain_text(str_of(name))) {
		refuse_text(causes, "metadata.name", name, subdomain_rule);
	}
}

static void check_labels(const struct jdoc *labels, struct jdoc *causes)
{
	for (const struct jdoc *l = jdoc_first(labels); l != NULL; l = jdoc_next(l)) {
		const char *why = why_not_qualified(str_of(jdoc_key(l)), label_key_rule);
		const char *value = jdoc_str_or(l, "");

		if (why != NULL) {
			refuse_text(causes, "metadata.labels", jdoc_key(l), why);
		}
		if (strlen(value) > 63) {
			refuse_text(causes, "metadata.labels", value,
				    "must be no more than 63 bytes");
		}
		if (!is_value_text(str_of(value))) {
			refuse_text(causes, "metadata.labels", value, label_value_rule);
		}
	}
}

static void check_annotations(const struct jdoc *annotations, struct jdoc *causes)
{
	size_t size = 0;

	for (const struct jdoc *a = jdoc_first(annotations); a != NULL; a = jdoc_next(a)) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_dup(jdoc_key(a));

		/* Kubernetes takes capitals here: it checks the key in lower case. */
		for (char *p = key; *p != '\0'; p++) {
			*p = (char)tolower((unsigned char)*p);
		}
		if (why_not_qualified(str_of(key), qualified_rule) != NULL) {
			refuse_text(causes, "metadata.annotations", jdoc_key(a),
				    why_not_qualified(str_of(key), qualified_rule));
		}
		size += strlen(key) + strlen(jdoc_str_or(a, ""));
	}
	if (size > ANNOTATIONS_MAX) {
		causes_add(causes, "FieldValueTooLong", "metadata.annotations",
			   "Too long: may not be more than %d bytes", ANNOTATIONS_MAX);
	}
}

static bool is_standard_finalizer(const char *name)
{
	return str_streq(name, "orphan") || str_streq(name, "foregroundDeletion") ||
	       str_streq(name, "kubernetes");
}

static void check_finalizer_names(const struct meta_rules_kind *kind, const struct jdoc *meta,
				  struct jdoc *causes)
{
	size_t i = 0;

	for (const struct jdoc *f = jdoc_first(jdoc_get(meta, "finalizers")); f != NULL;
	     f = jdoc_next(f), i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("metadata.finalizers[%zu]", i);
		const char *name = jdoc_str_or(f, "");

		meta_rules_check_qualified("metadata.finalizers", name, causes);
		/* Only Kubernetes' own kinds are as strict; custom resources may have any qualified
		 * name. */
		if (!kind->is_custom && strchr(name, '/') == NULL && !is_standard_finalizer(name)) {
			refuse_text(causes, at, name,
				    "name is neither a standard finalizer name nor is it fully "
				    "qualified");
		}
	}
}

static void check_new_finalizers(const struct jdoc *doc, const struct jdoc *old,
				 struct jdoc *causes)
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
			causes_add(causes, "FieldValueForbidden", "metadata.finalizers",
				   "Forbidden: no new finalizers can be added if the object is "
				   "being deleted, found new finalizers []string{\"%s\"}",
				   jdoc_str_or(f, ""));
		}
	}
}

static void check_owners(const struct jdoc *meta, struct jdoc *causes)
{
	static const char *const needed[] = { "kind", "name", "uid" };
	const struct jdoc *owners = jdoc_get(meta, "ownerReferences");
	const struct jdoc *controller = NULL;
	size_t at = 0;

	for (const struct jdoc *o = jdoc_first(owners); o != NULL; o = jdoc_next(o), at++) {
		for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
			CLEANUP(xmalloc_freep)
			char *path =
				xmalloc_printf("metadata.ownerReferences[%zu].%s", at, needed[i]);

			if (jdoc_str_or(jdoc_get(o, needed[i]), "")[0] == '\0') {
				causes_add(causes, "FieldValueRequired", path,
					   "Required value: must not be empty");
			}
		}
		if (jdoc_bool(jdoc_get(o, "controller"), false) && controller != NULL) {
			CLEANUP(xmalloc_freep)
			char *why = xmalloc_printf(
				"Only one reference can have Controller set to true. Found "
				"\"true\" in references for %s/%s and %s/%s",
				jdoc_str_or(jdoc_get(controller, "kind"), ""),
				jdoc_str_or(jdoc_get(controller, "name"), ""),
				jdoc_str_or(jdoc_get(o, "kind"), ""),
				jdoc_str_or(jdoc_get(o, "name"), ""));

			causes_add_value(causes, "metadata.ownerReferences", owners, why);
		} else if (jdoc_bool(jdoc_get(o, "controller"), false)) {
			controller = o;
		}
	}
}

void meta_rules_check(const struct meta_rules_kind *kind, const struct jdoc *doc,
		      const struct jdoc *old, struct jdoc *causes)
{
	const struct jdoc *meta = jdoc_get(doc, "metadata");

	if (old == NULL) {
		/* An update cannot change the name. */
		check_name(kind, meta, causes);
	}
	check_labels(jdoc_get(meta, "labels"), causes);
	check_annotations(jdoc_get(meta, "annotations"), causes);
	check_owners(meta, causes);
	check_finalizer_names(kind, meta, causes);
	check_new_finalizers(doc, old, causes);
}
