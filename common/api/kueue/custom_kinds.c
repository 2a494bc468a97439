#include "api/kueue/custom_kinds.h"

#include <ctype.h>

#include "api/meta/validate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

/* Kubernetes: in lower case it is a label. */
static bool is_kind(struct str s)
{
	CLEANUP(strbuf_finish) struct strbuf lower = STRBUF_INIT;

	for (size_t i = 0; i < s.len; i++) {
		strbuf_add_ch(&lower, (char)tolower((unsigned char)s.p[i]));
	}
	return validate_is_dns_label(strbuf_str(&lower));
}

int custom_kinds_parse(const char *name, struct arena *arena, struct custom_kind *ret,
		       struct err *err)
{
	struct str rest = str_of(name), kind = str_next(&rest, '.');
	struct str version = str_next(&rest, '.');

	if (kind.len == 0 || version.len == 0 || rest.len == 0) {
		return err_set(err, ERR_INVALID, "\"%s\" is not Kind.version.group", name);
	}
	if (!is_kind(kind)) {
		return err_set(err, ERR_INVALID, "\"%.*s\" is not a kind", (int)kind.len, kind.p);
	}
	if (!validate_is_dns_label(version)) {
		return err_set(err, ERR_INVALID, "\"%.*s\" is not a version", (int)version.len,
			       version.p);
	}
	if (!validate_is_dns_subdomain(rest)) {
		return err_set(err, ERR_INVALID, "\"%.*s\" is not an API group", (int)rest.len,
			       rest.p);
	}
	*ret = (struct custom_kind){
		.name = arena_dup(arena, name),
		.kind = arena_str(arena, kind).p,
		.version = arena_str(arena, version).p,
		.group = arena_str(arena, rest).p,
	};
	ret->api_version = arena_printf(arena, "%s/%s", ret->group, ret->version);
	return 0;
}

const struct custom_kind *custom_kinds_find(const struct custom_kinds *k, struct str name)
{
	for (size_t i = 0; i < k->n; i++) {
		if (str_eq_c(name, k->v[i].name)) {
			return &k->v[i];
		}
	}
	return NULL;
}

const struct custom_kind *custom_kinds_of_key(const struct custom_kinds *k, struct str key)
{
	return custom_kinds_find(k, str_next(&key, '/'));
}

/* The resource of the kind in an APIResourceList; subresources have a slash in their names. */
static const struct jdoc *find_kind(const struct jdoc *list, const char *kind)
{
	const struct jdoc *all = jdoc_get(list, "resources");

	for (const struct jdoc *r = jdoc_first(all); r != NULL; r = jdoc_next(r)) {
		struct str name = str_of(jdoc_str_or(jdoc_get(r, "name"), "/")), plural;

		plural = str_next(&name, '/');
		if (jdoc_is_str(jdoc_get(r, "kind"), kind) && name.p == NULL && plural.len > 0) {
			return r;
		}
	}
	return NULL;
}

static bool has_status(const struct jdoc *list, const char *plural)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("%s/status", plural);
	const struct jdoc *all = jdoc_get(list, "resources");

	for (const struct jdoc *r = jdoc_first(all); r != NULL; r = jdoc_next(r)) {
		if (jdoc_is_str(jdoc_get(r, "name"), name)) {
			return true;
		}
	}
	return false;
}

const char *custom_kinds_problem(const struct custom_kind *k, const struct jdoc *list,
				 const char **ret_plural)
{
	const struct jdoc *resource = find_kind(list, k->kind);
	const char *plural = jdoc_str(jdoc_get(resource, "name"));

	if (resource == NULL) {
		return "is not served";
	}
	if (!jdoc_bool(jdoc_get(resource, "namespaced"), false)) {
		return "is not namespaced";
	}
	if (!has_status(list, plural)) {
		return "has no subresource status";
	}
	*ret_plural = plural;
	return NULL;
}

struct str custom_kinds_object(struct str key)
{
	(void)str_next(&key, '/');
	return key;
}
