#include "collections/mpsc.h"

#include "lib/unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xmalloc.h"

#define SENDERS 4
#define PER_SENDER 5000

struct msg {
	struct mpsc_node node;
	int sender, seq;
};

struct sender {
	struct mpsc *q;
	int id;
	pthread_t thread;
};

static bool readable(const struct mpsc *q)
{
	struct pollfd pfd = { .fd = mpsc_fd(q), .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static void test_order_and_edges(void **state)
{
	struct mpsc *q = mpsc_create();
	struct msg m[3] = { 0 };
	struct mpsc_node *n;

	(void)state;
	assert_null(mpsc_drain(q));
	assert_false(readable(q));
	for (int i = 0; i < 3; i++) {
		mpsc_push(q, &m[i].node);
		assert_true(readable(q));
	}
	n = mpsc_drain(q);
	for (int i = 0; i < 3; i++, n = n->next) {
		assert_ptr_equal(n, &m[i].node);
	}
	assert_null(n);
	assert_false(readable(q));
	assert_null(mpsc_drain(q));
	mpsc_push(q, &m[1].node);
	assert_true(readable(q));
	assert_ptr_equal(mpsc_drain(q), &m[1].node);
	assert_null(m[1].node.next);
	mpsc_destroy(q);
	mpsc_destroy(NULL);
}

static void *send_all(void *arg)
{
	const struct sender *s = arg;

	for (int i = 0; i < PER_SENDER; i++) {
		struct msg *m = xmalloc_zero(1, sizeof(*m));

		m->sender = s->id;
		m->seq = i;
		mpsc_push(s->q, &m->node);
	}
	return NULL;
}

/* Nothing is lost or reordered per sender, and no wake-up is missed. */
static void test_threads(void **state)
{
	struct mpsc *q = mpsc_create();
	struct sender senders[SENDERS];
	int next[SENDERS] = { 0 };
	int got = 0;

	(void)state;
	for (int i = 0; i < SENDERS; i++) {
		senders[i] = (struct sender){ .q = q, .id = i };
		assert_int_equal(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]),
				 0);
	}
	while (got < SENDERS * PER_SENDER) {
		struct mpsc_node *following;

		assert_true(mpsc_wait(q, CLOCK_NEVER));
		for (struct mpsc_node *n = mpsc_drain(q); n != NULL; n = following) {
			struct msg *m = (struct msg *)(void *)n;

			following = n->next;
			assert_int_equal(m->seq, next[m->sender]);
			next[m->sender]++;
			got++;
			free(m);
		}
	}
	for (int i = 0; i < SENDERS; i++) {
		pthread_join(senders[i].thread, NULL);
	}
	assert_null(mpsc_drain(q));
	mpsc_destroy(q);
}

static void test_wait(void **state)
{
	struct mpsc *q = mpsc_create();
	struct msg m = { 0 };

	(void)state;
	assert_false(mpsc_wait(q, 0));
	assert_false(mpsc_wait(q, -5));
	assert_false(mpsc_wait(q, CLOCK_NS_PER_MS));
	mpsc_push(q, &m.node);
	assert_true(mpsc_wait(q, 0));
	assert_true(mpsc_wait(q, CLOCK_NEVER));
	assert_ptr_equal(mpsc_drain(q), &m.node);
	assert_false(mpsc_wait(q, 0));
	mpsc_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_edges),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_wait),
	};

	return cmocka_run_group_tests_name("mpsc", tests, NULL, NULL);
}
