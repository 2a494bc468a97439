/* test/lib/net/write_fixture.h: a pool of one kind of write in manual mode over a fake transport,
 * and the outcomes it reports. Owner: the test. */
#ifndef TEST_LIB_NET_WRITE_FIXTURE_H
#define TEST_LIB_NET_WRITE_FIXTURE_H

#include <stdbool.h>

#include "base/clock.h"
#include "lib/net/fake_transport.h"
#include "scheduler/base/message.h"
#include "scheduler/pods/writes/pod_write.h"

struct write_fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct pool *pool;
	struct pod_write_target target;
	struct sched_msg *last; /* the newest outcome */
	size_t outcomes;
	bool refuse; /* may_send returns false */
};

void write_fixture_init(struct write_fixture *f);
/* For a module that makes its pool itself, which then is f->pool. */
struct pool_options write_fixture_options(struct write_fixture *f);
/* A pool with these operations and context; the fixture owns it. */
void write_fixture_pool(struct write_fixture *f, const struct pool_ops *ops, void *ctx);
void write_fixture_finish(struct write_fixture *f);
/* Sends what is ready; then the oldest call must be `line`. */
uint64_t write_fixture_expect(struct write_fixture *f, const char *line);
/* Moves the clock on, so that retries become due. */
void write_fixture_later(struct write_fixture *f);
/* Asserts that exactly one outcome was reported since the last call, and that it is this one. */
void write_fixture_outcome(struct write_fixture *f, enum sched_outcome outcome);
void write_fixture_no_outcome(struct write_fixture *f);
/* A pod ns/p with uid u-1 as the object of writes (static). */
const struct task *write_fixture_task(void);

#endif
