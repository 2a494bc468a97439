/* test/docs/metrics_table.c: prints the reference of the metrics of both daemons as Markdown
 * tables, but those with Kueue's names, which docs/reference/workload-metrics.md explains. It makes
 * the parts of the daemons that register metrics, over a transport that never answers, and reads
 * their registries.
 * Usage: metrics_table INTRODUCTION.md */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/reflector/reflector_report.h"
#include "lib/net/fake_transport.h"
#include "obs/metric.h"
#include "process/file.h"
#include "scheduler/app/engine.h"
#include "scheduler/multikueue/fleet/fleet.h"
#include "scheduler/multikueue/worker/link.h"
#include "scheduler/pods/actions/registry.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "webhook/certs/certs_manager.h"
#include "webhook/certs/webhook_cert.h"
#include "webhook/server/lister.h"
#include "webhook/server/router.h"

#define FILE_MAX_BYTES (1u << 20)

static void check(int r, const struct err *err)
{
	if (r < 0) {
		fprintf(stderr, "metrics_table: %s\n", err->text);
		exit(1);
	}
}

static const char *const types[] = {
	[METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"
};

/* Help texts end with a full stop or not; cells of a table do not. */
static void print_family(void *ctx, const struct metric_info *f)
{
	const char *prefix = ctx;
	size_t len = strlen(f->help);

	if (strncmp(f->name, prefix, strlen(prefix)) != 0) {
		return;
	}
	printf("| `%s` | %s | ", f->name, types[f->type]);
	for (size_t i = 0; i < f->nlabels; i++) {
		printf("%s`%s`", i == 0 ? "" : ", ", f->labels[i]);
	}
	printf(" | %.*s |\n", (int)(len > 0 && f->help[len - 1] == '.' ? len - 1 : len), f->help);
}

static void on_cell(void *ctx UNUSED, const struct metric_info *f UNUSED, const char *values UNUSED,
		    const struct metric_cell *c UNUSED)
{
}

static void print_table(struct metric_registry *r, const char *heading, const char *prefix)
{
	const struct metric_visitor v = { (void *)(uintptr_t)prefix, print_family, on_cell };

	printf("\n## %s\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n", heading);
	metric_visit(r, &v);
}

static struct sched_conf *read_conf(struct err *err)
{
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct conf_options co = { .warn = NULL };
	struct sched_conf *conf = NULL;
	struct known_names names;

	known_names_init(&names, &from);
	co.known = known_names_conf(&names);
	check(conf_parse(str_of(conf_default_text()), "built-in", &co, &conf, err), err);
	known_names_finish(&names);
	return conf;
}

static void print_scheduler(struct clock_fake *clock)
{
	static const char *const names[] = { "volcano", NULL };
	struct metric_registry *r = metric_registry_create();
	struct kueue_conf *quota = NULL;
	struct engine *engine = NULL;
	struct fake_transport *t = fake_transport_create(clock);
	struct reflector_report report;
	struct err err = ERR_INIT;
	struct engine_options eo = { .scheduler_names = names,
				     .default_queue = "default",
				     .transport = fake_transport_base(t),
				     .clock = &clock->base,
				     .counters = r,
				     .gate_workers = 1,
				     .manual = true,
				     .period_ns = CLOCK_NS_PER_S,
				     .request_timeout_ns = CLOCK_NS_PER_S };

	check(kueue_conf_read(NULL, NULL, NULL, &quota, &err), &err);
	eo.kueue_conf = quota;
	check(engine_create(&eo, read_conf(&err), &engine, &err), &err);
	reflector_report_init(&report, "pods", r, &clock->base);
	print_table(r, "headgate-scheduler", "headgate_");
	print_table(r, "Volcano's names", "volcano_");
	fake_transport_destroy(t);
	engine_destroy(engine);
	kueue_conf_destroy(quota);
	metric_registry_destroy(r);
}

/* The orchestrator alone, or the manager, which has its metrics as well. */
static void print_fleet(struct clock_fake *clock, bool manages)
{
	struct metric_registry *r = metric_registry_create();
	struct fake_transport *t = fake_transport_create(clock);
	struct kueue_conf *conf = NULL;
	struct reflector_report report;
	struct err err = ERR_INIT;
	const struct link_options lo = {
		.cluster = "", .origin = "", .clock = &clock->base, .counters = r
	};
	struct fleet_options fo = { .origin = "",
				    .namespace_ = "",
				    .transport = fake_transport_base(t),
				    .clock = &clock->base,
				    .counters = r,
				    .manages = manages,
				    .manual = true };
	struct link *link = link_create(&lo);
	struct fleet *fleet;

	check(kueue_conf_read(NULL, NULL, NULL, &conf, &err), &err);
	fo.conf = conf;
	fleet = fleet_create(&fo);
	reflector_report_init(&report, "workloads", r, &clock->base);
	if (manages) {
		print_table(r, "headgate-scheduler with --controllers=multikueue, besides",
			    "multikueue_");
	} else {
		print_table(r, "headgate-scheduler with --controllers=orchestrator", "headgate_");
	}
	link_destroy(link);
	fleet_destroy(fleet);
	fake_transport_destroy(t);
	kueue_conf_destroy(conf);
	metric_registry_destroy(r);
}

static void print_webhook(struct clock_fake *clock)
{
	struct metric_registry *r = metric_registry_create();
	struct fake_transport *t = fake_transport_create(clock);
	struct lister *lister = lister_create(r);
	struct certs_manager *certs = NULL;
	struct webhook_cert *cert;
	struct router *router = NULL;
	struct router_options ro = { .lister = lister, .registry = r };
	struct err err = ERR_INIT;
	struct certs_manager_options co = { .namespace_ = "ns",
					    .secret = "s",
					    .lease = "l",
					    .service = "s",
					    .selector = "",
					    .identity = "i",
					    .registry = r };

	lister_connect(lister, fake_transport_base(t), &clock->base);
	check(router_create(&ro, &router, &err), &err);
	check(certs_manager_create(&co, &certs, &err), &err);
	cert = webhook_cert_of(certs, r);
	print_table(r, "headgate-webhook", "headgate_");
	lister_stop_lookups(lister);
	fake_transport_destroy(t);
	webhook_cert_close(cert);
	certs_manager_destroy(certs);
	router_destroy(router);
	lister_destroy(lister);
	metric_registry_destroy(r);
}

int main(int argc, char **argv)
{
	CLEANUP(strbuf_finish) struct strbuf introduction = STRBUF_INIT;
	struct clock_fake clock;
	struct err err = ERR_INIT;

	if (argc != 2) {
		fprintf(stderr, "usage: metrics_table INTRODUCTION.md\n");
		return 2;
	}
	check(file_read_all(argv[1], FILE_MAX_BYTES, &introduction, &err), &err);
	fputs(introduction.p, stdout);
	clock_fake_init(&clock, CLOCK_NS_PER_S);
	print_scheduler(&clock);
	print_fleet(&clock, false);
	print_fleet(&clock, true);
	print_webhook(&clock);
	return 0;
}
