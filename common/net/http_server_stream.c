/* Responses that stay open (watches). A stream with nothing to say is suspended, so that it costs
 * no CPU; http_server_wake resumes it (libmicrohttpd does not suspend a connection that has a
 * thread of its own: that thread waits). The wake that comes between asking `next` and suspending
 * is seen by comparing wake_seq under the lock. Nobody tells us when the client of a suspended
 * connection goes away, so the reaper looks at its socket from time to time. */
#include "net/http_server_priv.h"

#include <poll.h>

#define STREAM_BLOCK 16384

/* True: suspended. False: woken already, or by now: ask again. */
static bool suspend_unless_woken(struct http_server_conn *c, uint64_t seen)
{
	struct http_server *s = c->server;
	bool quiet;

	pthread_mutex_lock(&s->lock);
	quiet = atomic_load(&s->wake_seq) == seen && !atomic_load(&s->stopping) && !c->gone;
	if (quiet) {
		c->suspended = true;
		if (!s->opt.thread_per_connection) {
			MHD_suspend_connection(c->mhd);
		}
	}
	while (s->opt.thread_per_connection && c->suspended) {
		pthread_cond_wait(&s->resume_cond, &s->lock);
		quiet = false;
	}
	pthread_mutex_unlock(&s->lock);
	return quiet;
}

static bool is_gone(struct http_server_conn *c)
{
	bool gone;

	pthread_mutex_lock(&c->server->lock);
	gone = c->gone;
	pthread_mutex_unlock(&c->server->lock);
	return gone;
}

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

static ssize_t on_read(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct http_server_conn *c = cls;

	(void)pos;
	for (;;) {
		uint64_t seen = atomic_load(&c->server->wake_seq);

		if (c->out.len > 0) {
			return send_pending(c, buf, max);
		}
		if (is_gone(c)) {
			return MHD_CONTENT_READER_END_WITH_ERROR;
		}
		if (c->stream_ended || atomic_load(&c->server->stopping)) {
			return MHD_CONTENT_READER_END_OF_STREAM;
		}
		c->stream_ended = !c->stream->next(c->stream->ctx, &c->out);
		if (c->out.len == 0 && !c->stream_ended && suspend_unless_woken(c, seen)) {
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
	strbuf_finish(&c->out);
	if (stream->close != NULL) {
		stream->close(stream->ctx);
	}
}

static void resume(struct http_server_conn *c)
{
	c->suspended = false;
	if (c->server->opt.thread_per_connection) {
		pthread_cond_broadcast(&c->server->resume_cond);
	} else {
		MHD_resume_connection(c->mhd);
	}
}

void http_server_stream_wake_locked(struct http_server *s)
{
	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);

		if (c->suspended) {
			resume(c);
		}
	}
}

void http_server_stream_reap_locked(struct http_server *s)
{
	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);
		struct pollfd pfd = { .fd = c->fd, .events = POLLRDHUP };

		if (c->suspended && poll(&pfd, 1, 0) > 0) {
			c->gone = true;
			resume(c);
		}
	}
}
