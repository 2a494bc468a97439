/* common/obs/health.h: named checks behind /healthz, /livez and /readyz in API-server style
 * ("[+]ping ok", "[-]cycle failed: ..."; ?verbose; 503 when one fails; "[+]cycle ok: ..." is a
 * warning). Checks are registered before serving and must be thread-safe (atomics): they run on
 * server threads. */
#ifndef COMMON_OBS_HEALTH_H
#define COMMON_OBS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "net/http_server.h"

/* Limits for the server of these endpoints (http_server_options): idle connections from one address
 * are limited in number and closed early, so that a pod cannot use them up; probes come from
 * another address. */
#define HEALTH_CONNECTIONS 256
#define HEALTH_CONNECTIONS_OF_ONE 16
#define HEALTH_IDLE_S 5

struct health;

/* Returns true when healthy, else writes the reason into detail. A healthy check may write a
 * warning there. */
typedef bool (*health_check_fn)(void *ctx, char *detail, size_t detail_size);

struct health *health_create(void);
void health_destroy(struct health *h);
void health_add_live(struct health *h, const char *name, health_check_fn fn, void *ctx);
void health_add_ready(struct health *h, const char *name, health_check_fn fn, void *ctx);
/* True when the path is a health endpoint; ret is then filled. */
bool health_handle(const struct health *h, const struct http_request *req, struct arena *arena,
		   struct http_response *ret);

#endif
