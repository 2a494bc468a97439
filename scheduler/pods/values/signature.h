/* scheduler/pods/values/signature.h: pieces of canonical texts: two objects are equal exactly when
 * their texts are. Texts that mean nothing are kept apart by their lengths. Pure. */
#ifndef SCHEDULER_PODS_VALUES_SIGNATURE_H
#define SCHEDULER_PODS_VALUES_SIGNATURE_H

#include <stdint.h>

#include "scheduler/base/match.h"

struct strbuf;

void signature_put_int(struct strbuf *out, int64_t n);
void signature_put_text(struct strbuf *out, const char *text); /* NULL differs from "" */
/* The expressions of a term, with its weight. */
void signature_put_term(struct strbuf *out, char mark, const struct match_term *t);

#endif
