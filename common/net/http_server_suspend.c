/* libmicrohttpd cannot suspend a connection that has a thread of its own: that thread waits here. A
 * wake between the check for data and the suspension is detected by comparing wake_seq under the
 * lock. MHD does not notice when the client of a suspended connection disconnects, so the reaper
 * checks its socket from time to time. */
#include "net/http_server_priv.h"

#include <poll.h>

enum http_server_suspended http_server_suspend(struct http_server_conn *c, uint64_t wait_for,
					       uint64_t seen)
{
	struct http_server *s = c->server;
	enum http_server_suspended ret = HTTP_SERVER_WOKEN;

	pthread_mutex_lock(&s->lock);
	/* A stream ends when the server stops; a request may still get its answer. */
	if (c->gone || s->closing) {
		ret = HTTP_SERVER_GONE;
	} else if (atomic_load(&s->wake_seq) == seen &&
		   (wait_for != 0 || !atomic_load(&s->stopping))) {
		ret = HTTP_SERVER_SUSPENDED;
		c->suspended = true;
		c->wait_for = wait_for;
		c->req.waited = wait_for != 0;
		if (!s->opt.thread_per_connection) {
			MHD_suspend_connection(c->mhd);
		}
	}
	/* One condition serves all connections, so most wake-ups are of another one. */
	while (s->opt.thread_per_connection && c->suspended) {
		pthread_cond_wait(&s->resume_cond, &s->lock);
		ret = c->gone ? HTTP_SERVER_GONE : HTTP_SERVER_WOKEN;
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

bool http_server_suspend_is_gone(struct http_server_conn *c)
{
	bool gone;

	pthread_mutex_lock(&c->server->lock);
	gone = c->gone;
	pthread_mutex_unlock(&c->server->lock);
	return gone;
}

/* With the lock held the connection is in the list, and MHD cannot have freed it. */
void http_server_suspend_resume_locked(struct http_server_conn *c)
{
	c->suspended = false;
	c->wait_for = 0;
	if (c->server->opt.thread_per_connection) {
		pthread_cond_broadcast(&c->server->resume_cond);
	} else {
		MHD_resume_connection(c->mhd);
	}
}

void http_server_suspend_wake_locked(struct http_server *s, uint64_t number)
{
	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);

		if (c->suspended && c->wait_for == number) {
			http_server_suspend_resume_locked(c);
		}
	}
}

void http_server_suspend_close_locked(struct http_server *s)
{
	s->closing = true;
	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);

		c->gone = true;
		if (c->suspended) {
			http_server_suspend_resume_locked(c);
		}
	}
}

void http_server_suspend_reap_locked(struct http_server *s)
{
	LIST_FOR_EACH (node, &s->conns) {
		struct http_server_conn *c = LIST_ENTRY(node, struct http_server_conn, node);
		struct pollfd pfd = { .fd = c->fd, .events = POLLRDHUP };

		if (c->suspended && poll(&pfd, 1, 0) > 0) {
			c->gone = true;
			http_server_suspend_resume_locked(c);
		}
	}
}
