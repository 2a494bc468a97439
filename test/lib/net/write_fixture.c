#include "lib/net/write_fixture.h"

#include "kube/pool.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

static void keep(void *ctx, struct sched_msg *m)
{
	struct write_fixture *f = ctx;

	message_free(f->last);
	f->last = m;
	f->outcomes++;
}

static bool may_send(void *ctx)
{
	const struct write_fixture *f = ctx;

	return !f->refuse;
}

void write_fixture_init(struct write_fixture *f)
{
	*f = (struct write_fixture){ 0 };
	clock_fake_init(&f->clock, 1700000000 * CLOCK_NS_PER_S);
	f->transport = fake_transport_create(&f->clock);
	f->target = (struct pod_write_target){ keep, may_send, f };
}

struct pool_options write_fixture_options(struct write_fixture *f)
{
	return (struct pool_options){
		.name = "test",
		.transport = fake_transport_base(f->transport),
		.clock = &f->clock.base,
		.slots = 8,
		.timeout_ns = CLOCK_NS_PER_S,
		.backoff_min_ns = CLOCK_NS_PER_MS,
		.backoff_max_ns = CLOCK_NS_PER_S,
	};
}

void write_fixture_pool(struct write_fixture *f, const struct pool_ops *ops, void *ctx)
{
	struct pool_options po = write_fixture_options(f);

	po.ops = ops;
	po.ctx = ctx;
	if (ops == &pod_write_pool_ops) {
		po.may_send = pod_write_may_send;
	}
	f->pool = pool_create(&po);
}

void write_fixture_finish(struct write_fixture *f)
{
	pool_destroy(f->pool);
	fake_transport_destroy(f->transport);
	message_free(f->last);
}

static void step_all(struct write_fixture *f)
{
	while (pool_step(f->pool)) {
	}
}

uint64_t write_fixture_expect(struct write_fixture *f, const char *line)
{
	step_all(f);
	return fake_transport_expect(f->transport, line);
}

void write_fixture_later(struct write_fixture *f)
{
	fake_transport_advance(f->transport, 60 * CLOCK_NS_PER_S);
	step_all(f);
}

void write_fixture_outcome(struct write_fixture *f, enum sched_outcome outcome)
{
	step_all(f);
	fake_transport_expect_none(f->transport);
	assert_int_equal(f->outcomes, 1);
	assert_int_equal(f->last->outcome, outcome);
	f->outcomes = 0;
}

void write_fixture_no_outcome(struct write_fixture *f)
{
	assert_int_equal(f->outcomes, 0);
}

const struct task *write_fixture_task(void)
{
	static char name[] = "p";
	static const struct task t = { .namespace_ = "ns", .name = name, .uid = "u-1" };

	return &t;
}
