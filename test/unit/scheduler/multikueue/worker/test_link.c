/* The connection to one worker cluster: how it is made, configured, used and ended. */
#include "scheduler/multikueue/worker/link.h"

#include <semaphore.h>
#include <string.h>

#include "lib/unit.h"

#include "api/kueue/preemption_gate.h"
#include "apiserver/mem_transport.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "kube/pool.h"
#include "kube/transport.h"
#include "lib/net/fake_transport.h"
#include "lib/wait.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/base/object_write.h"
#include "unit/scheduler/multikueue/worker/link_fixture.h"

#define S CLOCK_NS_PER_S

/* --- connecting --------------------------------------------------------------------------------*/

static const char *const first_lists[] = {
	"1 + workloads team/a;", "1 synced workloads ;",     "1 + jobs team/ja;",
	"1 synced jobs ;",       "1 + localqueues team/lq;", "1 synced localqueues ;",
};

static void it_connects(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	assert_true(link_step(f.l) == CLOCK_NEVER);
	assert_int_equal(link_source(f.l), 0);
	assert_null(link_pool(f.l));
	assert_null(link_transport(f.l));
	assert_true(link_is_closed(f.l));
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed", "not connected yet");
	link_fixture_expect_metric(&f,
				   "headgate_multikueue_cluster_connected{cluster=\"east\"} 0\n");
	link_fixture_run(&f, S);
	assert_true(link_is_up(f.l));
	link_fixture_expect_log(&f, first_lists, ARRAY_LEN(first_lists));
	link_fixture_expect_condition(&f, "True", "Active", "Connected");
	link_fixture_expect_metric(&f,
				   "headgate_multikueue_cluster_connected{cluster=\"east\"} 1\n");
	link_fixture_expect_metric(&f, "connection_attempts_total{cluster=\"east\"} 1\n");
	assert_int_equal(link_gate_fields(f.l), PREEMPTION_GATE_POSITION | PREEMPTION_GATE_STATE);
	assert_true(link_lost_at(f.l) == CLOCK_NEVER);
	assert_non_null(link_transport(f.l));
	assert_false(link_is_closed(f.l));
	link_fixture_load(&f, LINK_FIXTURE_WORKLOAD("c", "mine"));
	link_fixture_load(&f, LINK_FIXTURE_WORKLOAD("d", "other"));
	link_fixture_run(&f, S);
	link_fixture_expect_log(&f, (const char *[]){ "1 + workloads team/c;" }, 1);
	link_fixture_end(&f);
}

/* Objects come before SYNCED, and the link is up as soon as the last answer was handled. */
static void it_is_up_after_all_answers(void **state)
{
	static const char *const needed[] = { "synced workloads", "synced jobs",
					      "synced localqueues" };
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	while (!link_is_up(f.l)) {
		assert_true(link_fixture_half_step(&f));
	}
	for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
		assert_non_null(strstr(f.log.p, needed[i]));
	}
	assert_int_not_equal(link_gate_fields(f.l), 0);
	link_fixture_end(&f);
}

static void attempts_follow_the_pauses(void **state)
{
	static const int64_t seconds[] = { 5, 10, 20, 40, 80, 160, 320, 320 };
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_faults(&f, LINK_FIXTURE_DOWN);
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	link_fixture_run(&f, 0);
	for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
		unit_row_number(i);
		assert_int_equal(f.sources, i + 1);
		assert_int_equal(link_source(f.l), 0);
		link_fixture_expect_condition(&f, "False", "ClientConnectionFailed", "workloads: ");
		link_fixture_run(&f, seconds[i] * S - 1);
		assert_int_equal(f.sources, i + 1);
		link_fixture_run(&f, 1);
	}
	assert_true(link_lost_at(f.l) == LINK_FIXTURE_WALL);
	link_fixture_expect_metric(&f, "watch_errors_total{cluster=\"east\",resource=\"workloads\","
				       "reason=\"unreachable\"} 9\n");
	link_fixture_faults(&f, "[]");
	link_fixture_run(&f, 320 * S);
	assert_true(link_is_up(f.l));
	link_fixture_end(&f);
}

static void an_attempt_that_hangs_is_cut(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	(void)link_step(f.l); /* no request reaches the server */
	assert_int_equal(link_source(f.l), 1);
	clock_fake_advance(&f.clock, 60 * S - 1);
	assert_true(link_step(f.l) == clock_mono(&f.clock.base) + 1);
	assert_int_equal(link_source(f.l), 1);
	clock_fake_advance(&f.clock, 1);
	assert_true(link_step(f.l) == clock_mono(&f.clock.base) + 5 * S);
	assert_int_equal(link_source(f.l), 0);
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed",
				      "workloads: no complete list in time");
	link_fixture_run(&f, 5 * S);
	assert_true(link_is_up(f.l));
	link_fixture_end(&f);
}

/* The server answers all the time that it cannot: that may pass, until the limit. */
static void an_attempt_waits_for_a_busy_server(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_faults(&f, "[{fault: status, code: 500, path: /apis/kueue, count: 0}]");
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	link_fixture_run(&f, 20 * S);
	assert_int_equal(link_source(f.l), 1);
	link_fixture_run(&f, 40 * S);
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed",
				      "workloads: no complete list in time: ");
	link_fixture_run(&f, 5 * S);
	link_fixture_faults(&f, "[]");
	link_fixture_run(&f, 30 * S);
	assert_true(link_is_up(f.l));
	assert_int_equal(link_source(f.l), 2);
	link_fixture_end(&f);
}

static void a_transport_cannot_be_made(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	f.cannot_connect = true;
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	link_fixture_run(&f, 0);
	assert_int_equal(f.transports.n, 0);
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed",
				      "no thread; connection attempts: 1");
	f.cannot_connect = false;
	link_fixture_run(&f, 5 * S);
	assert_true(link_is_up(f.l));
	link_fixture_end(&f);
}

/* --- rights ------------------------------------------------------------------------------------*/

static void lists_that_are_not_needed(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf refused = STRBUF_INIT;
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_faults(&f, "[" LINK_FIXTURE_FORBIDDEN(
					"localqueues") ", " LINK_FIXTURE_FORBIDDEN("jobs") "]");
	link_fixture_connect_up(&f);
	link_fixture_expect_log(&f, first_lists, 2);
	link_fixture_expect_condition(&f, "True", "Active", "Connected, but cannot read jobs: ");
	link_fixture_expect_condition(&f, "True", "Active", "; localqueues: ");
	link_fixture_expect_metric(&f, "watch_errors_total{cluster=\"east\",resource=\"jobs\","
				       "reason=\"refused\"} ");
	link_fixture_faults(&f, "[" LINK_FIXTURE_FORBIDDEN("jobs") "]");
	link_fixture_run(&f, 60 * S); /* they are asked for again */
	link_fixture_expect_log(&f, first_lists + 4, 2);
	link_add_refused(f.l, &refused);
	assert_int_equal(strncmp(refused.p, "jobs: ", 6), 0);
	assert_null(strstr(refused.p, "localqueues"));
	assert_int_equal(link_source(f.l), 1);
	link_fixture_end(&f);
}

static void workloads_are_needed(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_faults(&f, "[" LINK_FIXTURE_FORBIDDEN("workloads") "]");
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	link_fixture_run(&f, S);
	assert_int_equal(link_source(f.l), 0);
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed", "workloads: ");
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed",
				      "connection attempts: 1");
	link_fixture_end(&f);
}

/* Without the right to read the definition nothing is known of gates; that keeps nothing back. */
static void the_definition_cannot_be_read(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_faults(&f, "[" LINK_FIXTURE_FORBIDDEN("customresourcedefinitions") "]");
	link_fixture_connect_up(&f);
	assert_int_equal(link_gate_fields(f.l), 0);
	link_fixture_end(&f);
}

/* The answer of one API server says nothing about the next one. */
static void the_definition_is_read_anew(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	assert_int_not_equal(link_gate_fields(f.l), 0);
	link_fixture_faults(&f, "[{fault: delay, delayMs: 8000, count: 0, path: "
				"'/apis/.*/customresourcedefinitions'}]");
	link_configure(f.l, link_fixture_config("west"), NULL, NULL);
	link_fixture_run(&f, 7 * S);
	assert_int_equal(link_source(f.l), 2);
	assert_non_null(strstr(f.log.p, "2 synced workloads ;"));
	assert_int_equal(link_gate_fields(f.l), 0);
	assert_false(link_is_up(f.l));
	link_fixture_run(&f, 2 * S);
	assert_int_not_equal(link_gate_fields(f.l), 0);
	assert_true(link_is_up(f.l));
	link_fixture_end(&f);
}

/* --- configuration -----------------------------------------------------------------------------*/

static void a_new_kubeconfig(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	strbuf_reset(&f.log);
	link_configure(f.l, link_fixture_config("east"), NULL, NULL); /* the same */
	assert_int_equal(link_source(f.l), 1);
	link_fixture_load(&f, LINK_FIXTURE_WORKLOAD("late", "mine"));
	for (size_t i = 0; i < f.transports.n; i++) {
		(void)mem_transport_run(f.transports.v[i], 1000);
	}
	assert_int_equal(f.queue.n, 1); /* posted, not handled */
	link_configure(f.l, link_fixture_config("west"), NULL, NULL);
	assert_int_equal(link_source(f.l), 0);
	assert_int_equal(f.transports.n, 0);
	link_fixture_run(&f, 0);
	assert_true(link_is_up(f.l));
	assert_int_equal(link_source(f.l), 2);
	assert_int_equal(f.sources, 2);
	assert_int_equal(f.dropped, 1);
	assert_null(strstr(f.log.p, "1 "));
	assert_non_null(strstr(f.log.p, "2 + workloads team/late;"));
	link_fixture_end(&f);
}

static void no_kubeconfig(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	link_configure(f.l, NULL, "InsecureKubeConfig", "exec runs a program");
	assert_true(link_is_closed(f.l));
	link_fixture_expect_condition(&f, "False", "InsecureKubeConfig", "exec runs a program");
	assert_true(link_step(f.l) == CLOCK_NEVER);
	link_configure(f.l, NULL, "BadKubeConfig", "no Secret");
	link_fixture_expect_condition(&f, "False", "BadKubeConfig", "no Secret");
	link_configure(f.l, link_fixture_config("east"), NULL, NULL); /* that of before */
	link_fixture_run(&f, 0);
	assert_true(link_is_up(f.l));
	link_fixture_end(&f);
}

/* --- writes ------------------------------------------------------------------------------------*/

static void add_write(struct link_fixture *f)
{
	struct object_write_spec spec = { .request = SCHED_REQ_WORKLOAD,
					  .resource = SCHED_WORKLOADS,
					  .method = HTTP_DELETE,
					  .key = STR_LIT("team/a"),
					  .content_type = "application/json",
					  .body = STR_LIT("{}") };

	spec.path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/a";
	pool_add(link_pool(f->l), spec.key, object_write_new(&spec));
}

static void answers_to_writes_have_the_source(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	strbuf_reset(&f.log);
	add_write(&f);
	link_fixture_run(&f, S);
	link_fixture_expect_log(
		&f, (const char *[]){ "1 done workloads team/a;", "1 - workloads team/a;" }, 2);
	link_fixture_end(&f);
}

/* One that is not answered in time is sent again. */
static void writes_have_a_time_limit(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	strbuf_reset(&f.log);
	link_fixture_faults(&f, "[{fault: delay, delayMs: 3600000, method: DELETE}]");
	add_write(&f);
	link_fixture_run(&f, 9 * S);
	assert_null(strstr(f.log.p, "done"));
	link_fixture_run(&f, 3 * S);
	assert_non_null(strstr(f.log.p, "1 done workloads team/a;"));
	link_fixture_end(&f);
}

/* The limiter is for writes alone. */
static void reading_takes_no_token(void **state)
{
	struct link_options lo = { 0 };
	struct clock_fake still;
	struct link_fixture f;

	(void)state;
	clock_fake_init(&still, LINK_FIXTURE_WALL);
	lo.limiter = pool_limiter_create(0.001, 1, &still.base);
	link_fixture_begin_with(&f, lo);
	link_fixture_connect_up(&f);
	assert_int_equal(pool_limiter_take(lo.limiter), 0);
	add_write(&f);
	link_fixture_run(&f, S);
	assert_null(strstr(f.log.p, "done"));
	link_fixture_end(&f);
	pool_limiter_destroy(lo.limiter);
}

static bool forbid(void *ctx UNUSED)
{
	return false;
}

static void writes_need_leave(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin_with(&f, (struct link_options){ .may_send = forbid });
	link_fixture_connect_up(&f); /* reading needs none */
	strbuf_reset(&f.log);
	add_write(&f);
	link_fixture_run(&f, S);
	link_fixture_expect_log(&f, (const char *[]){ "1 done workloads team/a;" }, 1);
	link_fixture_end(&f);
}

/* --- the end -----------------------------------------------------------------------------------*/

static void its_metrics_end_with_it(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	link_fixture_faults(&f, LINK_FIXTURE_DOWN);
	link_configure(f.l, link_fixture_config("west"), NULL, NULL);
	link_fixture_run(&f, S); /* an error as well */
	link_destroy(f.l);
	f.l = NULL;
	exposition_render(f.counters, &text);
	assert_null(strstr(text.p, "east"));
	link_fixture_end(&f);
}

static sem_t may_end;
static const struct transport_ops *fake_ops;

static void end_slowly(struct transport *t)
{
	sem_wait(&may_end);
	fake_ops->destroy(t);
}

/* A transport that never answers, and ends only when it may. */
static int connect_slow(void *ctx UNUSED, const char *cluster UNUSED,
			const struct kubeconfig *cfg UNUSED, struct transport **ret,
			struct err *err UNUSED)
{
	static struct transport_ops slow;

	*ret = fake_transport_base(fake_transport_create(NULL));
	if (fake_ops == NULL) { /* once: the threads of earlier connections read it */
		fake_ops = (*ret)->ops;
		slow = *fake_ops;
		slow.destroy = end_slowly;
	}
	(*ret)->ops = &slow;
	return 0;
}

static uint64_t next_source(void *ctx)
{
	return ++*(uint64_t *)ctx;
}

static void no_post(void *ctx UNUSED, struct sched_msg *m)
{
	message_free(m);
}

/* With threads: connections that do not end hold nothing up, and their number is bounded. */
static void connections_that_do_not_end(void **state)
{
	struct metric_registry *counters = metric_registry_create();
	uint64_t sources = 0;
	const struct link_options lo = { .cluster = "east",
					 .origin = "mine",
					 .clock = clock_real(),
					 .counters = counters,
					 .request_timeout_ns = 60 * S,
					 .connect = connect_slow,
					 .next_source = next_source,
					 .post = no_post,
					 .ctx = &sources };
	struct link *l = link_create(&lo);
	int64_t deadline = wait_deadline(300 * S);

	(void)state;
	sem_init(&may_end, 0, 0);
	for (int i = 0; i < 6; i++) {
		link_configure(l, link_fixture_config(i % 2 == 0 ? "east" : "west"), NULL, NULL);
		assert_in_range(link_step(l) - clock_mono(clock_real()), 0, 60 * S);
	}
	assert_int_equal(sources, 4);
	assert_false(link_is_closed(l));
	for (int i = 0; i < 2 * 5; i++) { /* 4 connections, and that which follows */
		sem_post(&may_end);
	}
	do {
		(void)link_step(l);
	} while (sources < 5 && wait_until(deadline));
	assert_int_equal(sources, 5);
	link_destroy(l);
	sem_destroy(&may_end);
	metric_registry_destroy(counters);
}

static void it_can_end_at_every_stage(void **state)
{
	bool more = true;

	(void)state;
	for (unsigned n = 0; more; n++) {
		struct link_fixture f;

		unit_row_number(n);
		link_fixture_begin(&f);
		link_configure(f.l, link_fixture_config("east"), NULL, NULL);
		for (unsigned i = 0; i < n && more; i++) {
			more = link_fixture_half_step(&f);
		}
		if (link_pool(f.l) != NULL) {
			add_write(&f);
			(void)pool_step(link_pool(f.l));
		}
		link_fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_connects),
		cmocka_unit_test(it_is_up_after_all_answers),
		cmocka_unit_test(attempts_follow_the_pauses),
		cmocka_unit_test(an_attempt_that_hangs_is_cut),
		cmocka_unit_test(an_attempt_waits_for_a_busy_server),
		cmocka_unit_test(a_transport_cannot_be_made),
		cmocka_unit_test(lists_that_are_not_needed),
		cmocka_unit_test(workloads_are_needed),
		cmocka_unit_test(the_definition_cannot_be_read),
		cmocka_unit_test(the_definition_is_read_anew),
		cmocka_unit_test(a_new_kubeconfig),
		cmocka_unit_test(no_kubeconfig),
		cmocka_unit_test(answers_to_writes_have_the_source),
		cmocka_unit_test(writes_need_leave),
		cmocka_unit_test(writes_have_a_time_limit),
		cmocka_unit_test(reading_takes_no_token),
		cmocka_unit_test(its_metrics_end_with_it),
		cmocka_unit_test(connections_that_do_not_end),
		cmocka_unit_test(it_can_end_at_every_stage),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests_name("multikueue/worker/link", tests, NULL, NULL);
}
