#include "kube/reflector/watch_frame.h"

#include <string.h>

#include "base/err.h"

static const char *const type_names[WATCH_FRAME_COUNT_] = {
	[WATCH_FRAME_ADDED] = "ADDED",     [WATCH_FRAME_MODIFIED] = "MODIFIED",
	[WATCH_FRAME_DELETED] = "DELETED", [WATCH_FRAME_BOOKMARK] = "BOOKMARK",
	[WATCH_FRAME_ERROR] = "ERROR",
};

void watch_frame_init(struct watch_frame_splitter *s, size_t max_line)
{
	strbuf_init(&s->line);
	s->max_line = max_line == 0 ? WATCH_FRAME_MAX : max_line;
	s->failed = false;
}

void watch_frame_finish(struct watch_frame_splitter *s)
{
	strbuf_finish(&s->line);
}

bool watch_frame_is_partial(const struct watch_frame_splitter *s)
{
	return str_trim(strbuf_str(&s->line)).len > 0;
}

static bool find_type(struct str name, enum watch_frame_type *ret)
{
	for (int t = 0; t < WATCH_FRAME_COUNT_; t++) {
		if (str_eq_c(name, type_names[t])) {
			*ret = (enum watch_frame_type)t;
			return true;
		}
	}
	return false;
}

/* The code of a metav1.Status, 0: none. */
static int status_code(struct str object)
{
	struct cut c;
	struct str key, value;
	int64_t code;

	cut_init(&c, object);
	if (!cut_open(&c, '{')) {
		return 0;
	}
	while (cut_member(&c, &key, &value)) {
		if (str_eq_c(key, "code") && cut_int(value, &code) && code > 0 && code < 1000) {
			return (int)code;
		}
	}
	return 0;
}

int watch_frame_parse(struct str line, struct watch_frame *ret, struct err *err)
{
	struct watch_frame f = { .type = WATCH_FRAME_COUNT_ };
	struct str key, value, type = { NULL, 0 };
	struct cut c;

	cut_init(&c, line);
	if (!cut_open(&c, '{')) {
		return err_set(err, ERR_INVALID, "watch frame: not an object");
	}
	while (cut_member(&c, &key, &value)) {
		if (str_eq_c(key, "type")) {
			type = cut_string(value);
		} else if (str_eq_c(key, "object")) {
			f.object = value;
		}
	}
	/* Cutting does not validate values; the consumer's decoder does that for each object. */
	if (!cut_at_end(&c)) {
		return err_set(err, ERR_INVALID, "watch frame: broken JSON");
	}
	if (!find_type(type, &f.type)) {
		return err_set(err, ERR_INVALID, "watch frame: type: unknown \"" STR_FMT "\"",
			       STR_ARG(type));
	}
	if (f.object.len == 0 || f.object.p[0] != '{') {
		return err_set(err, ERR_INVALID, "watch frame: object: missing");
	}
	/* An ERROR has a Status in place of an object, without a name or a version. */
	if (f.type == WATCH_FRAME_ERROR) {
		f.code = status_code(f.object);
	} else if (!cut_meta(f.object, &f.meta)) {
		return err_set(err, ERR_INVALID, "watch frame: object.metadata: missing");
	}
	*ret = f;
	return 0;
}

/* Handles one whole line. Positive: the callback stopped. */
static int take_line(struct str line, watch_frame_fn fn, void *ctx, struct err *err)
{
	struct watch_frame frame;
	int r;

	line = str_trim(line);
	if (line.len == 0) {
		return 0;
	}
	r = watch_frame_parse(line, &frame, err);
	if (r < 0) {
		return r;
	}
	return fn(ctx, &frame) ? 0 : 1;
}

/* Handles a part of a line; `ends`: it includes the end of the line. Lines that arrive in one piece
 * are never copied. */
static int take_part(struct watch_frame_splitter *s, struct str part, bool ends, watch_frame_fn fn,
		     void *ctx, struct err *err)
{
	int r;

	/* Checked before the bytes are kept: a server that never ends a line costs max_line at
	 * most. */
	if (part.len > s->max_line - s->line.len) {
		return err_set(err, ERR_INVALID, "watch frame: longer than %zu bytes", s->max_line);
	}
	if (ends && s->line.len == 0) {
		return take_line(part, fn, ctx, err);
	}
	strbuf_add_str(&s->line, part);
	if (!ends) {
		return 0;
	}
	r = take_line(strbuf_str(&s->line), fn, ctx, err);
	strbuf_reset(&s->line);
	return r;
}

int watch_frame_feed(struct watch_frame_splitter *s, struct str bytes, watch_frame_fn fn, void *ctx,
		     struct err *err)
{
	if (s->failed) {
		return err_set(err, ERR_INVALID, "watch frame: stream is broken");
	}
	while (bytes.len > 0) {
		const char *nl = memchr(bytes.p, '\n', bytes.len);
		struct str part = { bytes.p, nl == NULL ? bytes.len : (size_t)(nl - bytes.p) };
		int r = take_part(s, part, nl != NULL, fn, ctx, err);

		if (r < 0) {
			s->failed = true;
			return r;
		}
		if (r > 0 || nl == NULL) {
			return 0;
		}
		bytes.p = nl + 1;
		bytes.len -= part.len + 1;
	}
	return 0;
}
