/* The connection to one worker cluster, which is an embedded API server: the transports are stepped
 * by the test, in virtual time. */
#include "scheduler/multikueue/worker/link.h"

#include <string.h>

#include "lib/unit.h"

#include "api/kinds.h"
#include "api/kueue/preemption_gate.h"
#include "apiserver/apiserver.h"
#include "apiserver/mem_transport.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/pool.h"
#include "kube/reflector/reflector.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "process/file.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/base/object_write.h"
#include "scheduler/multikueue/worker_config.h"

#define S CLOCK_NS_PER_S
#define WALL INT64_C(1767225600000000000)
#define CRDS "charts/headgate/files/crds/quota/"
#define DOWN "[{fault: drop-before, count: 0}]"

struct fixture {
	struct apiserver *api;
	struct clock_fake clock;
	struct metric_registry *counters;
	struct link *l;
	struct VEC(struct mem_transport *) transports; /* that exist */
	struct VEC(struct sched_msg *) queue;
	struct strbuf log; /* messages of the present connection: "1 + workloads team/a;" */
	unsigned dropped;  /* messages of earlier ones */
	uint64_t sources;
	bool cannot_connect;
};

static struct fixture *of_transport; /* in which transports are made and end */
static const struct transport_ops *mem_ops;

static void on_destroy(struct transport *t)
{
	struct fixture *f = of_transport;

	for (size_t i = 0; i < f->transports.n; i++) {
		if (mem_transport_base(f->transports.v[i]) == t) {
			f->transports.v[i] = f->transports.v[--f->transports.n];
		}
	}
	mem_ops->destroy(t);
}

static int connect_to(void *ctx, const char *cluster, const struct kubeconfig *cfg,
		      struct transport **ret, struct err *err)
{
	static struct transport_ops ops;
	struct fixture *f = ctx;
	struct mem_transport *m;

	assert_string_equal(cluster, "east");
	assert_non_null(cfg);
	/* The second one fails. */
	if (f->cannot_connect && f->transports.n == 1) {
		return err_set(err, ERR_INTERNAL, "no thread");
	}
	m = mem_transport_create(f->api, &f->clock);
	mem_ops = mem_transport_base(m)->ops;
	ops = *mem_ops;
	ops.destroy = on_destroy;
	*ret = mem_transport_base(m);
	(*ret)->ops = &ops;
	vec_push(&f->transports, m);
	return 0;
}

static uint64_t next_source(void *ctx)
{
	return ++((struct fixture *)ctx)->sources;
}

static void post(void *ctx, struct sched_msg *m)
{
	vec_push(&((struct fixture *)ctx)->queue, m);
}

static struct kubeconfig *config(const char *server)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("clusters: [{name: c, cluster: {server: 'https://%s'}}]\n"
				    "contexts: [{name: x, context: {cluster: c}}]\n"
				    "current-context: x\n",
				    server);
	struct kubeconfig *c = NULL;
	const char *reason;

	assert_int_equal(worker_config_parse(str_of(text), &c, &reason, NULL), 0);
	return c;
}

static void load(struct fixture *f, const char *manifest)
{
	struct err err = ERR_INIT;

	if (apiserver_load(f->api, str_of(manifest), clock_wall(&f->clock.base), &err) < 0) {
		fail_msg("%s", err.text);
	}
}

static void load_file(struct fixture *f, const char *path)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	assert_int_equal(file_read_all(path, 1u << 20, &text, NULL), 0);
	load(f, text.p);
}

#define WORKLOAD(name, origin)                                                                     \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " name              \
	", namespace: team, labels: {kueue.x-k8s.io/multikueue-origin: " origin                    \
	"}}, spec: {podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, "    \
	"image: i}]}}}]}}"
#define JOB(name, origin)                                                                          \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: " name                                 \
	", namespace: team, labels: {kueue.x-k8s.io/multikueue-origin: " origin                    \
	"}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"
#define LOCAL_QUEUE(name)                                                                          \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " name            \
	", namespace: team}, spec: {clusterQueue: all}}"

static void faults(struct fixture *f, const char *script)
{
	struct err err = ERR_INIT;

	if (apiserver_set_faults(f->api, str_of(script), &err) < 0) {
		fail_msg("%s", err.text);
	}
}

static void begin_with(struct fixture *f, struct link_options lo)
{
	struct apiserver_options ao = { .seed = 1, .now = WALL };

	*f = (struct fixture){ .log = STRBUF_INIT };
	of_transport = f;
	clock_fake_init(&f->clock, WALL);
	f->api = apiserver_create(&ao);
	f->counters = metric_registry_create();
	load_file(f, CRDS "workloads.yaml");
	load_file(f, CRDS "localqueues.yaml");
	load(f, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
	load(f, WORKLOAD("a", "mine"));
	load(f, WORKLOAD("b", "other"));
	load(f, JOB("ja", "mine"));
	load(f, JOB("jb", "other"));
	load(f, LOCAL_QUEUE("lq"));
	lo.cluster = "east";
	lo.origin = "mine";
	lo.clock = &f->clock.base;
	lo.counters = f->counters;
	lo.request_timeout_ns = 10 * S;
	lo.manual = true;
	lo.seed = 7;
	lo.connect = connect_to;
	lo.next_source = next_source;
	lo.post = post;
	lo.ctx = f;
	f->l = link_create(&lo);
	strbuf_add_c(&f->log, "");
}

static void begin(struct fixture *f)
{
	begin_with(f, (struct link_options){ 0 });
}

static void end(struct fixture *f)
{
	link_destroy(f->l);
	assert_int_equal(f->transports.n, 0);
	for (size_t i = 0; i < f->queue.n; i++) {
		message_free(f->queue.v[i]);
	}
	vec_finish(&f->queue);
	vec_finish(&f->transports);
	apiserver_destroy(f->api);
	metric_registry_destroy(f->counters);
	strbuf_finish(&f->log);
}

static void take(struct fixture *f, struct sched_msg *m)
{
	static const char *const marks[SCHED_MSG_KIND_COUNT_] = {
		[SCHED_MSG_UPSERT] = "+",
		[SCHED_MSG_DELETE] = "-",
		[SCHED_MSG_SYNCED] = "synced",
		[SCHED_MSG_REQUEST_DONE] = "done",
	};

	if (!link_handle(f->l, m)) {
		f->dropped++;
	} else if (marks[m->kind] != NULL) {
		assert_int_equal(m->source, link_source(f->l));
		strbuf_printf(&f->log, "%d %s %s " STR_FMT ";", (int)m->source, marks[m->kind],
			      sched_kinds_names(m->resource)->plural, STR_ARG(m->key));
	}
	message_free(m);
}

static void take_first(struct fixture *f)
{
	struct sched_msg *m = f->queue.v[0];

	f->queue.n--;
	memmove(f->queue.v, f->queue.v + 1, f->queue.n * sizeof(f->queue.v[0]));
	take(f, m);
}

/* One thing that can be done now, in a fixed order; false: nothing. */
static bool half_step(struct fixture *f)
{
	(void)link_step(f->l);
	for (size_t i = 0; i < f->transports.n; i++) {
		if (mem_transport_run(f->transports.v[i], 1) > 0) {
			return true;
		}
	}
	if (f->queue.n > 0) {
		take_first(f);
		return true;
	}
	return link_pool(f->l) != NULL && pool_step(link_pool(f->l));
}

static void settle(struct fixture *f)
{
	while (half_step(f)) {
	}
}

static int64_t wake_at(struct fixture *f)
{
	int64_t at = link_step(f->l);

	for (size_t i = 0; i < f->transports.n; i++) {
		at = clock_earlier(at, mem_transport_wake_at(f->transports.v[i]));
	}
	return link_pool(f->l) == NULL ? at : clock_earlier(at, pool_wake_at(link_pool(f->l)));
}

/* Does everything that happens within the next ns. */
static void run(struct fixture *f, int64_t ns)
{
	int64_t until = clock_mono(&f->clock.base) + ns, at;

	settle(f);
	while ((at = wake_at(f)) <= until) {
		clock_fake_advance(&f->clock, clock_later(at - clock_mono(&f->clock.base), 0));
		settle(f);
	}
	clock_fake_advance(&f->clock, until - clock_mono(&f->clock.base));
	settle(f);
}

static void connect_up(struct fixture *f)
{
	link_configure(f->l, config("east"), NULL, NULL);
	run(f, S);
	assert_true(link_is_up(f->l));
}

/* Those that are in the log in any order; it is emptied. */
static void expect_log(struct fixture *f, const char *const *want, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		len += strlen(want[i]);
		if (strstr(f->log.p, want[i]) == NULL) {
			fail_msg("no %s in %s", want[i], f->log.p);
		}
	}
	if (f->log.len != len) {
		fail_msg("more than expected in %s", f->log.p);
	}
	strbuf_reset(&f->log);
}

static void expect_condition(struct fixture *f, const char *status, const char *reason,
			     const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *why;

	assert_string_equal(link_condition(f->l, &why, &text), status);
	assert_string_equal(why, reason);
	if (strstr(text.p, message) == NULL) {
		fail_msg("no \"%s\" in \"%s\"", message, text.p);
	}
}

static void expect_metric(struct fixture *f, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	exposition_render(f->counters, &text);
	if (strstr(text.p, line) == NULL) {
		fail_msg("no %s in:\n%s", line, text.p);
	}
}

/* --- connecting --------------------------------------------------------------------------------*/

static const char *const first_lists[] = {
	"1 + workloads team/a;", "1 synced workloads ;",     "1 + jobs team/ja;",
	"1 synced jobs ;",       "1 + localqueues team/lq;", "1 synced localqueues ;",
};

static void it_connects(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	assert_true(link_step(f.l) == CLOCK_NEVER);
	assert_int_equal(link_source(f.l), 0);
	assert_null(link_pool(f.l));
	assert_null(link_transport(f.l));
	assert_true(link_is_closed(f.l));
	link_configure(f.l, config("east"), NULL, NULL);
	expect_condition(&f, "False", "ClientConnectionFailed", "not connected yet");
	expect_metric(&f, "headgate_multikueue_cluster_connected{cluster=\"east\"} 0\n");
	run(&f, S);
	assert_true(link_is_up(f.l));
	expect_log(&f, first_lists, ARRAY_LEN(first_lists));
	expect_condition(&f, "True", "Active", "Connected");
	expect_metric(&f, "headgate_multikueue_cluster_connected{cluster=\"east\"} 1\n");
	expect_metric(&f, "connection_attempts_total{cluster=\"east\"} 1\n");
	assert_int_equal(link_gate_fields(f.l), PREEMPTION_GATE_POSITION | PREEMPTION_GATE_STATE);
	assert_true(link_lost_at(f.l) == CLOCK_NEVER);
	assert_non_null(link_transport(f.l));
	assert_false(link_is_closed(f.l));
	load(&f, WORKLOAD("c", "mine"));
	load(&f, WORKLOAD("d", "other"));
	run(&f, S);
	expect_log(&f, (const char *[]){ "1 + workloads team/c;" }, 1);
	end(&f);
}

/* Objects come before SYNCED, and the link is up as soon as the last answer was handled. */
static void it_is_up_after_all_answers(void **state)
{
	static const char *const needed[] = { "synced workloads", "synced jobs",
					      "synced localqueues" };
	struct fixture f;

	(void)state;
	begin(&f);
	link_configure(f.l, config("east"), NULL, NULL);
	while (!link_is_up(f.l)) {
		assert_true(half_step(&f));
	}
	for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
		assert_non_null(strstr(f.log.p, needed[i]));
	}
	assert_int_not_equal(link_gate_fields(f.l), 0);
	end(&f);
}

static void attempts_follow_the_pauses(void **state)
{
	static const int64_t seconds[] = { 5, 10, 20, 40, 80, 160, 320, 320 };
	struct fixture f;

	(void)state;
	begin(&f);
	faults(&f, DOWN);
	link_configure(f.l, config("east"), NULL, NULL);
	run(&f, 0);
	for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
		unit_row_number(i);
		assert_int_equal(f.sources, i + 1);
		assert_int_equal(link_source(f.l), 0);
		expect_condition(&f, "False", "ClientConnectionFailed", "workloads: ");
		run(&f, seconds[i] * S - 1);
		assert_int_equal(f.sources, i + 1);
		run(&f, 1);
	}
	assert_true(link_lost_at(f.l) == WALL);
	expect_metric(&f, "watch_errors_total{cluster=\"east\",resource=\"workloads\","
			  "reason=\"unreachable\"} 9\n");
	faults(&f, "[]");
	run(&f, 320 * S);
	assert_true(link_is_up(f.l));
	end(&f);
}

static void an_attempt_that_hangs_is_cut(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	link_configure(f.l, config("east"), NULL, NULL);
	(void)link_step(f.l); /* no request reaches the server */
	assert_int_equal(link_source(f.l), 1);
	clock_fake_advance(&f.clock, 60 * S - 1);
	assert_true(link_step(f.l) == clock_mono(&f.clock.base) + 1);
	assert_int_equal(link_source(f.l), 1);
	clock_fake_advance(&f.clock, 1);
	assert_true(link_step(f.l) == clock_mono(&f.clock.base) + 5 * S);
	assert_int_equal(link_source(f.l), 0);
	expect_condition(&f, "False", "ClientConnectionFailed",
			 "workloads: no complete list in time");
	run(&f, 5 * S);
	assert_true(link_is_up(f.l));
	end(&f);
}

/* The server answers all the time that it cannot: that may pass, until the limit. */
static void an_attempt_waits_for_a_busy_server(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	faults(&f, "[{fault: status, code: 500, path: /apis/kueue, count: 0}]");
	link_configure(f.l, config("east"), NULL, NULL);
	run(&f, 20 * S);
	assert_int_equal(link_source(f.l), 1);
	run(&f, 40 * S);
	expect_condition(&f, "False", "ClientConnectionFailed",
			 "workloads: no complete list in time: ");
	run(&f, 5 * S);
	faults(&f, "[]");
	run(&f, 30 * S);
	assert_true(link_is_up(f.l));
	assert_int_equal(link_source(f.l), 2);
	end(&f);
}

static void a_transport_cannot_be_made(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.cannot_connect = true;
	link_configure(f.l, config("east"), NULL, NULL);
	run(&f, 0);
	assert_int_equal(f.transports.n, 0);
	expect_condition(&f, "False", "ClientConnectionFailed",
			 "no thread; connection attempts: 1");
	f.cannot_connect = false;
	run(&f, 5 * S);
	assert_true(link_is_up(f.l));
	end(&f);
}

/* --- rights ------------------------------------------------------------------------------------*/

#define FORBIDDEN(resource) "{fault: status, code: 403, count: 0, path: '/apis/.*/" resource "'}"

static void lists_that_are_not_needed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	faults(&f, "[" FORBIDDEN("localqueues") ", " FORBIDDEN("jobs") "]");
	connect_up(&f);
	expect_log(&f, first_lists, 2);
	expect_condition(&f, "True", "Active", "Connected, but cannot read jobs: ");
	expect_condition(&f, "True", "Active", "; localqueues: ");
	expect_metric(&f, "watch_errors_total{cluster=\"east\",resource=\"jobs\","
			  "reason=\"refused\"} ");
	faults(&f, "[" FORBIDDEN("jobs") "]");
	run(&f, 60 * S); /* they are asked for again */
	expect_log(&f, first_lists + 4, 2);
	expect_condition(&f, "True", "Active", "Connected, but cannot read jobs: ");
	assert_int_equal(link_source(f.l), 1);
	end(&f);
}

static void workloads_are_needed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	faults(&f, "[" FORBIDDEN("workloads") "]");
	link_configure(f.l, config("east"), NULL, NULL);
	run(&f, S);
	assert_int_equal(link_source(f.l), 0);
	expect_condition(&f, "False", "ClientConnectionFailed", "workloads: ");
	expect_condition(&f, "False", "ClientConnectionFailed", "connection attempts: 1");
	end(&f);
}

/* Without the right to read the definition nothing is known of gates; that keeps nothing back. */
static void the_definition_cannot_be_read(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	faults(&f, "[" FORBIDDEN("customresourcedefinitions") "]");
	connect_up(&f);
	assert_int_equal(link_gate_fields(f.l), 0);
	end(&f);
}

/* --- losing ------------------------------------------------------------------------------------*/

/* The frames that are on their way are lost, and their streams cut. */
static void cut(struct fixture *f, const char *script)
{
	load(f, WORKLOAD("frame", "mine"));
	load(f, JOB("frame", "mine"));
	load(f, LOCAL_QUEUE("frame"));
	faults(f, script);
	for (size_t i = 0; i < f->transports.n; i++) {
		while (mem_transport_ready(f->transports.v[i]) > 0) {
			mem_transport_lose(f->transports.v[i], 0);
		}
	}
}

static void a_short_outage_is_no_loss(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	connect_up(&f);
	strbuf_reset(&f.log);
	cut(&f, DOWN);
	run(&f, 3 * S);
	faults(&f, "[]");
	run(&f, 30 * S);
	assert_true(link_is_up(f.l));
	assert_int_equal(link_source(f.l), 1);
	assert_non_null(strstr(f.log.p, "1 + workloads team/frame;"));
	end(&f);
}

static void a_lost_connection_is_made_anew(void **state)
{
	struct fixture f;
	int64_t lost;

	(void)state;
	begin(&f);
	connect_up(&f);
	run(&f, 100 * S);
	strbuf_reset(&f.log);
	cut(&f, DOWN);
	lost = clock_wall(&f.clock.base);
	run(&f, 3 * S);
	assert_true(link_is_up(f.l));
	run(&f, 7 * S);
	assert_false(link_is_up(f.l));
	assert_true(link_lost_at(f.l) >= lost + 4 * S && link_lost_at(f.l) <= lost + 10 * S);
	expect_condition(&f, "False", "ClientConnectionFailed", "workloads: ");
	expect_metric(&f, "connections_lost_total{cluster=\"east\"} 1\n");
	expect_metric(&f, "headgate_multikueue_cluster_connected{cluster=\"east\"} 0\n");
	strbuf_reset(&f.log);
	faults(&f, "[]");
	run(&f, 20 * S);
	assert_true(link_is_up(f.l));
	assert_true(link_source(f.l) > 1);
	/* Everything is listed again. */
	assert_non_null(strstr(f.log.p, "+ workloads team/a;"));
	assert_non_null(strstr(f.log.p, "+ workloads team/frame;"));
	end(&f);
}

/* A failure of a list or watch. */
static void send_health(struct fixture *f, enum sched_resource r, enum reflector_reason reason)
{
	struct sched_msg *m = message_new(SCHED_MSG_WATCH);

	m->source = link_source(f->l);
	m->resource = r;
	m->reason = reason;
	m->text = "why";
	take(f, m);
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
		struct fixture f;

		unit_row(rows[i].name);
		begin(&f);
		link_configure(f.l, config("east"), NULL, NULL);
		(void)link_step(f.l);
		send_health(&f, SCHED_WORKLOADS, rows[i].reason);
		assert_int_equal(link_source(f.l) == 0, rows[i].connecting);
		end(&f);
		begin(&f);
		connect_up(&f);
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
		end(&f);
	}
}

/* A watch that was cut now and then, and worked in between, with changes or without. */
static void single_cuts_lose_nothing(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	connect_up(&f);
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
	end(&f);
}

static void rights_are_withdrawn(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	connect_up(&f);
	run(&f, 20 * S);
	cut(&f, "[" FORBIDDEN("jobs") "]");
	run(&f, 10 * S);
	assert_true(link_is_up(f.l));
	expect_condition(&f, "True", "Active", "Connected, but cannot read jobs: ");
	cut(&f, "[" FORBIDDEN("workloads") "]");
	run(&f, 2 * S);
	assert_false(link_is_up(f.l));
	end(&f);
}

/* Lists are allowed, watches are not: no attempt lasts, and they become rare. */
static void watches_are_refused(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	faults(&f, "[{fault: status, code: 403, method: WATCH, count: 0}]");
	link_configure(f.l, config("east"), NULL, NULL);
	run(&f, 34 * S); /* 0, 5, 15 */
	assert_int_equal(f.sources, 3);
	run(&f, S);
	assert_int_equal(f.sources, 4);
	end(&f);
}

static void a_cluster_that_sends_too_much(void **state)
{
	struct fixture f;

	(void)state;
	begin_with(&f, (struct link_options){ .max_queued = 6 });
	connect_up(&f); /* exactly as many messages as that */
	assert_int_equal(link_source(f.l), 1);
	/* Nothing is handled meanwhile. */
	for (int i = 0; i < 8; i++) {
		static const char *const names[] = {
			WORKLOAD("w0", "mine"), WORKLOAD("w1", "mine"), WORKLOAD("w2", "mine"),
			WORKLOAD("w3", "mine"), WORKLOAD("w4", "mine"), WORKLOAD("w5", "mine"),
			WORKLOAD("w6", "mine"), WORKLOAD("w7", "mine"),
		};

		load(&f, names[i]);
	}
	for (size_t i = 0; i < f.transports.n; i++) {
		(void)mem_transport_run(f.transports.v[i], 1000);
	}
	assert_int_equal(f.queue.n, 7); /* the failure as well */
	run(&f, 0);
	expect_condition(&f, "False", "ClientConnectionFailed",
			 "workloads: objects come faster than they can be handled");
	run(&f, 5 * S);
	assert_int_equal(f.sources, 2);
	end(&f);
}

/* --- configuration -----------------------------------------------------------------------------*/

static void a_new_kubeconfig(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	connect_up(&f);
	strbuf_reset(&f.log);
	link_configure(f.l, config("east"), NULL, NULL); /* the same */
	assert_int_equal(link_source(f.l), 1);
	load(&f, WORKLOAD("late", "mine"));
	for (size_t i = 0; i < f.transports.n; i++) {
		(void)mem_transport_run(f.transports.v[i], 1000);
	}
	assert_int_equal(f.queue.n, 1); /* posted, not handled */
	link_configure(f.l, config("west"), NULL, NULL);
	assert_int_equal(link_source(f.l), 0);
	assert_int_equal(f.transports.n, 0);
	run(&f, 0);
	assert_true(link_is_up(f.l));
	assert_int_equal(link_source(f.l), 2);
	assert_int_equal(f.sources, 2);
	assert_int_equal(f.dropped, 1);
	assert_null(strstr(f.log.p, "1 "));
	assert_non_null(strstr(f.log.p, "2 + workloads team/late;"));
	end(&f);
}

static void no_kubeconfig(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	connect_up(&f);
	link_configure(f.l, NULL, "InsecureKubeConfig", "exec runs a program");
	assert_true(link_is_closed(f.l));
	expect_condition(&f, "False", "InsecureKubeConfig", "exec runs a program");
	assert_true(link_step(f.l) == CLOCK_NEVER);
	link_configure(f.l, NULL, "BadKubeConfig", "no Secret");
	expect_condition(&f, "False", "BadKubeConfig", "no Secret");
	link_configure(f.l, config("east"), NULL, NULL); /* that of before */
	run(&f, 0);
	assert_true(link_is_up(f.l));
	end(&f);
}

/* --- writes ------------------------------------------------------------------------------------*/

static void add_write(struct fixture *f)
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
	struct fixture f;

	(void)state;
	begin(&f);
	connect_up(&f);
	strbuf_reset(&f.log);
	add_write(&f);
	run(&f, S);
	expect_log(&f, (const char *[]){ "1 done workloads team/a;", "1 - workloads team/a;" }, 2);
	end(&f);
}

static bool forbid(void *ctx UNUSED)
{
	return false;
}

static void writes_need_leave(void **state)
{
	struct fixture f;

	(void)state;
	begin_with(&f, (struct link_options){ .may_send = forbid });
	connect_up(&f); /* reading needs none */
	strbuf_reset(&f.log);
	add_write(&f);
	run(&f, S);
	expect_log(&f, (const char *[]){ "1 done workloads team/a;" }, 1);
	end(&f);
}

/* --- the end -----------------------------------------------------------------------------------*/

static void it_can_end_at_every_stage(void **state)
{
	bool more = true;

	(void)state;
	for (unsigned n = 0; more; n++) {
		struct fixture f;

		unit_row_number(n);
		begin(&f);
		link_configure(f.l, config("east"), NULL, NULL);
		for (unsigned i = 0; i < n && more; i++) {
			more = half_step(&f);
		}
		if (link_pool(f.l) != NULL) {
			add_write(&f);
			(void)pool_step(link_pool(f.l));
		}
		end(&f);
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
		cmocka_unit_test(a_short_outage_is_no_loss),
		cmocka_unit_test(a_lost_connection_is_made_anew),
		cmocka_unit_test(failures_that_lose_it),
		cmocka_unit_test(single_cuts_lose_nothing),
		cmocka_unit_test(rights_are_withdrawn),
		cmocka_unit_test(watches_are_refused),
		cmocka_unit_test(a_cluster_that_sends_too_much),
		cmocka_unit_test(a_new_kubeconfig),
		cmocka_unit_test(no_kubeconfig),
		cmocka_unit_test(answers_to_writes_have_the_source),
		cmocka_unit_test(writes_need_leave),
		cmocka_unit_test(it_can_end_at_every_stage),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests_name("multikueue/worker/link", tests, NULL, NULL);
}
