#include "scheduler/workloads/engine/workload_reread.h"

#include "api/kueue/kueue_workload.h"
#include "base/clock.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/message.h"

#define LINE "GET /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/one"

struct fixture {
	struct write_fixture w;
	struct workload_reread *r;
};

static void begin(struct fixture *f)
{
	struct pool_options base;

	write_fixture_init(&f->w);
	base = write_fixture_options(&f->w);
	base.ctx = &f->w;
	f->r = workload_reread_create(&base, f->w.target.post);
}

static void end(struct fixture *f)
{
	workload_reread_destroy(f->r);
	write_fixture_finish(&f->w);
}

static void work(struct fixture *f)
{
	while (pool_step(workload_reread_pool(f->r))) {
	}
}

static void it_arrives_as_an_update(void **state)
{
	const struct api_workload *w;
	struct fixture f;

	(void)state;
	begin(&f);
	workload_reread_add(f.r, STR_LIT("ns/one"));
	workload_reread_add(f.r, STR_LIT("ns/one"));
	work(&f);
	fake_transport_answer(f.w.transport, fake_transport_expect(f.w.transport, LINE), 200,
			      "{\"metadata\":{\"name\":\"one\",\"resourceVersion\":\"8\"}}");
	work(&f);
	fake_transport_expect_none(f.w.transport);
	assert_int_equal(f.w.outcomes, 1);
	assert_int_equal(f.w.last->kind, SCHED_MSG_UPSERT);
	assert_int_equal(f.w.last->resource, SCHED_WORKLOADS);
	assert_int_equal(f.w.last->resource_version, 8);
	assert_true(f.w.last->reread);
	assert_true(str_eq_c(f.w.last->key, "ns/one"));
	w = f.w.last->object;
	assert_string_equal(w->meta.name, "one");
	end(&f);
}

static void answers(void **state)
{
	static const struct {
		int status;
		bool again;
	} rows[] = { { 404, false }, { 403, false }, { 500, true }, { 429, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		workload_reread_add(f.r, STR_LIT("ns/one"));
		work(&f);
		fake_transport_answer(f.w.transport, fake_transport_expect(f.w.transport, LINE),
				      rows[i].status, "{}");
		work(&f);
		fake_transport_advance(f.w.transport, 10 * CLOCK_NS_PER_S);
		work(&f);
		assert_int_equal(fake_transport_pending(f.w.transport), rows[i].again);
		assert_int_equal(f.w.outcomes, 0);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_arrives_as_an_update),
		cmocka_unit_test(answers),
	};

	return cmocka_run_group_tests_name("workloads/engine/workload_reread", tests, NULL, NULL);
}
