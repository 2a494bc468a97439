/* The path of a request:
 *   1. on_connection creates a struct http_server_conn (socket context of MHD) and starts a
 *      deadline.
 *   2. on_uri copies the request line as sent, before MHD splits and unescapes it.
 *   3. on_request collects headers and body, then calls the handler and queues its response. The
 *      response's text lives in the connection's arena and is sent from there without a copy.
 *   4. on_completed frees the request; the connection waits for the next one.
 * MHD's own timeout only sees silence; a client that sends byte by byte is cut by the reaper
 * thread, which compares deadlines and shuts sockets down. */
#include "net/http_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "net/http_server_priv.h"

#define SERVER_REAP_NS (250 * CLOCK_NS_PER_MS)
#define SERVER_LINGER_NS                                                                           \
	CLOCK_NS_PER_S          /* time for idle keep-alive clients to send one more request */
#define SERVER_CUT_MAX 64       /* connections cut by us that MHD has not closed yet */
#define SERVER_POOL_BYTES 16384 /* of MHD, per connection: headers; wiped after each request */
#define SERVER_PRIORITIES                                                                          \
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:"              \
	"-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:%SERVER_PRECEDENCE"

static int64_t now_ns(void)
{
	return clock_mono(clock_real());
}

static struct http_server_conn *conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static void set_deadline(struct http_server_conn *c, unsigned seconds)
{
	atomic_store_explicit(&c->deadline_ns, now_ns() + (int64_t)seconds * CLOCK_NS_PER_S,
			      memory_order_relaxed);
}

static void reset_arena(struct http_server_conn *c)
{
	size_t held = c->arena != NULL ? arena_held(c->arena) : 0;

	if (held > HTTP_SERVER_KEEP_BYTES) {
		arena_destroy(c->arena);
		c->arena = NULL;
		http_server_body_note_freed(c->server, held);
	} else if (c->arena != NULL) {
		arena_reset(c->arena);
	}
}

/* The connection may be idle for long afterwards, so it keeps little of the memory of a
 * request. */
static void release_request(struct http_server_conn *c)
{
	http_server_stream_finish(c);
	reset_arena(c);
	http_server_body_release(c);
	if (c->line.cap > HTTP_SERVER_KEEP_BYTES) {
		strbuf_finish(&c->line);
	}
	strbuf_reset(&c->line);
	c->req = (struct http_request){ 0 };
	c->started = false;
}

static void uncount(struct http_server_conn *c)
{
	struct http_server *s = c->server;

	if (!c->counted) {
		return;
	}
	c->counted = false;
	/* Only http_server_stop waits for this, so otherwise the lock is not taken. */
	if (atomic_fetch_sub(&s->in_flight, 1) == 1 && atomic_load(&s->stopping)) {
		pthread_mutex_lock(&s->lock);
		pthread_cond_broadcast(&s->quiet_cond);
		pthread_mutex_unlock(&s->lock);
	}
}

/* The connection with the earliest deadline. A deadline moves with each request line received and
 * each answer sent. */
static struct http_server_conn *longest_idle_locked(struct http_server *s)
{
	struct http_server_conn *longest = NULL;
	int64_t least = CLOCK_NEVER;

	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);
		int64_t at = atomic_load_explicit(&c->deadline_ns, memory_order_relaxed);

		if (!c->cut && at < least) {
			least = at;
			longest = c;
		}
	}
	return longest;
}

static void make_room_locked(struct http_server *s)
{
	struct http_server_conn *c;

	if (!s->opt.cuts_longest_idle || s->open < s->opt.max_connections) {
		return;
	}
	c = longest_idle_locked(s);
	if (c != NULL) {
		/* Uncounted at once, although MHD closes it later: the next connection need not cut
		 * another one. */
		c->cut = true;
		s->open--;
		shutdown(c->fd, SHUT_RDWR);
	}
}

static void conn_open(struct http_server *s, struct MHD_Connection *mhd, void **socket_context)
{
	struct http_server_conn *c = xmalloc_zero(1, sizeof(*c));
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

	c->server = s;
	c->mhd = mhd;
	c->fd = info->connect_fd;
	strbuf_init(&c->line);
	strbuf_init(&c->body);
	strbuf_init(&c->out);
	set_deadline(c, s->opt.request_timeout_s);
	pthread_mutex_lock(&s->lock);
	make_room_locked(s);
	list_append(&s->conns, &c->node);
	s->open++;
	pthread_mutex_unlock(&s->lock);
	*socket_context = c;
}

/* The connection leaves the list first: afterwards neither the reaper nor a wake-up can
 * reach it. */
static void conn_close(struct http_server_conn *c)
{
	struct http_server *s = c->server;

	pthread_mutex_lock(&s->lock);
	list_remove(&c->node);
	s->open -= !c->cut;
	pthread_cond_broadcast(&s->quiet_cond);
	pthread_mutex_unlock(&s->lock);
	uncount(c);
	release_request(c);
	arena_destroy(c->arena);
	strbuf_finish(&c->line);
	strbuf_finish(&c->body);
	strbuf_finish(&c->out);
	http_server_tls_unref(c->cred);
	free(c);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **socket_context,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		conn_open(cls, mhd, socket_context);
	} else if (*socket_context != NULL) {
		conn_close(*socket_context);
		*socket_context = NULL;
	}
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
	struct http_server *s = cls;
	struct http_server_conn *c = conn_of(mhd);
	struct str rest;

	if (c == NULL) {
		return NULL;
	}
	/* With the first request line the handshake is over. */
	http_server_tls_unref(c->cred);
	c->cred = NULL;
	set_deadline(c, s->opt.request_timeout_s);
	strbuf_reset(&c->line);
	strbuf_add_c(&c->line, uri);
	rest = strbuf_str(&c->line);
	c->req.path = str_next(&rest, '?');
	c->req.query = rest.p != NULL ? rest : STR_LIT("");
	return c;
}

static struct str header(struct http_server_conn *c, const char *name)
{
	return str_of(MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, name));
}

/* A connection with an older certificate in its handshake is closed with its next answer: the
 * client then makes a handshake with the present one. */
static bool wants_close(const struct http_server_conn *c, const struct http_response *r)
{
	const struct http_server *s = c->server;

	return r->close || atomic_load_explicit(&s->stopping, memory_order_relaxed) ||
	       (s->tls &&
		c->generation != atomic_load_explicit(&s->generation, memory_order_relaxed));
}

/* RFC 9111 warn-text is a quoted string; control bytes cannot be sent in a header at all. */
static void add_warning(struct MHD_Response *mr, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf quoted = STRBUF_INIT;

	strbuf_add_c(&quoted, "299 - \"");
	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\') {
			strbuf_add_ch(&quoted, '\\');
		}
		strbuf_add_ch(&quoted, (unsigned char)*p < ' ' ? ' ' : *p);
	}
	strbuf_add_ch(&quoted, '"');
	MHD_add_response_header(mr, "Warning", quoted.p);
}

enum MHD_Result http_server_queue(struct http_server_conn *c, const struct http_response *r)
{
	struct MHD_Response *mr;
	enum MHD_Result ok;
	char retry[16];

	if (r->status == 0) {
		return MHD_NO;
	}
	if (r->stream != NULL) {
		atomic_store(&c->deadline_ns, CLOCK_NEVER);
		mr = http_server_stream_open(c, r);
	} else {
		/* Not copied: the arena lives until on_completed. */
		mr = MHD_create_response_from_buffer(r->body.len, (void *)(uintptr_t)r->body.p,
						     MHD_RESPMEM_PERSISTENT);
	}
	if (mr == NULL) {
		return MHD_NO;
	}
	MHD_add_response_header(mr, MHD_HTTP_HEADER_CONTENT_TYPE,
				r->content_type != NULL ? r->content_type : "application/json");
	if (r->retry_after_s > 0) {
		snprintf(retry, sizeof(retry), "%d", r->retry_after_s);
		MHD_add_response_header(mr, MHD_HTTP_HEADER_RETRY_AFTER, retry);
	}
	if (r->warning != NULL) {
		add_warning(mr, r->warning);
	}
	if (r->authenticate != NULL) {
		MHD_add_response_header(mr, MHD_HTTP_HEADER_WWW_AUTHENTICATE, r->authenticate);
	}
	if (wants_close(c, r)) {
		MHD_add_response_header(mr, MHD_HTTP_HEADER_CONNECTION, "close");
	}
	ok = MHD_queue_response(c->mhd, (unsigned)r->status, mr);
	/* Drops our reference; MHD holds its own until the response is sent. */
	MHD_destroy_response(mr);
	return ok;
}

/* Begins a request; its headers are complete. */
static enum MHD_Result begin(struct http_server_conn *c, const char *method)
{
	struct http_server *s = c->server;

	c->started = true;
	c->req.server = s;
	c->counted = true;
	atomic_fetch_add(&s->in_flight, 1);
	c->req.method = http_method_of(str_of(method));
	c->req.content_type = header(c, MHD_HTTP_HEADER_CONTENT_TYPE);
	c->req.accept = header(c, MHD_HTTP_HEADER_ACCEPT);
	c->req.user_agent = header(c, MHD_HTTP_HEADER_USER_AGENT);
	c->req.authorization = header(c, MHD_HTTP_HEADER_AUTHORIZATION);
	return http_server_body_begin(c);
}

/* Also runs when a suspended request is resumed: MHD then calls on_request as before. */
static enum MHD_Result answer(struct http_server_conn *c)
{
	struct http_server *s = c->server;

	while (!c->req.waited || !http_server_suspend_is_gone(c)) {
		/* Read before the handler decides to wait: http_server_suspend notices a wake-up in
		 * between. */
		uint64_t seen = atomic_load(&s->wake_seq);
		struct http_response r = { 0 };

		if (c->arena == NULL) {
			c->arena = arena_create(0);
		}
		s->opt.handler(s->opt.ctx, &c->req, c->arena, &r);
		if (r.wait_for == 0) {
			return http_server_queue(c, &r);
		}
		reset_arena(c); /* many requests may wait: release the memory */
		switch (http_server_suspend(c, r.wait_for, seen)) {
		case HTTP_SERVER_SUSPENDED:
			return MHD_YES;
		case HTTP_SERVER_GONE:
			return MHD_NO;
		case HTTP_SERVER_WOKEN:
			break;
		}
	}
	return MHD_NO;
}

/* MHD calls this for one request:
 *   1. when the headers are complete;
 *   2. for each piece of the body, of which *upload_len says what is left unread;
 *   3. without a piece, when the body is complete; and again each time the connection is
 *      resumed. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_len, void **con_cls)
{
	struct http_server_conn *c = *con_cls;

	(void)cls;
	(void)mhd;
	(void)url;
	(void)version;
	if (c == NULL) {
		return MHD_NO;
	}
	if (!c->started) {
		return begin(c, method);
	}
	if (*upload_len > 0) {
		bool go_on = http_server_body_add(c, upload, *upload_len);

		*upload_len = 0;
		return go_on ? MHD_YES : MHD_NO;
	}
	if (c->refused != 0) {
		return http_server_body_refuse(c);
	}
	c->req.body = strbuf_str(&c->body);
	return answer(c);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **con_cls,
			 enum MHD_RequestTerminationCode code)
{
	struct http_server *s = cls;
	struct http_server_conn *c = *con_cls;

	(void)mhd;
	(void)code;
	if (c == NULL) {
		return;
	}
	uncount(c);
	release_request(c);
	set_deadline(c, s->opt.idle_timeout_s);
	*con_cls = NULL;
}

static void cut_overdue_locked(struct http_server *s)
{
	int64_t now = now_ns();

	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);

		if (atomic_load_explicit(&c->deadline_ns, memory_order_relaxed) < now) {
			/* MHD sees the end of the connection and cleans up; the descriptor stays
			 * open as long as the connection is in our list. */
			shutdown(c->fd, SHUT_RDWR);
		}
	}
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / CLOCK_NS_PER_S, .tv_nsec = ns % CLOCK_NS_PER_S };
}

static void *reaper_main(void *arg)
{
	struct http_server *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->reaper_stop) {
		struct timespec at = timespec_of(now_ns() + SERVER_REAP_NS);

		pthread_cond_timedwait(&s->reaper_cond, &s->lock, &at);
		cut_overdue_locked(s);
		http_server_suspend_reap_locked(s);
		pthread_mutex_unlock(&s->lock);
		/* Without the lock, since it may take long. */
		http_server_body_trim(s);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void fill_defaults(struct http_server_options *o)
{
	o->threads = o->threads != 0 ? o->threads : 2;
	o->max_connections = o->max_connections != 0 ? o->max_connections : 1000;
	o->max_body = o->max_body != 0 ? o->max_body : (size_t)3 << 20;
	o->request_timeout_s = o->request_timeout_s != 0 ? o->request_timeout_s : 30;
	o->idle_timeout_s = o->idle_timeout_s != 0 ? o->idle_timeout_s : 120;
	/* MHD wants at least one connection per thread. */
	if (o->max_connections < o->threads) {
		o->max_connections = o->threads;
	}
}

static int start_daemon(struct http_server *s, int fd, struct err *err)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem more[5] = { { 0 } };
	unsigned n = 0, connections = s->opt.max_connections;

	if (s->opt.thread_per_connection) {
		flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL_INTERNAL_THREAD;
	} else if (s->opt.threads > 1) {
		more[n++] = (struct MHD_OptionItem){ MHD_OPTION_THREAD_POOL_SIZE,
						     (intptr_t)s->opt.threads, NULL };
	}
	if (s->opt.cuts_longest_idle) {
		/* Connections that were cut count for MHD until it has closed them. */
		connections += SERVER_CUT_MAX;
	}
	if (s->opt.max_per_address > 0) {
		more[n++] = (struct MHD_OptionItem){ MHD_OPTION_PER_IP_CONNECTION_LIMIT,
						     (intptr_t)s->opt.max_per_address, NULL };
	}
	if (s->tls) {
		flags |= MHD_USE_TLS;
		more[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0,
						     (void *)(uintptr_t)SERVER_PRIORITIES };
		more[n++] =
			(struct MHD_OptionItem){ MHD_OPTION_HTTPS_CERT_CALLBACK, 0,
						 (void *)(uintptr_t)http_server_tls_callback() };
	}
	more[n] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	s->listener = fd;
	s->daemon = MHD_start_daemon(
		flags, s->port, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_POOL_BYTES,
		MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT,
		/* A stream without data is not idle; the reaper knows which connections are. */
		s->opt.thread_per_connection ? 0 : s->opt.idle_timeout_s,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, s, MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_ARRAY, more,
		MHD_OPTION_END);
	if (s->daemon == NULL) {
		close(fd);
		return err_set(err, ERR_INTERNAL, "the HTTP server did not start on port %u",
			       s->port);
	}
	return 0;
}

static struct http_server *server_create(const struct http_server_options *opt)
{
	struct http_server *s = xmalloc_zero(1, sizeof(*s));
	pthread_condattr_t attr;

	s->opt = *opt;
	s->tls = opt->tls_cert.p != NULL;
	fill_defaults(&s->opt);
	s->opt.tls_cert = s->opt.tls_key = (struct str){ 0 };
	list_init(&s->conns);
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->reaper_cond, &attr);
	pthread_cond_init(&s->quiet_cond, &attr);
	pthread_cond_init(&s->resume_cond, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

static void server_free(struct http_server *s)
{
	http_server_tls_unref(s->cred);
	pthread_cond_destroy(&s->resume_cond);
	pthread_cond_destroy(&s->quiet_cond);
	pthread_cond_destroy(&s->reaper_cond);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int http_server_start(const struct http_server_options *opt, struct http_server **ret,
		      struct err *err)
{
	struct http_server *s = server_create(opt);
	int fd = -1, r = 0;

	http_server_body_init();
	if (s->tls) {
		r = http_server_set_certificate(s, opt->tls_cert, opt->tls_key, err);
	}
	if (r == 0) {
		r = http_server_listen(opt->address, opt->port, &fd, err);
	}
	if (r == 0) {
		s->port = http_server_listen_port(fd);
		r = start_daemon(s, fd, err);
	}
	if (r < 0) {
		server_free(s);
		return r;
	}
	if (pthread_create(&s->reaper, NULL, reaper_main, s) != 0) {
		MHD_stop_daemon(s->daemon);
		server_free(s);
		return err_set(err, ERR_INTERNAL, "cannot start the thread of the HTTP server");
	}
	*ret = s;
	return 0;
}

uint16_t http_server_port(const struct http_server *s)
{
	return s->port;
}

int http_server_set_certificate(struct http_server *s, struct str cert, struct str key,
				struct err *err)
{
	struct http_server_cred *cred = NULL, *old;
	int r = http_server_tls_load(cert, key, &cred, err);

	if (r < 0) {
		return r;
	}
	pthread_mutex_lock(&s->lock);
	old = s->cred;
	s->cred = cred;
	atomic_store(&s->generation, http_server_tls_generation(cred));
	pthread_mutex_unlock(&s->lock);
	/* Connections in a handshake keep their own reference on the old pair. */
	http_server_tls_unref(old);
	return 0;
}

void http_server_wake(struct http_server *s)
{
	/* Before the lock: a connection that is about to be suspended compares the number with the
	 * lock held, so it sees the new number, or is suspended already and resumed here. */
	atomic_fetch_add(&s->wake_seq, 1);
	pthread_mutex_lock(&s->lock);
	http_server_stream_wake_locked(s);
	pthread_mutex_unlock(&s->lock);
}

void http_server_wake_waiting(struct http_server *s, uint64_t number)
{
	atomic_fetch_add(&s->wake_seq, 1);
	pthread_mutex_lock(&s->lock);
	http_server_suspend_wake_locked(s, number);
	pthread_mutex_unlock(&s->lock);
}

unsigned http_server_in_flight(const struct http_server *s)
{
	return atomic_load(&s->in_flight);
}

/* The stop:
 *   1. No more connections are accepted. Answers from here on have Connection: close.
 *   2. Streams end.
 *   3. The wait: as long as requests are in flight up to the grace, else for a second at most, in
 *      which idle clients may learn of the end by one more request.
 *   4. The sockets of what is left are shut down, and suspended requests end without an answer. */
void http_server_stop(struct http_server *s, int64_t grace_ms)
{
	int64_t start = now_ns(), end = start + grace_ms * CLOCK_NS_PER_MS;
	int64_t linger = start + SERVER_LINGER_NS < end ? start + SERVER_LINGER_NS : end;

	if (atomic_exchange(&s->stopping, true)) {
		return;
	}
	http_server_listen_stop(s);
	http_server_wake(s);
	pthread_mutex_lock(&s->lock);
	while (!list_is_empty(&s->conns)) {
		bool busy = atomic_load(&s->in_flight) > 0;
		int64_t until = busy ? end : linger;
		struct timespec at = timespec_of(until);

		if (now_ns() >= until) {
			break;
		}
		pthread_cond_timedwait(&s->quiet_cond, &s->lock, &at);
	}
	LIST_FOR_EACH (node, &s->conns) {
		shutdown(LIST_ENTRY(node, struct http_server_conn, node)->fd, SHUT_RDWR);
	}
	http_server_suspend_close_locked(s);
	pthread_mutex_unlock(&s->lock);
}

void http_server_destroy(struct http_server *s)
{
	if (s == NULL) {
		return;
	}
	http_server_stop(s, 0);
	pthread_mutex_lock(&s->lock);
	s->reaper_stop = true;
	pthread_cond_signal(&s->reaper_cond);
	pthread_mutex_unlock(&s->lock);
	/* Before MHD stops: the reaper uses the sockets of its connections. */
	pthread_join(s->reaper, NULL);
	MHD_stop_daemon(s->daemon);
	server_free(s);
}
