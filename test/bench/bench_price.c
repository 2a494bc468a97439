/* bench_price: what a survey of a worker cluster does on its transport's thread, without I/O: pages
 * of 500 Workloads into the model, the model, the price of one Workload. CPU time; of the pages the
 * slowest, of the prices the best. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "bench/growth.h"
#include "kube/list_page.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/orchestrate/price_model.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define PAGE 500
#define QUEUES 20
#define ROUNDS 10
#define PADDING 1500 /* bytes of managed fields */

static void take(void *ctx, struct str object, const struct cut_meta *meta)
{
	price_model_take(ctx, message_decode_item(SCHED_WORKLOADS, object, meta));
}

static void take_one(struct price_model *m, enum sched_resource r, const char *key,
		     const char *json)
{
	price_model_take(m, message_decode(r, str_of(key), str_of(json), 0));
}

/* QUEUES ClusterQueues in a cohort, full of Workloads of one cpu; those of q0 can be preempted by
 * ns/p, which wants ten. */
static void add_queues(struct price_model *m, unsigned workloads)
{
	take_one(m, SCHED_NAMESPACES, "ns", "{\"metadata\":{\"name\":\"ns\"}}");
	take_one(m, SCHED_FLAVORS, "f", "{\"metadata\":{\"name\":\"f\"},\"spec\":{}}");
	for (unsigned i = 0; i < QUEUES; i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, key = STRBUF_INIT;

		strbuf_printf(&key, "q%u", i);
		strbuf_printf(&json,
			      "{\"metadata\":{\"name\":\"q%u\"},\"spec\":{\"cohortName\":\"c\","
			      "\"namespaceSelector\":{},\"preemption\":{\"withinClusterQueue\":"
			      "\"LowerPriority\",\"reclaimWithinCohort\":\"Any\"},"
			      "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{"
			      "\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":"
			      "\"%u\"}]}]}]}}",
			      i, workloads / QUEUES);
		take_one(m, SCHED_CLUSTER_QUEUES, key.p, json.p);
	}
	take_one(m, SCHED_LOCAL_QUEUES, "ns/lq",
		 "{\"metadata\":{\"name\":\"lq\",\"namespace\":\"ns\"},\"spec\":{\"clusterQueue\":"
		 "\"q0\"}}");
	price_model_rules_complete(m);
}

static void add_workload(struct strbuf *out, const char *name, unsigned queue, unsigned pods)
{
	static const char pod[] =
		"\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
		"\"terminationGracePeriodSeconds\":30,\"containers\":[{\"name\":\"c\",\"image\":"
		"\"registry.example/team/app:v1\",\"command\":[\"sh\",\"-c\",\"exec work\"],"
		"\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}";

	strbuf_printf(out,
		      "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\","
		      "\"creationTimestamp\":\"2026-01-15T09:00:00Z\",\"managedFields\":[{"
		      "\"manager\":\"%*s\"}]},\"spec\":{\"queueName\":\"lq\",\"priority\":%u,"
		      "\"podSets\":[{\"name\":\"main\",\"count\":%u,%s}]},\"status\":{",
		      name, name, PADDING, "m", pods > 1 ? 10 : 0, pods, pod);
	if (pods == 1) {
		strbuf_printf(out,
			      "\"admission\":{\"clusterQueue\":\"q%u\",\"podSetAssignments\":[{"
			      "\"name\":\"main\",\"count\":1,\"flavors\":{\"cpu\":\"f\"},"
			      "\"resourceUsage\":{\"cpu\":\"1\"}}]},\"conditions\":["
			      "{\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":\"r\","
			      "\"message\":\"\",\"lastTransitionTime\":\"2026-01-15T09:00:00Z\"},"
			      "{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"r\","
			      "\"message\":\"\",\"lastTransitionTime\":\"2026-01-15T09:00:00Z\"}]",
			      queue);
	}
	strbuf_add_c(out, "}}");
}

/* Returns the time of the slowest page. */
static double add_pages(struct price_model *m, unsigned workloads)
{
	double worst = 0;

	for (unsigned i = 0; i < workloads; i += PAGE) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		struct list_page page;
		double begun;

		strbuf_add_c(&body, "{\"metadata\":{},\"items\":[");
		for (unsigned k = i; k < i + PAGE && k < workloads; k++) {
			char name[32];

			snprintf(name, sizeof(name), "w%u", k);
			strbuf_add_c(&body, k > i ? "," : "");
			add_workload(&body, k == 0 ? "p" : name, k % QUEUES, k == 0 ? 10 : 1);
		}
		strbuf_add_c(&body, "]}");
		begun = growth_now_ms();
		if (list_page_cut(strbuf_str(&body), take, m, &page, NULL) < 0) {
			abort();
		}
		worst = fmax(worst, growth_now_ms() - begun);
	}
	return worst;
}

static void bench(const struct kueue_conf *conf, unsigned workloads)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct price_model *m = price_model_create(conf);
	double page, model, price = INFINITY;
	struct price found = { .n = 0 };

	add_queues(m, workloads);
	page = add_pages(m, workloads);
	model = growth_now_ms();
	price_model_complete(m);
	model = growth_now_ms() - model;
	for (int i = 0; i < ROUNDS; i++) {
		double begun = growth_now_ms();

		price_model_find(m, STR_LIT("ns/p"), NULL, 0, arena, &found);
		price = fmin(price, growth_now_ms() - begun);
	}
	printf("%u workloads: page %.1f ms, model %.1f ms, price %.3f ms, %zu victims\n", workloads,
	       page, model, price, found.n);
	price_model_destroy(m);
}

int main(void)
{
	static const unsigned sizes[] = { 1000, 10000, 50000 };
	struct kueue_conf *conf = NULL;

	if (kueue_conf_read(NULL, NULL, NULL, &conf, NULL) < 0) {
		return 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		bench(conf, sizes[i]);
	}
	kueue_conf_destroy(conf);
	return 0;
}
