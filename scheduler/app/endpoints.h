/* scheduler/app/endpoints.h: the scheduler's HTTP endpoints: /metrics, and /healthz, /livez,
 * /readyz. livez is red when the sched thread has not come round for ENDPOINTS_STUCK_NS or one
 * cycle takes longer than that; readyz is red for a leader that has not synced or has no quota
 * plugin (a standby is ready), and while nothing is heard of a resource. ?verbose shows as a
 * warning when another program uses our scheduler names. */
#ifndef SCHEDULER_APP_ENDPOINTS_H
#define SCHEDULER_APP_ENDPOINTS_H

#include "base/clock.h"

#define ENDPOINTS_STUCK_NS (30 * CLOCK_NS_PER_S)

struct metric_registry;
struct endpoints;
struct engine_state;
struct err;
struct foreign;

struct endpoints_options {
	const char *listen_address,
		*healthz_address;  /* "host:port" or ":port"; NULL: not served; equal: one server */
	const char *metrics_token; /* obs/exposition.h */
	struct metric_registry *counters;
	const struct engine_state *state; /* borrowed until endpoints_stop */
	struct foreign *foreign;          /* likewise; NULL: nothing is shown */
	/* The resource of which nothing was heard for long, and since when (monotonic ns); NULL:
	 * none. Any thread. */
	const char *(*stale)(void *ctx, int64_t now, int64_t *ret_since);
	void *ctx;
	const struct clock *clock;
};

/* Main thread. */
int endpoints_start(const struct endpoints_options *opt, struct endpoints **ret, struct err *err);
void endpoints_stop(struct endpoints *e); /* NULL is fine */

#endif
