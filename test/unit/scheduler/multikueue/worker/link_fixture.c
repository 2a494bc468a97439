#include "unit/scheduler/multikueue/worker/link_fixture.h"

#include <string.h>

#include "lib/unit.h"

#include "api/kinds.h"
#include "apiserver/apiserver.h"
#include "apiserver/mem_transport.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/pool.h"
#include "kube/transport.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "process/file.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/worker_config.h"

#define S CLOCK_NS_PER_S
#define CRDS "charts/headgate/files/crds/quota/"

static struct link_fixture *of_transport; /* in which transports are made and end */
static const struct transport_ops *mem_ops;

static void on_destroy(struct transport *t)
{
	struct link_fixture *f = of_transport;

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
	struct link_fixture *f = ctx;
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
	return ++((struct link_fixture *)ctx)->sources;
}

static void post(void *ctx, struct sched_msg *m)
{
	vec_push(&((struct link_fixture *)ctx)->queue, m);
}

struct kubeconfig *link_fixture_config(const char *server)
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

void link_fixture_load(struct link_fixture *f, const char *manifest)
{
	struct err err = ERR_INIT;

	if (apiserver_load(f->api, str_of(manifest), clock_wall(&f->clock.base), &err) < 0) {
		fail_msg("%s", err.text);
	}
}

static void load_file(struct link_fixture *f, const char *path)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	assert_int_equal(file_read_all(path, 1u << 20, &text, NULL), 0);
	link_fixture_load(f, text.p);
}

void link_fixture_faults(struct link_fixture *f, const char *script)
{
	struct err err = ERR_INIT;

	if (apiserver_set_faults(f->api, str_of(script), &err) < 0) {
		fail_msg("%s", err.text);
	}
}

void link_fixture_begin_with(struct link_fixture *f, struct link_options lo)
{
	struct apiserver_options ao = { .seed = 1, .now = LINK_FIXTURE_WALL };

	*f = (struct link_fixture){ .log = STRBUF_INIT };
	of_transport = f;
	clock_fake_init(&f->clock, LINK_FIXTURE_WALL);
	f->api = apiserver_create(&ao);
	f->counters = metric_registry_create();
	load_file(f, CRDS "workloads.yaml");
	load_file(f, CRDS "localqueues.yaml");
	link_fixture_load(f, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
	link_fixture_load(f, LINK_FIXTURE_WORKLOAD("a", "mine"));
	link_fixture_load(f, LINK_FIXTURE_WORKLOAD("b", "other"));
	link_fixture_load(f, LINK_FIXTURE_JOB("ja", "mine"));
	link_fixture_load(f, LINK_FIXTURE_JOB("jb", "other"));
	link_fixture_load(f, LINK_FIXTURE_QUEUE("lq"));
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

void link_fixture_begin(struct link_fixture *f)
{
	link_fixture_begin_with(f, (struct link_options){ 0 });
}

void link_fixture_end(struct link_fixture *f)
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

void link_fixture_take(struct link_fixture *f, struct sched_msg *m)
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

static void take_first(struct link_fixture *f)
{
	struct sched_msg *m = f->queue.v[0];

	f->queue.n--;
	memmove(f->queue.v, f->queue.v + 1, f->queue.n * sizeof(f->queue.v[0]));
	link_fixture_take(f, m);
}

bool link_fixture_half_step(struct link_fixture *f)
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

static void settle(struct link_fixture *f)
{
	while (link_fixture_half_step(f)) {
	}
}

static int64_t wake_at(struct link_fixture *f)
{
	int64_t at = link_step(f->l);

	for (size_t i = 0; i < f->transports.n; i++) {
		at = clock_earlier(at, mem_transport_wake_at(f->transports.v[i]));
	}
	return link_pool(f->l) == NULL ? at : clock_earlier(at, pool_wake_at(link_pool(f->l)));
}

void link_fixture_run(struct link_fixture *f, int64_t ns)
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

void link_fixture_connect_up(struct link_fixture *f)
{
	link_configure(f->l, link_fixture_config("east"), NULL, NULL);
	link_fixture_run(f, S);
	assert_true(link_is_up(f->l));
}

void link_fixture_expect_log(struct link_fixture *f, const char *const *want, size_t n)
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

void link_fixture_expect_condition(struct link_fixture *f, const char *status, const char *reason,
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

void link_fixture_expect_metric(struct link_fixture *f, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	exposition_render(f->counters, &text);
	if (strstr(text.p, line) == NULL) {
		fail_msg("no %s in:\n%s", line, text.p);
	}
}
