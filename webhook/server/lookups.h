/* webhook/server/lookups.h: single queues, read from the API server because a review names one that
 * the lister does not have or has as closed, and its watch may lag behind (a manifest that creates
 * a queue and uses it in the next document). The review's request is suspended meanwhile.
 *
 * Bounds, so that names that do not exist cost neither threads nor load on the API server: a name
 * is read once for all reviews that need it, and not again within a second of the answer (the last
 * LOOKUPS_SLOTS answers are remembered, whatever they were); LOOKUPS_IN_FLIGHT reads at a time;
 * each ends within LOOKUPS_DEADLINE_NS, which is less than the shortest timeoutSeconds that a
 * registration can have. Beyond the bounds a review is answered from the lister's view at once: a
 * pod is gated with a warning, a PodGroup or Queue is refused and its owner retries. This is better
 * than no answer for both failure policies: Ignore would let the object in unchecked, and Fail
 * would refuse a pod that only has to wait. Any thread. */
#ifndef WEBHOOK_SERVER_LOOKUPS_H
#define WEBHOOK_SERVER_LOOKUPS_H

#include <stdint.h>

#include "base/clock.h"
#include "base/str.h"

#define LOOKUPS_SLOTS 256
#define LOOKUPS_IN_FLIGHT 16
#define LOOKUPS_DEADLINE_NS (800 * CLOCK_NS_PER_MS)
#define LOOKUPS_REMEMBER_NS CLOCK_NS_PER_S

struct metric_registry;
struct http_server;
struct lookups;
struct transport;

struct lookups_options {
	struct transport *transport;
	const struct clock *clock;
	struct metric_registry *registry; /* or NULL */
	/* The queue that was read, as text; on the transport's thread, before reviews are woken. */
	void (*on_found)(void *ctx, struct str object);
	void *ctx;
};

struct lookups *lookups_create(const struct lookups_options *opt);
/* After the transport has stopped. NULL is fine. */
void lookups_destroy(struct lookups *l);
/* The number that http_server_wake_waiting(server) gets once the queue was read; 0: there is
 * nothing to wait for, see above. server may be NULL (nothing is woken); it lives until
 * lookups_stop or the transport's end. */
uint64_t lookups_ask(struct lookups *l, const char *name, struct http_server *server);
/* Starts no more reads and returns when the last one has ended. Not on the transport's thread. */
void lookups_stop(struct lookups *l);

#endif
