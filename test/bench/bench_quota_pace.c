/* bench_quota_pace: the whole Workload engine on a virtual clock, with what Kueue's performance
 * runner does: Workloads of its baseline set at its intervals in 30 ClusterQueues, five finished at
 * a time, and an API server that needs the same time for each write, one after the other or some at
 * a time. How many are evicted, when all are finished, how long they wait; with and without the
 * gate NominalQuotaFirst. Arguments: shares of the set (default: some, and their means). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/workloads/workload_engine_fixture.h"
#include "scheduler/workloads/forest/forest.h"
#include "scheduler/workloads/ingest/workload_cache.h"

#define COHORTS 5
#define QUEUES 30
#define CLASSES 3
#define FINISHING 5                    /* at a time */
#define IN_FLIGHT_MAX 4                /* at most, of the API server */
#define CYCLE_NS (2 * CLOCK_NS_PER_MS) /* from one step of the engine to the next */
#define MEMBER_STATUS "\"status\":{"
#define MEMBER_CONDITIONS "\"conditions\":["

static const struct {
	const char *name;
	int count; /* in each ClusterQueue */
	int64_t interval_ms, runtime_ms;
	int priority, cpu;
} classes[CLASSES] = {
	{ "large", 50, 1200, 1000, 200, 20 },
	{ "medium", 100, 500, 500, 100, 5 },
	{ "small", 350, 100, 200, 50, 1 },
};

struct item { /* a Workload */
	unsigned class, queue;
	int64_t created, admitted, due; /* virtual time; due: when it has run long enough */
	bool is_admitted, is_evicted, is_finishing, is_finished;
	char *status; /* as last written, without the braces */
};

enum request_kind { REQUEST_ENGINE, REQUEST_CREATE, REQUEST_FINISH };

struct request {
	enum request_kind kind;
	uint64_t id;   /* of the transport */
	size_t source; /* of a creation */
	size_t item;   /* SIZE_MAX: not about a Workload */
	char *body;
};

struct source { /* makes the Workloads of one class in one queue */
	unsigned class, queue;
	int left;
	bool busy;
	int64_t at;
};

struct server {
	struct request v[IN_FLIGHT_MAX];
	bool busy[IN_FLIGHT_MAX];
	int64_t until[IN_FLIGHT_MAX];
};

struct play {
	struct workload_engine_fixture f;
	double share;
	int64_t write_ns;
	unsigned slots;
	struct VEC(struct item) items;
	struct VEC(size_t) running; /* items that are admitted and not finished */
	struct VEC(struct request) waiting;
	size_t served; /* of waiting */
	struct source sources[QUEUES * CLASSES];
	struct server server;
	size_t total, finished, finishing;
	unsigned evictions, writes;
};

static int64_t now(const struct play *p)
{
	return clock_mono(&p->f.clock.base);
}

/* --- objects -----------------------------------------------------------------------------------*/

static void see_queue(struct play *p, unsigned queue)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("q%u", queue);
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/q%u", queue);
	CLEANUP(xmalloc_freep)
	char *cluster = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"generation\":1," WORKLOAD_ENGINE_FIXTURE_KEPT
		"},\"spec\":{\"namespaceSelector\":{},\"cohortName\":\"c%u\",\"preemption\":{"
		"\"reclaimWithinCohort\":\"Any\",\"withinClusterQueue\":\"LowerPriority\"},"
		"\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"
		"\"default\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"20\","
		"\"borrowingLimit\":\"100\"}]}]}]}}",
		name, queue / (QUEUES / COHORTS));
	CLEANUP(xmalloc_freep)
	char *local = xmalloc_printf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\","
				     "\"generation\":1},\"spec\":{\"clusterQueue\":\"%s\"}}",
				     name, name);

	workload_engine_fixture_see(&p->f, SCHED_CLUSTER_QUEUES, name, cluster);
	workload_engine_fixture_see(&p->f, SCHED_LOCAL_QUEUES, key, local);
}

/* As the API server has it now. */
static void see_item(struct play *p, size_t i)
{
	static const char finished[] =
		"{\"type\":\"Finished\",\"status\":\"True\",\"reason\":\"Succeeded\","
		"\"message\":\"\",\"lastTransitionTime\":\"2023-11-14T22:13:20Z\"},";
	const struct item *w = &p->items.v[i];
	const char *status = w->status == NULL ? "" : w->status;
	const char *list = strstr(status, MEMBER_CONDITIONS);
	size_t head = list == NULL ? 0 : (size_t)(list - status) + strlen(MEMBER_CONDITIONS);
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/w%zu", i);
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"w%zu\",\"namespace\":\"ns\",\"uid\":\"u%zu\","
		"\"generation\":1,\"creationTimestamp\":\"2023-11-14T22:13:20Z\"},\"spec\":{"
		"\"queueName\":\"q%u\",\"priority\":%d,\"podSets\":[{\"name\":\"main\",\"count\":1,"
		"\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":"
		"\"%d\"}}}]}}}]}," MEMBER_STATUS "%.*s%s%s}}",
		i, i, w->queue, classes[w->class].priority, classes[w->class].cpu, (int)head,
		status, w->is_finished && list != NULL ? finished : "", status + head);

	workload_engine_fixture_see(&p->f, SCHED_WORKLOADS, key, json);
}

/* --- the API server ----------------------------------------------------------------------------*/

static void ask(struct play *p, struct request r)
{
	vec_push(&p->waiting, r);
}

/* By the digits that text begins with. */
static size_t item_of(const char *text)
{
	uint64_t n = 0;

	(void)str_to_u64((struct str){ text, strspn(text, "0123456789") }, &n);
	return n;
}

static void collect(struct play *p)
{
	static const char path[] = "/workloads/w";

	while (fake_transport_pending(p->f.transport) > 0) {
		struct request r = { .kind = REQUEST_ENGINE, .item = SIZE_MAX };
		const char *name;

		r.id = fake_transport_expect_prefix(p->f.transport, "");
		name = strstr(fake_transport_request(p->f.transport, r.id)->url, path);
		if (name != NULL) {
			struct str body = fake_transport_body(p->f.transport, r.id);

			r.item = item_of(name + strlen(path));
			r.body = xmalloc_dup_n(body.p, body.len);
			p->writes++;
		}
		ask(p, r);
	}
}

static bool says(const char *body, const char *condition)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("\"type\":\"%s\",\"status\":\"True\"", condition);

	return strstr(body, text) != NULL;
}

static void stop_running(struct play *p, size_t item)
{
	for (size_t i = 0; i < p->running.n; i++) {
		if (p->running.v[i] == item) {
			vec_swap_remove(&p->running, i);
			return;
		}
	}
}

static void write_status(struct play *p, const struct request *r)
{
	struct item *w = &p->items.v[r->item];
	const char *status = strstr(r->body, MEMBER_STATUS) + strlen(MEMBER_STATUS);
	bool admitted = says(r->body, "Admitted"), evicted = says(r->body, "Evicted");

	free(w->status);
	w->status = xmalloc_dup_n(status, strlen(status) - strlen("}}"));
	p->evictions += evicted && !w->is_evicted;
	if (admitted && !w->is_admitted && !w->is_finished) {
		w->admitted = now(p);
		w->due = now(p) + classes[w->class].runtime_ms * CLOCK_NS_PER_MS;
		w->is_finishing = false;
		vec_push(&p->running, r->item);
	} else if (!admitted && w->is_admitted) {
		stop_running(p, r->item);
	}
	w->is_evicted = evicted;
	w->is_admitted = admitted;
}

static void create(struct play *p, const struct request *r)
{
	struct source *s = &p->sources[r->source];

	p->items.v[r->item].created = now(p);
	s->busy = false;
	s->at = now(p) + classes[s->class].interval_ms * CLOCK_NS_PER_MS;
	see_item(p, r->item);
}

static void finish(struct play *p, const struct request *r)
{
	struct item *w = &p->items.v[r->item];

	p->finishing--;
	if (!w->is_admitted || w->due > now(p)) {
		return; /* evicted meanwhile */
	}
	w->is_finished = true;
	p->finished++;
	stop_running(p, r->item);
	see_item(p, r->item);
}

static void answer_engine(struct play *p, struct request *r)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("{\"metadata\":{\"resourceVersion\":\"%lld\",\"name\":\"x\"}}",
				    (long long)++p->f.version);

	if (r->body != NULL) {
		write_status(p, r);
		free(r->body);
	}
	fake_transport_answer(p->f.transport, r->id, 200, text);
	if (r->item != SIZE_MAX) {
		see_item(p, r->item);
	}
}

static void answer(struct play *p, struct request *r)
{
	switch (r->kind) {
	case REQUEST_ENGINE:
		answer_engine(p, r);
		break;
	case REQUEST_CREATE:
		create(p, r);
		break;
	case REQUEST_FINISH:
		finish(p, r);
		break;
	}
}

static void serve(struct play *p)
{
	struct server *s = &p->server;

	for (unsigned i = 0; i < p->slots; i++) {
		if (!s->busy[i] && p->served < p->waiting.n) {
			s->v[i] = p->waiting.v[p->served++];
			s->busy[i] = true;
			s->until[i] = now(p) + p->write_ns;
		}
	}
}

static void answer_due(struct play *p)
{
	struct server *s = &p->server;

	for (unsigned i = 0; i < p->slots; i++) {
		if (s->busy[i] && s->until[i] <= now(p)) {
			s->busy[i] = false;
			answer(p, &s->v[i]);
		}
	}
}

/* --- the runner --------------------------------------------------------------------------------*/

static void create_due(struct play *p)
{
	for (size_t i = 0; i < ARRAY_LEN(p->sources); i++) {
		struct source *s = &p->sources[i];
		struct item w = { .class = s->class, .queue = s->queue };

		if (s->busy || s->left == 0 || s->at > now(p)) {
			continue;
		}
		s->left--;
		s->busy = true;
		vec_push(&p->items, w);
		ask(p, (struct request){
			       .kind = REQUEST_CREATE, .source = i, .item = p->items.n - 1 });
	}
}

/* The one that is due first, and not being finished yet. SIZE_MAX: none. */
static size_t next_to_finish(const struct play *p)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < p->running.n; i++) {
		size_t k = p->running.v[i];
		const struct item *w = &p->items.v[k];

		if (!w->is_finishing && (best == SIZE_MAX || w->due < p->items.v[best].due ||
					 (w->due == p->items.v[best].due && k < best))) {
			best = k;
		}
	}
	return best;
}

static void finish_due(struct play *p)
{
	while (p->finishing < FINISHING) {
		size_t i = next_to_finish(p);

		if (i == SIZE_MAX || p->items.v[i].due > now(p)) {
			return;
		}
		p->items.v[i].is_finishing = true;
		p->finishing++;
		ask(p, (struct request){ .kind = REQUEST_FINISH, .item = i });
	}
}

static void run_engine(struct play *p)
{
	struct pool *pools[16];
	size_t n = workload_engine_pools(p->f.engine, pools, ARRAY_LEN(pools) - 1);
	bool again = true;

	pools[n++] = recorder_pool(p->f.recorder);
	while (again) {
		p->f.due = workload_engine_step(p->f.engine);
		again = p->f.due <= now(p);
		for (size_t i = 0; i < n; i++) {
			while (pool_step(pools[i])) {
				again = true;
			}
		}
		if (p->f.due <= now(p)) {
			clock_fake_advance(&p->f.clock, CYCLE_NS);
		}
	}
	collect(p);
}

static int64_t next_event(const struct play *p)
{
	int64_t at = p->f.due;
	size_t i = p->finishing < FINISHING ? next_to_finish(p) : SIZE_MAX;

	at = i == SIZE_MAX ? at : clock_earlier(at, p->items.v[i].due);
	for (unsigned k = 0; k < p->slots; k++) {
		at = p->server.busy[k] ? clock_earlier(at, p->server.until[k]) : at;
	}
	for (size_t k = 0; k < ARRAY_LEN(p->sources); k++) {
		const struct source *s = &p->sources[k];

		at = s->busy || s->left == 0 ? at : clock_earlier(at, s->at);
	}
	return at;
}

static void begin(struct play *p, bool nominal_first)
{
	workload_engine_fixture_init(&p->f, false);
	forest_model(workload_cache_forest(workload_engine_cache(p->f.engine)))
		->options.nominal_first = nominal_first;
	workload_engine_fixture_world(&p->f);
	for (unsigned i = 0; i < QUEUES * CLASSES; i++) {
		struct source *s = &p->sources[i];

		s->queue = i / CLASSES;
		s->class = i % CLASSES;
		s->left = (int)(classes[s->class].count * p->share + 0.5);
		s->at = classes[s->class].interval_ms * CLOCK_NS_PER_MS;
		p->total += (size_t)s->left;
	}
	for (unsigned i = 0; i < QUEUES; i++) {
		see_queue(p, i);
	}
}

static void end(struct play *p)
{
	for (size_t i = 0; i < p->items.n; i++) {
		free(p->items.v[i].status);
	}
	vec_finish(&p->items);
	vec_finish(&p->running);
	vec_finish(&p->waiting);
	workload_engine_fixture_finish(&p->f);
}

/* --- figures -----------------------------------------------------------------------------------*/

struct figures {
	double evictions, seconds, writes, admission[CLASSES];
};

static void add_figures(const struct play *p, struct figures *sum)
{
	double wait[CLASSES] = { 0 };
	size_t n[CLASSES] = { 0 };

	for (size_t i = 0; i < p->items.n; i++) {
		const struct item *w = &p->items.v[i];

		wait[w->class] += (double)(w->admitted - w->created) / (double)CLOCK_NS_PER_S;
		n[w->class]++;
	}
	sum->evictions += p->evictions;
	sum->seconds += (double)now(p) / (double)CLOCK_NS_PER_S;
	sum->writes += (double)p->writes / (double)p->total;
	for (unsigned i = 0; i < CLASSES; i++) {
		sum->admission[i] += n[i] == 0 ? 0 : wait[i] / (double)n[i];
	}
}

static void play(struct play *p, bool nominal_first, struct figures *sum)
{
	begin(p, nominal_first);
	while (p->finished < p->total) {
		int64_t at;

		run_engine(p);
		create_due(p);
		finish_due(p);
		serve(p);
		at = next_event(p);
		if (at == CLOCK_NEVER) {
			fprintf(stderr, "nothing goes on: %zu of %zu finished\n", p->finished,
				p->total);
			exit(1);
		}
		clock_fake_advance(&p->f.clock, at > now(p) ? at - now(p) : 0);
		answer_due(p);
	}
	add_figures(p, sum);
	end(p);
}

static void bench(const double *shares, size_t n, int64_t write_ms, unsigned slots)
{
	for (int first = 0; first < 2; first++) {
		struct figures sum = { 0 };
		double d = (double)n;

		for (size_t i = 0; i < n; i++) {
			struct play p = { .share = shares[i],
					  .write_ns = write_ms * CLOCK_NS_PER_MS,
					  .slots = slots };

			play(&p, first != 0, &sum);
		}
		printf("%lld ms a write, %u at a time, NominalQuotaFirst=%s: %.0f evictions, %.1f "
		       "s, admission %.1f / %.1f / %.1f s, %.2f writes of a status each\n",
		       (long long)write_ms, slots, first ? "true" : "false", sum.evictions / d,
		       sum.seconds / d, sum.admission[0] / d, sum.admission[1] / d,
		       sum.admission[2] / d, sum.writes / d);
	}
}

int main(int argc, char **argv)
{
	double shares[16] = { 0.04, 0.05, 0.06, 0.1, 0.2 };
	size_t n = 5;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc && (size_t)i <= ARRAY_LEN(shares); i++) {
		if (!str_to_double(str_of(argv[i]), &shares[i - 1])) {
			fprintf(stderr, "not a share: %s\n", argv[i]);
			return 2;
		}
		n = (size_t)i;
	}
	bench(shares, n, 5, 1);
	bench(shares, n, 20, 1);
	bench(shares, n, 10, 4);
	bench(shares, n, 2, 4);
	return 0;
}
