#include "schema/rules.h"

#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"
#include "schema/cel.h"
#include "schema/cel_eval.h"
#include "schema/schema.h"

/* Kubernetes shows the type of a list or a map instead of its contents. */
static void refuse(const struct jdoc *doc, const char *path, const char *why, struct jdoc *causes)
{
	if (jdoc_kind(doc) == JDOC_OBJECT || jdoc_kind(doc) == JDOC_ARRAY) {
		causes_add(causes, "FieldValueInvalid", path, "Invalid value: \"%s\": %s",
			   jdoc_kind(doc) == JDOC_OBJECT ? "object" : "array", why);
	} else {
		causes_add_value(causes, path, doc, why);
	}
}

static void check_rule(const struct jdoc *rule, const struct jdoc *doc, const char *path,
		       struct jdoc *causes)
{
	const char *text = jdoc_str_or(jdoc_get(rule, "rule"), "");
	CLEANUP(xmalloc_freep) char *failed = xmalloc_printf("failed rule: %s", text);
	const char *field = jdoc_str_or(jdoc_get(rule, "fieldPath"), "");
	CLEANUP(xmalloc_freep) char *at = NULL;
	const struct cel_vars vars = { .object = doc };
	struct err err = ERR_INIT;
	struct cel *c = NULL;
	bool holds = false;

	at = xmalloc_printf("%s%s", path, path[0] == '\0' && field[0] == '.' ? field + 1 : field);
	if (cel_compile_rule(str_of(text), &c, &err) == 0) {
		/* A rule about a change has nothing to compare when an object is created. */
		holds = cel_uses_old(c) || (cel_eval_bool(c, &vars, &holds, &err) == 0 && holds);
	}
	if (!holds && err.code != ERR_NONE) {
		CLEANUP(xmalloc_freep) char *why = xmalloc_printf("%s: %s", failed, err.text);

		refuse(doc, at, why, causes);
	} else if (!holds) {
		refuse(doc, at, jdoc_str_or(jdoc_get(rule, "message"), failed), causes);
	}
	cel_destroy(c);
}

static void check(const struct jdoc *schema, const struct jdoc *doc, const char *path,
		  struct jdoc *causes)
{
	const struct jdoc *rules = jdoc_get(schema, "x-kubernetes-validations");
	bool is_list = jdoc_kind(doc) == JDOC_ARRAY;
	size_t i = 0;

	for (const struct jdoc *r = jdoc_first(rules); r != NULL; r = jdoc_next(r)) {
		check_rule(r, doc, path, causes);
	}
	for (const struct jdoc *c = jdoc_first(doc); c != NULL; c = jdoc_next(c), i++) {
		const struct jdoc *inner =
			is_list ? jdoc_get(schema, "items") : schema_member(schema, jdoc_key(c));
		CLEANUP(xmalloc_freep)
		char *at = is_list ? xmalloc_printf("%s[%zu]", path, i)
				   : xmalloc_printf("%s%s%s", path, path[0] == '\0' ? "" : ".",
						    jdoc_key(c));

		if (inner != NULL) {
			check(inner, c, at, causes);
		}
	}
}

void rules_check(const struct jdoc *schema, const struct jdoc *doc, struct jdoc *causes)
{
	check(schema, doc, "", causes);
}
