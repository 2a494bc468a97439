/* One connection with its threads, over transports that never answer; test_link.c has the rest. */
#include "scheduler/multikueue/worker/channel.h"

#include <semaphore.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "collections/mpsc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/pool.h"
#include "kube/transport.h"
#include "lib/net/fake_transport.h"
#include "scheduler/base/message.h"
#include "scheduler/base/object_write.h"
#include "scheduler/multikueue/worker/link.h"

struct fixture {
	struct fake_transport *transports[2]; /* of watches, of requests */
	int made;
	struct mpsc *queue;
};

/* The first transport ends only when it may, as one that resolves a name. */
static sem_t may_end;
static const struct transport_ops *fake_ops;

static void end_slowly(struct transport *t)
{
	sem_wait(&may_end);
	fake_ops->destroy(t);
}

static int connect_to(void *ctx, const char *cluster UNUSED, const struct kubeconfig *cfg UNUSED,
		      struct transport **ret, struct err *err UNUSED)
{
	static struct transport_ops slow;
	struct fixture *f = ctx;
	struct fake_transport *t = fake_transport_create(NULL);

	*ret = fake_transport_base(t);
	if (f->made == 0) {
		fake_ops = (*ret)->ops;
		slow = *fake_ops;
		slow.destroy = end_slowly;
		(*ret)->ops = &slow;
	}
	f->transports[f->made++] = t;
	return 0;
}

static uint64_t next_source(void *ctx UNUSED)
{
	return 42;
}

static void post(void *ctx, struct sched_msg *m)
{
	mpsc_push(((struct fixture *)ctx)->queue, &m->node);
}

static void closing_waits_for_nothing(void **state)
{
	struct fixture f = { .queue = mpsc_create() };
	const struct link_options lo = { .cluster = "east",
					 .origin = "mine",
					 .clock = clock_real(),
					 .request_timeout_ns = 60 * CLOCK_NS_PER_S,
					 .max_queued = 10,
					 .max_objects = 10,
					 .connect = connect_to,
					 .next_source = next_source,
					 .post = post,
					 .ctx = &f };
	const struct object_write_spec write = { .request = SCHED_REQ_WORKLOAD,
						 .resource = SCHED_WORKLOADS,
						 .method = HTTP_DELETE,
						 .key = STR_LIT("team/a"),
						 .path = "/x",
						 .content_type = "application/json" };
	struct kubeconfig cfg = { .server = NULL };
	struct channel *c = NULL;
	struct sched_msg *m;
	struct mpsc_node *n;

	(void)state;
	sem_init(&may_end, 0, 0);
	assert_int_equal(channel_open(&lo, &cfg, &c, NULL), 0);
	assert_int_equal(channel_source(c), 42);
	assert_true(channel_step(c) == CLOCK_NEVER); /* threads do it */
	pool_add(channel_pool(c), write.key, object_write_new(&write));
	fake_transport_wait(f.transports[1], 2); /* the write, and the question for gate fields */
	channel_close(c);
	assert_false(channel_is_closed(c));
	sem_post(&may_end);
	channel_destroy(c);
	n = mpsc_drain(f.queue);
	m = CONTAINER_OF(n, struct sched_msg, node);
	assert_int_equal(m->kind, SCHED_MSG_REQUEST_DONE);
	assert_int_equal(m->outcome, SCHED_CANCELLED);
	assert_int_equal(m->source, 42);
	assert_null(n->next);
	message_free(m);
	mpsc_destroy(f.queue);
	sem_destroy(&may_end);
}

/* The account may have no right to read pods where they are not carried. */
static void test_lists(void **state UNUSED)
{
	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		const struct link_options jobs = { .needs_jobs = true };
		const struct link_options pods = { .needs_jobs = true, .needs_pods = true };

		assert_int_equal(channel_has(&jobs, (enum channel_list)i), i != CHANNEL_PODS);
		assert_true(channel_has(&pods, (enum channel_list)i));
	}
	assert_int_equal(channel_resource(CHANNEL_PODS), SCHED_PODS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(closing_waits_for_nothing),
	};

	return cmocka_run_group_tests_name("multikueue/worker/channel", tests, NULL, NULL);
}
