#include "scheduler/base/gate_fields.h"

#include <string.h>

#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "kube/pool.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "scheduler/base/message.h"

#define LINE "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"
#define CRD                                                                                        \
	"{\"spec\":{\"versions\":[{\"name\":\"v1beta2\",\"schema\":{\"openAPIV3Schema\":{"         \
	"\"properties\":{\"status\":{\"properties\":{\"preemptionGates\":{\"items\":{"             \
	"\"properties\":{\"state\":{}}}}}}}}}}]}}"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct gate_fields *g;
	struct sched_msg *last;
	unsigned posts;
};

static void post(void *ctx, struct sched_msg *m)
{
	struct fixture *f = ctx;

	message_free(f->last);
	f->last = m;
	f->posts++;
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = CLOCK_NS_PER_S };

	memset(f, 0, sizeof(*f));
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	base.ctx = f;
	f->g = gate_fields_create(&base, NULL, post);
}

static void end(struct fixture *f)
{
	gate_fields_destroy(f->g);
	fake_transport_destroy(f->transport);
	message_free(f->last);
}

static void work(struct fixture *f)
{
	while (pool_step(gate_fields_pool(f->g))) {
	}
}

static void it_asks_once(void **state)
{
	static const struct {
		int status;
		const char *body;
		unsigned fields;
	} rows[] = {
		{ 200, CRD, PREEMPTION_GATE_STATE },
		{ 200, "{\"spec\":{", 0 },
		{ 403, "{}", 0 },
		{ 404, "{}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		gate_fields_ask(f.g);
		work(&f);
		gate_fields_ask(f.g);
		fake_transport_answer(f.transport, fake_transport_expect(f.transport, LINE),
				      rows[i].status, rows[i].body);
		work(&f);
		gate_fields_ask(f.g);
		work(&f);
		fake_transport_expect_none(f.transport);
		gate_fields_unknown(f.g);
		gate_fields_ask(f.g);
		work(&f);
		(void)fake_transport_expect(f.transport, LINE);
		assert_int_equal(f.posts, 1);
		assert_int_equal(f.last->kind, SCHED_MSG_GATE_FIELDS);
		assert_int_equal(f.last->gate_fields, rows[i].fields);
		end(&f);
	}
}

static void it_asks_again_after_an_error(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	gate_fields_ask(f.g);
	work(&f);
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, LINE), 503, "{}");
	work(&f);
	assert_int_equal(f.posts, 0);
	fake_transport_advance(f.transport, 10 * CLOCK_NS_PER_S);
	work(&f);
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, LINE), 200, CRD);
	work(&f);
	assert_int_equal(f.posts, 1);
	assert_int_equal(f.last->gate_fields, PREEMPTION_GATE_STATE);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_asks_once),
		cmocka_unit_test(it_asks_again_after_an_error),
	};

	return cmocka_run_group_tests_name("base/gate_fields", tests, NULL, NULL);
}
