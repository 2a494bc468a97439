/* common/obs/health.h: named checks behind /healthz, /livez and /readyz in API-server style
 * ("[+]ping ok", "[-]cycle failed: ..."; ?verbose; 503 when one fails; "[+]cycle ok: ..." is a
 * warning). Checks are registered before serving and must be thread-safe (atomics): they run on
 * server threads. */
#ifndef COMMON_OBS_HEALTH_H
#define COMMON_OBS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "net/http_server.h"

/* Of the server for these endpoints: at most so many connections, and so many from one address; the
 * seconds after which an idle one is closed. */
#define HEALTH_CONNECTIONS 256
#define HEALTH_CONNECTIONS_OF_ONE 16
#define HEALTH_IDLE_S 5
#define HEALTH_MAX_BODY 4096 /* bytes; no request needs one */

struct health;

/* Returns true when healthy, else writes the reason into detail. A healthy check may write a
 * warning there. */
typedef bool (*health_check_fn)(void *ctx, char *detail, size_t detail_size);

/* Options of a server for these endpoints and metrics, without its address. Any pod may reach it:
 * idle connections, and what is kept of bodies, must leave room for a probe, which comes from
 * another address. */
struct http_server_options health_server_options(http_handler_fn handler, void *ctx);

struct health *health_create(void);
void health_destroy(struct health *h);
void health_add_live(struct health *h, const char *name, health_check_fn fn, void *ctx);
void health_add_ready(struct health *h, const char *name, health_check_fn fn, void *ctx);
/* True when the path is a health endpoint; ret is then filled. */
bool health_handle(const struct health *h, const struct http_request *req, struct arena *arena,
		   struct http_response *ret);

#endif
