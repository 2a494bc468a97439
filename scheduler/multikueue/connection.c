#include "scheduler/multikueue/connection.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/strbuf.h"

#define MAX_FAILURES 7 /* counted: the longest pause is 320 s */
#define MINUTE (60 * CLOCK_NS_PER_S)
#define LASTING (10 * CLOCK_NS_PER_S) /* a connection of that age was no failed attempt */

/* A lost connection is tried again at once; then after 5, 10, 20, ... 320 s (Kueue). */
static int64_t pause_after(unsigned failures)
{
	return failures == 0 ? 0 : (5 * CLOCK_NS_PER_S) << (failures - 1);
}

/* To open all watches: an API server that converts 50,000 Workloads takes minutes at first, one
 * that hangs is given up. 1, 2, 4, 8, 10, 10 minutes (Kueue). */
static int64_t limit_after(unsigned failures)
{
	return failures > 3 ? 10 * MINUTE : MINUTE << failures;
}

void connection_init(struct connection *c, int64_t wall)
{
	*c = (struct connection){ .state = CONNECTION_UNCONFIGURED,
				  .lost_at = wall,
				  .reason = "BadKubeConfig" };
}

#define NO CONNECTION_STATE_COUNT_ /* the event means nothing */

static const enum connection_state next[CONNECTION_STATE_COUNT_][CONNECTION_EVENT_COUNT_] = {
	[CONNECTION_UNCONFIGURED] = {
		[CONNECTION_CONFIGURED] = CONNECTION_DOWN,
		[CONNECTION_BAD_CONFIG] = CONNECTION_UNCONFIGURED,
		[CONNECTION_STARTED] = NO,
		[CONNECTION_ESTABLISHED] = NO,
		[CONNECTION_FAILED] = NO,
		[CONNECTION_LOST] = NO,
	},
	[CONNECTION_DOWN] = {
		[CONNECTION_CONFIGURED] = CONNECTION_DOWN,
		[CONNECTION_BAD_CONFIG] = CONNECTION_UNCONFIGURED,
		[CONNECTION_STARTED] = CONNECTION_CONNECTING,
		[CONNECTION_ESTABLISHED] = NO,
		[CONNECTION_FAILED] = NO,
		[CONNECTION_LOST] = NO,
	},
	[CONNECTION_CONNECTING] = {
		[CONNECTION_CONFIGURED] = CONNECTION_DOWN,
		[CONNECTION_BAD_CONFIG] = CONNECTION_UNCONFIGURED,
		[CONNECTION_STARTED] = NO,
		[CONNECTION_ESTABLISHED] = CONNECTION_UP,
		[CONNECTION_FAILED] = CONNECTION_DOWN,
		[CONNECTION_LOST] = CONNECTION_DOWN,
	},
	[CONNECTION_UP] = {
		[CONNECTION_CONFIGURED] = CONNECTION_DOWN,
		[CONNECTION_BAD_CONFIG] = CONNECTION_UNCONFIGURED,
		[CONNECTION_STARTED] = NO,
		[CONNECTION_ESTABLISHED] = NO,
		[CONNECTION_FAILED] = NO,
		[CONNECTION_LOST] = CONNECTION_DOWN,
	},
};

static void note_failure(struct connection *c, const char *reason, const char *message)
{
	c->reason = reason;
	snprintf(c->message, sizeof(c->message), "%s", message == NULL ? "" : message);
}

bool connection_event(struct connection *c, enum connection_event e, const char *reason,
		      const char *message, int64_t mono, int64_t wall)
{
	enum connection_state to = next[c->state][e];

	if (to == NO) {
		return false;
	}
	/* Every way out of UP is the loss that workerLostTimeout counts from; failures after it do
	 * not move it. */
	if (c->state == CONNECTION_UP) {
		c->lost_at = wall;
	}
	switch (e) {
	case CONNECTION_CONFIGURED: /* earlier failures say nothing about the new one */
		c->failures = 0;
		c->retry_at = mono;
		note_failure(c, "ClientConnectionFailed", "not connected yet");
		break;
	case CONNECTION_BAD_CONFIG:
		c->failures = 0;
		note_failure(c, reason, message);
		break;
	case CONNECTION_STARTED:
		c->limit_at = mono + limit_after(c->failures);
		break;
	case CONNECTION_ESTABLISHED:
		c->up_at = mono;
		break;
	case CONNECTION_FAILED:
	case CONNECTION_LOST:
		/* A watch that ends is no failed attempt: API servers close watches as they
		 * restart, so the first new attempt is made at once. */
		if (c->state == CONNECTION_UP && mono - c->up_at >= LASTING) {
			c->failures = 0;
		} else if (c->failures < MAX_FAILURES) {
			c->failures++;
		}
		c->retry_at = mono + pause_after(c->failures);
		note_failure(c, reason, message);
		break;
	case CONNECTION_EVENT_COUNT_:
		break;
	}
	c->state = to;
	return true;
}

bool connection_is_due(const struct connection *c, int64_t mono)
{
	return c->state == CONNECTION_DOWN && c->retry_at <= mono;
}

int64_t connection_wake_at(const struct connection *c)
{
	switch (c->state) {
	case CONNECTION_DOWN:
		return c->retry_at;
	case CONNECTION_CONNECTING:
		return c->limit_at;
	case CONNECTION_UNCONFIGURED:
	case CONNECTION_UP:
	case CONNECTION_STATE_COUNT_:
		break;
	}
	return CLOCK_NEVER;
}

const char *connection_condition(const struct connection *c, int64_t mono, int64_t wall,
				 const char **ret_reason, struct strbuf *message)
{
	char at[CLOCK_RFC3339_MAX];

	if (c->state == CONNECTION_UP) {
		*ret_reason = "Active";
		strbuf_add_c(message, "Connected");
		return "True";
	}
	*ret_reason = c->reason;
	strbuf_add_c(message, c->message);
	if (c->failures > 0) {
		clock_format_time(wall + clock_later(c->retry_at - mono, 0), at);
		strbuf_printf(message, "; connection attempts: %u, next connection attempt: %s",
			      c->failures, at);
	}
	return "False";
}
