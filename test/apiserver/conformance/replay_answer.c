#include "apiserver/conformance/replay_answer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/quote.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"

#define UUID_LEN 36

struct walk {
	struct replay_answer *answer;
	const struct replay_view *view;
	struct replay_symbols *symbols;
	struct strbuf path;
	bool whole; /* a failure: nothing is left out but what all failures have */
};

void replay_answer_symbols_init(struct replay_symbols *s, const struct replay_alias *aliases)
{
	s->uids = strmap_create(free);
	s->versions = strmap_create(free);
	s->counts = strmap_create(free);
	s->aliases = aliases;
}

void replay_answer_symbols_finish(struct replay_symbols *s)
{
	strmap_destroy(s->uids);
	strmap_destroy(s->versions);
	strmap_destroy(s->counts);
}

void replay_answer_finish(struct replay_answer *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].path);
		free(a->v[i].value);
	}
	vec_finish(a);
}

void replay_answer_put(struct replay_answer *a, const char *path, const char *value)
{
	const struct replay_leaf leaf = { xmalloc_dup(path), xmalloc_dup(value) };

	vec_push(a, leaf);
}

const char *replay_answer_get(const struct replay_answer *a, const char *path)
{
	for (size_t i = 0; i < a->n; i++) {
		if (str_streq(a->v[i].path, path)) {
			return a->v[i].value;
		}
	}
	return NULL;
}

void replay_answer_format(const struct replay_answer *a, struct strbuf *out)
{
	strbuf_printf(out, "-> %d\n", a->code);
	for (size_t i = 0; i < a->n; i++) {
		strbuf_printf(out, "%s: %s\n", a->v[i].path, a->v[i].value);
	}
}

/* Where the path of a line ends: the first ": " outside quotes. */
static const char *path_end(struct str line)
{
	bool quoted = false;

	for (size_t i = 0; i + 1 < line.len; i++) {
		if (line.p[i] == '"') {
			quoted = !quoted;
		} else if (!quoted && line.p[i] == ':' && line.p[i + 1] == ' ') {
			return line.p + i;
		}
	}
	return NULL;
}

bool replay_answer_parse(struct str text, struct replay_answer *ret)
{
	struct str head = str_next(&text, '\n');
	uint64_t code;

	if (!str_has_prefix(head, "-> ") ||
	    !str_to_u64((struct str){ head.p + 3, head.len - 3 }, &code)) {
		return false;
	}
	ret->code = (int)code;
	while (text.len > 0) {
		struct str line = str_next(&text, '\n');
		const char *end = path_end(line);
		struct replay_leaf leaf;

		if (end == NULL) {
			return false;
		}
		leaf.path = xmalloc_dup_n(line.p, (size_t)(end - line.p));
		leaf.value = xmalloc_dup_n(end + 2, line.len - (size_t)(end - line.p) - 2);
		vec_push(ret, leaf);
	}
	return true;
}

bool replay_answer_fits(const char *pattern, const char *path)
{
	while (*pattern != '\0') {
		if (pattern[0] == '[' && pattern[1] == '*' && path[0] == '[') {
			pattern += 3;
			path = strchr(path, ']');
			if (path == NULL) {
				return false;
			}
			path++;
			continue;
		}
		if (*pattern != *path) {
			return false;
		}
		pattern++;
		path++;
	}
	return *path == '\0' || *path == '.' || *path == '[';
}

/* One that a transcript makes up stays as it is. */
static bool is_made_up(const char *p)
{
	return strncmp(p, "11111111-", 9) == 0;
}

static bool is_uuid(const char *p)
{
	for (size_t i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? p[i] != '-' : !isxdigit((unsigned char)p[i])) {
			return false;
		}
	}
	return !is_made_up(p);
}

static bool is_whole_uuid(const char *text)
{
	return strlen(text) == UUID_LEN && is_uuid(text);
}

/* "<stem>", the second one "<stem, 2>". */
static char *new_symbol(struct replay_symbols *s, const char *stem)
{
	unsigned *n = strmap_get(s->counts, str_of(stem));

	if (n == NULL) {
		n = xmalloc_zero(1, sizeof(*n));
		strmap_set(s->counts, str_of(stem), n);
	}
	return ++*n == 1 ? xmalloc_printf("<%s>", stem) : xmalloc_printf("<%s, %u>", stem, *n);
}

static const char *uid_symbol(struct replay_symbols *s, struct str uid, const char *stem)
{
	if (!strmap_has(s->uids, uid)) {
		strmap_set(s->uids, uid, new_symbol(s, stem));
	}
	return strmap_get(s->uids, uid);
}

static const struct replay_alias *alias_at(const struct replay_alias *a, const char *p)
{
	for (; a != NULL && a->text != NULL; a++) {
		if (a->text[0] != '\0' && strncmp(a->text, p, strlen(a->text)) == 0) {
			return a;
		}
	}
	return NULL;
}

/* Messages name versions: "(123)" behind a version asked for, "current: 123". */
static size_t version_at(const char *text, const char *p)
{
	static const char *const before[] = { "resource version: 1 (",
					      "current: ", "ResourceVersion in record (" };
	size_t digits = strspn(p, "0123456789");

	for (size_t i = 0; digits > 0 && i < ARRAY_LEN(before); i++) {
		size_t n = strlen(before[i]);

		if ((size_t)(p - text) >= n && strncmp(p - n, before[i], n) == 0) {
			return digits;
		}
	}
	return 0;
}

static void clean(struct replay_symbols *s, const char *text, struct strbuf *out)
{
	const char *p = text;

	while (*p != '\0') {
		const struct replay_alias *a = alias_at(s->aliases, p);
		size_t digits = version_at(text, p);

		if (a != NULL) {
			strbuf_add_c(out, a->name);
			p += strlen(a->text);
		} else if (digits > 0) {
			strbuf_add_c(out, "<version>");
			p += digits;
		} else if (strlen(p) >= UUID_LEN && is_uuid(p)) {
			strbuf_add_c(out, uid_symbol(s, (struct str){ p, UUID_LEN }, "uid"));
			p += UUID_LEN;
		} else {
			strbuf_add_ch(out, *p++);
		}
	}
}

static void add_name_text(struct walk *w, const struct jdoc *meta, const char *text,
			  struct strbuf *out)
{
	const char *prefix = jdoc_str_or(jdoc_get(meta, "generateName"), "");

	if (prefix[0] != '\0' && str_has_prefix(str_of(text), prefix)) {
		clean(w->symbols, prefix, out);
		strbuf_add_c(out, "<random>");
	} else {
		clean(w->symbols, text, out);
	}
}

/* "uid of NAME" */
static char *name_stem(struct walk *w, const struct jdoc *meta, const char *what)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;

	add_name_text(w, meta, jdoc_str_or(jdoc_get(meta, "name"), ""), &name);
	return xmalloc_printf("%s of %s", what, name.p);
}

/* The version of a list or a bookmark is that of the whole server, which writes on its own. */
static const char *version_symbol(struct walk *w, const struct jdoc *meta, const char *text)
{
	CLEANUP(xmalloc_freep) char *stem = NULL;
	CLEANUP(xmalloc_freep) char *key = NULL;

	if (text[0] == '\0' || str_streq(text, "0")) {
		return text;
	}
	if (jdoc_get(meta, "uid") == NULL) {
		return "<version>";
	}
	stem = name_stem(w, meta, "version");
	key = xmalloc_printf("%s %s", jdoc_str_or(jdoc_get(meta, "uid"), ""), text);
	if (!strmap_has(w->symbols->versions, str_of(key))) {
		strmap_set(w->symbols->versions, str_of(key), new_symbol(w->symbols, stem));
	}
	return strmap_get(w->symbols->versions, str_of(key));
}

static void add_string(struct walk *w, const struct jdoc *parent, const char *key, const char *text,
		       struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf cleaned = STRBUF_INIT;
	int64_t at;

	if (str_streq(key, "resourceVersion")) {
		strbuf_add_c(&cleaned, version_symbol(w, parent, text));
	} else if (str_streq(key, "continue") && text[0] != '\0') {
		strbuf_add_c(&cleaned, "<continue>");
	} else if (str_streq(key, "caBundle")) {
		strbuf_add_c(&cleaned, "<ca>");
	} else if (clock_parse_time(str_of(text), &at) == 0) {
		strbuf_add_c(&cleaned, strchr(text, '.') != NULL ? "<micro time>" : "<time>");
	} else if (str_streq(key, "name")) {
		add_name_text(w, parent, text, &cleaned);
	} else {
		if (str_streq(key, "uid") && jdoc_get(parent, "name") != NULL &&
		    is_whole_uuid(text)) {
			CLEANUP(xmalloc_freep) char *stem = name_stem(w, parent, "uid");

			(void)uid_symbol(w->symbols, str_of(text), stem);
		}
		clean(w->symbols, text, &cleaned);
	}
	quote_json(out, strbuf_str(&cleaned));
}

static bool fits_any(char *const *patterns, const char *path)
{
	for (; patterns != NULL && *patterns != NULL; patterns++) {
		if (replay_answer_fits(*patterns, path)) {
			return true;
		}
	}
	return false;
}

/* Members that a failure always has; with other values than these it would not count as one. */
static bool is_common(const char *path)
{
	static const char *const common[] = { "kind", "apiVersion", "metadata", "status", "code" };

	for (size_t i = 0; i < ARRAY_LEN(common); i++) {
		if (str_streq(path, common[i])) {
			return true;
		}
	}
	return false;
}

static bool is_failure(const struct jdoc *doc, int code)
{
	return jdoc_is_str(jdoc_get(doc, "kind"), "Status") &&
	       jdoc_is_str(jdoc_get(doc, "apiVersion"), "v1") &&
	       jdoc_is_str(jdoc_get(doc, "status"), "Failure") &&
	       jdoc_kind(jdoc_get(doc, "metadata")) == JDOC_OBJECT &&
	       jdoc_int(jdoc_get(doc, "code"), 0) == code;
}

static bool is_shown(const struct walk *w, const char *path)
{
	if (w->whole) {
		return !is_common(path) && !fits_any(w->view->hide, path);
	}
	if (w->view->show == NULL && strstr(path, ".managedFields[") != NULL) {
		return false;
	}
	return (w->view->show == NULL || fits_any(w->view->show, path)) &&
	       !fits_any(w->view->hide, path);
}

static void add_leaf(struct walk *w, const struct jdoc *parent, const struct jdoc *d)
{
	CLEANUP(strbuf_finish) struct strbuf value = STRBUF_INIT;

	if (!is_shown(w, w->path.p)) {
		return;
	}
	if (jdoc_kind(d) == JDOC_STRING) {
		add_string(w, parent, jdoc_key(d), jdoc_str(d), &value);
	} else {
		jdoc_format(d, &value);
	}
	replay_answer_put(w->answer, w->path.p, value.p);
}

static void add_name(struct strbuf *path, const char *key)
{
	CLEANUP(strbuf_finish) struct strbuf quoted = STRBUF_INIT;
	bool plain = key[0] != '\0';

	for (const char *p = key; *p != '\0'; p++) {
		plain = plain && (isalnum((unsigned char)*p) || strchr("_-/$", *p) != NULL);
	}
	if (plain) {
		strbuf_printf(path, "%s%s", path->len > 0 ? "." : "", key);
		return;
	}
	quote_json(&quoted, str_of(key));
	strbuf_printf(path, "[%s]", quoted.p);
}

static void add_step(struct walk *w, const struct jdoc *parent, const struct jdoc *child, size_t i)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	const char *id;

	if (jdoc_kind(parent) == JDOC_OBJECT) {
		clean(w->symbols, jdoc_key(child), &name);
		add_name(&w->path, name.p);
		return;
	}
	id = w->view->list != NULL && str_streq(w->path.p, w->view->list)
		     ? jdoc_str(jdoc_get(child, w->view->key))
		     : NULL;
	if (id != NULL) {
		strbuf_printf(&w->path, "[%s]", id);
	} else {
		strbuf_printf(&w->path, "[%zu]", i);
	}
}

static void walk(struct walk *w, const struct jdoc *parent, const struct jdoc *d)
{
	size_t i = 0;

	if ((jdoc_kind(d) != JDOC_OBJECT && jdoc_kind(d) != JDOC_ARRAY) || jdoc_first(d) == NULL) {
		add_leaf(w, parent, d);
		return;
	}
	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c), i++) {
		size_t len = w->path.len;

		add_step(w, d, c, i);
		walk(w, d, c);
		strbuf_truncate(&w->path, len);
	}
}

void replay_answer_add(struct replay_answer *a, const char *prefix, const struct jdoc *doc,
		       const struct replay_view *view, struct replay_symbols *s)
{
	struct walk w = { .answer = a,
			  .view = view,
			  .symbols = s,
			  .path = STRBUF_INIT,
			  .whole = prefix[0] == '\0' && is_failure(doc, a->code) };

	strbuf_add_c(&w.path, prefix);
	walk(&w, NULL, doc);
	strbuf_finish(&w.path);
}
