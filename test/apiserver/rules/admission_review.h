/* test/apiserver/rules/admission_review.h: AdmissionReview v1 messages. */
#ifndef TEST_APISERVER_RULES_ADMISSION_REVIEW_H
#define TEST_APISERVER_RULES_ADMISSION_REVIEW_H

#include "apiserver/rules/admission_match.h"
#include "base/str.h"

/* The review with a fresh UID, a new root; yet without the objects, which its `request` has not in
 * match conditions either. */
struct jdoc *admission_review_build(struct call *c, const struct admission_subject *subject);
void admission_review_add_objects(struct jdoc *review, const struct admission_subject *subject);
/* The response of an answer to `review`, a new root; -ERR_INVALID when it is none. */
int admission_review_parse(struct str text, const struct jdoc *review, struct jdoc **ret,
			   struct err *err);
/* Applies the response's JSON Patch, if any. */
int admission_review_patch(const struct jdoc *response, struct jdoc **doc, struct err *err);

#endif
