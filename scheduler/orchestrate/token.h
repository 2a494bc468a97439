/* scheduler/orchestrate/token.h: the right of one cluster to preempt for a Workload. There is one
 * token for each Workload. It stands in an annotation of the local object, and is written there
 * before the gate that it is about: neither a restart of the manager nor the loss of a cluster
 * makes it forgotten, and with it the promise that one cluster at a time preempts (KEP-8303,
 * goals). It is never copied to a replica. Texts are borrowed: from the arena of the parsed text,
 * or from the replicas of the decision that made it. */
#ifndef SCHEDULER_ORCHESTRATE_TOKEN_H
#define SCHEDULER_ORCHESTRATE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define TOKEN_ANNOTATION "headgate.io/preemption-token"
#define TOKEN_MAX_ATTEMPTS 100 /* as many as a MultiKueueConfig may name clusters */
#define TOKEN_MAX_BYTES 40960  /* of the text: 100 attempts with the longest names are shorter */
#define TOKEN_KEPT_ATTEMPTS 20 /* of fewer clusters than that */

struct arena;
struct err;
struct strbuf;

enum token_phase {
	TOKEN_FREE,
	TOKEN_GRANTED,  /* the holder's gate is open, or is to be opened */
	TOKEN_REVOKING, /* the holder's gate is to be closed; then the token is free */
};

/* How the attempt of a cluster ended. */
enum token_outcome {
	TOKEN_ADMITTED,
	TOKEN_TIMEOUT,     /* no room came free in time */
	TOKEN_NO_REACTION, /* the worker went on asking for a gate that was open */
	TOKEN_CANNOT,      /* with the gate open it did not fit after all */
	TOKEN_EVICTED,     /* the worker evicted the replica, which closes its gate */
	TOKEN_GONE,        /* the replica is gone, or the cluster is not offered any more */
	TOKEN_UNREACHABLE, /* the cluster could not be reached until the time was over: its gate may
			    * still be open, and is closed first when it is back */
	TOKEN_REFUSED,     /* its API server refused to open the gate */
	TOKEN_NEEDLESS,    /* another replica got quota before this one had evicted anything */
	TOKEN_OUTCOME_COUNT_
};

struct token_attempt {
	const char *cluster;
	int64_t began, ended; /* wall ns of the manager */
	enum token_outcome outcome;
	uint32_t victims; /* Workloads that were evicted for it, as far as its worker reported them
			   */
};

struct token {
	int64_t epoch; /* how often it has been granted */
	enum token_phase phase;
	const char *holder, *uid;   /* cluster and replica; NULL when free */
	int64_t granted_at;         /* wall ns of the manager */
	enum token_outcome outcome; /* of REVOKING */
	uint32_t victims;           /* of the holder so far, for token_end; not in the text */
	int64_t lost_at; /* the annotation could not be read then, and the holder of the token
			  * is not known; REPLICA_NOT_SEEN: it was never lost */
	const struct token_attempt *attempts; /* oldest first; at most TOKEN_MAX_ATTEMPTS */
	size_t n;
};

/* Memory of the caller for the attempts of a token that has ended. */
struct token_room {
	struct token_attempt v[TOKEN_MAX_ATTEMPTS];
};

const char *token_outcome_name(enum token_outcome o); /* "Timeout" */

/* JSON. Empty text is a token that was never granted. Text that token_format would not write is
 * -ERR_INVALID with the path, and the token counts as lost at `now`. */
int token_parse(struct str text, int64_t now, struct arena *arena, struct token *ret,
		struct err *err);
void token_format(const struct token *t, struct strbuf *out);

/* The holder has it no more. The attempts are copied to the room, where the token may have them
 * already. The oldest ones are dropped when there are more than the Workload has clusters, and more
 * than TOKEN_KEPT_ATTEMPTS: a failure that was dropped while a cluster has not been tried yet would
 * let the same clusters go first again and again. */
void token_end(struct token *t, enum token_outcome outcome, int64_t now, size_t clusters,
	       struct token_room *room);
/* How many of the kept attempts of this cluster have failed, and when the last one ended
 * (REPLICA_NOT_SEEN: none has). Those that ended as ADMITTED or NEEDLESS have not. */
size_t token_failures(const struct token *t, const char *cluster, int64_t *ret_last);

#endif
