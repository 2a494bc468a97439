/* Responses that stay open (watches). A stream without data is suspended; http_server_wake resumes
 * it. */
#include "net/http_server_priv.h"

#define STREAM_BLOCK 16384

static ssize_t send_pending(struct http_server_conn *c, char *buf, size_t max)
{
	size_t n = c->out.len - c->out_sent;

	n = n < max ? n : max;
	memcpy(buf, c->out.p + c->out_sent, n);
	c->out_sent += n;
	if (c->out_sent == c->out.len) {
		strbuf_reset(&c->out);
		c->out_sent = 0;
	}
	return (ssize_t)n;
}

/* Pending bytes first, then the end, then more from the stream; a stream without data is suspended.
 * `seen` is read before the stream is asked, so that a wake-up in between is noticed. */
static ssize_t on_read(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct http_server_conn *c = cls;

	(void)pos;
	for (;;) {
		uint64_t seen = atomic_load(&c->server->wake_seq);

		if (c->out.len > 0) {
			return send_pending(c, buf, max);
		}
		if (http_server_suspend_is_gone(c)) {
			return MHD_CONTENT_READER_END_WITH_ERROR;
		}
		if (c->stream_ended || atomic_load(&c->server->stopping)) {
			return MHD_CONTENT_READER_END_OF_STREAM;
		}
		c->stream_ended = !c->stream->next(c->stream->ctx, &c->out);
		if (c->out.len == 0 && !c->stream_ended &&
		    http_server_suspend(c, 0, seen) == HTTP_SERVER_SUSPENDED) {
			return 0;
		}
	}
}

struct MHD_Response *http_server_stream_open(struct http_server_conn *c,
					     const struct http_response *r)
{
	strbuf_reset(&c->out);
	strbuf_add_str(&c->out, r->body);
	c->out_sent = 0;
	c->stream_ended = false;
	c->stream = r->stream;
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, on_read, c, NULL);
}

void http_server_stream_finish(struct http_server_conn *c)
{
	const struct http_stream *stream = c->stream;

	c->stream = NULL;
	if (stream == NULL) {
		return;
	}
	/* Streams may have sent large objects, and connections are kept. */
	strbuf_finish(&c->out);
	if (stream->close != NULL) {
		stream->close(stream->ctx);
	}
}

void http_server_stream_wake_locked(struct http_server *s)
{
	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);

		if (c->suspended && c->wait_for == 0) {
			http_server_suspend_resume_locked(c);
		}
	}
}
