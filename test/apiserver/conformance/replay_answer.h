/* test/apiserver/conformance/replay_answer.h: an answer of an API server as lines "path: value", in
 * which everything that differs from run to run is replaced by symbols: UIDs by the names of their
 * objects, resource versions by their order for each object, times, generated names, continue
 * tokens. Two servers agree when they give the same set of lines. Owner: one thread. */
#ifndef TEST_APISERVER_CONFORMANCE_REPLAY_ANSWER_H
#define TEST_APISERVER_CONFORMANCE_REPLAY_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct jdoc;
struct strbuf;
struct strmap;

struct replay_leaf {
	char *path;  /* `items[0].metadata.labels["a.b/c"]` */
	char *value; /* JSON */
};

struct replay_answer {
	int code;
	struct replay_leaf *v;
	size_t n, cap;
};

/* A text that stands for itself in what is recorded: the topic's namespace, the webhook's URL. */
struct replay_alias {
	const char *text, *name;
};

struct replay_symbols {
	struct strmap *uids;                /* to symbols */
	struct strmap *versions;            /* "uid version" to symbols */
	struct strmap *counts;              /* how many symbols begin alike */
	const struct replay_alias *aliases; /* ends with text NULL */
};

struct replay_view {
	char *const *show; /* patterns, ends with NULL; NULL: everything but managedFields */
	char *const *hide;
	const char *list, *key; /* member `key` identifies items of this list; or NULL */
};

/* Those of one topic. */
void replay_answer_symbols_init(struct replay_symbols *s, const struct replay_alias *aliases);
void replay_answer_symbols_finish(struct replay_symbols *s);
void replay_answer_finish(struct replay_answer *a); /* frees, not a itself */
/* Adds the leaves of doc below prefix ("" is the root). Failures (kind Status) are shown whole. */
void replay_answer_add(struct replay_answer *a, const char *prefix, const struct jdoc *doc,
		       const struct replay_view *view, struct replay_symbols *s);
/* A line of its own. */
void replay_answer_put(struct replay_answer *a, const char *path, const char *value);
/* NULL: absent. */
const char *replay_answer_get(const struct replay_answer *a, const char *path);
/* "-> CODE" and a line for each leaf. */
void replay_answer_format(const struct replay_answer *a, struct strbuf *out);
/* The reverse; false: malformed. */
bool replay_answer_parse(struct str text, struct replay_answer *ret);
/* Whether path is at or below the pattern; "[*]" stands for any index. */
bool replay_answer_fits(const char *pattern, const char *path);

#endif
