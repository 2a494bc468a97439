/* test/apiserver/rules/admission_match.h: whether one webhook wants to see one request. */
#ifndef TEST_APISERVER_RULES_ADMISSION_MATCH_H
#define TEST_APISERVER_RULES_ADMISSION_MATCH_H

#include <stdbool.h>

#include "apiserver/rules/admission.h"

struct err;
struct strmap;

struct admission_subject {
	enum admission_op op;
	const struct jdoc *old, *object; /* NULL where there is none */
};

/* An empty table of compiled match conditions, struct apiserver's `expressions`. */
struct strmap *admission_match_cache(void);
/* One of its rules names what the call is about. */
bool admission_match_rules(const struct call *c, const struct jdoc *hook, enum admission_op op);
/* The selectors and conditions of a webhook with a rule that matches. request: the AdmissionRequest
 * for match conditions. 1: call it, 0: not concerned, -ERR_INVALID: a match condition failed to
 * evaluate and none said no. */
int admission_match(struct call *c, const struct jdoc *hook,
		    const struct admission_subject *subject, const struct jdoc *request,
		    struct err *err);
bool admission_match_has_no_effects(const struct jdoc *hook); /* may see dry runs */
const char *admission_match_op_name(enum admission_op op);

#endif
