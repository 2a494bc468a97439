/* test/apiserver/verbs/apiserver_watch.h: opening watch cursors; see apiserver.h for reading them.
 * Semantics: resourceVersion unset or 0: the present objects as ADDED first; a version: what came
 * after it, 410 (as an ERROR frame) once that is compacted; sendInitialEvents with the bookmark
 * that ends them; bookmarks each minute and before the time-out; selectors turn changes into ADDED
 * and DELETED. */
#ifndef TEST_APISERVER_VERBS_APISERVER_WATCH_H
#define TEST_APISERVER_VERBS_APISERVER_WATCH_H

#include "base/str.h"

struct call;

/* Effects of a scripted fault on one stream. Counts are frames, -1: never. */
struct watch_faults {
	int64_t late_ns;  /* every frame this much later than its change */
	int64_t dup_at;   /* frame number sent twice */
	int64_t cut_at;   /* frame number sent half, then the connection drops */
	int64_t close_at; /* clean end before this frame */
	int64_t gone_at;  /* ERROR 410 instead of this frame */
};

/* Sets c->resp->watch. faults NULL: none. */
int apiserver_watch_open(struct call *c, const struct watch_faults *faults);

#endif
