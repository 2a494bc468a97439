/* common/kube/reflector/watch_frame.h: splits the byte stream of a watch into frames, one JSON
 * object {"type": ..., "object": ...} per line, and cuts type and object out of each without a
 * tree. Owner: one thread. Limit: a line of WATCH_FRAME_MAX bytes (or the limit given). */
#ifndef COMMON_KUBE_REFLECTOR_WATCH_FRAME_H
#define COMMON_KUBE_REFLECTOR_WATCH_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "enc/json/cut.h"

#define WATCH_FRAME_MAX (64u << 20) /* as one object of a list, see page_size.h */

struct err;

enum watch_frame_type {
	WATCH_FRAME_ADDED,
	WATCH_FRAME_MODIFIED,
	WATCH_FRAME_DELETED,
	WATCH_FRAME_BOOKMARK,
	WATCH_FRAME_ERROR,
	WATCH_FRAME_COUNT_
};

/* Slices are borrowed for the duration of the callback. */
struct watch_frame {
	enum watch_frame_type type;
	struct str object;    /* JSON text */
	struct cut_meta meta; /* not of ERROR */
	int code;             /* ERROR: Status.code, 0 when absent */
};

struct watch_frame_splitter {
	struct strbuf line; /* the beginning of a line that has not arrived completely */
	size_t max_line;
	bool failed;
};

/* False: stop (the remaining bytes are dropped). */
typedef bool (*watch_frame_fn)(void *ctx, const struct watch_frame *frame);

void watch_frame_init(struct watch_frame_splitter *s, size_t max_line); /* 0: WATCH_FRAME_MAX */
void watch_frame_finish(struct watch_frame_splitter *s);
/* 0, or -ERR_INVALID for a line that is too long or not a frame; then the stream must be closed. */
int watch_frame_feed(struct watch_frame_splitter *s, struct str bytes, watch_frame_fn fn, void *ctx,
		     struct err *err);
/* True when the stream ended inside a line. */
bool watch_frame_is_partial(const struct watch_frame_splitter *s);
/* Parses one line. -ERR_INVALID: not a frame. */
int watch_frame_parse(struct str line, struct watch_frame *ret, struct err *err);

#endif
