/* common/obs/metrics.h: /metrics in Prometheus text format 0.0.4 over a counter registry, with
 * process_* basics (resident memory, CPU seconds, start time, open files). Any thread. */
#ifndef COMMON_OBS_METRICS_H
#define COMMON_OBS_METRICS_H

#include <stdbool.h>

#include "net/http_server.h"

struct counter_registry;

/* True when the path was /metrics and ret is filled. */
bool metrics_handle(struct counter_registry *r, const struct http_request *req, struct arena *arena,
		    struct http_response *ret);

#endif
