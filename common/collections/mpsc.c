#include "collections/mpsc.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xmalloc.h"

/* With a descriptor, a receiver can wait for messages and for its sockets in one poll. */
struct mpsc {
	int fd;
	pthread_mutex_t lock; /* guards first and last */
	struct mpsc_node *first;
	struct mpsc_node *last;
};

struct mpsc *mpsc_create(void)
{
	struct mpsc *q = xmalloc_zero(1, sizeof(*q));

	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* A process cannot run without its queues; there are few, created at start. */
	if (q->fd < 0 || pthread_mutex_init(&q->lock, NULL) != 0) {
		abort();
	}
	return q;
}

void mpsc_destroy(struct mpsc *q)
{
	if (q == NULL) {
		return;
	}
	assert(q->first == NULL);
	close(q->fd);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

void mpsc_push(struct mpsc *q, struct mpsc_node *msg)
{
	const uint64_t one = 1;
	bool was_empty;
	ssize_t n;

	msg->next = NULL;
	pthread_mutex_lock(&q->lock);
	was_empty = q->first == NULL;
	if (was_empty) {
		q->first = msg;
	} else {
		q->last->next = msg;
	}
	q->last = msg;
	pthread_mutex_unlock(&q->lock);
	/* The receiver takes all messages at once, so only the first one has to wake it. */
	if (!was_empty) {
		return;
	}
	do {
		n = write(q->fd, &one, sizeof(one));
	} while (n < 0 && errno == EINTR);
}

static bool has_some(struct mpsc *q)
{
	bool some;

	pthread_mutex_lock(&q->lock);
	some = q->first != NULL;
	pthread_mutex_unlock(&q->lock);
	return some;
}

static void clear_fd(const struct mpsc *q)
{
	uint64_t ignored;
	ssize_t n;

	do {
		n = read(q->fd, &ignored, sizeof(ignored));
	} while (n < 0 && errno == EINTR);
}

struct mpsc_node *mpsc_drain(struct mpsc *q)
{
	struct mpsc_node *all;

	/* Clear the eventfd first: a push after the list is taken must leave it readable. The
	 * reverse race only costs one idle wake-up. */
	clear_fd(q);
	pthread_mutex_lock(&q->lock);
	all = q->first;
	q->first = NULL;
	q->last = NULL;
	pthread_mutex_unlock(&q->lock);
	return all;
}

int mpsc_fd(const struct mpsc *q)
{
	return q->fd;
}

bool mpsc_wait(struct mpsc *q, int64_t timeout_ns)
{
	const struct clock *clock = clock_real();
	int64_t now = clock_mono(clock);
	int64_t until = timeout_ns > CLOCK_NEVER - now ? CLOCK_NEVER : now + timeout_ns;

	for (;;) {
		struct pollfd pfd = { .fd = q->fd, .events = POLLIN };
		int64_t left = until == CLOCK_NEVER ? CLOCK_NEVER : until - now;
		struct timespec ts;

		if (has_some(q)) {
			return true;
		}
		if (left <= 0) {
			return false;
		}
		ts = (struct timespec){ .tv_sec = left / CLOCK_NS_PER_S,
					.tv_nsec = left % CLOCK_NS_PER_S };
		/* The descriptor may be readable without a message: an earlier drain took that
		 * before the wake-up was written. */
		if (ppoll(&pfd, 1, left == CLOCK_NEVER ? NULL : &ts, NULL) > 0 && !has_some(q)) {
			clear_fd(q);
		}
		now = clock_mono(clock);
	}
}
