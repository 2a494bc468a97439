#include "webhook/server/review.h"

#include "base/arena.h"
#include "base/err.h"

#define REVIEW_ANSWER_BYTES 1024 /* most answers fit */

static struct str render(const struct admit_request *q, struct admit_answer *a)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct api_admission_response r = {
		.uid = q->review->uid,
		.allowed = a->allowed,
		.code = a->code,
		.reason = a->reason,
		.message = a->message,
		.warnings = { .v = a->warnings, .n = a->warning_count },
	};

	/* A handler may have begun a patch before it found the reason for the denial. */
	if (a->allowed && a->patch.len > 0) {
		r.patch = strbuf_str(&a->patch);
	}
	strbuf_reserve(&out, REVIEW_ANSWER_BYTES);
	admission_format_response(&r, &out);
	return arena_str(q->arena, strbuf_str(&out));
}

/* A denial and not HTTP 400: the user reads the path of the mistake, and failurePolicy Ignore
 * does not let the object in, as it would after a failed call. Patch and warnings of the handler
 * are dropped: they are about an object that was read in part. */
static void deny_undecodable(const struct admit_request *q, struct admit_answer *a,
			     const struct err *err)
{
	admit_answer_finish(a);
	admit_answer_init(a);
	a->allowed = false;
	a->code = 400;
	a->reason = "BadRequest";
	a->message = arena_dup(q->arena, err->text);
}

int review_run(admit_fn fn, struct admit_request *q, struct str body, struct review_outcome *ret,
	       struct err *err)
{
	CLEANUP(admit_answer_finish) struct admit_answer answer;
	struct api_admission_request review;
	struct err why = ERR_INIT;
	int r;

	admit_answer_init(&answer);
	r = admission_parse(body, q->arena, &review, err);
	if (r < 0) {
		return r;
	}
	q->review = &review;
	if (fn(q, &answer, &why) < 0) {
		deny_undecodable(q, &answer, &why);
	}
	ret->body = render(q, &answer);
	ret->allowed = answer.allowed;
	ret->gated = answer.gated;
	/* Copied, because the name may be borrowed from the view (the queue of a namespace). */
	ret->unconfirmed_queue = arena_dup(q->arena, answer.unconfirmed_queue);
	/* It points to this function's stack. */
	q->review = NULL;
	return 0;
}
