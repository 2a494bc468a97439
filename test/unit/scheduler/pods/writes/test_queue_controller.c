#include "scheduler/pods/writes/queue_controller.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/fake_transport.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/res_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/message.h"
#include "scheduler/pods/ledger/totals.h"

#define QUEUES "/apis/scheduling.volcano.sh/v1beta1/queues"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct queue_controller *status;
	struct cluster *cluster;
	struct queue_totals totals[8];
	size_t done;
	int64_t version; /* of the object seen last */
};

static void count(void *ctx, struct sched_msg *m)
{
	struct fixture *f = ctx;

	f->done++;
	queue_controller_request_done(f->status, m);
	message_free(m);
}

static void seen(struct fixture *f, const char *name, const char *state, bool has_parent,
		 bool marked)
{
	struct queue_seen s = { .state = state,
				.version = ++f->version,
				.has_parent = has_parent,
				.closed_by_parent = marked };

	queue_controller_queue_changed(f->status, str_of(name), &s);
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = CLOCK_NS_PER_S,
				     .ctx = f };

	*f = (struct fixture){ 0 };
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->status = queue_controller_create(&base, "default", count);
	f->cluster = cluster_create();
	cluster_fixture_queue(f->cluster, "root", NULL, -1);
}

static void end(struct fixture *f)
{
	queue_controller_destroy(f->status);
	fake_transport_destroy(f->transport);
	cluster_destroy(f->cluster);
}

static void run(struct fixture *f)
{
	queue_controller_run(f->status, f->cluster, f->totals);
	while (pool_step(queue_controller_pool(f->status))) {
	}
}

static void expect_state(struct fixture *f, const char *queue, const char *state)
{
	char line[200];
	struct jdoc *d = NULL;
	uint64_t id;

	snprintf(line, sizeof(line), "PATCH " QUEUES "/%s/status", queue);
	id = fake_transport_expect(f->transport, line);
	assert_int_equal(jdoc_parse(fake_transport_body(f->transport, id), &d, NULL), 0);
	if (state == NULL) {
		assert_null(jdoc_path(d, "status.state"));
	} else {
		assert_string_equal(jdoc_path_str(d, "status.state"), state);
		assert_non_null(jdoc_path_str(d, "metadata.resourceVersion"));
	}
	jdoc_destroy(d);
	fake_transport_answer(f->transport, id, 200, "{}");
}

static void settle(struct fixture *f)
{
	seen(f, "root", "Open", false, false);
	seen(f, "default", "Open", true, false);
	cluster_fixture_queue(f->cluster, "default", NULL, -1);
	run(f);
	expect_state(f, "root", NULL);
	expect_state(f, "default", NULL);
}

static void test_root_and_default_are_made(void **state)
{
	struct fixture f;
	struct jdoc *d = NULL;
	uint64_t id;

	(void)state;
	begin(&f);
	run(&f);
	id = fake_transport_expect(f.transport, "POST " QUEUES);
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "metadata.name"), "root");
	assert_false(jdoc_bool(jdoc_path(d, "spec.reclaimable"), true));
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 201, "{}");
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "POST " QUEUES), 409,
			      "{}");
	run(&f);
	fake_transport_expect_none(f.transport); /* asked for once */
	assert_int_equal(f.done, 2);
	end(&f);
}

static void expect_post(struct fixture *f, const char *name)
{
	uint64_t id = fake_transport_expect(f->transport, "POST " QUEUES);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body,
		      "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","
		      "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"reclaimable\":%s,\"weight\":1}}",
		      name, strcmp(name, "root") == 0 ? "false" : "true");
	assert_string_equal(fake_transport_body(f->transport, id).p, body.p);
	fake_transport_answer(f->transport, id, 201, "{}");
}

/* Each time that one of the two is deleted it is made again; the other one is not. */
static void test_root_and_default_are_made_again(void **state)
{
	static const char *const names[] = { "root", "default", "root" };
	struct fixture f;

	(void)state;
	begin(&f);
	run(&f);
	expect_post(&f, "root");
	expect_post(&f, "default");
	queue_controller_queue_deleted(f.status, STR_LIT("other"));
	run(&f);
	fake_transport_expect_none(f.transport);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unit_row_number(i);
		queue_controller_queue_deleted(f.status, str_of(names[i]));
		run(&f);
		expect_post(&f, names[i]);
		run(&f);
		fake_transport_expect_none(f.transport);
	}
	end(&f);
}

static void test_an_empty_state_opens_and_parent_is_set(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	settle(&f);
	cluster_fixture_queue(f.cluster, "a", NULL, 1000);
	seen(&f, "a", "", false, false);
	run(&f);
	id = fake_transport_expect(f.transport, "PATCH " QUEUES "/a");
	assert_true(
		str_eq_c(fake_transport_body(f.transport, id), "{\"spec\":{\"parent\":\"root\"}}"));
	fake_transport_answer(f.transport, id, 200, "{}");
	expect_state(&f, "a", "Open");
	run(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

static void test_closing_becomes_closed_without_podgroups_and_pods(void **state)
{
	struct fixture f;
	struct queue *q;

	(void)state;
	begin(&f);
	settle(&f);
	q = cluster_fixture_queue(f.cluster, "a", NULL, 1000);
	f.totals[q->id].podgroups[PODGROUP_RUNNING] = 1;
	seen(&f, "a", "Closing", true, false);
	run(&f);
	expect_state(&f, "a", NULL);
	f.totals[q->id].podgroups[PODGROUP_RUNNING] = 0;
	f.totals[q->id].request.v[RES_PODS] = 1;
	run(&f);
	fake_transport_expect_none(f.transport);
	/* It terminates. */
	f.totals[q->id].request.v[RES_PODS] = 0;
	f.totals[q->id].held.v[RES_PODS] = 1;
	run(&f);
	expect_state(&f, "a", NULL);
	f.totals[q->id].held.v[RES_PODS] = 0;
	run(&f);
	expect_state(&f, "a", "Closed");
	end(&f);
}

static void expect_mark(struct fixture *f, const char *queue, const char *value, int status)
{
	char line[200], mark[80], version[60];
	uint64_t id;
	const char *body;

	snprintf(line, sizeof(line), "PATCH " QUEUES "/%s", queue);
	snprintf(mark, sizeof(mark), "closed-by-parent\":%s", value);
	snprintf(version, sizeof(version), "\"resourceVersion\":\"%lld\"", (long long)f->version);
	id = fake_transport_expect(f->transport, line);
	body = fake_transport_body(f->transport, id).p;
	assert_non_null(strstr(body, mark));
	assert_non_null(strstr(body, version));
	fake_transport_answer(f->transport, id, status, "{}");
}

static void begin_family(struct fixture *f)
{
	begin(f);
	settle(f);
	cluster_fixture_queue(f->cluster, "p", NULL, 1000);
	cluster_fixture_queue(f->cluster, "c", "p", 1000);
	seen(f, "p", "Closed", true, false);
	seen(f, "c", "Open", true, false);
	run(f);
	expect_state(f, "p", NULL);
	expect_state(f, "c", NULL);
	run(f);
	expect_mark(f, "c", "\"true\"", 200);
	run(f);
	fake_transport_expect_none(f->transport);
}

static void test_a_closed_parent_closes_and_an_open_one_reopens_its_own(void **state)
{
	struct fixture f;

	(void)state;
	begin_family(&f);
	seen(&f, "c", "Open", true, true);
	run(&f);
	expect_state(&f, "c", "Closed");
	run(&f);
	fake_transport_expect_none(f.transport);
	seen(&f, "c", "Closed", true, true);
	run(&f);
	fake_transport_expect_none(f.transport);
	seen(&f, "p", "Open", true, false);
	run(&f);
	expect_state(&f, "c", "Open");
	seen(&f, "c", "Open", true, true);
	run(&f);
	expect_mark(&f, "c", "null", 200);
	seen(&f, "c", "Open", true, false);
	run(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

/* A scheduler that may not write for a moment, and then may again. */
static void test_a_move_that_was_not_sent_is_decided_again(void **state)
{
	struct fixture f;
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	(void)state;
	begin_family(&f);
	m->key = STR_LIT("queue-mark/c");
	m->outcome = SCHED_CANCELLED;
	count(&f, m);
	run(&f);
	expect_state(&f, "c", NULL); /* the amounts, of which the write may have been */
	run(&f);
	expect_mark(&f, "c", "\"true\"", 200);
	end(&f);
}

/* Each write that moves a queue is decided for one version of it; amounts go with the next one. */
static void test_a_move_that_came_too_late_is_looked_at_again(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin_family(&f);
	seen(&f, "c", "Open", true, true);
	run(&f);
	id = fake_transport_expect(f.transport, "PATCH " QUEUES "/c/status");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"Closed\""));
	seen(&f, "p", "Open", true, false); /* while the write is on its way */
	run(&f);
	fake_transport_expect_none(f.transport);
	fake_transport_answer(f.transport, id, 200, "{}");
	run(&f);
	fake_transport_expect_none(f.transport);
	seen(&f, "c", "Closed", true, true);
	run(&f);
	id = fake_transport_expect(f.transport, "PATCH " QUEUES "/c/status");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"Open\""));
	fake_transport_answer(f.transport, id, 409, "{}");
	run(&f);
	expect_state(&f, "c", "Open"); /* with the amounts that the refused write had */
	run(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

static void test_allocated_is_written_when_it_changes(void **state)
{
	struct fixture f;
	struct queue *q;
	struct jdoc *d = NULL;
	uint64_t id;

	(void)state;
	begin(&f);
	settle(&f);
	q = cluster_fixture_queue(f.cluster, "a", NULL, 1000);
	seen(&f, "a", "Open", true, false);
	f.totals[q->id].allocated.v[RES_CPU] = 1500;
	f.totals[q->id].allocated.v[RES_MEMORY] = 1 << 30;
	run(&f);
	id = fake_transport_expect(f.transport, "PATCH " QUEUES "/a/status");
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "status.allocated.cpu"), "1500m");
	assert_string_equal(jdoc_path_str(d, "status.allocated.memory"), "1Gi");
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 200, "{}");
	run(&f);
	fake_transport_expect_none(f.transport);
	f.totals[q->id].allocated.v[RES_CPU] = 0;
	run(&f);
	id = fake_transport_expect(f.transport, "PATCH " QUEUES "/a/status");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"cpu\":\"0\""));
	fake_transport_answer(f.transport, id, 200, "{}");
	end(&f);
}

/* The webhook checks a resize against reservations, not only against running pods. */
static void test_reservations_are_written_when_they_change(void **state)
{
	struct fixture f;
	struct queue *q;
	struct jdoc *d = NULL;
	uint64_t id;

	(void)state;
	begin(&f);
	settle(&f);
	q = cluster_fixture_queue(f.cluster, "a", NULL, 4000);
	seen(&f, "a", "Open", true, false);
	f.totals[q->id].allocated.v[RES_CPU] = 1000;
	f.totals[q->id].held.v[RES_CPU] = 2500;
	run(&f);
	id = fake_transport_expect(f.transport, "PATCH " QUEUES "/a/status");
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "status.allocated.cpu"), "1");
	assert_string_equal(jdoc_path_str(d, "status.reservation.resource.cpu"), "2500m");
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 200, "{}");
	run(&f);
	fake_transport_expect_none(f.transport);
	f.totals[q->id].held.v[RES_CPU] = 0;
	run(&f);
	id = fake_transport_expect(f.transport, "PATCH " QUEUES "/a/status");
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "status.reservation.resource.cpu"), "0");
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 200, "{}");
	end(&f);
}

/* The amounts that were sent may name resources that are forgotten since. They cannot be compared
 * then, so the status is written once more. */
static void test_amounts_are_written_again_after_a_sweep(void **state)
{
	struct fixture f;
	struct queue *q;
	unsigned dim = 0;

	(void)state;
	begin(&f);
	settle(&f);
	q = cluster_fixture_queue(f.cluster, "a", NULL, 1000);
	seen(&f, "a", "Open", true, false);
	while (dim < RES_DENSE) {
		char name[24];

		snprintf(name, sizeof(name), "a/r%u", dim);
		dim = (unsigned)res_names_add(f.cluster->res, str_of(name));
	}
	res_fixture_set(f.cluster->res, &f.totals[q->id].allocated, dim, 3);
	res_fixture_set(f.cluster->res, &f.totals[q->id].held, dim, 4);
	run(&f);
	expect_state(&f, "a", NULL);
	run(&f);
	fake_transport_expect_none(f.transport);
	f.cluster->res_swept++;
	run(&f);
	expect_state(&f, "a", NULL);
	run(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root_and_default_are_made),
		cmocka_unit_test(test_root_and_default_are_made_again),
		cmocka_unit_test(test_an_empty_state_opens_and_parent_is_set),
		cmocka_unit_test(test_closing_becomes_closed_without_podgroups_and_pods),
		cmocka_unit_test(test_a_closed_parent_closes_and_an_open_one_reopens_its_own),
		cmocka_unit_test(test_a_move_that_was_not_sent_is_decided_again),
		cmocka_unit_test(test_a_move_that_came_too_late_is_looked_at_again),
		cmocka_unit_test(test_allocated_is_written_when_it_changes),
		cmocka_unit_test(test_reservations_are_written_when_they_change),
		cmocka_unit_test(test_amounts_are_written_again_after_a_sweep),
	};

	return cmocka_run_group_tests_name("pods/writes/queue_controller", tests, NULL, NULL);
}
