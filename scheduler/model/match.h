/* scheduler/model/match.h: Kubernetes' rules of label selectors and tolerations, one label list,
 * one expression, one taint at a time. Label strings are compared by pointer: both sides are
 * interned in the same table. Pure; any thread. */
#ifndef SCHEDULER_MODEL_MATCH_H
#define SCHEDULER_MODEL_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct label;
struct match_expr;
struct taint;
struct toleration;

/* The value of the label `key`; NULL: there is no such label. */
const char *match_label(const struct label *labels, size_t n, const char *key);
/* Whether the expression holds for a label (or field) of this value; NULL: it is absent. */
bool match_expr_holds(const struct match_expr *e, const char *value);
/* Whether one of the tolerations tolerates the taint. */
bool match_tolerates(const struct toleration *tolerations, size_t n, const struct taint *taint);

#endif
