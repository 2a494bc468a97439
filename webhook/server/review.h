/* webhook/server/review.h: one AdmissionReview in, one out. No tree is built: the review is scanned
 * and the object is decoded from its place in the body. Any thread. */
#ifndef WEBHOOK_SERVER_REVIEW_H
#define WEBHOOK_SERVER_REVIEW_H

#include "webhook/admit/admit.h"

struct review_outcome {
	struct str body; /* the answer, in the arena */
	bool allowed;
	bool gated;
	const char *unconfirmed_queue; /* see struct admit_answer; in the arena or static */
};

/* q: options, view, arena and namespace_gate are set. A body that is not an AdmissionReview v1:
 * -ERR_INVALID; an object that does not decode is a denial that names the path. */
int review_run(admit_fn fn, struct admit_request *q, struct str body, struct review_outcome *ret,
	       struct err *err);

#endif
