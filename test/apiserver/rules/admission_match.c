#include "apiserver/rules/admission_match.h"

#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/store/selector.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "schema/cel.h"
#include "schema/cel_eval.h"

const char *admission_match_op_name(enum admission_op op)
{
	static const char *const names[] = { "CREATE", "UPDATE", "DELETE" };

	return names[op];
}

bool admission_match_has_no_effects(const struct jdoc *hook)
{
	const struct jdoc *effects = jdoc_get(hook, "sideEffects");

	return jdoc_is_str(effects, "None") || jdoc_is_str(effects, "NoneOnDryRun");
}

static bool list_has(const struct jdoc *list, const char *text, const char *any)
{
	for (const struct jdoc *i = jdoc_first(list); i != NULL; i = jdoc_next(i)) {
		if (jdoc_is_str(i, text) || jdoc_is_str(i, any)) {
			return true;
		}
	}
	return false;
}

/* "pods", "pods/status", "pods/star", "star", "star/star" */
static bool resource_matches(const struct call *c, const struct jdoc *list)
{
	CLEANUP(xmalloc_freep)
	char *full = c->info.sub.len == 0
			     ? xmalloc_dup(c->res->plural)
			     : xmalloc_printf("%s/" STR_FMT, c->res->plural, STR_ARG(c->info.sub));
	CLEANUP(xmalloc_freep) char *subs = xmalloc_printf("%s/*", c->res->plural);

	if (list_has(list, full, "*/*")) {
		return true;
	}
	return c->info.sub.len == 0 ? list_has(list, "*", "*") : list_has(list, subs, subs);
}

static bool rule_matches(const struct call *c, const struct jdoc *rule, enum admission_op op)
{
	const char *scope = jdoc_str_or(jdoc_get(rule, "scope"), "*");

	if (!str_streq(scope, "*") &&
	    str_streq(scope, "Namespaced") != resource_is_namespaced(c->res)) {
		return false;
	}
	return list_has(jdoc_get(rule, "operations"), admission_match_op_name(op), "*") &&
	       list_has(jdoc_get(rule, "apiGroups"), c->res->group, "*") &&
	       list_has(jdoc_get(rule, "apiVersions"), c->res->version, "*") &&
	       resource_matches(c, jdoc_get(rule, "resources"));
}

bool admission_match_rules(const struct call *c, const struct jdoc *hook, enum admission_op op)
{
	const struct jdoc *rules = jdoc_get(hook, "rules");

	for (const struct jdoc *r = jdoc_first(rules); r != NULL; r = jdoc_next(r)) {
		if (rule_matches(c, r, op)) {
			return true;
		}
	}
	return false;
}

static bool is_namespace(const struct resource *res)
{
	return res->group[0] == '\0' && str_streq(res->plural, "namespaces");
}

static bool namespace_matches(struct call *c, const struct jdoc *selector,
			      const struct admission_subject *subject)
{
	struct resource *spaces =
		resource_find(&c->s->resources, STR_LIT(""), STR_LIT("v1"), STR_LIT("namespaces"));
	const struct jdoc *ns;
	struct object *o;

	if (jdoc_first(selector) == NULL) {
		return true;
	}
	if (is_namespace(c->res)) {
		const struct jdoc *doc = subject->object != NULL ? subject->object : subject->old;

		return selector_label_object_matches(selector, jdoc_path(doc, "metadata.labels"));
	}
	if (!resource_is_namespaced(c->res)) {
		return true;
	}
	o = commit_find(spaces, (struct str){ NULL, 0 }, c->info.ns);
	ns = o == NULL ? NULL : object_doc(o);
	return selector_label_object_matches(selector, jdoc_path(ns, "metadata.labels"));
}

static bool object_matches(const struct jdoc *selector, const struct admission_subject *subject)
{
	const struct jdoc *docs[2] = { subject->object, subject->old };

	if (jdoc_first(selector) == NULL) {
		return true;
	}
	for (size_t i = 0; i < 2; i++) {
		if (docs[i] != NULL && selector_label_object_matches(
					       selector, jdoc_path(docs[i], "metadata.labels"))) {
			return true;
		}
	}
	return false;
}

static void destroy_cel(void *cel)
{
	cel_destroy(cel);
}

struct strmap *admission_match_cache(void)
{
	return strmap_create(destroy_cel);
}

static int eval(struct apiserver *s, const char *text, const struct cel_vars *vars, bool *ret,
		struct err *err)
{
	struct cel *cel = strmap_get(s->expressions, str_of(text));
	int r;

	if (cel == NULL) {
		r = cel_compile(str_of(text), &cel, err);
		if (r < 0) {
			return r;
		}
		strmap_set(s->expressions, str_of(text), cel);
	}
	return cel_eval_bool(cel, vars, ret, err);
}

/* Any false: not concerned, even if another failed; else any failure is a failure. */
static int conditions_match(struct apiserver *s, const struct jdoc *hook,
			    const struct cel_vars *vars, struct err *err)
{
	const struct jdoc *conditions = jdoc_get(hook, "matchConditions");
	int res = 1;

	for (const struct jdoc *m = jdoc_first(conditions); m != NULL; m = jdoc_next(m)) {
		bool yes = true;
		int r = eval(s, jdoc_str_or(jdoc_get(m, "expression"), ""), vars, &yes, err);

		if (r < 0) {
			(void)err_wrap(err, "match condition %s",
				       jdoc_str_or(jdoc_get(m, "name"), ""));
			res = -ERR_INVALID;
		} else if (!yes) {
			return 0;
		}
	}
	return res;
}

int admission_match(struct call *c, const struct jdoc *hook,
		    const struct admission_subject *subject, const struct jdoc *request,
		    struct err *err)
{
	const struct cel_vars vars = { subject->object, subject->old, request };

	if (!namespace_matches(c, jdoc_get(hook, "namespaceSelector"), subject) ||
	    !object_matches(jdoc_get(hook, "objectSelector"), subject)) {
		return 0;
	}
	return conditions_match(c->s, hook, &vars, err);
}
