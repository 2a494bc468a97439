#include "apiserver/kubectl/jsonpath.h"

#include <string.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static const char *member(const char *p, struct strbuf *name)
{
	strbuf_reset(name);
	while (*p != '\0' && *p != '.' && *p != '[') {
		if (*p == '\\' && p[1] != '\0') {
			p++;
		}
		strbuf_add_ch(name, *p++);
	}
	return p;
}

/* @.name=="value" */
static const struct jdoc *filter(const struct jdoc *list, struct str expr)
{
	struct str name, value;
	size_t at = 0;

	if (!str_has_prefix(expr, "?(@.") || !str_has_suffix(expr, ")")) {
		return NULL;
	}
	expr.p += 4;
	expr.len -= 5;
	while (at + 1 < expr.len && !(expr.p[at] == '=' && expr.p[at + 1] == '=')) {
		at++;
	}
	if (at + 2 > expr.len) {
		return NULL;
	}
	name = str_trim((struct str){ expr.p, at });
	value = str_trim((struct str){ expr.p + at + 2, expr.len - at - 2 });
	if (value.len >= 2 && (value.p[0] == '"' || value.p[0] == '\'')) {
		value.p++;
		value.len -= 2;
	}
	for (const struct jdoc *i = jdoc_first(list); i != NULL; i = jdoc_next(i)) {
		for (const struct jdoc *m = jdoc_first(i); m != NULL && jdoc_kind(i) == JDOC_OBJECT;
		     m = jdoc_next(m)) {
			if (str_eq_c(name, jdoc_key(m)) && str_eq_c(value, jdoc_str_or(m, ""))) {
				return i;
			}
		}
	}
	return NULL;
}

static const struct jdoc *bracket(const struct jdoc *doc, struct str in, struct strbuf *name)
{
	uint64_t index;

	if (str_to_u64(in, &index)) {
		return jdoc_kind(doc) == JDOC_ARRAY ? jdoc_at(doc, index) : NULL;
	}
	if (in.len >= 2 && (in.p[0] == '\'' || in.p[0] == '"')) {
		strbuf_reset(name);
		strbuf_add(name, in.p + 1, in.len - 2);
		return jdoc_get(doc, name->p);
	}
	return filter(doc, in);
}

const struct jdoc *jsonpath_get(const struct jdoc *doc, const char *path)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;

	while (*path != '\0' && doc != NULL) {
		if (*path == '.') {
			path = member(path + 1, &name);
			doc = name.len == 0 ? doc : jdoc_get(doc, name.p);
		} else if (*path == '[') {
			const char *end = strchr(path, ']');

			if (end == NULL) {
				return NULL;
			}
			doc = bracket(doc, (struct str){ path + 1, (size_t)(end - path) - 1 },
				      &name);
			path = end + 1;
		} else {
			return NULL;
		}
	}
	return doc;
}
