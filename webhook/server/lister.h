/* webhook/server/lister.h: queues and namespaces as the API server has them, for the handlers, and
 * which LocalQueues and WorkloadPriorityClasses are called "default". Fed by two or four reflectors
 * on the transport's thread; views are immutable, reference counted and taken by any thread. A view
 * is built when it is asked for after a change. */
#ifndef WEBHOOK_SERVER_LISTER_H
#define WEBHOOK_SERVER_LISTER_H

#include <stdbool.h>
#include <stdint.h>

struct admit_view;
struct clock;
struct metric_registry;
struct http_server;
struct lister;
struct reflector_event;
struct transport;

/* registry may be NULL; it outlives the lister. */
struct lister *lister_create(struct metric_registry *registry);
/* After the transport has stopped; every view must have been released. NULL is fine. */
void lister_destroy(struct lister *l);
/* Also watches the objects that the quota kinds need; call before lister_connect. Kinds that are
 * not installed are tried again later. */
void lister_follow_quota(struct lister *l);
/* Starts to watch the API server. Once; until then views are empty and queues unknown. */
void lister_connect(struct lister *l, struct transport *t, const struct clock *clock);
/* True when both first lists are complete, or without lister_connect. Any thread. */
bool lister_is_synced(const struct lister *l);
/* Name of a resource without contact to the API server for long (reflector_stale_since), and since
 * when; NULL: there is none. Any thread. */
const char *lister_stale_since(const struct lister *l, int64_t now, int64_t *ret);

/* Reads the queue from the API server into the view: see lookups_ask. Any thread. */
uint64_t lister_look_up_queue(struct lister *l, const char *name, struct http_server *server);
/* After this no look-up wakes a server. Not on the transport's thread. */
void lister_stop_lookups(struct lister *l);

/* The latest view; release it soon. Any thread. */
const struct admit_view *lister_view(struct lister *l);
void lister_release(const struct admit_view *view); /* any thread */

/* Callbacks of the reflectors (ctx is the lister), for tests as well. Those about defaults get only
 * LocalQueues, or WorkloadPriorityClasses, of the name "default". */
void lister_on_queue(void *ctx, const struct reflector_event *event);
/* See lister_on_queue. */
void lister_on_namespace(void *ctx, const struct reflector_event *event);
/* See lister_on_queue. */
void lister_on_default_queue(void *ctx, const struct reflector_event *event);
/* See lister_on_queue. */
void lister_on_default_class(void *ctx, const struct reflector_event *event);

#endif
