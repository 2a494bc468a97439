/* scheduler/ctl/explain/offer_explain.h: explains the offer of a Workload to worker clusters
 * (MultiKueue): which one may preempt for it (the token), until when, and why each other one may
 * not. From the token, and from replicas as far as they could be looked at. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_OFFER_EXPLAIN_H
#define SCHEDULER_CTL_EXPLAIN_OFFER_EXPLAIN_H

#include "base/str.h"
#include "collections/vec.h"
#include "scheduler/orchestrate/replica.h"
#include "scheduler/orchestrate/token.h"

struct arena;
struct orchestrate_options;
struct worker_cost;

struct offer_worker {
	const char *cluster;
	const struct replica *replica; /* NULL: it was not asked */
	/* Of preempting there; NULL: not asked for, as it has quota or no replica. */
	const struct worker_cost *cost;
	/* Why it was not asked, or could not be reached; else the message of its worker, NULL:
	 * none.
	 */
	const char *message;
	const char *other_gate; /* one of its gates that is closed, and of another controller; NULL:
				   none, or not known */
	/* Made by offer_explain: */
	const char *answer;  /* "Candidate", "NotAsked" */
	const char *verdict; /* why it has the token, or has not */
	size_t failures;     /* of its attempts that the token knows */
};

struct offer {
	const char *check, *config; /* names; NULL: not known */
	const char *unlisted; /* why the clusters of the config are not known; NULL: they are */
	struct VEC(struct offer_worker) workers; /* in configured order */
	struct token token;
	const char *token_error; /* the annotation cannot be read; NULL: it can */
	int64_t until;           /* the holder has the token until then, wall ns; 0: it is free */
	int64_t until_progress;  /* the same if its victims are on their way out; 0: the same */
	struct arena *arena;     /* NULL: the Workload is not offered, or that is settled */
};

/* Reads the token, of which text may be absent, and finds a verdict for each of the workers. Those
 * that only the token names are added. now: wall ns. */
void offer_explain(struct offer *o, struct str token, const struct orchestrate_options *opt,
		   int64_t now);
void offer_explain_finish(struct offer *o); /* zeroed is fine */

#endif
