/* scheduler/base/match.h: Kubernetes' rules for label selectors and tolerations: one label list,
 * one expression, one taint at a time. Label strings are compared by pointer: both sides are
 * interned in the same table. Pure; any thread. */
#ifndef SCHEDULER_BASE_MATCH_H
#define SCHEDULER_BASE_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label {
	const char *key, *value; /* interned */
};

enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE };
enum match_op { MATCH_IN, MATCH_NOT_IN, MATCH_EXISTS, MATCH_NOT_EXISTS, MATCH_GT, MATCH_LT };

struct taint {
	const char *key, *value; /* interned */
	uint8_t effect;          /* enum taint_effect */
};

struct match_expr {
	const char *key; /* interned */
	enum match_op op;
	const char **values; /* interned, sorted by text */
	size_t nvalues;
	bool on_field; /* matchFields metadata.name instead of a label */
};

struct match_term { /* all expressions must hold */
	struct match_expr *exprs;
	size_t nexprs;
	int32_t weight; /* preferred terms */
};

struct toleration {
	const char *key;   /* interned; NULL: every key (with exists) */
	const char *value; /* interned, "" when absent */
	bool exists;       /* operator Exists */
	bool any_effect;
	uint8_t effect; /* enum taint_effect */
};

/* The value of the label `key`; NULL: there is no such label. labels: sorted by the text of their
 * keys. O(log n). */
const char *match_label(const struct label *labels, size_t n, const char *key);
/* Whether the expression holds for a label (or field) of this value; NULL: it is absent. */
bool match_expr_holds(const struct match_expr *e, const char *value);
/* t, which was copied from another one, gets lists of its own; and their end. */
void match_term_copy(struct match_term *t);
void match_term_finish(struct match_term *t);
/* A deep copy; interned strings are shared. NULL without terms. The caller frees it. */
struct match_term *match_terms_copy(const struct match_term *terms, size_t n);
void match_terms_free(struct match_term *terms, size_t n); /* of match_terms_copy; NULL is fine */
/* Whether one of the tolerations tolerates the taint. */
bool match_tolerates(const struct toleration *tolerations, size_t n, const struct taint *taint);

#endif
