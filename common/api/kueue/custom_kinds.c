#include "api/kueue/custom_kinds.h"

#include <ctype.h>

#include "api/meta/validate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"

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

struct str custom_kinds_object(struct str key)
{
	(void)str_next(&key, '/');
	return key;
}
