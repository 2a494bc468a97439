#include "play/line.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/vec.h"

#define CHUNK 65536
#define OWN_FDS 2 /* the eventfd that wakes the thread, and the listener */

/* fds[0] is of the client, fds[1] of the server. */
struct pair {
	int fds[2];
};

struct line {
	int listener, wake;
	uint16_t port, to;
	pthread_t thread;
	atomic_bool cut, stops;
	struct VEC(struct pair) pairs; /* of the thread */
	struct VEC(struct pollfd) polled;
};

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void drop(struct line *l, size_t i)
{
	close(l->pairs.v[i].fds[0]);
	close(l->pairs.v[i].fds[1]);
	l->pairs.v[i] = l->pairs.v[--l->pairs.n];
}

static void take(struct line *l)
{
	struct sockaddr_in to = loopback(l->to);
	struct pair p = { { accept4(l->listener, NULL, NULL, SOCK_CLOEXEC), -1 } };

	if (p.fds[0] < 0) {
		return;
	}
	p.fds[1] = atomic_load(&l->cut) ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p.fds[1] < 0 || connect(p.fds[1], (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(p.fds[0]);
		if (p.fds[1] >= 0) {
			close(p.fds[1]);
		}
		return;
	}
	vec_push(&l->pairs, p);
}

/* Blocks while the receiver does not read, which on this machine is short. False: the connection
 * has ended. */
static bool forward(int from, int to)
{
	char chunk[CHUNK];
	ssize_t n = recv(from, chunk, sizeof(chunk), MSG_DONTWAIT), done = 0;

	if (n < 0) {
		return errno == EAGAIN || errno == EINTR;
	}
	while (done < n) {
		ssize_t sent = send(to, chunk + done, (size_t)(n - done), MSG_NOSIGNAL);

		if (sent <= 0) {
			return false;
		}
		done += sent;
	}
	return n > 0;
}

static void poll_all(struct line *l)
{
	l->polled.n = 0;
	vec_push(&l->polled, ((struct pollfd){ .fd = l->wake, .events = POLLIN }));
	vec_push(&l->polled, ((struct pollfd){ .fd = l->listener, .events = POLLIN }));
	for (size_t i = 0; i < l->pairs.n; i++) {
		for (unsigned side = 0; side < 2; side++) {
			vec_push(&l->polled, ((struct pollfd){ .fd = l->pairs.v[i].fds[side],
							       .events = POLLIN }));
		}
	}
	(void)poll(l->polled.v, l->polled.n, -1);
}

static void *run(void *ctx)
{
	struct line *l = ctx;
	uint64_t wakes;

	while (!atomic_load(&l->stops)) {
		poll_all(l);
		if (l->polled.v[0].revents != 0) {
			(void)!read(l->wake, &wakes, sizeof(wakes));
		}
		/* From the last one, since the one that is dropped is replaced by the last. */
		for (size_t i = l->pairs.n; i-- > 0;) {
			const struct pollfd *p = &l->polled.v[OWN_FDS + 2 * i];

			if (atomic_load(&l->cut) ||
			    (p[0].revents != 0 && !forward(p[0].fd, p[1].fd)) ||
			    (p[1].revents != 0 && !forward(p[1].fd, p[0].fd))) {
				drop(l, i);
			}
		}
		if (l->polled.v[1].revents != 0) {
			take(l);
		}
	}
	while (l->pairs.n > 0) {
		drop(l, l->pairs.n - 1);
	}
	return NULL;
}

static int listen_on(struct line *l, struct err *err)
{
	struct sockaddr_in at = loopback(0);
	socklen_t len = sizeof(at);

	l->wake = eventfd(0, EFD_CLOEXEC);
	l->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->wake < 0 || l->listener < 0 ||
	    bind(l->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(l->listener, SOMAXCONN) < 0 ||
	    getsockname(l->listener, (struct sockaddr *)&at, &len) < 0) {
		return err_set(err, ERR_IO, "a port to forward from: %s", strerror(errno));
	}
	l->port = ntohs(at.sin_port);
	return 0;
}

static void free_line(struct line *l)
{
	if (l->wake >= 0) {
		close(l->wake);
	}
	if (l->listener >= 0) {
		close(l->listener);
	}
	vec_finish(&l->pairs);
	vec_finish(&l->polled);
	free(l);
}

int line_open(uint16_t to, struct line **ret, struct err *err)
{
	struct line *l = xmalloc_zero(1, sizeof(*l));
	int r;

	l->wake = l->listener = -1;
	l->to = to;
	r = listen_on(l, err);
	if (r == 0 && pthread_create(&l->thread, NULL, run, l) != 0) {
		r = err_set(err, ERR_INTERNAL, "no thread to forward connections");
	}
	if (r < 0) {
		free_line(l);
		return r;
	}
	*ret = l;
	return 0;
}

uint16_t line_port(const struct line *l)
{
	return l->port;
}

static void wake(struct line *l)
{
	static const uint64_t one = 1;

	(void)!write(l->wake, &one, sizeof(one));
}

void line_cut(struct line *l, bool cut)
{
	atomic_store(&l->cut, cut);
	wake(l);
}

void line_close(struct line *l)
{
	if (l == NULL) {
		return;
	}
	atomic_store(&l->stops, true);
	wake(l);
	pthread_join(l->thread, NULL);
	free_line(l);
}
