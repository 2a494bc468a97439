/* The connection to one worker cluster: how it is lost, and what is no loss. */
#include <string.h>

#include "lib/unit.h"

#include "apiserver/mem_transport.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "kube/reflector/reflector.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/worker/link.h"
#include "unit/scheduler/multikueue/worker/link_fixture.h"

#define S CLOCK_NS_PER_S

/* The frames that are on their way are lost, and their streams cut. */
static void cut(struct link_fixture *f, const char *script)
{
	link_fixture_load(f, LINK_FIXTURE_WORKLOAD("frame", "mine"));
	link_fixture_load(f, LINK_FIXTURE_JOB("frame", "mine"));
	link_fixture_load(f, LINK_FIXTURE_QUEUE("frame"));
	link_fixture_faults(f, script);
	for (size_t i = 0; i < f->transports.n; i++) {
		while (mem_transport_ready(f->transports.v[i]) > 0) {
			mem_transport_lose(f->transports.v[i], 0);
		}
	}
}

static void a_short_outage_is_no_loss(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	strbuf_reset(&f.log);
	cut(&f, LINK_FIXTURE_DOWN);
	link_fixture_run(&f, 3 * S);
	link_fixture_faults(&f, "[]");
	link_fixture_run(&f, 30 * S);
	assert_true(link_is_up(f.l));
	assert_int_equal(link_source(f.l), 1);
	assert_non_null(strstr(f.log.p, "1 + workloads team/frame;"));
	link_fixture_end(&f);
}

static void a_lost_connection_is_made_anew(void **state)
{
	struct link_fixture f;
	int64_t lost;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	link_fixture_run(&f, 100 * S);
	strbuf_reset(&f.log);
	cut(&f, LINK_FIXTURE_DOWN);
	lost = clock_wall(&f.clock.base);
	link_fixture_run(&f, 3 * S);
	assert_true(link_is_up(f.l));
	link_fixture_run(&f, 7 * S);
	assert_false(link_is_up(f.l));
	assert_true(link_lost_at(f.l) >= lost + 4 * S && link_lost_at(f.l) <= lost + 10 * S);
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed", "workloads: ");
	link_fixture_expect_metric(&f, "connections_lost_total{cluster=\"east\"} 1\n");
	link_fixture_expect_metric(&f,
				   "headgate_multikueue_cluster_connected{cluster=\"east\"} 0\n");
	strbuf_reset(&f.log);
	link_fixture_faults(&f, "[]");
	link_fixture_run(&f, 20 * S);
	assert_true(link_is_up(f.l));
	assert_true(link_source(f.l) > 1);
	/* Everything is listed again. */
	assert_non_null(strstr(f.log.p, "+ workloads team/a;"));
	assert_non_null(strstr(f.log.p, "+ workloads team/frame;"));
	link_fixture_end(&f);
}

/* A failure of a list or watch. */
static void send_health(struct link_fixture *f, enum sched_resource r, enum reflector_reason reason)
{
	struct sched_msg *m = message_new(SCHED_MSG_WATCH);

	m->source = link_source(f->l);
	m->resource = r;
	m->reason = reason;
	m->text = "why";
	link_fixture_take(f, m);
}

static void failures_that_lose_it(void **state)
{
	static const struct {
		const char *name;
		enum reflector_reason reason;
		bool connecting, at_once, later; /* the connection is over */
	} rows[] = {
		{ "unreachable", REFLECTOR_REASON_UNREACHABLE, true, false, true },
		{ "timeout", REFLECTOR_REASON_TIMEOUT, false, false, true },
		{ "too large", REFLECTOR_REASON_TOO_LARGE, false, false, false },
		{ "server", REFLECTOR_REASON_SERVER, false, false, true },
		{ "refused", REFLECTOR_REASON_REFUSED, true, true, true },
		{ "gone", REFLECTOR_REASON_GONE, false, false, false },
		{ "invalid", REFLECTOR_REASON_INVALID, false, false, true },
		{ "silent", REFLECTOR_REASON_SILENT, false, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct link_fixture f;

		unit_row(rows[i].name);
		link_fixture_begin(&f);
		link_configure(f.l, link_fixture_config("east"), NULL, NULL);
		(void)link_step(f.l);
		send_health(&f, SCHED_WORKLOADS, rows[i].reason);
		assert_int_equal(link_source(f.l) == 0, rows[i].connecting);
		link_fixture_end(&f);
		link_fixture_begin(&f);
		link_fixture_connect_up(&f);
		send_health(&f, SCHED_JOBS, rows[i].reason);
		send_health(&f, SCHED_WORKLOADS, rows[i].reason);
		assert_int_equal(!link_is_up(f.l), rows[i].at_once);
		clock_fake_advance(&f.clock, 4 * S - 1);
		send_health(&f, SCHED_WORKLOADS, rows[i].reason);
		assert_int_equal(!link_is_up(f.l), rows[i].at_once);
		clock_fake_advance(&f.clock, 1);
		send_health(&f, SCHED_JOBS, rows[i].reason);
		assert_int_equal(!link_is_up(f.l), rows[i].at_once);
		send_health(&f, SCHED_WORKLOADS, rows[i].reason);
		assert_int_equal(!link_is_up(f.l), rows[i].later);
		link_fixture_end(&f);
	}
}

/* A watch that was cut now and then, and worked in between, with changes or without. */
static void single_cuts_lose_nothing(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	send_health(&f, SCHED_WORKLOADS, REFLECTOR_REASON_UNREACHABLE);
	clock_fake_advance(&f.clock, 3 * S);
	send_health(&f, SCHED_WORKLOADS, REFLECTOR_REASON_NONE);
	clock_fake_advance(&f.clock, 3 * S);
	send_health(&f, SCHED_WORKLOADS, REFLECTOR_REASON_UNREACHABLE);
	clock_fake_advance(&f.clock, 21 * S);
	send_health(&f, SCHED_WORKLOADS, REFLECTOR_REASON_UNREACHABLE);
	assert_true(link_is_up(f.l));
	clock_fake_advance(&f.clock, 20 * S);
	send_health(&f, SCHED_WORKLOADS, REFLECTOR_REASON_UNREACHABLE);
	assert_false(link_is_up(f.l));
	link_fixture_end(&f);
}

static void rights_are_withdrawn(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_connect_up(&f);
	link_fixture_run(&f, 20 * S);
	cut(&f, "[" LINK_FIXTURE_FORBIDDEN("jobs") "]");
	link_fixture_run(&f, 10 * S);
	assert_true(link_is_up(f.l));
	link_fixture_expect_condition(&f, "True", "Active", "Connected, but cannot read jobs: ");
	cut(&f, "[" LINK_FIXTURE_FORBIDDEN("workloads") "]");
	link_fixture_run(&f, 2 * S);
	assert_false(link_is_up(f.l));
	link_fixture_end(&f);
}

/* Lists are allowed, watches are not: no attempt lasts, and they become rare. */
static void watches_are_refused(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin(&f);
	link_fixture_faults(&f, "[{fault: status, code: 403, method: WATCH, count: 0}]");
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	link_fixture_run(&f, 34 * S); /* 0, 5, 15 */
	assert_int_equal(f.sources, 3);
	link_fixture_run(&f, S);
	assert_int_equal(f.sources, 4);
	link_fixture_end(&f);
}

/* The cluster was read for its prices: no message about an object. */
static void send_survey(struct link_fixture *f)
{
	struct sched_msg *m = message_new(SCHED_MSG_SURVEY);

	m->source = link_source(f->l);
	link_fixture_take(f, m);
}

static void a_cluster_that_sends_too_much(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin_with(&f, (struct link_options){ .max_queued = 6 });
	link_fixture_connect_up(&f); /* exactly as many messages as that */
	assert_int_equal(link_source(f.l), 1);
	send_survey(&f);
	send_survey(&f);
	/* Nothing is handled meanwhile. */
	for (int i = 0; i < 8; i++) {
		static const char *const names[] = {
			LINK_FIXTURE_WORKLOAD("w0", "mine"), LINK_FIXTURE_WORKLOAD("w1", "mine"),
			LINK_FIXTURE_WORKLOAD("w2", "mine"), LINK_FIXTURE_WORKLOAD("w3", "mine"),
			LINK_FIXTURE_WORKLOAD("w4", "mine"), LINK_FIXTURE_WORKLOAD("w5", "mine"),
			LINK_FIXTURE_WORKLOAD("w6", "mine"), LINK_FIXTURE_WORKLOAD("w7", "mine"),
		};

		link_fixture_load(&f, names[i]);
	}
	for (size_t i = 0; i < f.transports.n; i++) {
		(void)mem_transport_run(f.transports.v[i], 1000);
	}
	assert_int_equal(f.queue.n, 7); /* the failure as well */
	link_fixture_run(&f, 0);
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed",
				      "workloads: objects come faster than they can be handled");
	link_fixture_run(&f, 5 * S);
	assert_int_equal(f.sources, 2);
	link_fixture_end(&f);
}

/* As many objects as are allowed in one list, and one more. */
static void a_cluster_that_has_too_much(void **state)
{
	struct link_fixture f;

	(void)state;
	link_fixture_begin_with(&f, (struct link_options){ .max_objects = 2 });
	link_fixture_load(&f, LINK_FIXTURE_WORKLOAD("a2", "mine"));
	link_fixture_connect_up(&f);
	link_fixture_load(&f, LINK_FIXTURE_QUEUE("lq2"));
	link_fixture_run(&f, 20 * S);
	assert_int_equal(link_source(f.l), 1);
	link_fixture_load(&f, LINK_FIXTURE_QUEUE("lq3"));
	link_fixture_run(&f, 0);
	assert_null(strstr(f.log.p, "lq3"));
	link_fixture_expect_condition(&f, "False", "ClientConnectionFailed",
				      "the cluster has more objects than are allowed");
	link_fixture_end(&f);
}

static struct strbuf logged = STRBUF_INIT;

static void on_line(struct str line, void *ctx UNUSED)
{
	strbuf_add_str(&logged, line);
}

static unsigned lines_with(const char *text)
{
	unsigned n = 0;

	for (const char *p = logged.p; p != NULL && (p = strstr(p, text)) != NULL; p++) {
		n++;
	}
	strbuf_reset(&logged);
	return n;
}

/* Retries fail for the same reason again and again. */
static void failures_are_logged_once(void **state)
{
	struct link_fixture f;

	(void)state;
	log_set_level(LOG_INFO);
	log_set_sink(on_line, NULL);
	link_fixture_begin(&f);
	link_configure(f.l, link_fixture_config("east"), NULL, NULL);
	(void)link_step(f.l);
	send_health(&f, SCHED_WORKLOADS, REFLECTOR_REASON_SERVER);
	assert_int_equal(lines_with("failed"), 0); /* the attempt goes on */
	link_fixture_run(&f, S);
	assert_int_equal(lines_with("connected"), 1);
	for (int i = 0; i < 3; i++) {
		send_health(&f, SCHED_JOBS, REFLECTOR_REASON_SERVER);
	}
	assert_int_equal(lines_with("failed"), 1);
	send_health(&f, SCHED_JOBS, REFLECTOR_REASON_NONE);
	assert_int_equal(lines_with("work again"), 1);
	for (int i = 0; i < 2; i++) {
		link_configure(f.l, NULL, "BadKubeConfig", "no Secret");
	}
	assert_int_equal(lines_with("no usable kubeconfig"), 1);
	link_configure(f.l, NULL, "BadKubeConfig", "no key");
	assert_int_equal(lines_with("no usable kubeconfig"), 1);
	link_fixture_end(&f);
	log_set_sink(NULL, NULL);
	log_set_level(LOG_ERROR);
	strbuf_finish(&logged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_outage_is_no_loss),
		cmocka_unit_test(a_lost_connection_is_made_anew),
		cmocka_unit_test(failures_that_lose_it),
		cmocka_unit_test(single_cuts_lose_nothing),
		cmocka_unit_test(rights_are_withdrawn),
		cmocka_unit_test(watches_are_refused),
		cmocka_unit_test(a_cluster_that_sends_too_much),
		cmocka_unit_test(a_cluster_that_has_too_much),
		cmocka_unit_test(failures_are_logged_once),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests_name("multikueue/worker/link, losses", tests, NULL, NULL);
}
