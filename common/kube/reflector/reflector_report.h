/* common/kube/reflector/reflector_report.h: logs and metrics of a reflector. Each failure is
 * counted by resource and reason; a line is logged when the reason changes and when list and watch
 * work again, so that an outage of an hour costs two lines. Records the time of the last contact
 * during a failure. Owner: the transport's thread; reflector_report_silent_since: any thread
 * (atomics). */
#ifndef COMMON_KUBE_REFLECTOR_REFLECTOR_REPORT_H
#define COMMON_KUBE_REFLECTOR_REFLECTOR_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/reflector/reflector.h"

struct clock;
struct metric_cell;
struct metric_family;
struct metric_registry;
struct http_result;

struct reflector_report {
	const char *resource; /* borrowed; NULL: nothing is logged or counted */
	const struct clock *clock;
	reflector_health_fn on_health; /* or NULL */
	void *ctx;
	struct metric_family *errors;                  /* NULL: not counted */
	struct metric_cell *lists, *relists, *watches; /* NULL: not counted */
	_Atomic int64_t contact_at;                    /* monotonic ns, CLOCK_NEVER: nothing yet */
	_Atomic(enum reflector_reason) reason;         /* NONE: list and watch work */
};

/* registry NULL: logs only. */
void reflector_report_init(struct reflector_report *r, const char *resource,
			   struct metric_registry *registry, const struct clock *clock);
const char *reflector_report_reason(enum reflector_reason reason);
void reflector_report_list(struct reflector_report *r, bool again);
void reflector_report_watch(struct reflector_report *r);
/* detail: the message of the server or the connection, may be "". */
void reflector_report_failed(struct reflector_report *r, enum reflector_reason reason,
			     const char *detail);
/* The same for an unsuccessful answer. */
void reflector_report_answer(struct reflector_report *r, const struct http_result *result);
/* Logs that the API server does not serve the resource, which is no failure where it may be
 * missing. */
void reflector_report_missing(const struct reflector_report *r);
/* Records that a frame arrived or a list is complete. */
void reflector_report_contact(struct reflector_report *r);
/* Monotonic ns of the last contact with the server during a failure; CLOCK_NEVER: no failure, or
 * not listed yet. */
int64_t reflector_report_silent_since(const struct reflector_report *r);

#endif
