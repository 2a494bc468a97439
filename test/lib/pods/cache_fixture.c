#include "lib/pods/cache_fixture.h"
#include "lib/pods/ledger_verify.h"
#include "scheduler/base/message_decode.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

const struct cache_fixture_pod cache_fixture_running = {
	.name = "p", .group = "g", .node = "n", .phase = "Running"
};
const struct cache_fixture_pod cache_fixture_pending = { .name = "r",
							 .group = "g",
							 .opted_in = true };

static void on_bad(void *ctx, enum sched_resource r, struct str key, const char *text)
{
	struct cache_fixture *f = ctx;

	(void)r;
	(void)key;
	f->bad++;
	snprintf(f->bad_text, sizeof(f->bad_text), "%s", text);
}

static void on_gone(void *ctx, const struct task *t)
{
	struct cache_fixture *f = ctx;

	(void)t;
	f->gone++;
}

static void on_foreign_bind(void *ctx, const struct task *t, const char *node)
{
	struct cache_fixture *f = ctx;

	assert_non_null(t->uid);
	assert_non_null(node);
	f->foreign_binds++;
}

static void on_foreign_podgroup(void *ctx, const struct podgroup *g)
{
	struct cache_fixture *f = ctx;

	assert_true(g->exists);
	f->foreign_podgroups++;
}

struct cache_time cache_fixture_time(const struct cache_fixture *f)
{
	return (struct cache_time){ .now = f->now, .wall = f->now + f->step };
}

void cache_fixture_check(struct cache_fixture *f)
{
	const char *wrong;

	f->c = cache_cluster(f->cache);
	wrong = cluster_verify(f->c);
	if (wrong == NULL) {
		wrong = ledger_verify(f->c);
	}
	if (wrong != NULL) {
		fail_msg("%s", wrong);
	}
}

void cache_fixture_raw(struct cache_fixture *f, enum sched_resource r, const char *key,
		       const char *json)
{
	struct sched_msg *m = message_decode(r, str_of(key), str_of(json), f->version);

	cache_apply(f->cache, m, cache_fixture_time(f));
	message_free(m);
	cache_fixture_check(f);
}

void cache_fixture_json(struct cache_fixture *f, enum sched_resource r, const char *fmt, ...)
{
	unsigned bad = f->bad;
	char json[4096];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(json, sizeof(json), fmt, ap);
	va_end(ap);
	assert_in_range(n, 1, sizeof(json) - 1);
	cache_fixture_raw(f, r, "key", json);
	if (f->bad != bad) {
		fail_msg("%s: %s", f->bad_text, json);
	}
}

void cache_fixture_delete(struct cache_fixture *f, enum sched_resource r, const char *key)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	m->resource = r;
	m->key = str_of(key);
	cache_apply(f->cache, m, cache_fixture_time(f));
	message_free(m);
	cache_fixture_check(f);
}

static void synced(struct cache_fixture *f, enum sched_resource r)
{
	struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

	m->resource = r;
	cache_apply(f->cache, m, cache_fixture_time(f));
	message_free(m);
}

static bool is_charged_to_workload(void *ctx, const void *pod_object UNUSED)
{
	const struct cache_fixture *f = ctx;

	return f->charged_to_workload;
}

static struct cache_fixture *create(bool reads_budgets)
{
	static const char *const names[] = { "volcano", "headgate", NULL };
	static const char *const gated[] = { "default-scheduler", NULL };
	struct cache_fixture *f = xmalloc_zero(1, sizeof(*f));
	struct cache_options opt = {
		.scheduler_names = names,
		.gate_schedulers = gated,
		.default_queue = "default",
		.found_age_max_ns = INT64_C(900) * 1000000000,
		.attempt_least_ns = INT64_C(60) * 1000000000,
		.attempt_held_ns = INT64_C(1800) * 1000000000,
		.reads_budgets = reads_budgets,
		.listener = { .on_bad_object = on_bad,
			      .on_pod_gone = on_gone,
			      .on_foreign_bind = on_foreign_bind,
			      .on_foreign_podgroup = on_foreign_podgroup,
			      .is_charged_to_workload = is_charged_to_workload,
			      .ctx = f },
	};

	f->cache = cache_create(&opt);
	f->now = INT64_C(1750000000) * 1000000000;
	cache_fixture_check(f);
	(void)cache_fixture_queue(f, "default", NULL, NULL);
	(void)cache_fixture_queue(f, "q", NULL, "4");
	for (unsigned r = 0; r < sched_kinds_watched(false); r++) {
		assert_false(cache_is_synced(f->cache));
		synced(f, (enum sched_resource)r);
	}
	assert_int_equal(cache_is_synced(f->cache), !reads_budgets);
	synced(f, SCHED_BUDGETS);
	assert_true(cache_is_synced(f->cache));
	cache_fixture_check(f);
	return f;
}

struct cache_fixture *cache_fixture_create(void)
{
	return create(false);
}

struct cache_fixture *cache_fixture_create_with_budgets(void)
{
	return create(true);
}

void cache_fixture_destroy(struct cache_fixture *f)
{
	cache_destroy(f->cache);
	free(f);
}

int cache_fixture_setup(void **state)
{
	*state = cache_fixture_create();
	return 0;
}

int cache_fixture_teardown(void **state)
{
	cache_fixture_destroy(*state);
	return 0;
}

static void put_annotations(struct strbuf *b, const struct cache_fixture_pod *p)
{
	const char *sep = "";

	strbuf_add_c(b, ",\"annotations\":{");
	if (p->group != NULL) {
		strbuf_printf(b, "\"scheduling.k8s.io/group-name\":\"%s\"", p->group);
		sep = ",";
	}
	if (p->opted_in) {
		strbuf_printf(b, "%s\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"", sep);
		sep = ",";
	}
	if (p->reserved != NULL) {
		strbuf_printf(b, "%s\"headgate.io/reserved\":\"%s\"", sep, p->reserved);
		sep = ",";
	}
	if (p->bound_by_us) {
		strbuf_printf(b, "%s\"headgate.io/bound-by\":\"headgate-scheduler\"", sep);
	}
	strbuf_add_c(b, "}");
}

static void put_spec(struct strbuf *b, const struct cache_fixture_pod *p)
{
	strbuf_printf(b, "\"spec\":{\"schedulerName\":\"%s\",",
		      p->scheduler == NULL ? "volcano" : p->scheduler);
	if (p->node != NULL) {
		strbuf_printf(b, "\"nodeName\":\"%s\",", p->node);
	}
	if (p->gated || p->foreign_gate) {
		strbuf_printf(b, "\"schedulingGates\":[%s%s%s],",
			      p->gated
				      ? "{\"name\":\"scheduling.volcano.sh/queue-allocation-gate\"}"
				      : "",
			      p->gated && p->foreign_gate ? "," : "",
			      p->foreign_gate ? "{\"name\":\"example.com/gate\"}" : "");
	}
	strbuf_printf(
		b,
		"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}"
		"]}",
		p->cpu == NULL ? "1" : p->cpu);
}

struct task *cache_fixture_pod(struct cache_fixture *f, const struct cache_fixture_pod *p)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	int64_t version = p->version != 0 ? p->version : ++f->version;

	strbuf_printf(&b,
		      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"%s%s\","
		      "\"resourceVersion\":\"%lld\",\"creationTimestamp\":\"2025-06-15T00:00:00Z\"",
		      p->name, p->uid == NULL ? "uid-" : p->uid, p->uid == NULL ? p->name : "",
		      (long long)version);
	if (p->deleted) {
		strbuf_add_c(&b, ",\"deletionTimestamp\":\"2025-06-15T15:06:40Z\"");
	}
	put_annotations(&b, p);
	strbuf_add_c(&b, "},");
	put_spec(&b, p);
	strbuf_printf(&b, ",\"status\":{\"phase\":\"%s\"", p->phase == NULL ? "Pending" : p->phase);
	if (p->reason != NULL) {
		strbuf_printf(&b,
			      ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
			      "\"reason\":\"%s\",\"message\":\"because\","
			      "\"lastTransitionTime\":\"2025-06-15T15:06:00Z\"}]",
			      p->reason);
	}
	strbuf_add_c(&b, "}}");
	cache_fixture_json(f, SCHED_PODS, "%s", b.p);
	return cache_fixture_task(f, p->name);
}

struct task *cache_fixture_task(const struct cache_fixture *f, const char *name)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);

	return cluster_task_find(f->c, str_of(key));
}

struct podgroup *cache_fixture_group(struct cache_fixture *f, const char *name, const char *queue,
				     int min_member)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);

	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"g-%s\","
			   "\"resourceVersion\":\"%lld\"},\"spec\":{\"minMember\":%d,"
			   "\"queue\":\"%s\"}}",
			   name, name, (long long)++f->version, min_member, queue);
	return cluster_podgroup_find(f->c, str_of(key));
}

struct queue *cache_fixture_queue(struct cache_fixture *f, const char *name, const char *parent,
				  const char *cpu)
{
	CLEANUP(xmalloc_freep)
	char *limit = cpu == NULL ? xmalloc_dup("") : xmalloc_printf("\"cpu\":\"%s\"", cpu);

	cache_fixture_json(f, SCHED_QUEUES,
			   "{\"metadata\":{\"name\":\"%s\",\"uid\":\"q-%s\",\"resourceVersion\":"
			   "\"%lld\"},\"spec\":{\"parent\":\"%s\",\"capability\":{%s}}}",
			   name, name, (long long)++f->version, parent == NULL ? "" : parent,
			   limit);
	return queue_find(f->c, str_of(name));
}

struct node *cache_fixture_node(struct cache_fixture *f, const char *name, const char *cpu)
{
	cache_fixture_json(f, SCHED_NODES,
			   "{\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"%lld\",\"labels\":"
			   "{\"zone\":\"a\"}},\"status\":{\"allocatable\":{\"cpu\":\"%s\","
			   "\"pods\":\"110\"}}}",
			   name, (long long)++f->version, cpu);
	return cluster_node_find(f->c, str_of(name));
}

void cache_fixture_done(struct cache_fixture *f, enum sched_request r, const char *key,
			const char *uid, enum sched_outcome outcome)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	m->request = r;
	m->key = str_of(key);
	m->uid = uid;
	m->outcome = outcome;
	m->status = f->status;
	cache_apply(f->cache, m, cache_fixture_time(f));
	message_free(m);
	cache_fixture_check(f);
}

int64_t cache_fixture_charged(const struct cache_fixture *f, const char *queue)
{
	return queue_find(f->c, str_of(queue))->charged.v[RES_CPU];
}
