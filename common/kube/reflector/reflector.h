/* common/kube/reflector/reflector.h: keeps a consumer in step with one resource: LIST by pages (500
 * objects, fewer while they are large: page_size.h), then WATCH with bookmarks; resumes at once
 * after a clean end; backoff with jitter after errors; 410 leads to a new LIST. A stream without a
 * byte for 90 s (a bookmark is due each minute) is cut and resumed; after a second silent one in a
 * row it LISTs again, so that a server without bookmarks, or a proxy that swallows watches, costs
 * one LIST in 180 s and the consumer lags no longer than that. It keeps key -> resourceVersion
 * only, which suffices to compute the deletions of a relist and to drop duplicate watch events and
 * unchanged list items. Only object boundaries are checked; the consumer decodes and validates
 * objects.
 *
 * A consumer that must not act on a stale view (a new leader) requests a refresh: REFRESHED follows
 * when everything stored at that moment has been delivered. A resource that fits one page is
 * listed. For a larger one a LIST of one object returns the current version, and the refresh is
 * complete when the open stream has reached it; if it has not within half a second (without changes
 * nothing is sent), the whole resource is listed. None of these reads the server's cache
 * (resourceVersion=0), which may be behind.
 *
 * A table-driven state machine over transport callbacks and timers: no thread of its own. Owner:
 * the transport's thread. */
#ifndef COMMON_KUBE_REFLECTOR_REFLECTOR_H
#define COMMON_KUBE_REFLECTOR_REFLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct clock;
struct metric_registry;
struct reflector;
struct transport;

enum reflector_event_kind {
	REFLECTOR_UPSERT,    /* object: JSON text of one object (borrowed) */
	REFLECTOR_DELETE,    /* object may be absent (deletion found by a relist): then only key */
	REFLECTOR_SYNCED,    /* the first LIST is complete (once per start) */
	REFLECTOR_RELISTED,  /* a later LIST is complete */
	REFLECTOR_REFRESHED, /* everything stored at reflector_refresh has been delivered */
};

struct reflector_event {
	enum reflector_event_kind kind;
	struct str key;           /* "namespace/name", or "name" of cluster-scoped objects */
	struct str object;        /* JSON text */
	int64_t resource_version; /* of the object (numeric), 0: not known */
};

/* Runs on the transport's thread; must not block. */
typedef void (*reflector_fn)(void *ctx, const struct reflector_event *event);

enum reflector_reason {
	REFLECTOR_REASON_NONE,
	REFLECTOR_REASON_UNREACHABLE, /* no connection, or it was cut */
	REFLECTOR_REASON_TIMEOUT,     /* no whole answer in time; 408, 504 */
	REFLECTOR_REASON_TOO_LARGE,   /* an answer larger than the budget of a page */
	REFLECTOR_REASON_SERVER,      /* 429, 5xx */
	REFLECTOR_REASON_REFUSED,     /* another status: rights, path, request */
	REFLECTOR_REASON_GONE,        /* 410 */
	REFLECTOR_REASON_INVALID,     /* the answer is not a list, or not a frame */
	REFLECTOR_REASON_SILENT,      /* an open stream without a byte */
	REFLECTOR_REASON_COUNT_
};

/* A list or watch failed, or (REASON_NONE) they work again after a failure. */
struct reflector_health {
	enum reflector_reason reason;
	int status;       /* of the server's answer; 0: none */
	const char *text; /* of the server or the connection, borrowed; may be "" */
};
/* Runs on the transport's thread, amid the work of the reflector: calls none of its functions. */
typedef void (*reflector_health_fn)(void *ctx, const struct reflector_health *health);

/* The resource is missing: a list was answered with 404 (missing_ok). As reflector_health_fn. */
typedef void (*reflector_missing_fn)(void *ctx);

struct reflector_options {
	const char *path; /* "/api/v1/pods", "/apis/scheduling.volcano.sh/v1beta1/queues" */
	const char *label_selector; /* or NULL */
	const char *field_selector; /* or NULL */
	const char
		*resource; /* its name in logs and metrics (borrowed); NULL: no logs and metrics */
	struct metric_registry *counters; /* or NULL */
	struct transport *transport;
	const struct clock *clock;
	reflector_fn on_event;
	reflector_health_fn on_health;   /* each failure; NULL: not wanted */
	reflector_missing_fn on_missing; /* each such answer; NULL: not wanted */
	void *ctx;
	unsigned page_size;      /* most objects of a page, 0: 500 */
	int64_t watch_timeout_s; /* timeoutSeconds of a watch, 0: 300 with jitter */
	int64_t silence_ns;      /* an open stream without a byte is cut after this, 0: 90 s */
	bool missing_ok; /* 404 on the resource (CRD not installed): treat as empty, retry later */
	uint64_t seed;
};

struct reflector_stats {
	/* pages: answered, or made smaller */
	uint64_t lists, pages, watches, relists_gone, cuts, errors, events;
	size_t objects; /* that are known, at the last event */
	bool synced;
};

struct reflector *reflector_create(const struct reflector_options *opt);
void reflector_start(struct reflector *r); /* any thread */
/* Stops and frees; call on the transport's thread or after the transport was destroyed. Not from
 * within on_event. NULL is fine. */
void reflector_destroy(struct reflector *r);
/* Delivers an object of the resource that was read separately (by a GET) like a change from the
 * stream; False: dropped, because what was delivered before is as new. An object deleted since that
 * read does not come back, or only until the stream delivers the deletion. On the transport's
 * thread, not from within on_event. */
bool reflector_offer(struct reflector *r, struct str object);
/* On the transport's thread. Two requests before completion yield one REFRESHED for both. */
void reflector_refresh(struct reflector *r);
struct reflector_stats reflector_stats(const struct reflector *r); /* any thread */
/* Monotonic ns of the last contact, if lists or watches have failed or a stream has been silent for
 * at least silence_ns; else CLOCK_NEVER. Any thread. */
int64_t reflector_stale_since(const struct reflector *r, int64_t now);

#endif
