#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/model/volumes.h"

static void claim(struct cache_fixture *f, const char *name, const char *meta, const char *spec)
{
	cache_fixture_json(f, SCHED_CLAIMS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"c-%s\","
			   "\"resourceVersion\":\"%lld\"%s},\"spec\":{%s}}",
			   name, name, (long long)++f->version, meta, spec);
}

/* volumes: members of spec. */
static struct task *pod(struct cache_fixture *f, const char *name, const char *volumes)
{
	cache_fixture_json(
		f, SCHED_PODS,
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"uid-%s\","
		"\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"},"
		"\"resourceVersion\":\"%lld\"},\"spec\":{\"schedulerName\":\"volcano\","
		"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
		"\"cpu\":\"1\"}}}],\"volumes\":[%s]},\"status\":{\"phase\":\"Pending\"}}",
		name, name, (long long)++f->version, volumes);
	return cache_fixture_task(f, name);
}

static struct claim *find(struct cache_fixture *f, const char *key)
{
	return volumes_find_claim(f->c, str_of(key));
}

static void test_records_go_with_the_last_name(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = pod(f, "p",
			     "{\"name\":\"a\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}},"
			     "{\"name\":\"b\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}},"
			     "{\"name\":\"scratch\",\"ephemeral\":{}}");

	assert_int_equal(t->klass->nclaims, 2);
	assert_false(find(f, "ns/data")->exists);
	assert_string_equal(t->klass->claims[1].name, "p-scratch");
	assert_string_equal(t->klass->claims[1].owner, "uid-p");
	claim(f, "data", "", "\"volumeName\":\"v\",\"storageClassName\":\"fast\"");
	assert_true(find(f, "ns/data")->exists);
	assert_false(find(f, "ns/data")->bound);
	assert_false(find(f, "ns/data")->volume->exists);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	assert_null(find(f, "ns/p-scratch"));
	cache_fixture_delete(f, SCHED_CLAIMS, "ns/data");
	assert_null(find(f, "ns/data"));
}

static void test_a_change_wakes_the_pods_that_wait(void **state)
{
	static const char data[] =
		"{\"name\":\"a\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}";
	struct cache_fixture *f = *state;
	struct podgroup *g = cache_fixture_group(f, "g", "q", 1);
	struct task *t = pod(f, "p", data);

	claim(f, "data", "", "\"volumeName\":\"v\",\"storageClassName\":\"fast\"");
	g->changed = false;
	t->retry_at = MODEL_TIME_NEVER;
	(void)cache_take_dirty(f->cache);
	/* Only its resourceVersion has changed. */
	claim(f, "data", "", "\"volumeName\":\"v\",\"storageClassName\":\"fast\"");
	assert_false(g->changed);
	assert_false(cache_take_dirty(f->cache));
	cache_fixture_json(f, SCHED_VOLUMES, "{\"metadata\":{\"name\":\"v\"}}");
	assert_true(g->changed);
	assert_int_equal(t->retry_at, MODEL_TIME_NONE);
	assert_true(cache_take_dirty(f->cache));
	g->changed = false;
	cache_fixture_json(f, SCHED_STORAGE_CLASSES, "{\"metadata\":{\"name\":\"fast\"}}");
	assert_true(g->changed);
	g->changed = false;
	claim(f, "data", ",\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}",
	      "\"volumeName\":\"v\",\"storageClassName\":\"fast\"");
	assert_true(g->changed);
	assert_true(find(f, "ns/data")->bound);
	g->changed = false;
	cache_fixture_delete(f, SCHED_VOLUMES, "v");
	assert_true(g->changed);
	cache_fixture_delete(f, SCHED_STORAGE_CLASSES, "fast");
	cache_fixture_delete(f, SCHED_STORAGE_CLASSES, "fast");
	g->changed = false;
	cache_fixture_delete(f, SCHED_CLAIMS, "ns/data");
	assert_true(g->changed);
	cache_fixture_delete(f, SCHED_CLAIMS, "ns/data");
}

static void test_what_cannot_be_read_is_as_if_it_were_not_there(void **state)
{
	struct cache_fixture *f = *state;

	claim(f, "data", "", "\"volumeName\":\"v\",\"storageClassName\":\"fast\"");
	cache_fixture_json(f, SCHED_VOLUMES, "{\"metadata\":{\"name\":\"v\"}}");
	cache_fixture_json(f, SCHED_STORAGE_CLASSES, "{\"metadata\":{\"name\":\"fast\"}}");
	assert_true(find(f, "ns/data")->volume->exists);
	cache_fixture_raw(
		f, SCHED_VOLUMES, "v",
		"{\"metadata\":{\"name\":\"v\"},\"spec\":{\"nodeAffinity\":{\"required\":{"
		"\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"k\","
		"\"operator\":\"Odd\"}]}]}}}}");
	assert_string_equal(f->bad_text, "spec.nodeAffinity.required.nodeSelectorTerms[0]: "
					 "operator: unknown \"Odd\"");
	assert_false(find(f, "ns/data")->volume->exists);
	cache_fixture_raw(f, SCHED_VOLUMES, "v",
			  "{\"metadata\":{\"name\":\"v\",\"labels\":{"
			  "\"topology.kubernetes.io/zone\":\"a__\"}}}");
	assert_string_equal(f->bad_text,
			    "metadata.labels[topology.kubernetes.io/zone]: an empty zone");
	cache_fixture_raw(f, SCHED_STORAGE_CLASSES, "fast", "{\"allowedTopologies\":[]}");
	assert_string_equal(f->bad_text, "metadata.name: missing");
	assert_false(find(f, "ns/data")->klass->exists);
}

static void test_limits_of_a_node_come_first_or_last(void **state)
{
	struct cache_fixture *f = *state;
	struct node *n;

	cache_fixture_json(f, SCHED_CSI_NODES,
			   "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"drivers\":[{\"name\":\"d\","
			   "\"allocatable\":{\"count\":3}},{\"name\":\"e\"},{\"name\":\"f\","
			   "\"allocatable\":{\"count\":-1}}]}}");
	n = cluster_node_find(f->c, STR_LIT("n"));
	assert_false(n->exists);
	assert_int_equal(n->limits.n, 1);
	assert_int_equal(n->limits.v[0].count, 3);
	assert_ptr_equal(cache_fixture_node(f, "n", "4"), n);
	cache_fixture_delete(f, SCHED_NODES, "n");
	assert_non_null(cluster_node_find(f->c, STR_LIT("n")));
	cache_fixture_delete(f, SCHED_CSI_NODES, "n");
	assert_null(cluster_node_find(f->c, STR_LIT("n")));
	cache_fixture_delete(f, SCHED_CSI_NODES, "n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_records_go_with_the_last_name),
		CACHE_FIXTURE_TEST(test_a_change_wakes_the_pods_that_wait),
		CACHE_FIXTURE_TEST(test_what_cannot_be_read_is_as_if_it_were_not_there),
		CACHE_FIXTURE_TEST(test_limits_of_a_node_come_first_or_last),
	};

	return cmocka_run_group_tests_name("ingest/cache_volumes", tests, NULL, NULL);
}
