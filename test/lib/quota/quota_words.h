/* test/lib/quota/quota_words.h: the words of one line of a quota world's text
 * (test/lib/quota/quota_world.h). Every word must be read by one of the functions below; a word
 * that was not read fails the test. Owner: the test. */
#ifndef TEST_LIB_QUOTA_QUOTA_WORDS_H
#define TEST_LIB_QUOTA_QUOTA_WORDS_H

#include "scheduler/workloads/model/quota_store.h"

#define QUOTA_WORDS_MAX 64

struct arena;

struct quota_words {
	char *text;
	char *v[QUOTA_WORDS_MAX]; /* point into text */
	bool used[QUOTA_WORDS_MAX];
	size_t n;
};

/* The next line that is not empty, its words; moves *text behind it. False: no more lines. */
bool quota_words_next(struct quota_words *l, const char **text);
void quota_words_finish(struct quota_words *l);
/* Marks the first n words as read; fails unless they exist. */
void quota_words_need(struct quota_words *l, size_t n);
/* Fails when a word was not read. */
void quota_words_end(const struct quota_words *l);

/* The value of "key=value", NULL when absent; a plain word; a number; one of names, which ends with
 * NULL, by its index. */
const char *quota_words_get(struct quota_words *l, const char *key);
bool quota_words_has(struct quota_words *l, const char *word);
bool quota_words_int(struct quota_words *l, const char *key, int64_t *ret);
unsigned quota_words_enum(struct quota_words *l, const char *key, const char *const *names,
			  unsigned absent);

/* All "KIND:k=v", "taint:k=v:Effect", "toleration:k=v:Effect" ("toleration:k": any value, any
 * effect), into arrays with room for all words; return their number. Names are interned in q. */
size_t quota_words_labels(struct quota_words *l, struct quota_model *q, const char *kind,
			  struct label *ret);
size_t quota_words_taints(struct quota_words *l, struct quota_model *q, struct taint *ret);
size_t quota_words_tolerations(struct quota_words *l, struct quota_model *q,
			       struct toleration *ret);
/* "affinity:k=v,v2": a required term each. */
void quota_words_affinity(struct quota_words *l, struct quota_model *q, struct arena *arena,
			  struct podset *p);

#endif
