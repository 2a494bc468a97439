#include "scheduler/ctl/multikueue/worker_role.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "scheduler/ctl/manifest/chart_file.h"

CHART_FILE(worker_role_file, "multikueue-worker.yaml");

struct worker_role {
	enum worker_role_level level;
	struct jdoc *rules;
	struct arena *arena; /* names of the rights */
	struct VEC(struct worker_role_right) rights;
};

/* "workloads/status" is the resource workloads and its part status. */
static void add_right(struct worker_role *role, const struct jdoc *rule, const char *group,
		      const char *resource, const char *verb)
{
	struct str rest = str_of(resource), first = str_next(&rest, '/');
	struct worker_role_right right = {
		.group = arena_dup(role->arena, group),
		.resource = arena_dup_n(role->arena, first.p, first.len),
		.sub = rest.p == NULL ? NULL : arena_dup_n(role->arena, rest.p, rest.len),
		.verb = arena_dup(role->arena, verb),
	};
	const char *name = jdoc_str(jdoc_first(jdoc_get(rule, "resourceNames")));

	right.name = name == NULL ? NULL : arena_dup(role->arena, name);
	vec_push(&role->rights, right);
}

static void add_rule(struct worker_role *role, const struct jdoc *rule)
{
	const char *group = jdoc_str_or(jdoc_first(jdoc_get(rule, "apiGroups")), "");
	const struct jdoc *resource = jdoc_first(jdoc_get(rule, "resources"));

	jdoc_append_take(role->rules, jdoc_copy(rule));
	for (; resource != NULL; resource = jdoc_next(resource)) {
		const struct jdoc *verb = jdoc_first(jdoc_get(rule, "verbs"));

		for (; verb != NULL; verb = jdoc_next(verb)) {
			add_right(role, rule, group, jdoc_str_or(resource, ""),
				  jdoc_str_or(verb, ""));
		}
	}
}

struct worker_role *worker_role_create(enum worker_role_level level)
{
	static const char *const names[WORKER_ROLE_COUNT_] = { "orchestrator", "manager",
							       "manager-pods" };
	struct worker_role *role = xmalloc_zero(1, sizeof(*role));
	CLEANUP(jdoc_destroyp) struct jdoc *file = NULL;
	int r = yaml_parse(CHART_FILE_TEXT(worker_role_file), &file, NULL);

	/* Our own file, which is part of the program. */
	assert(r == 0);
	(void)r;
	role->level = level;
	role->rules = jdoc_new_array();
	role->arena = arena_create(0);
	/* Each level has the rights of those before it. */
	for (unsigned i = 0; i <= level && i < ARRAY_LEN(names); i++) {
		const struct jdoc *rule = jdoc_first(jdoc_get(file, names[i]));

		for (; rule != NULL; rule = jdoc_next(rule)) {
			add_rule(role, rule);
		}
	}
	return role;
}

void worker_role_add_kind(struct worker_role *role, const char *group, const char *plural)
{
	static const char *const verbs[] = { "get", "list", "watch", "create", "patch", "delete" };
	CLEANUP(jdoc_destroyp) struct jdoc *rule = jdoc_new_object();
	struct jdoc *list;

	if (role->level < WORKER_ROLE_MANAGER) {
		return;
	}
	jdoc_append_take(jdoc_ensure_array(rule, "apiGroups"), jdoc_new_str(group));
	jdoc_append_take(jdoc_ensure_array(rule, "resources"), jdoc_new_str(plural));
	list = jdoc_ensure_array(rule, "verbs");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		jdoc_append_take(list, jdoc_new_str(verbs[i]));
	}
	add_rule(role, rule);
}

void worker_role_destroyp(struct worker_role **pr)
{
	struct worker_role *role = *pr;

	if (role != NULL) {
		jdoc_destroy(role->rules);
		arena_destroy(role->arena);
		vec_finish(&role->rights);
		free(role);
	}
	*pr = NULL;
}

const struct jdoc *worker_role_rules(const struct worker_role *role)
{
	return role->rules;
}

const struct worker_role_right *worker_role_at(const struct worker_role *role, unsigned i)
{
	return i < role->rights.n ? &role->rights.v[i] : NULL;
}

void worker_role_describe(const struct worker_role_right *right, struct strbuf *out)
{
	strbuf_printf(out, "%s %s", right->verb, right->resource);
	if (right->group[0] != '\0') {
		strbuf_printf(out, ".%s", right->group);
	}
	if (right->sub != NULL) {
		strbuf_printf(out, "/%s", right->sub);
	}
}
