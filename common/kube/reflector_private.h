/* common/kube/reflector_private.h: state of a reflector, shared by the table with its actions
 * (reflector.c) and the meaning of answers (reflector_answer.c). Owner: the transport's thread. */
#ifndef COMMON_KUBE_REFLECTOR_PRIVATE_H
#define COMMON_KUBE_REFLECTOR_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/backoff.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "kube/page_size.h"
#include "kube/reflector.h"
#include "kube/reflector_report.h"
#include "kube/rest.h"
#include "kube/watch_frame.h"

enum reflector_state {
	STATE_IDLE,       /* not started, or the transport went away */
	STATE_LISTING,    /* a page is under way */
	STATE_WAIT_LIST,  /* a page is to be asked for later */
	STATE_WATCHING,   /* a stream is open */
	STATE_WAIT_WATCH, /* the stream is to be resumed later */
	STATE_MISSING,    /* the resource does not exist; look again later */
	STATE_COUNT_
};

enum reflector_event_id {
	EVENT_START,
	EVENT_PAGE,    /* a page arrived, more follow */
	EVENT_BULKY,   /* the page is larger than its budget: the next one asks for less */
	EVENT_LISTED,  /* the last page arrived */
	EVENT_ENDED,   /* the stream ended as streams do */
	EVENT_GONE,    /* 410: continue token or resource version too old */
	EVENT_ABSENT,  /* 404 where that is allowed */
	EVENT_FAILED,  /* no answer, cut, 408, 429, 5xx: the same again may work */
	EVENT_REFUSED, /* another answer: the same again will not work */
	EVENT_SILENT,  /* the stream is open but silent: resume it */
	EVENT_MUTE,    /* a second silent stream in a row: list, whatever watches say */
	EVENT_REFRESH, /* the owner wants what is stored now: list */
	EVENT_PROBE,   /* the same of a large resource: ask only for the version of now */
	EVENT_TIMER,
	EVENT_CLOSED, /* the transport goes away */
	EVENT_COUNT_
};

/* A request under way. It outlives the reflector when that is destroyed first. */
struct reflector_fetch {
	struct reflector *owner; /* NULL: nobody is interested any more */
	uint64_t id;
	struct watch_frame_splitter frames;
	bool is_watch;
	bool had_frame;
	enum reflector_event_id verdict; /* what a frame or its lack said; EVENT_COUNT_: nothing */
	int64_t opened_at;
};

/* reflector_start under way to the transport's thread. */
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
	uint32_t list_no;   /* counts LISTs, marks what each has shown */
	bool has_bookmarks; /* the server has sent some: their absence means something */
	bool refreshing;    /* a refresh is not complete */
	bool missing;
	atomic_bool synced;
	struct wakeup *timer;
	struct reflector_fetch *fetch;
	struct reflector_fetch *probe; /* asks for the version of now, beside the open stream */
	int64_t probed_n;              /* its answer: the stream is caught up there; 0: none */
	struct wakeup *catch_up;       /* then a list takes its place */
	struct reflector_starter *starter;
	struct seen *seen;
	struct strbuf next;     /* continue token; empty: the first page */
	struct strbuf position; /* resourceVersion to watch from */
	int64_t position_n;     /* the same as a number, 0: it is none */
	struct strbuf url, key;
	int64_t watch_limit_ns; /* silence allowed to the open stream */
	_Atomic uint64_t lists, pages, watches, relists_gone, cuts, errors, events;
};

/* Hands out what a piece of a stream holds. EVENT_COUNT_: go on reading. */
enum reflector_event_id reflector_answer_data(struct reflector_fetch *f, struct str bytes);
/* The end of a request. */
enum reflector_event_id reflector_answer_judge(struct reflector *r, const struct reflector_fetch *f,
					       const struct http_result *result);
enum reflector_event_id reflector_answer_silence(struct reflector *r);
/* False: the answer does not say which version there is now. */
bool reflector_answer_probe(struct reflector *r, const struct http_result *result);
/* reflector_offer. */
bool reflector_answer_offer(struct reflector *r, struct str object);
/* Deletes what the list has not shown and reports it complete. */
void reflector_answer_listed(struct reflector *r);
/* The resource does not exist: a list of nothing. */
void reflector_answer_missing(struct reflector *r);

#endif
