/* A watch stream gives the same frames, or fails at the same frame, however it is cut into pieces;
 * slices lie inside the line. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/reflector/watch_frame.h"

#define MAX_LINE 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(struct strbuf *log, struct str s)
{
	strbuf_printf(log, "%zu:", s.len);
	strbuf_add_str(log, s);
}

static bool on_frame(void *ctx, const struct watch_frame *f)
{
	struct strbuf *log = ctx;
	struct strbuf name = STRBUF_INIT;

	assert((unsigned)f->type < WATCH_FRAME_COUNT_);
	assert(f->object.len >= 2 && f->object.p[0] == '{');
	strbuf_printf(log, "\n%d %d ", f->type, f->code);
	note(log, f->meta.namespace_);
	note(log, f->meta.name);
	note(log, f->meta.resource_version);
	note(log, f->object);
	if (f->meta.name.len > 0) {
		cut_unescape(f->meta.name, &name);
	}
	assert(name.len <= f->meta.name.len);
	strbuf_finish(&name);
	return true;
}

static void run(const uint8_t *data, size_t size, size_t piece, struct strbuf *log)
{
	struct watch_frame_splitter s;
	int r = 0;

	watch_frame_init(&s, MAX_LINE);
	for (size_t at = 0; at < size && r == 0; at += piece) {
		size_t len = size - at < piece ? size - at : piece;
		/* A copy of its own, so that reading beyond it is seen. */
		char *bytes = xmalloc(len);

		memcpy(bytes, data + at, len);
		r = watch_frame_feed(&s, (struct str){ bytes, len }, on_frame, log, NULL);
		free(bytes);
	}
	strbuf_printf(log, "\n= %d %d", r, r == 0 && watch_frame_is_partial(&s));
	watch_frame_finish(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf whole = STRBUF_INIT, pieces = STRBUF_INIT;

	run(data, size, size + 1, &whole);
	run(data, size, 1 + (size == 0 ? 0 : data[0] % 64), &pieces);
	assert(whole.len == pieces.len && memcmp(whole.p, pieces.p, whole.len) == 0);
	strbuf_finish(&whole);
	strbuf_finish(&pieces);
	return 0;
}
