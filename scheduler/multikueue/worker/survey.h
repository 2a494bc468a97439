/* scheduler/multikueue/worker/survey.h: reads one worker cluster once and prices Workloads in it
 * (orchestrate/price.h): lists by pages, no watch. Everything but Workloads is listed at the same
 * time, then the Workloads, as their requests depend on the rest. Kinds that the cluster does not
 * serve are empty, unless nothing could be admitted without them.
 *
 * Threads: a survey is started and destroyed by any thread. The work is done on the transport's
 * thread, page by page: a page of 500 Workloads takes some 10 ms, the model and the searches at the
 * end about as long (test/bench/bench_price.c). Whatever the worker answers, a survey ends within
 * its limit and the time of one page. More prices from the model of an answer take less than a
 * millisecond each and no request. */
#ifndef SCHEDULER_MULTIKUEUE_WORKER_SURVEY_H
#define SCHEDULER_MULTIKUEUE_WORKER_SURVEY_H

#include "base/err.h"
#include "scheduler/orchestrate/price_model.h"

#define SURVEY_LIMIT_NS INT64_C(5000000000)
#define SURVEY_MAX_BYTES ((size_t)256 << 20) /* of all answers: 50,000 Workloads of 5 KB */
#define SURVEY_MAX_OBJECTS 100000

struct clock;
struct survey;
struct transport;

struct survey_want {
	const char *key; /* of a Workload: "namespace/name" */
	/* Keys of the victims that other tokens were promised on this cluster. */
	const char *const *promised;
	size_t npromised;
};

struct survey_price {
	const char *key;
	struct price price;
};

/* Owned by its receiver. */
struct survey_answer {
	/* ERR_NONE; ERR_FORBIDDEN: the text names every resource that may not be listed;
	 * ERR_TIMEOUT; ERR_CANCELLED: the transport was closed; ERR_INVALID: a limit was exceeded,
	 * or an answer is no list; others as rest_result. The text names the resource. */
	struct err err;
	/* One for each that was wanted, in order; NULL after an error. */
	const struct survey_price *prices;
	size_t n;
	struct price_model *model; /* for more prices, as promises change; NULL after an error */
	size_t objects, bad;       /* bad: those that could not be read and are left out */
	struct arena *arena;
};

struct survey_options {
	struct transport *transport;
	const struct clock *clock;
	const struct kueue_conf *conf; /* borrowed; must outlive the answer */
	/* 0: the defaults above */
	int64_t limit_ns;
	size_t max_bytes, max_objects;
	/* Once, on the transport's thread. Destroying the survey before that keeps it from being
	 * called, but one that has begun goes on: unless the transport is destroyed first, ctx
	 * outlives both. */
	void (*on_done)(void *ctx, struct survey_answer *answer);
	void *ctx;
};

/* Any thread. wants are copied. Everything else is borrowed until the survey has been destroyed and
 * the calls that are in flight have ended; a transport ends them when it is destroyed. */
struct survey *survey_start(const struct survey_options *opt, const struct survey_want *wants,
			    size_t n);
/* Any thread, at any time, on_done included; exactly once. NULL is fine. No further request is sent
 * and nothing is reported; what is in flight ends by itself, within the limit. */
void survey_destroy(struct survey *s);
void survey_answer_destroy(struct survey_answer *a); /* NULL is fine */

#endif
