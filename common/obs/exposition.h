/* common/obs/exposition.h: the metrics of a registry in Prometheus text format 0.0.4, and /metrics,
 * which adds process_* basics (resident memory, CPU seconds, start time, open files). Any thread.
 */
#ifndef COMMON_OBS_EXPOSITION_H
#define COMMON_OBS_EXPOSITION_H

#include <stdbool.h>

#include "net/http_server.h"

struct err;
struct metric_registry;
struct strbuf;

/* Appends every family, in name order, cells in label order. */
void exposition_render(struct metric_registry *r, struct strbuf *out);
/* True when the path was /metrics and ret is filled. token_file holds the bearer token that a
 * request must present (else 401); it is read for each request, so that it may change at any time.
 * NULL: no authentication. */
bool exposition_handle(struct metric_registry *r, const char *token_file,
		       const struct http_request *req, struct arena *arena,
		       struct http_response *ret);
/* 0, also for NULL; -ERR_X: the file has no token. */
int exposition_check_token(const char *token_file, struct err *err);

#endif
