/* common/kube/reflector.h: keeps a consumer in step with one resource: LIST by pages of 500, then
 * WATCH with bookmarks; resumes at once after a clean end; back-off with jitter after errors; 410
 * leads to a new LIST; a stream silent for longer than its timeout plus a margin is cut. It keeps
 * key -> resourceVersion only, and so computes the deletions of a relist itself and drops
 * duplicated watch events and list items that have not changed. Objects are not validated beyond
 * their borders: decoding is the consumer's. A table-driven
 * state machine over transport callbacks and timers: no thread of its own. Owner: the transport's
 * thread. */
#ifndef COMMON_KUBE_REFLECTOR_H
#define COMMON_KUBE_REFLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct clock;
struct reflector;
struct transport;

enum reflector_event_kind {
	REFLECTOR_UPSERT,   /* object: JSON text of one object (borrowed) */
	REFLECTOR_DELETE,   /* object may be absent (deletion found by a relist): then only key */
	REFLECTOR_SYNCED,   /* the first LIST is complete (once per start) */
	REFLECTOR_RELISTED, /* a later LIST is complete */
};

struct reflector_event {
	enum reflector_event_kind kind;
	struct str key;           /* "namespace/name", or "name" of cluster-scoped objects */
	struct str object;        /* JSON text */
	int64_t resource_version; /* of the object (numeric), 0: not known */
};

/* Runs on the transport's thread; must not block. */
typedef void (*reflector_fn)(void *ctx, const struct reflector_event *event);

struct reflector_options {
	const char *path; /* "/api/v1/pods", "/apis/scheduling.volcano.sh/v1beta1/queues" */
	const char *label_selector; /* or NULL */
	const char *field_selector; /* or NULL */
	struct transport *transport;
	const struct clock *clock;
	reflector_fn on_event;
	void *ctx;
	unsigned page_size;      /* 0: 500 */
	int64_t watch_timeout_s; /* timeoutSeconds of a watch, 0: 300 with jitter */
	int64_t silence_ns;      /* extra margin before a silent stream is cut, 0: 30 s */
	bool missing_ok; /* 404 on the resource (CRD not installed): treat as empty, look again
			    later */
	uint64_t seed;
};

struct reflector_stats {
	uint64_t lists, watches, relists_gone, cuts, errors, events;
	bool synced;
};

struct reflector *reflector_create(const struct reflector_options *opt);
void reflector_start(struct reflector *r); /* any thread */
/* Stops and frees; call on the transport's thread or after the transport was destroyed. Not from
 * within on_event. NULL is fine. */
void reflector_destroy(struct reflector *r);
struct reflector_stats reflector_stats(const struct reflector *r); /* any thread */

#endif
