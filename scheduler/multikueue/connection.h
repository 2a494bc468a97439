/* scheduler/multikueue/connection.h: the state of the connection to one worker cluster
 * (MultiKueueCluster): when to try next, for how long it has been lost, and the condition Active
 * that says so. As in Kueue: the first loss counts, whatever fails after it; a new kubeconfig is
 * tried at once. Otherwise than there a connection that does not last counts as a failed attempt: a
 * server that allows lists and refuses watches is not asked again and again. Pure: the caller
 * connects, and reports what came of it. Owner: one thread. */
#ifndef SCHEDULER_MULTIKUEUE_CONNECTION_H
#define SCHEDULER_MULTIKUEUE_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

struct strbuf;

enum connection_state {
	CONNECTION_UNCONFIGURED, /* the kubeconfig is missing or refused: only a new one helps */
	CONNECTION_DOWN,         /* the next attempt is due at retry_at */
	CONNECTION_CONNECTING,   /* watches are being opened, until limit_at */
	CONNECTION_UP,
	CONNECTION_STATE_COUNT_
};

enum connection_event {
	CONNECTION_CONFIGURED,  /* a kubeconfig was read that is not the one before */
	CONNECTION_BAD_CONFIG,  /* it is missing or refused */
	CONNECTION_STARTED,     /* an attempt begins, which is due */
	CONNECTION_ESTABLISHED, /* all lists are complete, all watches open */
	CONNECTION_FAILED,      /* the attempt failed, or took longer than its limit */
	CONNECTION_LOST,        /* a watch ended that the caller did not end */
	CONNECTION_EVENT_COUNT_
};

struct connection {
	enum connection_state state;
	unsigned failures;  /* of attempts in a row */
	int64_t retry_at;   /* DOWN: mono ns */
	int64_t up_at;      /* UP: since when, mono ns */
	int64_t limit_at;   /* CONNECTING: mono ns */
	int64_t lost_at;    /* not UP: wall ns of the first loss, or of the beginning */
	const char *reason; /* of the condition; static */
	char message[256];  /* of the last failure, cut */
};

void connection_init(struct connection *c, int64_t wall);
/* reason: of BAD_CONFIG and FAILED ("BadKubeConfig"), static text. message: of the same, copied.
 * False: the event means nothing in this state, and nothing has changed. */
bool connection_event(struct connection *c, enum connection_event e, const char *reason,
		      const char *message, int64_t mono, int64_t wall);
/* An attempt may begin now. */
bool connection_is_due(const struct connection *c, int64_t mono);
/* When something is due again, mono ns; CLOCK_NEVER: only an event changes it. */
int64_t connection_wake_at(const struct connection *c);
/* The condition Active: its status ("True"), reason and message, which is appended. The time of the
 * next attempt is written as wall time. */
const char *connection_condition(const struct connection *c, int64_t mono, int64_t wall,
				 const char **ret_reason, struct strbuf *message);

#endif
