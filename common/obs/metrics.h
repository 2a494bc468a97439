/* common/obs/metrics.h: /metrics in Prometheus text format 0.0.4 over a counter registry, with
 * process_* basics (resident memory, CPU seconds, start time, open files). Any thread. */
#ifndef COMMON_OBS_METRICS_H
#define COMMON_OBS_METRICS_H

#include <stdbool.h>

#include "net/http_server.h"

struct counter_registry;
struct err;

/* True when the path was /metrics and ret is filled. token_file: its content is what a request must
 * bring as a bearer token (else 401); it is read for each request, so that it may be changed at any
 * time. NULL: everybody may read. */
bool metrics_handle(struct counter_registry *r, const char *token_file,
		    const struct http_request *req, struct arena *arena, struct http_response *ret);
/* 0, also for NULL; -ERR_X: there is no token in the file. */
int metrics_check_token(const char *token_file, struct err *err);

#endif
