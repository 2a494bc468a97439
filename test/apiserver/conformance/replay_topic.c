#include "apiserver/conformance/replay_topic.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "process/file.h"

struct lines {
	struct str rest;
	size_t number; /* of the line that next_line returned last */
};

static bool next_line(struct lines *l, struct str *ret)
{
	if (l->rest.p == NULL || l->rest.len == 0) {
		return false;
	}
	*ret = str_next(&l->rest, '\n');
	l->number++;
	return true;
}

static bool peek_is(const struct lines *l, const char *prefix)
{
	return l->rest.p != NULL && str_has_prefix(l->rest, prefix);
}

static char *dup(struct str s)
{
	return xmalloc_dup_n(s.p == NULL ? "" : s.p, s.len);
}

/* "a, b" to a list that ends with NULL. */
static char **split_list(struct str text)
{
	struct VEC(char *) list = VEC_INIT;

	while (text.len > 0) {
		vec_push(&list, dup(str_trim(str_next(&text, ','))));
	}
	vec_push(&list, NULL);
	return list.v;
}

static bool read_number(struct str text, long *ret)
{
	int64_t n;

	if (!str_to_i64(text, &n) || n < 0 || n > 100000) {
		return false;
	}
	*ret = (long)n;
	return true;
}

static void set_text(char **at, struct str text)
{
	free(*at);
	*at = dup(text);
}

static bool read_counts(struct replay_step *s, const char *name, struct str rest)
{
	if (str_streq(name, "each")) {
		return read_number(rest, &s->each);
	}
	if (str_streq(name, "until")) {
		return read_number(rest, &s->until);
	}
	if (str_streq(name, "frames")) {
		if (str_eq_c(rest, "all")) {
			s->frames = REPLAY_ALL_FRAMES;
			return true;
		}
		return read_number(rest, &s->frames);
	}
	return false;
}

static bool read_flag(struct replay_step *s, const char *name)
{
	if (str_streq(name, "raw")) {
		s->raw = true;
	} else if (str_streq(name, "reviews")) {
		s->reviews = true;
	} else if (str_streq(name, "compact")) {
		s->compact = true;
	} else {
		return false;
	}
	return true;
}

static bool read_directive(struct replay_step *s, struct str line)
{
	struct str rest = { line.p + 1, line.len - 1 };
	CLEANUP(xmalloc_freep) char *name = dup(str_next(&rest, ' '));

	rest = str_trim(rest);
	if (str_streq(name, "type")) {
		set_text(&s->type, rest);
	} else if (str_streq(name, "accept")) {
		set_text(&s->accept, rest);
	} else if (str_streq(name, "token")) {
		set_text(&s->token, rest);
	} else if (str_streq(name, "show")) {
		s->view.show = s->show = split_list(rest);
	} else if (str_streq(name, "hide")) {
		s->view.hide = s->hide = split_list(rest);
	} else if (str_streq(name, "key")) {
		set_text(&s->list, str_next(&rest, ' '));
		set_text(&s->key, rest);
		s->view.list = s->list;
		s->view.key = s->key;
	} else if (str_streq(name, "save")) {
		const struct replay_save save = { dup(str_next(&rest, ' ')), dup(rest) };

		vec_push(&s->saves, save);
	} else {
		return read_flag(s, name) || read_counts(s, name, rest);
	}
	return true;
}

/* "PATCH json /path": the word between is short for a content type. */
static bool read_request(struct replay_step *s, struct str line)
{
	static const char *const types[][2] = {
		{ "json", "application/json-patch+json" },
		{ "merge", "application/merge-patch+json" },
		{ "strategic", "application/strategic-merge-patch+json" },
		{ "apply", "application/apply-patch+yaml" },
	};
	struct str method = str_next(&line, ' ');

	s->method = http_method_of(method);
	for (size_t i = 0; s->method == HTTP_PATCH && i < ARRAY_LEN(types); i++) {
		struct str rest = line;

		if (str_eq_c(str_next(&rest, ' '), types[i][0])) {
			line = rest;
			set_text(&s->type, str_of(types[i][1]));
			break;
		}
	}
	set_text(&s->url, str_trim(line));
	return s->method != HTTP_OTHER && (s->url[0] == '/' || s->url[0] == '$');
}

static void read_body(struct lines *l, struct replay_step *s)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct str line;

	while (!peek_is(l, "-> ") && !peek_is(l, "== ") && next_line(l, &line)) {
		strbuf_add_str(&body, line);
		strbuf_add_ch(&body, '\n');
	}
	while (body.len > 0 && body.p[body.len - 1] == '\n') {
		strbuf_truncate(&body, body.len - 1);
	}
	if (body.len > 0) {
		s->body = strbuf_steal(&body, NULL);
	}
}

static bool read_recorded(struct lines *l, const char *text, struct replay_step *s)
{
	const char *from = l->rest.p, *to = from;
	struct str line;

	if (!peek_is(l, "-> ")) {
		return true;
	}
	while (l->rest.len > 0 && l->rest.p[0] != '\n' && next_line(l, &line)) {
		to = line.p + line.len;
	}
	s->answer_at = (size_t)(from - text);
	s->answer_len = (size_t)(to - from);
	return replay_answer_parse((struct str){ from, s->answer_len }, &s->recorded);
}

static int read_step(struct lines *l, const char *text, struct replay_step *s, struct err *err)
{
	struct str line;

	if (!next_line(l, &line) || !read_request(s, line)) {
		return err_set(err, ERR_INVALID, "no request after the title");
	}
	while (peek_is(l, ":") && next_line(l, &line)) {
		if (!read_directive(s, line)) {
			return err_set(err, ERR_INVALID, "unknown directive " STR_FMT,
				       STR_ARG(line));
		}
	}
	read_body(l, s);
	if (!read_recorded(l, text, s)) {
		return err_set(err, ERR_INVALID, "malformed answer");
	}
	return 0;
}

static int read_all(struct replay_topic *t, struct err *err)
{
	struct lines l = { .rest = str_of(t->text) };
	struct str line;

	while (next_line(&l, &line)) {
		struct replay_step s = { .frames = REPLAY_NO_FRAMES, .each = 1 };
		int r;

		if (line.len == 0 || line.p[0] == '#') {
			continue;
		}
		s.line = l.number;
		if (!str_has_prefix(line, "== ")) {
			return err_set(err, ERR_INVALID, "%s:%zu: no title", t->path, l.number);
		}
		s.title = dup((struct str){ line.p + 3, line.len - 3 });
		r = read_step(&l, t->text, &s, err);
		vec_push(t, s);
		if (r < 0) {
			return err_wrap(err, "%s:%zu", t->path, l.number);
		}
	}
	return t->n > 0 ? 0 : err_set(err, ERR_INVALID, "%s: no requests", t->path);
}

int replay_topic_load(const char *path, struct replay_topic *ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *name = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
	int r = file_read_all(path, REPLAY_TOPIC_MAX_BYTES, &text, err);

	*ret = (struct replay_topic){ 0 };
	if (r < 0) {
		return r;
	}
	ret->name = xmalloc_dup_n(name, strcspn(name, "."));
	ret->path = xmalloc_dup(path);
	ret->text = strbuf_steal(&text, NULL);
	return read_all(ret, err);
}

static void free_list(char **list)
{
	for (char **p = list; p != NULL && *p != NULL; p++) {
		free(*p);
	}
	free(list);
}

static void free_step(struct replay_step *s)
{
	char *const texts[] = { s->title, s->url,  s->type, s->accept,
				s->token, s->body, s->list, s->key };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		free(texts[i]);
	}
	for (size_t i = 0; i < s->saves.n; i++) {
		free(s->saves.v[i].name);
		free(s->saves.v[i].path);
	}
	vec_finish(&s->saves);
	free_list(s->show);
	free_list(s->hide);
	replay_answer_finish(&s->recorded);
}

void replay_topic_finish(struct replay_topic *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free_step(&t->v[i]);
	}
	vec_finish(t);
	free(t->name);
	free(t->path);
	free(t->text);
	*t = (struct replay_topic){ 0 };
}

/* Everything but the answers stays byte by byte. A step without a recorded answer gets it before
 * the next title. */
void replay_topic_format(const struct replay_topic *t, const struct replay_answer *answers,
			 struct strbuf *out)
{
	struct lines l = { .rest = str_of(t->text) };
	struct str line;
	size_t step = 0;
	bool due = false; /* inside a step, and its answer is still to be written */

	for (;;) {
		bool more = next_line(&l, &line);

		if (due && (!more || str_has_prefix(line, "== ") || str_has_prefix(line, "-> "))) {
			while (out->len > 1 && out->p[out->len - 2] == '\n') {
				strbuf_truncate(out, out->len - 1);
			}
			replay_answer_format(&answers[step++], out);
			due = false;
			if (more && str_has_prefix(line, "-> ")) {
				while (l.rest.len > 0 && l.rest.p[0] != '\n') {
					(void)next_line(&l, &line);
				}
				continue;
			}
			strbuf_add_c(out, more ? "\n" : "");
		}
		if (!more) {
			return;
		}
		due = due || str_has_prefix(line, "== ");
		strbuf_add_str(out, line);
		strbuf_add_ch(out, '\n');
	}
}
