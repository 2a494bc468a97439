/* test/apiserver/conformance/replay_topic.h: a file of requests, each with the answer that was
 * recorded from a real kube-apiserver.
 *
 *   == title of the request
 *   METHOD PATH?QUERY
 *   :directive arguments          see README.md
 *   body, YAML
 *   -> CODE
 *   path: value                   the recorded answer
 *
 * Lines that begin with # between requests are comments. Owner: one thread. */
#ifndef TEST_APISERVER_CONFORMANCE_REPLAY_TOPIC_H
#define TEST_APISERVER_CONFORMANCE_REPLAY_TOPIC_H

#include <stdbool.h>
#include <stddef.h>

#include "apiserver/conformance/replay_answer.h"
#include "collections/vec.h"
#include "net/http.h"

#define REPLAY_TOPIC_MAX_BYTES ((size_t)4 << 20)
#define REPLAY_NO_FRAMES (-1)
#define REPLAY_ALL_FRAMES 0 /* until the server ends the stream */

struct err;
struct strbuf;

struct replay_save {
	char *name, *path;
};

struct replay_step {
	char *title;
	size_t line;
	enum http_method method;
	char *url;
	char *type, *accept, *token; /* or NULL */
	char *body;                  /* or NULL */
	bool raw;                    /* the body is sent as it stands here */
	bool reviews;                /* requests to the webhook meanwhile are shown, too */
	bool compact;                /* the embedded server forgets its history before */
	long each;                   /* sent so often, $i counts */
	long until;                  /* repeated until it gets this code; 0: once */
	long frames;                 /* of a watch, or REPLAY_x_FRAMES */
	struct replay_view view;
	char **show, **hide;
	char *list, *key;
	struct VEC(struct replay_save) saves;
	size_t answer_at, answer_len; /* in the topic's text; 0, 0: nothing recorded */
	struct replay_answer recorded;
};

struct replay_topic {
	char *name; /* the file's name without folder and suffix */
	char *path;
	char *text;
	struct replay_step *v;
	size_t n, cap;
};

/* Errors name file and line. */
int replay_topic_load(const char *path, struct replay_topic *ret, struct err *err);
void replay_topic_finish(struct replay_topic *t);
/* The text with new answers; answers has one for each step. */
void replay_topic_format(const struct replay_topic *t, const struct replay_answer *answers,
			 struct strbuf *out);

#endif
