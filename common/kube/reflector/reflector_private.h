/* common/kube/reflector/reflector_private.h: state of a reflector, shared by the table with its
 * actions (reflector.c) and the meaning of answers (reflector_answer.c). Owner: the transport's
 * thread. */
#ifndef COMMON_KUBE_REFLECTOR_REFLECTOR_PRIVATE_H
#define COMMON_KUBE_REFLECTOR_REFLECTOR_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/strbuf.h"
#include "kube/page_size.h"
#include "kube/reflector/reflector.h"
#include "kube/reflector/reflector_report.h"
#include "kube/reflector/watch_frame.h"
#include "kube/rest.h"
#include "process/backoff.h"

enum reflector_state {
	STATE_IDLE,       /* not started, or the transport was closed */
	STATE_LISTING,    /* a page is in flight */
	STATE_WAIT_LIST,  /* a page will be requested later */
	STATE_WATCHING,   /* a stream is open */
	STATE_WAIT_WATCH, /* the stream will be resumed later */
	STATE_MISSING,    /* the resource does not exist; retry later */
	STATE_COUNT_
};

enum reflector_event_id {
	EVENT_START,
	EVENT_PAGE,         /* a page arrived, more follow */
	EVENT_BULKY,        /* the page exceeds its budget: the next limit is smaller */
	EVENT_LISTED,       /* the last page arrived */
	EVENT_ENDED,        /* the stream ended normally */
	EVENT_GONE,         /* 410: continue token or resource version too old */
	EVENT_ABSENT,       /* 404 or 403, and missing_ok or forbidden_ok is set */
	EVENT_FAILED,       /* no answer, cut, 408, 429, 5xx: a retry may succeed */
	EVENT_REFUSED,      /* another answer: a retry will not succeed */
	EVENT_SILENT_ONCE,  /* the stream is open but silent: resume it */
	EVENT_SILENT_TWICE, /* a second silent stream in a row: list, even if watches succeed */
	EVENT_REFRESH,      /* the owner requested a refresh: list */
	EVENT_PROBE,        /* the same for a large resource: get only the current version */
	EVENT_TIMER,
	EVENT_CLOSED, /* the transport is closing */
	EVENT_COUNT_
};

/* A request in flight. It outlives the reflector when that is destroyed first. */
struct reflector_fetch {
	struct reflector *owner; /* NULL: abandoned, the answer is ignored */
	uint64_t id;
	struct watch_frame_splitter frames;
	bool is_watch;
	bool had_frame;
	enum reflector_event_id verdict; /* of a frame, or of the silence; EVENT_COUNT_: none */
	int64_t opened_at;
};

/* A reflector_start that has not reached the transport's thread yet. */
struct reflector_starter {
	struct reflector *owner;
};

struct reflector {
	struct reflector_options opt;
	struct rest_what what;
	char *path, *label_selector, *field_selector; /* behind what */
	enum reflector_state state;
	struct rng rng;
	struct backoff backoff;
	struct reflector_report report;
	struct page_size page;
	int retry_after_s; /* of the answer at hand, -1: none */
	unsigned gone_streak, quick_ends, silent_streak;
	uint32_t list_no;   /* counts LISTs; marks the keys that each has shown */
	bool has_bookmarks; /* the server has sent some, so their absence is significant */
	bool refreshing;    /* a refresh is not complete */
	bool missing;
	atomic_bool synced;
	struct wakeup *timer;
	struct reflector_fetch *fetch;
	struct reflector_fetch
		*probe;          /* gets the current version, in parallel to the open stream */
	int64_t probed_n;        /* its answer: the stream has caught up at this version; 0: none */
	struct wakeup *catch_up; /* the time after which a list replaces it */
	struct reflector_starter *starter;
	struct seen *seen;
	struct strbuf next;     /* continue token; empty: the first page */
	struct strbuf position; /* resourceVersion to watch from */
	int64_t position_n;     /* the same as a number, 0: not a number */
	struct strbuf url, key;
	int64_t watch_limit_ns; /* silence allowed to the open stream */
	_Atomic uint64_t lists, pages, watches, relists_gone, cuts, errors, events;
	atomic_size_t objects; /* in seen */
};

/* Delivers the events in a piece of a stream. EVENT_COUNT_: go on reading. */
enum reflector_event_id reflector_answer_data(struct reflector_fetch *f, struct str bytes);
/* Ends a request. */
enum reflector_event_id reflector_answer_judge(struct reflector *r, const struct reflector_fetch *f,
					       const struct http_result *result);
enum reflector_event_id reflector_answer_silence(struct reflector *r);
/* False: the answer has no current version. */
bool reflector_answer_probe(struct reflector *r, const struct http_result *result);
/* reflector_offer. */
bool reflector_answer_offer(struct reflector *r, struct str object);
/* Delivers deletions of the keys that the list has not shown, then reports it complete. */
void reflector_answer_listed(struct reflector *r);
/* The resource does not exist: treats it as an empty list. */
void reflector_answer_missing(struct reflector *r);

#endif
