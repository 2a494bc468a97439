/* scheduler/app/endpoints.h: the scheduler's HTTP endpoints: /metrics, and /healthz, /livez,
 * /readyz. livez fails when the sched thread has made no step for ENDPOINTS_STUCK_NS or a cycle
 * takes longer than that; readyz fails for a leader that has not synced or has no quota plugin (a
 * standby is ready), and while a watch has no contact with the API server. ?verbose shows a warning
 * when another program uses our scheduler names. */
#ifndef SCHEDULER_APP_ENDPOINTS_H
#define SCHEDULER_APP_ENDPOINTS_H

#include <stdbool.h>

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
	struct foreign *foreign; /* borrowed until endpoints_stop; NULL: nothing is shown */
	bool needs_no_plugin;    /* it schedules no pods */
	/* A resource without contact to the API server for long, and since when (monotonic ns);
	 * NULL: none. Any thread. */
	const char *(*stale)(void *ctx, int64_t now, int64_t *ret_since);
	void *ctx;
	const struct clock *clock;
};

/* Main thread. */
int endpoints_start(const struct endpoints_options *opt, struct endpoints **ret, struct err *err);
void endpoints_stop(struct endpoints *e); /* NULL is fine */

#endif
