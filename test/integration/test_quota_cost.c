/* The preemption-cost controller against an API server, as processes: the cost that preemptions
 * add, the victims that it spares, and the ownership of the field. The Workloads have no owner:
 * they give their quota back as soon as they are evicted. */
#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "lib/wait.h"
#include "play/scene.h"
#include "play/workload_scene.h"

#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define QUEUE "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/team"
#define REQUESTS(outcome)                                                                          \
	"headgate_requests_total{request=\"preemption_cost\",outcome=\"" outcome "\"}"

static struct scene scene;
static const char *const args[] = { "--controllers=*,workload,preemption-cost", NULL };

static const char world[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team},"
	" spec: {namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority},"
	" resourceGroups: [{coveredResources: [cpu], flavors: [{name: default,"
	" resources: [{name: cpu, nominalQuota: 4}]}]}]}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq,"
	" namespace: default}, spec: {clusterQueue: team}}\n";

static int begin(void **state)
{
	workload_scene_start_with(&scene, args, world);
	*state = &scene;
	return 0;
}

static char *path_of(const char *name, const char *sub)
{
	return xmalloc_printf(WORKLOADS "/%s%s", name, sub);
}

static void add(struct scene *s, const char *name, int priority)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s,"
		" namespace: default}, spec: {queueName: lq, priority: %d, podSets: [{name: main,"
		" count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c,"
		" image: i, resources: {requests: {cpu: '2'}}}]}}}]}}",
		name, priority);

	scene_apply(s, yaml);
}

static void remove_workload(struct scene *s, const char *name)
{
	CLEANUP(xmalloc_freep) char *path = path_of(name, "");

	scene_call(s, "DELETE", path, NULL, NULL);
}

static void wait_for(struct scene *s, const char *name, const char *type, const char *status,
		     const char *reason)
{
	CLEANUP(xmalloc_freep) char *path = path_of(name, "");

	workload_scene_wait(s, path, type, status, reason);
}

static void wait_admitted(struct scene *s, const char *name)
{
	wait_for(s, name, "QuotaReserved", "True", "QuotaReserved");
}

/* "" for none. */
static void cost_of(struct scene *s, const char *name, struct strbuf *out)
{
	CLEANUP(xmalloc_freep) char *path = path_of(name, "");
	CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;
	const char *cost;

	scene_call(s, "GET", path, NULL, &w);
	cost = jdoc_path_str(w, "status.preemptionCost");
	strbuf_reset(out);
	strbuf_add_c(out, cost == NULL ? "" : cost);
}

static void wait_cost(struct scene *s, const char *name, const char *cost)
{
	int64_t deadline = wait_deadline(WORKLOAD_SCENE_WAIT_NS);
	CLEANUP(strbuf_finish) struct strbuf now = STRBUF_INIT;

	do {
		cost_of(s, name, &now);
		if (str_streq(now.p, cost)) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "%s costs \"%s\", not \"%s\"", name, now.p, cost);
}

static void check_cost(struct scene *s, const char *name, const char *cost)
{
	CLEANUP(strbuf_finish) struct strbuf now = STRBUF_INIT;

	cost_of(s, name, &now);
	assert_string_equal(now.p, cost);
}

/* Which of the two is evicted, by one of a higher priority that comes and goes. That is admitted
 * when the API shows the victim. */
static const char *preempt_one(struct scene *s, const char *by)
{
	static const char *const names[] = { "one", "two" };
	const char *victim = NULL;

	add(s, by, 10);
	wait_admitted(s, by);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(xmalloc_freep) char *path = path_of(names[i], "");
		CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;

		scene_call(s, "GET", path, NULL, &w);
		if (jdoc_is_str(jdoc_get(workload_scene_condition(w, "Evicted"), "status"),
				"True")) {
			assert_null(victim);
			victim = names[i];
		}
	}
	assert_non_null(victim);
	return victim;
}

/* Removes the preemptor: its quota is free, and the victim is admitted again. */
static void end_preemptor(struct scene *s, const char *by, const char *victim)
{
	remove_workload(s, by);
	wait_admitted(s, victim);
	wait_for(s, victim, "Evicted", "False", "QuotaReserved");
}

static int after_each(void **state)
{
	scene_call(*state, "PATCH", QUEUE, "{\"metadata\":{\"annotations\":null}}", NULL);
	return workload_scene_after_each(state);
}

/* Both have the same priority. Without costs the victim would always be the one with the younger
 * reservation, which is the one that was preempted before. */
static void test_a_former_victim_is_spared(void **state)
{
	struct scene *s = *state;
	const char *first, *second;

	add(s, "one", 0);
	add(s, "two", 0);
	wait_admitted(s, "one");
	wait_admitted(s, "two");
	first = preempt_one(s, "high");
	wait_cost(s, first, "1");
	end_preemptor(s, "high", first);
	check_cost(s, first, "1"); /* the admission has left it alone */
	second = preempt_one(s, "higher");
	assert_string_not_equal(second, first);
	wait_cost(s, second, "1");
	end_preemptor(s, "higher", second);
}

static void test_annotations_of_the_queue_count(void **state)
{
	struct scene *s = *state;
	const char *victim, *other;

	add(s, "one", 0);
	add(s, "two", 0);
	wait_admitted(s, "one");
	wait_admitted(s, "two");
	victim = preempt_one(s, "high");
	other = str_streq(victim, "one") ? "two" : "one";
	wait_cost(s, victim, "1");
	scene_call(s, "PATCH", QUEUE,
		   "{\"metadata\":{\"annotations\":{\"headgate.io/preemption-cost-base\":\"100\","
		   "\"headgate.io/preemption-cost-weight\":\"2500m\"}}}",
		   NULL);
	wait_cost(s, victim, "102500m");
	wait_cost(s, other, "100");
	/* An invalid annotation counts as absent, and is reported. */
	scene_call(s, "PATCH", QUEUE,
		   "{\"metadata\":{\"annotations\":{\"headgate.io/preemption-cost-base\":\"x\"}}}",
		   NULL);
	wait_cost(s, victim, "2500m");
	wait_cost(s, other, "0");
	scene_wait_event(s, "InvalidPreemptionCost", "team");
	scene_call(s, "PATCH", QUEUE, "{\"metadata\":{\"annotations\":null}}", NULL);
	wait_cost(s, victim, "1");
}

static void write_cost(struct scene *s, const char *name, const char *json)
{
	CLEANUP(xmalloc_freep) char *path = path_of(name, "/status?fieldManager=costs");
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"status\":{\"preemptionCost\":%s}}", json);

	scene_call(s, "PATCH", path, body, NULL);
}

/* A cost that another manager wrote stays until it is removed. Ours is tried once, not for ever. */
static void test_others_keep_their_costs(void **state)
{
	struct scene *s = *state;
	const char *victim;
	double stale;

	add(s, "one", 0);
	add(s, "two", 0);
	wait_admitted(s, "one");
	wait_admitted(s, "two");
	victim = preempt_one(s, "high");
	wait_cost(s, victim, "1");
	stale = scene_metric(s, STACK_SCHEDULER, REQUESTS("stale"));
	write_cost(s, victim, "\"250\"");
	scene_wait_metric_above(s, STACK_SCHEDULER, REQUESTS("stale"), stale);
	check_cost(s, victim, "250");
	for (int i = 0; i < 5; i++) {
		write_cost(s, victim, i % 2 == 0 ? "\"300\"" : "\"400\"");
	}
	/* Something of ours that comes after all that. */
	scene_call(s, "PATCH", QUEUE,
		   "{\"metadata\":{\"annotations\":{\"headgate.io/preemption-cost-base\":\"7\"}}}",
		   NULL);
	wait_cost(s, "high", "7");
	check_cost(s, victim, "300");
	assert_true(scene_metric(s, STACK_SCHEDULER, REQUESTS("stale")) == stale + 1);
	write_cost(s, victim, "null");
	wait_cost(s, victim, "8");
	scene_call(s, "PATCH", QUEUE, "{\"metadata\":{\"annotations\":null}}", NULL);
	wait_cost(s, victim, "1");
}

/* Nothing is written that is there already. */
static void test_a_restart_writes_nothing(void **state)
{
	struct scene *s = *state;
	CLEANUP(jdoc_destroyp) struct jdoc *before = NULL, *after = NULL;
	CLEANUP(xmalloc_freep) char *path = NULL;
	const char *victim;

	add(s, "one", 0);
	add(s, "two", 0);
	wait_admitted(s, "one");
	wait_admitted(s, "two");
	victim = preempt_one(s, "high");
	wait_cost(s, victim, "1");
	wait_for(s, victim, "QuotaReserved", "False", "WaitingForQuota");
	path = path_of(victim, "");
	scene_call(s, "GET", path, NULL, &before);
	scene_restart_scheduler(s, NULL, args);
	/* It leads, and has tried to write a cost: that of another one. */
	write_cost(s, "high", "\"5\"");
	scene_wait_metric_above(s, STACK_SCHEDULER, REQUESTS("stale"), 0);
	scene_call(s, "GET", path, NULL, &after);
	assert_string_equal(jdoc_path_str(before, "metadata.resourceVersion"),
			    jdoc_path_str(after, "metadata.resourceVersion"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_a_former_victim_is_spared, after_each),
		cmocka_unit_test_teardown(test_annotations_of_the_queue_count, after_each),
		cmocka_unit_test_teardown(test_others_keep_their_costs, after_each),
		cmocka_unit_test_teardown(test_a_restart_writes_nothing, after_each),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
