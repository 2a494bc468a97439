#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "collections/intern.h"
#include "lib/unit.h"
#include "lib/workloads/workload_cache_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

enum { WORKLOADS = 60, VALUES = 5000 };

/* A Workload with many texts that no other object has, wherever a pod set may have some. */
static void odd_workload(struct workload_cache_fixture *f, int n)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	char key[24];

	snprintf(key, sizeof(key), "ns/w%d", n);
	strbuf_printf(
		&json,
		"{\"metadata\":{\"name\":\"w%d\",\"namespace\":\"ns\",\"uid\":\"u-w%d\","
		"\"resourceVersion\":\"%lld\"},\"spec\":{\"queueName\":\"lq\",\"podSets\":[{"
		"\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
		"\"nodeSelector\":{\"k%d\":\"v%d\"},"
		"\"tolerations\":[{\"key\":\"t%d\",\"value\":\"u%d\"}],"
		"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"9\"}}}],"
		"\"affinity\":{\"nodeAffinity\":{"
		"\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
		"\"matchExpressions\":[{\"key\":\"e%d\",\"operator\":\"In\",\"values\":[\"x\"",
		n, n, (long long)++f->version, n, n, n, n, n);
	for (int i = 0; i < VALUES; i++) {
		strbuf_printf(&json, ",\"%d-%d\"", n, i);
	}
	strbuf_add_c(&json, "]}]}]}}}}}}]}}");
	workload_cache_fixture_see(f, SCHED_WORKLOADS, key, json.p);
	assert_int_equal(f->nbad, 0);
}

static void test_texts_go_with_the_workloads_that_brought_them(void **state)
{
	struct workload_cache_fixture f;
	const struct podset *p;
	const struct intern *names;
	uint32_t most = 0;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	workload_cache_fixture_see(
		&f, SCHED_NAMESPACES, "ns",
		"{\"metadata\":{\"name\":\"ns\",\"labels\":{\"team\":\"blue\"}}}");
	workload_cache_fixture_see(
		&f, SCHED_FLAVORS, "default",
		"{\"metadata\":{\"name\":\"default\"},\"spec\":{\"nodeLabels\":{"
		"\"rack\":\"r1\"},\"nodeTaints\":[{\"key\":\"mine\",\"value\":\"x\","
		"\"effect\":\"NoSchedule\"}],\"tolerations\":[{\"key\":\"far\","
		"\"operator\":\"Exists\"}]}}");
	workload_cache_fixture_see(
		&f, SCHED_CLUSTER_QUEUES, "choosy",
		"{\"metadata\":{\"name\":\"choosy\"},\"spec\":{\"namespaceSelector\":{"
		"\"matchExpressions\":[{\"key\":\"dept\",\"operator\":\"In\",\"values\":["
		"\"physics\"]}]}}}");
	names = workload_cache_model(f.cache)->names;
	odd_workload(&f, 1000);
	for (int i = 0; i < WORKLOADS; i++) {
		char key[24];

		odd_workload(&f, i);
		snprintf(key, sizeof(key), "ns/w%d", i);
		workload_cache_fixture_gone(&f, SCHED_WORKLOADS, key);
		most = intern_live(names) > most ? intern_live(names) : most;
	}
	assert_in_range(most, VALUES, 14 * VALUES); /* of 60 times that */
	/* Workloads that remain have their texts. */
	p = workload_cache_fixture_get(&f, "w1000")->object.podsets;
	assert_string_equal(p->name, "main");
	assert_string_equal(p->selector[0].key, "k1000");
	assert_string_equal(p->tolerations[0].value, "u1000");
	assert_string_equal(p->required[0].exprs[0].key, "e1000");
	assert_int_equal(p->required[0].exprs[0].nvalues, VALUES + 1);
	for (size_t i = 0; i < VALUES + 1; i++) {
		assert_int_not_equal(intern_find(names, str_of(p->required[0].exprs[0].values[i])),
				     INTERN_NONE);
	}
	assert_int_not_equal(intern_find(names, STR_LIT("blue")), INTERN_NONE);
	assert_int_not_equal(intern_find(names, STR_LIT("rack")), INTERN_NONE);
	assert_int_not_equal(intern_find(names, STR_LIT("mine")), INTERN_NONE);
	assert_int_not_equal(intern_find(names, STR_LIT("far")), INTERN_NONE);
	assert_int_not_equal(intern_find(names, STR_LIT("team")), INTERN_NONE);
	assert_int_not_equal(intern_find(names, STR_LIT("dept")), INTERN_NONE);
	assert_int_not_equal(intern_find(names, STR_LIT("physics")), INTERN_NONE);
	assert_int_equal(intern_find(names, STR_LIT("k1")), INTERN_NONE);
	workload_cache_fixture_finish(&f);
}

/* A Workload with names that no other object has: queue, class, pod set and resources, which its
 * status repeats. */
static void odd_names(struct workload_cache_fixture *f, int n)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf amounts = STRBUF_INIT;
	char key[24];

	snprintf(key, sizeof(key), "ns/w%d", n);
	for (int i = 0; i < VALUES; i++) {
		strbuf_printf(&amounts, "%s\"x.io/%d-%d\":\"1\"", i == 0 ? "" : ",", n, i);
	}
	strbuf_printf(&json,
		      "{\"metadata\":{\"name\":\"w%d\",\"namespace\":\"ns\",\"uid\":\"u-w%d\","
		      "\"resourceVersion\":\"%lld\"},\"spec\":{\"queueName\":\"q%d\","
		      "\"priorityClassRef\":{\"name\":\"c%d\"},\"podSets\":[{\"name\":\"p%d\","
		      "\"count\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
		      "\"resources\":{\"requests\":{%s}}}]}}}]},\"status\":{\"resourceRequests\":[{"
		      "\"name\":\"p%d\",\"resources\":{%s,\"y.io/%d\":\"1\"}}]}}",
		      n, n, (long long)++f->version, n, n, n, amounts.p, n, amounts.p, n);
	workload_cache_fixture_see(f, SCHED_WORKLOADS, key, json.p);
	assert_int_equal(f->nbad, 0);
}

/* Of a Workload that is still there: in its pod set, and in the status that may be written. */
static void has_names(const struct workload_cache_fixture *f, int n)
{
	const struct quota_model *q = workload_cache_model(f->cache);
	const struct workload *w;
	const struct workload_status *status;
	char text[32];

	snprintf(text, sizeof(text), "w%d", n);
	w = workload_cache_fixture_get(f, text);
	status = workload_cache_status(f->cache, w);
	snprintf(text, sizeof(text), "q%d", n);
	assert_string_equal(w->object.local_queue, text);
	snprintf(text, sizeof(text), "c%d", n);
	assert_string_equal(w->object.priority_class, text);
	snprintf(text, sizeof(text), "p%d", n);
	assert_string_equal(w->object.podsets->name, text);
	assert_int_equal(w->object.podsets->request.n, VALUES);
	assert_int_equal(status->requests.n, 1);
	assert_int_equal(status->requests.v[0].n, VALUES + 1);
	snprintf(text, sizeof(text), "x.io/%d-", n);
	for (size_t i = 0; i < VALUES; i++) {
		uint32_t id = w->object.podsets->request.v[i].id;

		assert_true(str_has_prefix(str_of(quota_resource_name(q, id)), text));
	}
	for (size_t i = 0; i < VALUES + 1; i++) {
		uint32_t id = status->requests.v[0].v[i].resource;

		(void)quota_resource_name(q, id); /* asserts that it is there */
	}
	snprintf(text, sizeof(text), "y.io/%d", n); /* that only the status has */
	assert_int_not_equal(intern_find(q->resources, str_of(text)), INTERN_NONE);
}

static void test_names_go_with_the_workloads_that_brought_them(void **state)
{
	struct workload_cache_fixture f;
	const struct quota_model *q;
	uint32_t most = 0;

	(void)state;
	workload_cache_fixture_init(&f);
	workload_cache_fixture_world(&f);
	q = workload_cache_model(f.cache);
	odd_names(&f, 1000);
	for (int i = 0; i < WORKLOADS; i++) {
		char key[24];

		odd_names(&f, i);
		snprintf(key, sizeof(key), "ns/w%d", i);
		workload_cache_fixture_gone(&f, SCHED_WORKLOADS, key);
		most = intern_live(q->resources) > most ? intern_live(q->resources) : most;
	}
	assert_in_range(most, VALUES, 14 * VALUES); /* of 60 times that */
	assert_in_range(intern_count(q->resources), VALUES, 14 * VALUES);
	has_names(&f, 1000);
	assert_int_not_equal(intern_find(q->resources, STR_LIT("cpu")), INTERN_NONE);
	assert_int_equal(intern_find(q->resources, STR_LIT("x.io/1-1")), INTERN_NONE);
	assert_int_equal(intern_find(q->names, STR_LIT("q1")), INTERN_NONE);
	assert_int_equal(intern_find(q->names, STR_LIT("c1")), INTERN_NONE);
	assert_int_equal(intern_find(q->names, STR_LIT("p1")), INTERN_NONE);
	assert_int_not_equal(intern_find(q->names, STR_LIT("lq")), INTERN_NONE);
	workload_cache_fixture_finish(&f);
}

static void put_nowhere(struct workload_cache_fixture *f, uint32_t resource)
{
	(void)f;
	(void)resource;
}

static void put_into_a_group(struct workload_cache_fixture *f, uint32_t resource)
{
	const struct quota_model *q = workload_cache_model(f->cache);

	for (size_t i = 0; i < q->nodes.n; i++) {
		if (q->nodes.v[i] != NULL && q->nodes.v[i]->groups.n > 0) {
			q->nodes.v[i]->groups.v[0].resources[0] = resource;
		}
	}
}

static void put_into_consumption(struct workload_cache_fixture *f, uint32_t resource)
{
	struct local_queue *l = quota_local_find(workload_cache_model(f->cache), STR_LIT("ns/lq"));

	vec_push(&l->consumed, ((struct quota_consumed){ .resource = resource }));
}

static void put_into_a_request(struct workload_cache_fixture *f, uint32_t resource)
{
	struct podset *p = workload_cache_fixture_get(f, "w")->object.podsets;

	p->request.v[0].id = resource;
}

static void put_into_an_assignment(struct workload_cache_fixture *f, uint32_t resource)
{
	vec_push(&workload_cache_fixture_get(f, "w")->holding.assigned,
		 ((struct quota_assigned){ .resource = resource }));
}

static void put_into_a_scan(struct workload_cache_fixture *f, uint32_t resource)
{
	vec_push(&workload_cache_fixture_get(f, "w")->pending.tried,
		 ((struct last_assignment){ .resource = resource }));
}

/* Of the first object of each kind: a resource that only this place names stays when names are
 * swept. */
static void test_every_place_keeps_its_resources(void **state)
{
	static void (*const puts[])(struct workload_cache_fixture * f, uint32_t resource) = {
		put_nowhere,        put_into_a_group,       put_into_consumption,
		put_into_a_request, put_into_an_assignment, put_into_a_scan,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(puts); i++) {
		struct workload_cache_fixture f;
		struct quota_model *q;

		unit_row_number(i);
		workload_cache_fixture_init(&f);
		workload_cache_fixture_world(&f);
		workload_cache_fixture_workload(&f, "w", 0, "1", "");
		q = workload_cache_model(f.cache);
		puts[i](&f, quota_resource(q, STR_LIT("odd/x")));
		quota_names_sweep(q);
		assert_int_equal(intern_find(q->resources, STR_LIT("odd/x")) != INTERN_NONE, i > 0);
		workload_cache_fixture_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_go_with_the_workloads_that_brought_them),
		cmocka_unit_test(test_every_place_keeps_its_resources),
		cmocka_unit_test(test_texts_go_with_the_workloads_that_brought_them),
	};

	return cmocka_run_group_tests_name("workloads/model/quota_names", tests, NULL, NULL);
}
