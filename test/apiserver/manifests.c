#include "apiserver/manifests.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/apiserver.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/base64.h"
#include "process/file.h"

int manifests_load_file(struct apiserver *s, const char *path, int64_t now, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int r = file_read_all(path, MANIFESTS_MAX_BYTES, &text, err);

	if (r < 0) {
		return r;
	}
	r = apiserver_load(s, strbuf_str(&text), now, err);
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_manifest(const char *name)
{
	return str_has_suffix(str_of(name), ".yaml") || str_has_suffix(str_of(name), ".yml");
}

int manifests_load_dir(struct apiserver *s, const char *dir, int64_t now, struct err *err)
{
	struct VEC(char *) names = VEC_INIT;
	DIR *d = opendir(dir);
	struct dirent *e;
	int r = 0;

	if (d == NULL) {
		return err_set(err, ERR_NOT_FOUND, "%s: %s", dir, strerror(errno));
	}
	while ((e = readdir(d)) != NULL) {
		if (is_manifest(e->d_name)) {
			vec_push(&names, xmalloc_printf("%s/%s", dir, e->d_name));
		}
	}
	closedir(d);
	if (names.n > 0) {
		qsort(names.v, names.n, sizeof(names.v[0]), by_name);
	}
	for (size_t i = 0; i < names.n; i++) {
		if (r == 0) {
			r = manifests_load_file(s, names.v[i], now, err);
		}
		free(names.v[i]);
	}
	vec_finish(&names);
	return r;
}

static void replace_all(struct str text, const char *what, struct str with, struct strbuf *out)
{
	size_t n = strlen(what);

	while (text.len > 0) {
		const char *at = memmem(text.p, text.len, what, n);
		size_t before = at == NULL ? text.len : (size_t)(at - text.p);

		strbuf_add(out, text.p, before);
		if (at == NULL) {
			return;
		}
		strbuf_add_str(out, with);
		text.p = at + n;
		text.len -= before + n;
	}
}

int manifests_load_webhooks(struct apiserver *s, const struct manifests_webhooks *w, int64_t now,
			    struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf half = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf whole = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf bundle = STRBUF_INIT;
	int r = file_read_all(w->file, MANIFESTS_MAX_BYTES, &text, err);

	if (r == 0 && w->url == NULL) {
		return err_set(err, ERR_INVALID, "%s: the webhook server's URL is missing",
			       w->file);
	}
	if (r == 0 && w->ca_file != NULL) {
		r = file_read_all(w->ca_file, MANIFESTS_MAX_BYTES, &pem, err);
	}
	if (r < 0) {
		return r;
	}
	base64_encode(strbuf_str(&pem), &bundle);
	replace_all(strbuf_str(&text), "@WEBHOOK_URL@", str_of(w->url), &half);
	replace_all(strbuf_str(&half), "@CA_BUNDLE@", strbuf_str(&bundle), &whole);
	r = apiserver_load(s, strbuf_str(&whole), now, err);
	return r < 0 ? err_wrap(err, "%s", w->file) : 0;
}
