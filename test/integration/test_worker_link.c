/* Connections to two worker clusters over TLS, with their threads: one cluster does not answer,
 * ends and comes back, while the other one goes on. The test's thread is the fleet's. */
#include "lib/unit.h"

#include <string.h>

#include "api/kinds.h"
#include "apiserver/manifests.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "collections/mpsc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"
#include "lib/wait.h"
#include "obs/metric.h"
#include "play/kube_fixture.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/worker/link.h"
#include "scheduler/multikueue/worker_config.h"

#define S CLOCK_NS_PER_S
#define CRDS "charts/headgate/files/crds/quota/"
#define HANGS "[{fault: delay, delayMs: 3600000, count: 0}]"

enum { EAST, WEST, CLUSTERS };

struct fleet {
	struct kube_fixture server[CLUSTERS];
	struct link *link[CLUSTERS];
	unsigned seen[CLUSTERS]; /* Workloads that arrived */
	struct mpsc *queue;
	struct metric_registry *counters;
	uint64_t sources;
};

static int connect_to(void *ctx UNUSED, const char *cluster UNUSED, const struct kubeconfig *cfg,
		      struct transport **ret, struct err *err)
{
	return transport_http_create(cfg, "test", ret, err);
}

static uint64_t next_source(void *ctx)
{
	return ++((struct fleet *)ctx)->sources;
}

static void post(void *ctx, struct sched_msg *m)
{
	mpsc_push(((struct fleet *)ctx)->queue, &m->node);
}

static void configure(struct fleet *f, int i)
{
	struct kubeconfig *c = NULL;
	const char *reason;
	struct err err = ERR_INIT;

	if (worker_config_parse(strbuf_str(&f->server[i].text), &c, &reason, &err) < 0) {
		fail_msg("%s", err.text);
	}
	link_configure(f->link[i], c, NULL, NULL);
}

static void load(struct fleet *f, int i, const char *manifest)
{
	struct err err = ERR_INIT;
	int64_t now;
	struct apiserver *s = front_lock(f->server[i].front, &now);
	int r = apiserver_load(s, str_of(manifest), now, &err);

	front_unlock(f->server[i].front);
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

static void add_workload(struct fleet *f, int i, unsigned n)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w%u, "
		      "namespace: default, labels: {kueue.x-k8s.io/multikueue-origin: mine}}, "
		      "spec: {podSets: [{name: main, count: 1, template: {spec: {containers: "
		      "[{name: c, image: i}]}}}]}}",
		      n);
	load(f, i, text.p);
}

static void start_server(struct fleet *f, int i)
{
	static const char *const crds[] = { CRDS "workloads.yaml", CRDS "localqueues.yaml" };
	struct err err = ERR_INIT;

	kube_fixture_start(&f->server[i], "secret", false);
	for (size_t k = 0; k < ARRAY_LEN(crds); k++) {
		int64_t now;
		struct apiserver *s = front_lock(f->server[i].front, &now);

		assert_int_equal(manifests_load_file(s, crds[k], now, &err), 0);
		front_unlock(f->server[i].front);
	}
}

static void start(struct fleet *f)
{
	static const char *const names[] = { "east", "west" };

	*f = (struct fleet){ .queue = mpsc_create(), .counters = metric_registry_create() };
	for (int i = 0; i < CLUSTERS; i++) {
		const struct link_options lo = { .cluster = names[i],
						 .origin = "mine",
						 .clock = clock_real(),
						 .counters = f->counters,
						 .request_timeout_ns = 300 * S,
						 .connect = connect_to,
						 .next_source = next_source,
						 .post = post,
						 .ctx = f };

		start_server(f, i);
		f->link[i] = link_create(&lo);
	}
}

static void take(struct fleet *f, struct sched_msg *m)
{
	for (int i = 0; i < CLUSTERS; i++) {
		if (link_handle(f->link[i], m) && m->kind == SCHED_MSG_UPSERT &&
		    m->resource == SCHED_WORKLOADS) {
			f->seen[i]++;
		}
	}
	message_free(m);
}

static void drain(struct fleet *f)
{
	struct mpsc_node *n = mpsc_drain(f->queue);

	while (n != NULL) {
		struct sched_msg *m = CONTAINER_OF(n, struct sched_msg, node);

		n = n->next;
		take(f, m);
	}
}

static void step(struct fleet *f)
{
	int64_t at = clock_mono(clock_real()) + S;

	drain(f);
	for (int i = 0; i < CLUSTERS; i++) {
		at = clock_earlier(at, link_step(f->link[i]));
	}
	(void)mpsc_wait(f->queue, clock_later(at - clock_mono(clock_real()), 0));
}

static void wait_up(struct fleet *f, int i, bool up)
{
	int64_t deadline = wait_deadline(300 * S);

	while (link_is_up(f->link[i]) != up) {
		if (clock_mono(clock_real()) > deadline) {
			fail_msg("cluster %d is not %s", i, up ? "up" : "lost");
		}
		step(f);
	}
}

/* Changes go on arriving from that cluster. */
static void expect_works(struct fleet *f, int i, unsigned n)
{
	unsigned before = f->seen[i];

	add_workload(f, i, n);
	while (f->seen[i] == before) {
		step(f);
	}
	assert_true(link_is_up(f->link[i]));
}

static void finish(struct fleet *f)
{
	for (int i = 0; i < CLUSTERS; i++) {
		link_destroy(f->link[i]);
	}
	drain(f);
	for (int i = 0; i < CLUSTERS; i++) {
		kube_fixture_stop(&f->server[i]);
	}
	mpsc_destroy(f->queue);
	metric_registry_destroy(f->counters);
}

static void test_one_cluster_does_not_hold_up_another(void **state)
{
	struct fleet f;
	uint64_t before;

	(void)state;
	start(&f);
	kube_fixture_faults(&f.server[EAST], HANGS);
	configure(&f, EAST);
	configure(&f, WEST);
	wait_up(&f, WEST, true);
	expect_works(&f, WEST, 1);
	assert_false(link_is_up(f.link[EAST])); /* its requests hang */
	/* They are given up, and nothing waits for that. */
	link_configure(f.link[EAST], NULL, "BadKubeConfig", "no Secret");
	expect_works(&f, WEST, 2);
	kube_fixture_faults(&f.server[EAST], "[]");
	configure(&f, EAST);
	wait_up(&f, EAST, true);
	expect_works(&f, EAST, 1);
	before = link_source(f.link[EAST]);
	/* The cluster ends, and comes back at another address. */
	kube_fixture_stop(&f.server[EAST]);
	wait_up(&f, EAST, false);
	expect_works(&f, WEST, 3);
	start_server(&f, EAST);
	configure(&f, EAST);
	wait_up(&f, EAST, true);
	assert_true(link_source(f.link[EAST]) > before);
	expect_works(&f, EAST, 2);
	kube_fixture_faults(&f.server[WEST], HANGS); /* for the end */
	finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_cluster_does_not_hold_up_another),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests_name("worker_link", tests, NULL, NULL);
}
