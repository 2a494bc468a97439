#include "lib/workloads/workload_cache_fixture.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/model/quota_store.h"

#define NOW (INT64_C(1700000000) * 1000000000)

static void on_workload(void *ctx, uint32_t id UNUSED, struct str key UNUSED, struct sched_msg *m)
{
	struct workload_cache_fixture *f = ctx;

	*(m == NULL ? &f->gone : &f->seen) += 1;
}

static void on_bad(void *ctx, enum sched_resource r UNUSED, struct str key UNUSED, const char *text)
{
	struct workload_cache_fixture *f = ctx;

	snprintf(f->bad, sizeof(f->bad), "%s", text);
	f->nbad++;
}

static void on_written(void *ctx, const struct workload *w UNUSED, enum sched_outcome outcome,
		       const char *text UNUSED)
{
	struct workload_cache_fixture *f = ctx;

	*(outcome == SCHED_DONE ? &f->written : &f->failed) += 1;
}

/* Reads the cohorts above a queue, as metrics do. */
static void on_status(void *ctx, const struct workload *w UNUSED,
		      const struct workload_status *before UNUSED,
		      const struct workload_status *after UNUSED)
{
	struct workload_cache_fixture *f = ctx;
	const struct quota_node *n =
		quota_queue_find(workload_cache_model(f->cache), STR_LIT("team"));

	f->changed++;
	if (n != NULL) {
		assert_int_equal(forest_parent(workload_cache_forest(f->cache), n->id), MODEL_NONE);
	}
}

void workload_cache_fixture_init(struct workload_cache_fixture *f)
{
	struct workload_cache_listener l = { .on_workload = on_workload,
					     .on_status = on_status,
					     .on_bad_object = on_bad,
					     .on_written = on_written,
					     .ctx = f };

	*f = (struct workload_cache_fixture){ .now = NOW, .version = 100 };
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &f->conf, NULL), 0);
	f->cache = workload_cache_create(f->conf, &l);
	f->cycle = admission_cycle_create(workload_cache_forest(f->cache));
}

void workload_cache_fixture_finish(struct workload_cache_fixture *f)
{
	admission_cycle_destroy(f->cycle);
	workload_cache_destroy(f->cache);
	kueue_conf_destroy(f->conf);
}

static void apply(struct workload_cache_fixture *f, struct sched_msg *m)
{
	workload_cache_apply(f->cache, m, f->now);
	message_free(m);
}

static void see_at(struct workload_cache_fixture *f, enum sched_resource r, const char *key,
		   const char *json, int64_t version)
{
	struct sched_msg *m = message_decode(r, str_of(key), str_of(json), version);

	assert_int_equal(m->kind, SCHED_MSG_UPSERT);
	apply(f, m);
}

void workload_cache_fixture_see(struct workload_cache_fixture *f, enum sched_resource r,
				const char *key, const char *json)
{
	see_at(f, r, key, json, ++f->version);
}

void workload_cache_fixture_gone(struct workload_cache_fixture *f, enum sched_resource r,
				 const char *key)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	m->resource = r;
	m->key = arena_str(m->arena, str_of(key));
	apply(f, m);
}

void workload_cache_fixture_sync(struct workload_cache_fixture *f, enum sched_resource r)
{
	struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

	m->resource = r;
	apply(f, m);
}

void workload_cache_fixture_sync_all(struct workload_cache_fixture *f)
{
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		workload_cache_fixture_sync(f, (enum sched_resource)r);
	}
}

void workload_cache_fixture_world(struct workload_cache_fixture *f)
{
	workload_cache_fixture_see(f, SCHED_NAMESPACES, "ns", "{\"metadata\":{\"name\":\"ns\"}}");
	workload_cache_fixture_see(f, SCHED_FLAVORS, "default",
				   "{\"metadata\":{\"name\":\"default\",\"generation\":1}}");
	workload_cache_fixture_see(
		f, SCHED_CLUSTER_QUEUES, "team",
		"{\"metadata\":{\"name\":\"team\",\"generation\":1},\"spec\":{"
		"\"namespaceSelector\":{},\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"}"
		","
		"\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"
		"\"default\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"3\"}]}]}]}}");
	workload_cache_fixture_see(f, SCHED_LOCAL_QUEUES, "ns/lq",
				   "{\"metadata\":{\"name\":\"lq\",\"namespace\":\"ns\","
				   "\"generation\":1},\"spec\":{\"clusterQueue\":\"team\"}}");
	workload_cache_fixture_sync_all(f);
}

struct shape {
	const char *name, *uid, *cpu, *status;
	int priority;
	bool again; /* by GET */
	bool gated; /* spec.preemptionGates: g */
};

static void add(struct workload_cache_fixture *f, const struct shape *w, int64_t version)
{
	struct sched_msg *m;
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", w->name);
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"%s\","
		"\"generation\":1,\"creationTimestamp\":\"2023-01-01T00:00:00Z\"},\"spec\":{"
		"\"queueName\":\"lq\",\"priority\":%d%s,\"podSets\":[{\"name\":\"main\",\"count\":"
		"1,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{"
		"\"requests\":{\"cpu\":\"%s\"}}}]}}}]},\"status\":{%s}}",
		w->name, w->uid, w->priority,
		w->gated ? ",\"preemptionGates\":[{\"name\":\"g\"}]" : "", w->cpu, w->status);

	m = message_decode(SCHED_WORKLOADS, str_of(key), str_of(json), version);
	m->reread = w->again;
	apply(f, m);
}

void workload_cache_fixture_workload(struct workload_cache_fixture *f, const char *name,
				     int priority, const char *cpu, const char *status)
{
	CLEANUP(xmalloc_freep) char *uid = xmalloc_printf("u-%s", name);
	struct shape w = {
		.name = name, .uid = uid, .cpu = cpu, .status = status, .priority = priority
	};

	add(f, &w, ++f->version);
}

void workload_cache_fixture_gated(struct workload_cache_fixture *f, const char *name,
				  const char *status)
{
	CLEANUP(xmalloc_freep) char *uid = xmalloc_printf("u-%s", name);
	struct shape w = { .name = name, .uid = uid, .cpu = "1", .status = status, .gated = true };

	add(f, &w, ++f->version);
}

void workload_cache_fixture_workload_at(struct workload_cache_fixture *f, const char *name,
					const char *uid, const char *cpu, const char *status,
					int64_t version)
{
	struct shape w = { .name = name, .uid = uid, .cpu = cpu, .status = status };

	add(f, &w, version);
}

void workload_cache_fixture_read_again(struct workload_cache_fixture *f, const char *name,
				       const char *uid, const char *cpu, const char *status,
				       int64_t version)
{
	struct shape w = { .name = name, .uid = uid, .cpu = cpu, .status = status, .again = true };

	add(f, &w, version);
}

struct workload *workload_cache_fixture_get(const struct workload_cache_fixture *f,
					    const char *name)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);

	return quota_workload_find(workload_cache_model(f->cache), str_of(key));
}

void workload_cache_fixture_cycle(struct workload_cache_fixture *f)
{
	const struct quota_model *q = workload_cache_model(f->cache);
	const struct admission_decisions *d;

	(void)workload_cache_settle(f->cache, f->now);
	d = admission_cycle_run(f->cycle, f->now);
	for (size_t i = 0; i < d->n; i++) {
		const struct workload *w = q->workloads.v[d->v[i].workload];
		struct workload_status_events events = { NULL, 0, 0 };

		workload_status_decide(workload_cache_edit(f->cache, w), q, &d->v[i], f->now,
				       &events);
		(void)workload_cache_commit(f->cache, w);
		vec_finish(&events);
	}
	for (size_t i = 0; i < d->n; i++) {
		admission_apply(workload_cache_forest(f->cache), &d->v[i]);
	}
}

const char *workload_cache_fixture_reason(const struct workload_cache_fixture *f, const char *name,
					  const char *type)
{
	const struct workload *w = workload_cache_fixture_get(f, name);
	const struct condition *c;

	assert_non_null(w);
	c = workload_status_condition(workload_cache_status(f->cache, w), type);
	return c == NULL ? "" : c->reason;
}

uint64_t workload_cache_fixture_write(struct workload_cache_fixture *f, const char *name)
{
	struct workload_cache_write w;

	assert_true(workload_cache_next_write(f->cache, &w));
	assert_ptr_equal(w.workload, workload_cache_fixture_get(f, name));
	return w.version;
}

void workload_cache_fixture_no_write(struct workload_cache_fixture *f)
{
	struct workload_cache_write w;

	assert_false(workload_cache_next_write(f->cache, &w));
}

void workload_cache_fixture_done(struct workload_cache_fixture *f, const char *name, uint64_t write,
				 enum sched_outcome outcome, int64_t version)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	m->request = SCHED_REQ_WORKLOAD;
	m->resource = SCHED_WORKLOADS;
	m->key = str_of(arena_printf(m->arena, "ns/%s", name));
	m->uid = arena_printf(m->arena, "u-%s", name);
	m->version = write;
	m->outcome = outcome;
	m->resource_version = version;
	m->status = f->status;
	m->text = "no";
	apply(f, m);
}

void workload_cache_fixture_later(struct workload_cache_fixture *f, int64_t seconds)
{
	f->now += seconds * 1000000000;
	(void)workload_cache_settle(f->cache, f->now);
}
