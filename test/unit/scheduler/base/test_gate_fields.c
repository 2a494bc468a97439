#include "scheduler/base/gate_fields.h"

#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/message.h"

#define LINE "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/workloads.kueue.x-k8s.io"
#define CRD                                                                                        \
	"{\"spec\":{\"versions\":[{\"name\":\"v1beta2\",\"schema\":{\"openAPIV3Schema\":{"         \
	"\"properties\":{\"status\":{\"properties\":{\"preemptionGates\":{\"items\":{"             \
	"\"properties\":{\"state\":{}}}}}}}}}}]}}"

struct fixture {
	struct write_fixture w;
	struct gate_fields *g;
};

static void begin(struct fixture *f)
{
	struct pool_options base;

	write_fixture_init(&f->w);
	base = write_fixture_options(&f->w);
	base.ctx = &f->w;
	f->g = gate_fields_create(&base, NULL, f->w.target.post);
}

static void end(struct fixture *f)
{
	gate_fields_destroy(f->g);
	write_fixture_finish(&f->w);
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
		bool read;
	} rows[] = {
		{ 200, CRD, PREEMPTION_GATE_STATE, true },
		{ 200, "{}", 0, true },
		{ 200, "{\"spec\":{", 0, false },
		{ 403, "{}", 0, false },
		{ 404, "{}", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		gate_fields_ask(f.g);
		work(&f);
		gate_fields_ask(f.g);
		fake_transport_answer(f.w.transport, fake_transport_expect(f.w.transport, LINE),
				      rows[i].status, rows[i].body);
		work(&f);
		gate_fields_ask(f.g);
		work(&f);
		fake_transport_expect_none(f.w.transport);
		gate_fields_unknown(f.g);
		gate_fields_ask(f.g);
		work(&f);
		(void)fake_transport_expect(f.w.transport, LINE);
		assert_int_equal(f.w.outcomes, 1);
		assert_int_equal(f.w.last->kind, SCHED_MSG_GATE_FIELDS);
		assert_int_equal(f.w.last->gate_fields, rows[i].fields);
		assert_int_equal(f.w.last->known, rows[i].read);
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
	fake_transport_answer(f.w.transport, fake_transport_expect(f.w.transport, LINE), 503, "{}");
	work(&f);
	assert_int_equal(f.w.outcomes, 0);
	fake_transport_advance(f.w.transport, 10 * CLOCK_NS_PER_S);
	work(&f);
	fake_transport_answer(f.w.transport, fake_transport_expect(f.w.transport, LINE), 200, CRD);
	work(&f);
	assert_int_equal(f.w.outcomes, 1);
	assert_int_equal(f.w.last->gate_fields, PREEMPTION_GATE_STATE);
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
