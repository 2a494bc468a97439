#include "apiserver/conformance/replay_known.h"

#include <stdlib.h>

#include "apiserver/conformance/replay_answer.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "process/file.h"

#define MAX_BYTES ((size_t)1 << 20)

static char *next_word(struct str *rest)
{
	struct str word;

	*rest = str_trim(*rest);
	word = *rest;
	while (rest->len > 0 && rest->p[0] != ' ' && rest->p[0] != '\t') {
		rest->p++;
		rest->len--;
	}
	return xmalloc_dup_n(word.p, (size_t)(rest->p - word.p));
}

static bool read_row(struct str line, struct replay_known_row *row)
{
	struct str topic;

	row->reason = next_word(&line);
	row->path = next_word(&line);
	line = str_trim(line);
	topic = str_next(&line, ':');
	line = str_trim(line);
	row->topic = xmalloc_dup_n(topic.p == NULL ? "" : topic.p, topic.len);
	row->title = xmalloc_dup_n(line.p == NULL ? "" : line.p, line.len);
	return row->topic[0] != '\0' && row->title[0] != '\0';
}

static bool is_explained(const char *readme, const char *reason)
{
	CLEANUP(xmalloc_freep) char *head = xmalloc_printf("\n### %s\n", reason);

	return strstr(readme, head) != NULL;
}

int replay_known_load(const char *path, const char *readme, struct replay_known *ret,
		      struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, why = STRBUF_INIT;
	struct str rest;
	int r = file_read_all(path, MAX_BYTES, &text, err);

	*ret = (struct replay_known){ 0 };
	r = r < 0 ? r : file_read_all(readme, MAX_BYTES, &why, err);
	if (r < 0) {
		return r;
	}
	rest = strbuf_str(&text);
	for (size_t line = 1; rest.len > 0; line++) {
		struct str s = str_trim(str_next(&rest, '\n'));
		struct replay_known_row row = { .line = line };
		bool ok;

		if (s.len == 0 || s.p[0] == '#') {
			continue;
		}
		ok = read_row(s, &row);
		vec_push(ret, row);
		if (!ok) {
			return err_set(err, ERR_INVALID, "%s:%zu: malformed", path, line);
		}
		if (!is_explained(why.p, row.reason)) {
			return err_set(err, ERR_INVALID, "%s:%zu: %s has no section %s", path, line,
				       readme, row.reason);
		}
	}
	return 0;
}

void replay_known_finish(struct replay_known *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->v[i].reason);
		free(k->v[i].path);
		free(k->v[i].topic);
		free(k->v[i].title);
	}
	vec_finish(k);
}

static bool is_word(const char *pattern, const char *text)
{
	return str_streq(pattern, "*") || str_streq(pattern, text);
}

bool replay_known_has(struct replay_known *k, const char *topic, const char *title,
		      const char *path)
{
	bool found = false;

	for (size_t i = 0; i < k->n; i++) {
		struct replay_known_row *row = &k->v[i];

		if (is_word(row->topic, topic) && is_word(row->title, title) &&
		    (str_streq(row->path, "*") || replay_answer_fits(row->path, path))) {
			row->used = found = true;
		}
	}
	return found;
}
