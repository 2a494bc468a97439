/* test/apiserver/conformance/replay_known.h: the differences between the embedded server and a real
 * one that are meant to be there (differences.txt). One to a line:
 *
 *   REASON  PATH  TOPIC: TITLE
 *
 * REASON is a section of README.md. PATH is a pattern of replay_answer_fits, "code" for the code of
 * the answer, or * for anything. TITLE may be *, then it holds for the topic; "*: *" for all.
 * Owner: one thread. */
#ifndef TEST_APISERVER_CONFORMANCE_REPLAY_KNOWN_H
#define TEST_APISERVER_CONFORMANCE_REPLAY_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct replay_known_row {
	char *reason, *path, *topic, *title;
	size_t line;
	bool used;
};

struct replay_known {
	struct replay_known_row *v;
	size_t n, cap;
};

/* Every reason must be a section ("### REASON") of the readme. */
int replay_known_load(const char *path, const char *readme, struct replay_known *ret,
		      struct err *err);
void replay_known_finish(struct replay_known *k);
/* Marks the rows that speak of this. */
bool replay_known_has(struct replay_known *k, const char *topic, const char *title,
		      const char *path);

#endif
