#include "schema/schema.h"

#include <regex.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"

const struct jdoc *schema_member(const struct jdoc *schema, const char *name)
{
	const struct jdoc *p = jdoc_get(jdoc_get(schema, "properties"), name);

	if (p == NULL) {
		p = jdoc_get(schema, "additionalProperties");
		p = jdoc_kind(p) == JDOC_OBJECT ? p : NULL;
	}
	return p;
}

static bool flag(const struct jdoc *schema, const char *name)
{
	return jdoc_bool(jdoc_get(schema, name), false);
}

static bool keeps_unknown(const struct jdoc *schema)
{
	const struct jdoc *more = jdoc_get(schema, "additionalProperties");

	return schema == NULL || flag(schema, "x-kubernetes-preserve-unknown-fields") ||
	       jdoc_bool(more, false) ||
	       (jdoc_kind(more) == JDOC_OBJECT && jdoc_first(more) == NULL);
}

/* The API server checks these of every object itself; a schema need not name them. */
static bool is_envelope(const char *key)
{
	return str_streq(key, "apiVersion") || str_streq(key, "kind") || str_streq(key, "metadata");
}

static void prune(const struct jdoc *schema, struct jdoc *doc, bool root)
{
	const struct jdoc *items = jdoc_get(schema, "items");
	const struct jdoc *c = jdoc_first(doc);

	if (jdoc_kind(doc) == JDOC_ARRAY) {
		for (size_t i = 0; items != NULL && i < jdoc_count(doc); i++) {
			prune(items, jdoc_at_mut(doc, i), false);
		}
		return;
	}
	root = root || flag(schema, "x-kubernetes-embedded-resource");
	while (c != NULL && jdoc_kind(doc) == JDOC_OBJECT) {
		const struct jdoc *next = jdoc_next(c);
		CLEANUP(xmalloc_freep) char *key = xmalloc_dup(jdoc_key(c));
		const struct jdoc *member = schema_member(schema, key);

		if (root && is_envelope(key)) {
			c = next;
			continue;
		}
		if (member != NULL) {
			prune(member, jdoc_get_mut(doc, key), false);
		} else if (!keeps_unknown(schema)) {
			jdoc_remove(doc, key);
		}
		c = next;
	}
}

void schema_prune(const struct jdoc *schema, struct jdoc *doc)
{
	prune(schema, doc, true);
}

static void find_unknown(const struct jdoc *schema, const struct jdoc *doc, const char *path,
			 bool root, struct jdoc *out)
{
	const char *dot = path[0] == '\0' ? "" : ".";
	size_t i = 0;

	root = root || flag(schema, "x-kubernetes-embedded-resource");
	for (const struct jdoc *c = jdoc_first(doc); c != NULL; c = jdoc_next(c), i++) {
		bool item = jdoc_kind(doc) == JDOC_ARRAY;
		CLEANUP(xmalloc_freep)
		char *at = item ? xmalloc_printf("%s[%zu]", path, i)
				: xmalloc_printf("%s%s%s", path, dot, jdoc_key(c));
		const struct jdoc *member =
			item ? jdoc_get(schema, "items") : schema_member(schema, jdoc_key(c));

		if (!item && root && is_envelope(jdoc_key(c))) {
			continue;
		}
		if (member != NULL) {
			find_unknown(member, c, at, false, out);
		} else if (!item && !keeps_unknown(schema)) {
			jdoc_append_take(out, jdoc_new_str(at));
		}
	}
}

void schema_unknown(const struct jdoc *schema, const struct jdoc *doc, struct jdoc *out)
{
	find_unknown(schema, doc, "", true, out);
}

/* Null where nothing may be null counts as absent. */
static void drop_nulls(const struct jdoc *schema, struct jdoc *doc)
{
	const struct jdoc *m = jdoc_first(doc);

	while (m != NULL) {
		const struct jdoc *next = jdoc_next(m);
		const struct jdoc *member = jdoc_get(jdoc_get(schema, "properties"), jdoc_key(m));

		if (jdoc_kind(m) == JDOC_NULL && member != NULL && !flag(member, "nullable")) {
			CLEANUP(xmalloc_freep) char *key = xmalloc_dup(jdoc_key(m));

			jdoc_remove(doc, key);
		}
		m = next;
	}
}

void schema_default(const struct jdoc *schema, struct jdoc *doc)
{
	const struct jdoc *properties = jdoc_get(schema, "properties");

	if (jdoc_kind(doc) == JDOC_ARRAY) {
		for (size_t i = 0; i < jdoc_count(doc); i++) {
			schema_default(jdoc_get(schema, "items"), jdoc_at_mut(doc, i));
		}
		return;
	}
	if (jdoc_kind(doc) != JDOC_OBJECT || schema == NULL) {
		return;
	}
	for (const struct jdoc *p = jdoc_first(properties); p != NULL; p = jdoc_next(p)) {
		const struct jdoc *def = jdoc_get(p, "default");
		const struct jdoc *have = jdoc_get(doc, jdoc_key(p));

		if (def != NULL &&
		    (have == NULL || (jdoc_kind(have) == JDOC_NULL && !flag(p, "nullable")))) {
			jdoc_set_take(doc, jdoc_key(p), jdoc_copy(def));
		}
	}
	/* Kubernetes drops a null that is not `nullable` before it sets defaults; above it counted
	 * as absent. */
	drop_nulls(schema, doc);
	/* Defaults that were just set may lack members that have defaults themselves. */
	for (const struct jdoc *m = jdoc_first(doc); m != NULL; m = jdoc_next(m)) {
		schema_default(schema_member(schema, jdoc_key(m)), jdoc_get_mut(doc, jdoc_key(m)));
	}
}

/* 2^63 is what the largest integer reads as. */
static bool is_integer(const struct jdoc *doc)
{
	return jdoc_int(doc, INT64_MIN) != INT64_MIN || jdoc_num(doc, 0) == -(double)INT64_MIN;
}

static const char *kind_name(const struct jdoc *doc)
{
	static const char *const names[] = { "null",   "boolean", "number",
					     "string", "array",   "object" };

	if (jdoc_kind(doc) == JDOC_NUMBER && is_integer(doc)) {
		return "integer";
	}
	return names[jdoc_kind(doc)];
}

/* An integer is a number, too; x-kubernetes-int-or-string stands in place of a type. */
static bool type_fits(const struct jdoc *schema, const struct jdoc *doc)
{
	const char *want = jdoc_str_or(jdoc_get(schema, "type"), "");
	const char *have = kind_name(doc);

	if (flag(schema, "x-kubernetes-int-or-string")) {
		return str_streq(have, "integer") || str_streq(have, "string");
	}
	if (want[0] == '\0' || str_streq(want, have)) {
		return true;
	}
	return str_streq(want, "number") && str_streq(have, "integer");
}

/* Kubernetes reports these causes without a field. */
static void cause_at_large(struct jdoc *causes, const char *text)
{
	causes_add(causes, "FieldValueInvalid", "<nil>", "Invalid value: \"\": %s", text);
}

static void cause_about(struct jdoc *causes, const char *path, const char *what)
{
	CLEANUP(xmalloc_freep) char *text = xmalloc_printf("\"%s\" %s", path, what);

	cause_at_large(causes, text);
}

static void cause_type(struct jdoc *causes, const char *path, const char *value, const char *type)
{
	causes_add(causes, "FieldValueTypeInvalid", path,
		   "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", value, path,
		   type, value);
}

static void check_integer_format(const struct jdoc *schema, const struct jdoc *doc,
				 const char *path, struct jdoc *causes)
{
	const char *format = jdoc_str_or(jdoc_get(schema, "format"), "");
	double n = jdoc_num(doc, 0);

	if (str_streq(format, "int32") && (n < INT32_MIN || n > INT32_MAX)) {
		CLEANUP(xmalloc_freep)
		char *why = xmalloc_printf("Checked value must be of type integer with format %s "
					   "in %s",
					   format, path);

		cause_at_large(causes, why);
	}
}

/* In the schemas of Kubernetes exclusiveMinimum and exclusiveMaximum are booleans beside the
 * bounds. */
static void check_number(const struct jdoc *schema, const struct jdoc *doc, const char *path,
			 struct jdoc *causes)
{
	const struct jdoc *min = jdoc_get(schema, "minimum");
	const struct jdoc *max = jdoc_get(schema, "maximum");
	double n = jdoc_num(doc, 0);
	CLEANUP(xmalloc_freep) char *why = NULL;

	check_integer_format(schema, doc, path, causes);
	if (min != NULL &&
	    (n < jdoc_num(min, 0) || (flag(schema, "exclusiveMinimum") && n == jdoc_num(min, 0)))) {
		why = xmalloc_printf("%s in body should be greater than%s %g", path,
				     flag(schema, "exclusiveMinimum") ? "" : " or equal to",
				     jdoc_num(min, 0));
	} else if (max != NULL && (n > jdoc_num(max, 0) ||
				   (flag(schema, "exclusiveMaximum") && n == jdoc_num(max, 0)))) {
		why = xmalloc_printf("%s in body should be less than%s %g", path,
				     flag(schema, "exclusiveMaximum") ? "" : " or equal to",
				     jdoc_num(max, 0));
	}
	if (why != NULL) {
		causes_add_value(causes, path, doc, why);
	}
}

static void free_pattern(void *value)
{
	regfree(value);
	free(value);
}

struct strmap *schema_patterns_create(void)
{
	return strmap_create(free_pattern);
}

/* Compiled once, since all items of a list have the same pattern. */
static bool pattern_matches(struct strmap *patterns, const char *pattern, const char *text)
{
	regex_t *re = strmap_get(patterns, str_of(pattern));

	if (re == NULL) {
		re = xmalloc_zero(1, sizeof(*re));
		if (regcomp(re, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
			free(re);
			return true; /* outside our subset: refused at registration, never here */
		}
		strmap_set(patterns, str_of(pattern), re);
	}
	return regexec(re, text, 0, NULL, 0) == 0;
}

static void check_string(const struct jdoc *schema, const struct jdoc *doc, const char *path,
			 struct strmap *patterns, struct jdoc *causes)
{
	const char *text = jdoc_str(doc);
	const char *pattern = jdoc_str(jdoc_get(schema, "pattern"));
	/* Characters, although the message of Kubernetes says bytes. */
	int64_t len = (int64_t)utf8_count(text, text + strlen(text));
	int64_t max = jdoc_int(jdoc_get(schema, "maxLength"), INT64_MAX);
	int64_t min = jdoc_int(jdoc_get(schema, "minLength"), 0);
	int64_t at;

	if (jdoc_is_str(jdoc_get(schema, "format"), "date-time") &&
	    clock_parse_time(str_of(text), &at) < 0) {
		cause_type(causes, path, text, "date-time");
	}
	if (len > max) {
		causes_add(causes, "FieldValueTooLong", path,
			   "Too long: may not be more than %lld bytes", (long long)max);
	}
	if (len < min) {
		CLEANUP(xmalloc_freep)
		char *why = xmalloc_printf("%s in body should be at least %lld chars long", path,
					   (long long)min);

		causes_add_value(causes, path, doc, why);
	}
	if (pattern != NULL && !pattern_matches(patterns, pattern, text)) {
		CLEANUP(xmalloc_freep)
		char *why = xmalloc_printf("%s in body should match '%s'", path, pattern);

		causes_add_value(causes, path, doc, why);
	}
}

static void check_enum(const struct jdoc *schema, const struct jdoc *doc, const char *path,
		       struct jdoc *causes)
{
	const struct jdoc *allowed = jdoc_get(schema, "enum");
	CLEANUP(strbuf_finish) struct strbuf list = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf value = STRBUF_INIT;

	if (allowed == NULL) {
		return;
	}
	for (const struct jdoc *a = jdoc_first(allowed); a != NULL; a = jdoc_next(a)) {
		if (jdoc_equal(a, doc)) {
			return;
		}
		strbuf_add_c(&list, list.len > 0 ? ", " : "");
		jdoc_format(a, &list);
	}
	jdoc_format(doc, &value);
	causes_add(causes, "FieldValueNotSupported", path,
		   "Unsupported value: %s: supported values: %s", value.p, list.p);
}

static void check_count(const struct jdoc *schema, size_t n, const char *path,
			const char *const limits[2], struct jdoc *causes)
{
	int64_t min = jdoc_int(jdoc_get(schema, limits[0]), 0);
	int64_t max = jdoc_int(jdoc_get(schema, limits[1]), INT64_MAX);

	if ((int64_t)n > max) {
		causes_add(causes, "FieldValueTooMany", path,
			   "Too many: %zu: must have at most %lld items", n, (long long)max);
	}
	if ((int64_t)n < min) {
		causes_add(causes, "FieldValueInvalid", path,
			   "Invalid value: %zu: %s in body should have at least %lld items", n,
			   path, (long long)min);
	}
}

static void validate(const struct jdoc *schema, const struct jdoc *doc, const char *path,
		     struct strmap *patterns, struct jdoc *causes);

static bool same_map_keys(const struct jdoc *a, const struct jdoc *b, const struct jdoc *keys)
{
	for (const struct jdoc *k = jdoc_first(keys); k != NULL; k = jdoc_next(k)) {
		if (!jdoc_equal(jdoc_get(a, jdoc_str_or(k, "")), jdoc_get(b, jdoc_str_or(k, "")))) {
			return false;
		}
	}
	return true;
}

static void check_unique(const struct jdoc *schema, const struct jdoc *doc, const char *path,
			 struct jdoc *causes)
{
	const char *type = jdoc_str_or(jdoc_get(schema, "x-kubernetes-list-type"), "");
	const struct jdoc *keys = jdoc_get(schema, "x-kubernetes-list-map-keys");
	bool is_map = str_streq(type, "map");
	size_t i = 0;

	if (!is_map && !str_streq(type, "set")) {
		return;
	}
	for (const struct jdoc *a = jdoc_first(doc); a != NULL; a = jdoc_next(a), i++) {
		for (const struct jdoc *b = jdoc_first(doc); b != a; b = jdoc_next(b)) {
			if (is_map ? same_map_keys(a, b, keys) : jdoc_equal(a, b)) {
				CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
				CLEANUP(xmalloc_freep)
				char *at = xmalloc_printf("%s[%zu]", path, i);

				jdoc_format(a, &text);
				causes_add(causes, "FieldValueDuplicate", at, "Duplicate value: %s",
					   text.p);
				break;
			}
		}
	}
}

static void check_array(const struct jdoc *schema, const struct jdoc *doc, const char *path,
			struct strmap *patterns, struct jdoc *causes)
{
	static const char *const limits[] = { "minItems", "maxItems" };
	const struct jdoc *items = jdoc_get(schema, "items");
	size_t i = 0;

	check_count(schema, jdoc_count(doc), path, limits, causes);
	check_unique(schema, doc, path, causes);
	for (const struct jdoc *c = jdoc_first(doc); c != NULL; c = jdoc_next(c), i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%s[%zu]", path, i);

		validate(items, c, at, patterns, causes);
	}
}

static void check_object(const struct jdoc *schema, const struct jdoc *doc, const char *path,
			 struct strmap *patterns, struct jdoc *causes)
{
	static const char *const limits[] = { "minProperties", "maxProperties" };
	const struct jdoc *required = jdoc_get(schema, "required");
	const char *dot = path[0] == '\0' ? "" : ".";

	check_count(schema, jdoc_count(doc), path, limits, causes);
	for (const struct jdoc *r = jdoc_first(required); r != NULL; r = jdoc_next(r)) {
		if (jdoc_get(doc, jdoc_str_or(r, "")) == NULL) {
			CLEANUP(xmalloc_freep)
			char *at = xmalloc_printf("%s%s%s", path, dot, jdoc_str_or(r, ""));

			causes_add(causes, "FieldValueRequired", at, "Required value");
		}
	}
	for (const struct jdoc *m = jdoc_first(doc); m != NULL; m = jdoc_next(m)) {
		CLEANUP(xmalloc_freep)
		char *at = xmalloc_printf("%s%s%s", path, dot, jdoc_key(m));

		validate(schema_member(schema, jdoc_key(m)), m, at, patterns, causes);
	}
}

static unsigned count_fitting(const struct jdoc *schemas, const struct jdoc *doc,
			      struct strmap *patterns)
{
	unsigned n = 0;

	for (const struct jdoc *s = jdoc_first(schemas); s != NULL; s = jdoc_next(s)) {
		CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

		validate(s, doc, "", patterns, causes);
		n += jdoc_first(causes) == NULL;
	}
	return n;
}

static void check_combined(const struct jdoc *schema, const struct jdoc *doc, const char *path,
			   struct strmap *patterns, struct jdoc *causes)
{
	const struct jdoc *any = jdoc_get(schema, "anyOf");
	const struct jdoc *one = jdoc_get(schema, "oneOf");
	const struct jdoc *all = jdoc_get(schema, "allOf");
	const struct jdoc *not = jdoc_get(schema, "not");
	CLEANUP(jdoc_destroyp) struct jdoc *inner = jdoc_new_array();

	if (any != NULL && count_fitting(any, doc, patterns) == 0) {
		cause_about(causes, path, "must validate at least one schema (anyOf)");
	}
	if (one != NULL && count_fitting(one, doc, patterns) != 1) {
		cause_about(causes, path, "must validate one and only one schema (oneOf)");
	}
	for (const struct jdoc *s = jdoc_first(all); s != NULL; s = jdoc_next(s)) {
		validate(s, doc, path, patterns, causes);
	}
	if (not != NULL) {
		validate(not, doc, path, patterns, inner);
		if (jdoc_first(inner) == NULL) {
			cause_about(causes, path, "must not validate the schema (not)");
		}
	}
}

static void validate(const struct jdoc *schema, const struct jdoc *doc, const char *path,
		     struct strmap *patterns, struct jdoc *causes)
{
	if (schema == NULL || jdoc_kind(schema) != JDOC_OBJECT ||
	    (jdoc_kind(doc) == JDOC_NULL && flag(schema, "nullable"))) {
		return;
	}
	/* The other rules are about values of the type. */
	if (!type_fits(schema, doc)) {
		cause_type(causes, path, kind_name(doc),
			   jdoc_str_or(jdoc_get(schema, "type"), "integer,string"));
		return;
	}
	check_enum(schema, doc, path, causes);
	check_combined(schema, doc, path, patterns, causes);
	if (jdoc_kind(doc) == JDOC_NUMBER) {
		check_number(schema, doc, path, causes);
	} else if (jdoc_kind(doc) == JDOC_STRING) {
		check_string(schema, doc, path, patterns, causes);
	} else if (jdoc_kind(doc) == JDOC_ARRAY) {
		check_array(schema, doc, path, patterns, causes);
	} else if (jdoc_kind(doc) == JDOC_OBJECT) {
		check_object(schema, doc, path, patterns, causes);
	}
}

void schema_validate(const struct jdoc *schema, struct strmap *patterns, const struct jdoc *doc,
		     struct jdoc *causes)
{
	validate(schema, doc, "", patterns, causes);
}
