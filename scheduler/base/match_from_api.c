#include "scheduler/base/match_from_api.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/pod.h"
#include "api/meta/selector.h"
#include "base/arena.h"
#include "base/err.h"
#include "collections/intern.h"

int match_from_api_text(struct intern *names, const char *text, const char **ret, struct err *err)
{
	uint32_t id = intern_id(names, str_of(text == NULL ? "" : text));

	if (id == INTERN_NONE) {
		return err_set(err, ERR_INVALID, "more than %u different names in the cluster",
			       INTERN_MAX);
	}
	*ret = intern_name(names, id);
	return 0;
}

static const char *const effects[] = {
	[TAINT_NO_SCHEDULE] = "NoSchedule",
	[TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	[TAINT_NO_EXECUTE] = "NoExecute",
};

const char *match_from_api_effect_name(uint8_t effect)
{
	return effects[effect];
}

bool match_from_api_effect(const char *text, uint8_t *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(effects); i++) {
		if (str_streq(text, effects[i])) {
			*ret = (uint8_t)i;
			return true;
		}
	}
	return false;
}

int match_from_api_selector(struct intern *names, const struct field_map *map, struct arena *arena,
			    struct label **ret, size_t *ret_n, struct err *err)
{
	struct label *v = arena_zero(arena, map->n, sizeof(*v));

	for (size_t i = 0; i < map->n; i++) {
		if (match_from_api_text(names, map->v[i].key, &v[i].key, err) < 0 ||
		    match_from_api_text(names, map->v[i].value, &v[i].value, err) < 0) {
			return -ERR_INVALID;
		}
	}
	*ret = v;
	*ret_n = map->n;
	return 0;
}

static const char *const operators[] = {
	[MATCH_IN] = "In",         [MATCH_NOT_IN] = "NotIn",
	[MATCH_EXISTS] = "Exists", [MATCH_NOT_EXISTS] = "DoesNotExist",
	[MATCH_GT] = "Gt",         [MATCH_LT] = "Lt",
};

const char *match_from_api_operator_name(enum match_op op)
{
	return operators[op];
}

static int read_op(const char *text, enum match_op *ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		if (str_streq(text, operators[i])) {
			*ret = (enum match_op)i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "operator: unknown \"%s\"", text == NULL ? "" : text);
}

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int read_values(struct intern *names, const struct field_strs *values, struct arena *arena,
		       struct match_expr *e, struct err *err)
{
	e->values = arena_zero(arena, values->n, sizeof(e->values[0]));
	for (size_t i = 0; i < values->n; i++) {
		if (match_from_api_text(names, values->v[i], &e->values[i], err) < 0) {
			return -ERR_INVALID;
		}
	}
	e->nvalues = values->n;
	/* match.c searches long lists by text. */
	if (e->nvalues > 1) {
		qsort(e->values, e->nvalues, sizeof(e->values[0]), by_text);
	}
	return 0;
}

static int read_expr(struct intern *names, const struct api_node_requirement *requirement,
		     bool on_field, struct arena *arena, struct match_expr *e, struct err *err)
{
	if (read_op(requirement->operator_, &e->op, err) < 0) {
		return -ERR_INVALID;
	}
	if (on_field && !str_streq(requirement->key, "metadata.name")) {
		return err_set(err, ERR_INVALID, "matchFields: only metadata.name can be matched");
	}
	e->on_field = on_field;
	if (read_values(names, &requirement->values, arena, e, err) < 0) {
		return -ERR_INVALID;
	}
	return match_from_api_text(names, requirement->key, &e->key, err);
}

/* Reads the first n requirements: expressions, then fields. */
static int read_term(struct intern *names, const struct api_node_term *term, size_t n,
		     struct arena *arena, struct match_term *ret, struct err *err)
{
	*ret = (struct match_term){ .exprs = arena_zero(arena, n, sizeof(ret->exprs[0])) };
	for (size_t i = 0; i < n; i++) {
		bool on_field = i >= term->expressions.n;
		const struct api_node_requirement *requirement =
			on_field ? &term->fields.v[i - term->expressions.n]
				 : &term->expressions.v[i];

		if (read_expr(names, requirement, on_field, arena, &ret->exprs[i], err) < 0) {
			return -ERR_INVALID;
		}
	}
	ret->nexprs = n;
	return 0;
}

int match_from_api_term(struct intern *names, const struct api_node_term *term, struct arena *arena,
			struct match_term *ret, struct err *err)
{
	return read_term(names, term, term->expressions.n + term->fields.n, arena, ret, err);
}

int match_from_api_required(struct intern *names, const struct api_node_selector *sel,
			    struct arena *arena, struct match_term **ret, size_t *ret_n,
			    struct err *err)
{
	struct match_term *v = arena_zero(arena, sel->terms.n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < sel->terms.n; i++) {
		if (match_from_api_term(names, &sel->terms.v[i], arena, &v[n], err) < 0) {
			return err_wrap(err, "nodeSelectorTerms[%zu]", i);
		}
		/* Terms are alternatives, and in Kubernetes an empty one matches no node: its place
		 * is used again. */
		n += v[n].nexprs > 0;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}

int match_from_api_labels_only(struct intern *names, const struct api_node_selector *sel,
			       struct arena *arena, struct match_term **ret, size_t *ret_n,
			       struct err *err)
{
	struct match_term *v = arena_zero(arena, sel->terms.n, sizeof(*v));

	for (size_t i = 0; i < sel->terms.n; i++) {
		const struct api_node_term *t = &sel->terms.v[i];

		if (read_term(names, t, t->expressions.n, arena, &v[i], err) < 0) {
			return err_wrap(err, "nodeSelectorTerms[%zu]", i);
		}
	}
	*ret = v;
	*ret_n = sel->terms.n;
	return 0;
}

int match_from_api_tolerations(struct intern *names, const struct api_toleration *v, size_t n,
			       struct arena *arena, struct match_from_api_tolerations *ret,
			       struct err *err)
{
	struct toleration *list = arena_zero(arena, n, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const struct api_toleration *a = &v[i];
		struct toleration *t = &list[count];

		t->exists = str_streq(a->operator_, "Exists");
		t->any_effect = a->effect == NULL || a->effect[0] == '\0';
		/* An absent operator is Equal, an absent effect is every effect; a key may be
		 * absent with Exists alone. */
		if ((!t->exists && a->operator_ != NULL && !str_streq(a->operator_, "Equal")) ||
		    (!t->exists && a->key == NULL) ||
		    (!t->any_effect && !match_from_api_effect(a->effect, &t->effect))) {
			*t = (struct toleration){ .key = NULL };
			continue;
		}
		if ((a->key != NULL && match_from_api_text(names, a->key, &t->key, err) < 0) ||
		    match_from_api_text(names, a->value, &t->value, err) < 0) {
			return err_wrap(err, "tolerations[%zu]", i);
		}
		count++;
	}
	*ret = (struct match_from_api_tolerations){ .v = list, .n = count };
	return 0;
}

static int read_label_requirement(struct intern *names,
				  const struct api_label_requirement *requirement,
				  struct arena *arena, struct match_expr *e, struct err *err)
{
	if (read_op(requirement->operator_, &e->op, err) < 0) {
		return -ERR_INVALID;
	}
	/* Node affinity has these two operators; label selectors have not. */
	if (e->op == MATCH_GT || e->op == MATCH_LT) {
		return err_set(err, ERR_INVALID, "operator: not for labels: \"%s\"",
			       requirement->operator_);
	}
	if (read_values(names, &requirement->values, arena, e, err) < 0) {
		return -ERR_INVALID;
	}
	return match_from_api_text(names, requirement->key, &e->key, err);
}

int match_from_api_label_selector(struct intern *names, const struct api_label_selector *sel,
				  struct arena *arena, struct match_expr **ret, size_t *ret_n,
				  struct err *err)
{
	size_t labels = sel->match_labels.n, n = labels + sel->match_expressions.n;
	struct match_expr *v = arena_zero(arena, n, sizeof(*v));

	for (size_t i = 0; i < labels; i++) {
		const struct field_pair *pair = &sel->match_labels.v[i];
		struct field_strs one = { .v = &pair->value, .n = 1 };

		if (read_values(names, &one, arena, &v[i], err) < 0 ||
		    match_from_api_text(names, pair->key, &v[i].key, err) < 0) {
			return err_wrap(err, "matchLabels");
		}
	}
	for (size_t i = labels; i < n; i++) {
		if (read_label_requirement(names, &sel->match_expressions.v[i - labels], arena,
					   &v[i], err) < 0) {
			return err_wrap(err, "matchExpressions[%zu]", i - labels);
		}
	}
	*ret = v;
	*ret_n = n;
	return 0;
}
