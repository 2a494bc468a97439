/* scheduler/multikueue/worker/custom_watch.h: lists and watches objects of kinds that only the
 * configuration names (api/kueue/custom_kinds.h) at one API server. The server is asked first how
 * it serves a kind (/apis/GROUP/VERSION): under which name, in namespaces, and with a status of its
 * own. A kind that it does not serve so is asked for again every minute, and until then has no
 * objects. So is one of which the list is answered with 404 later: it may be served under another
 * name by then. Each kind is on its own: what fails or is too much for one leaves the others alone.
 *
 * Messages, of SCHED_CUSTOM, with keys as in custom_kinds.h; those that are about a kind have its
 * name as their key:
 *   RESOURCE  its plural at this server; or, without one, the text why it cannot be used
 *   WATCH     discovery, list or watch fail, or work again
 *   SYNCED, REFRESHED, UPSERT, DELETE
 * An object of which the members below spec have unexpected types is one that is not managed.
 * Owner: the transport's thread, but for create and destroy. */
#ifndef SCHEDULER_MULTIKUEUE_WORKER_CUSTOM_WATCH_H
#define SCHEDULER_MULTIKUEUE_WORKER_CUSTOM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kueue/custom_kinds.h"

/* Of the text of an object that is kept. A larger one is not sent to another cluster, and not
 * copied from there. */
#define CUSTOM_WATCH_MAX_BYTES (512u << 10)
#define CUSTOM_WATCH_RETRY_NS (60 * INT64_C(1000000000))

struct clock;
struct custom_watch;
struct metric_registry;
struct sched_msg;
struct transport;

struct custom_watch_options {
	struct custom_kinds kinds; /* borrowed, as the next two */
	struct transport *transport;
	const struct clock *clock;
	const char *label_selector; /* copied; NULL: all objects */
	/* Messages keep the whole text of objects that MultiKueue manages; else the status of all.
	 */
	bool whole;
	struct metric_registry
		*counters;  /* NULL: lists and watches are neither logged nor counted */
	size_t max_objects; /* of one kind: with more it fails; 0: any number */
	uint64_t seed;
	/* Both on the transport's thread. has_room: asked before a message about an object is
	 * posted; without room its kind fails; NULL: always. */
	void (*post)(void *ctx, struct sched_msg *m);
	bool (*has_room)(void *ctx);
	void *ctx;
};

struct custom_watch *custom_watch_create(const struct custom_watch_options *opt);
void custom_watch_start(struct custom_watch *w); /* any thread; once */
/* As reflector_refresh: REFRESHED follows for each kind, once it has been asked for. */
void custom_watch_refresh(struct custom_watch *w);
/* After the transport was destroyed. NULL is fine. */
void custom_watch_destroy(struct custom_watch *w);

#endif
