#include <stdlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "kube/kubeconfig/kubeconfig_private.h"

char *kubeconfig_read_path(const char *dir, const char *path)
{
	if (path[0] == '/' || dir == NULL || dir[0] == '\0') {
		return xmalloc_dup(path);
	}
	return xmalloc_printf("%s/%s", dir, path);
}

int kubeconfig_read_str(const struct jdoc *obj, const char *key, const char **ret, struct err *err)
{
	const struct jdoc *d = jdoc_get(obj, key);
	const char *text = jdoc_str(d);

	if (text == NULL && jdoc_kind(d) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "%s: not a string", key);
	}
	/* In a kubeconfig an empty string is the same as an absent member. */
	*ret = text == NULL || text[0] == '\0' ? NULL : text;
	return 0;
}

int kubeconfig_read_dup(const struct jdoc *obj, const char *key, char **member, struct err *err)
{
	const char *text = NULL;
	int r = kubeconfig_read_str(obj, key, &text, err);

	if (r == 0) {
		free(*member);
		*member = text == NULL ? NULL : xmalloc_dup(text);
	}
	return r;
}

int kubeconfig_read_bool(const struct jdoc *obj, const char *key, bool *ret, struct err *err)
{
	const struct jdoc *d = jdoc_get(obj, key);

	if (jdoc_kind(d) != JDOC_BOOL && jdoc_kind(d) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "%s: neither true nor false", key);
	}
	*ret = jdoc_bool(d, false);
	return 0;
}

int kubeconfig_read_list(const struct jdoc *obj, const char *key, struct kubeconfig_strings *list,
			 struct err *err)
{
	const struct jdoc *d = jdoc_get(obj, key);

	if (jdoc_kind(d) != JDOC_ARRAY && jdoc_kind(d) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "%s: not a list", key);
	}
	for (const struct jdoc *i = jdoc_first(d); i != NULL; i = jdoc_next(i)) {
		if (jdoc_str(i) == NULL) {
			return err_set(err, ERR_INVALID, "%s[%zu]: not a string", key, list->n);
		}
		vec_push(list, xmalloc_dup(jdoc_str(i)));
	}
	return 0;
}

void kubeconfig_read_free(struct kubeconfig_strings *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i]);
	}
	vec_finish(list);
}

int kubeconfig_read_pem(const struct jdoc *obj, const char *key, const char *dir, char **ret_file,
			char **ret_pem, struct err *err)
{
	CLEANUP(xmalloc_freep) char *data_key = xmalloc_printf("%s-data", key);
	CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT;
	const char *data = NULL, *path = NULL;
	int r = kubeconfig_read_str(obj, data_key, &data, err);

	if (r == 0) {
		r = kubeconfig_read_str(obj, key, &path, err);
	}
	if (r < 0) {
		return r;
	}
	/* As in client-go, the inline data wins. */
	if (data != NULL) {
		r = base64_decode(str_of(data), &pem, err);
		if (r < 0) {
			return err_wrap(err, "%s", data_key);
		}
		*ret_pem = strbuf_steal(&pem, NULL);
	} else if (path != NULL) {
		*ret_file = kubeconfig_read_path(dir, path);
	}
	return 0;
}

/* Only a warning: all members that change who sends a request, or where it goes, are known
 * ones. */
void kubeconfig_read_unknown(struct kubeconfig *c, const struct jdoc *obj, const char *where,
			     const char *const *known)
{
	const struct jdoc *m = jdoc_kind(obj) == JDOC_OBJECT ? jdoc_first(obj) : NULL;

	for (; m != NULL; m = jdoc_next(m)) {
		size_t i = 0;

		while (known[i] != NULL && !str_streq(known[i], jdoc_key(m))) {
			i++;
		}
		if (known[i] == NULL) {
			vec_push(&c->warnings, xmalloc_printf("%s%s: unknown, it has no effect",
							      where, jdoc_key(m)));
		}
	}
}
