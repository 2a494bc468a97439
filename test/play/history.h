/* test/play/history.h: judges everything a mirror has seen, in resourceVersion order. Call when
 * nothing changes any more. */
#ifndef TEST_PLAY_HISTORY_H
#define TEST_PLAY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct mirror;

struct history {
	size_t changes;        /* looked at */
	size_t gated_bound;    /* pods seen with a gate and a node */
	size_t published_peak; /* opted-in pods published at once */
	bool breach;           /* of the oracle (test/play/oracle.h); the first one is in err */
};

void history_examine(struct mirror *m, struct history *ret, struct err *err);
/* Both pods were seen ungated, but never both at the same time while unfinished. */
bool history_never_together(struct mirror *m, const char *a, const char *b);
/* None of the n pods with this key prefix was published or bound while another one of them still
 * had a gate. */
bool history_gang_at_once(struct mirror *m, const char *prefix, size_t n);
/* The most pods with this key prefix that were neither finished nor being deleted at once. */
size_t history_most_at_once(struct mirror *m, const char *prefix);
/* The most pods with this key prefix that an autoscaler would buy nodes for at once. */
size_t history_most_unschedulable(struct mirror *m, const char *prefix);
/* How often a pod with this key was created, or created again after its end. */
size_t history_starts(struct mirror *m, const char *key);

#endif
