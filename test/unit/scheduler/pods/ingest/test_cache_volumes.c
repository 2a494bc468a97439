#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/values/pod_class.h"

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
	cluster_task_set_retry(f->c, t, MODEL_TIME_NEVER);
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

static void put_capacity(struct cache_fixture *f, unsigned gibibytes)
{
	cache_fixture_json(
		f, SCHED_STORAGE_CAPACITIES,
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"},"
		"\"storageClassName\":\"fast\",\"nodeTopology\":{},\"capacity\":\"%uGi\"}",
		gibibytes);
}

/* A driver writes its capacities all the time: only more of them starts a cycle, and has the pods
 * looked at that wait. */
static void test_free_storage(void **state)
{
	static const char data[] =
		"{\"name\":\"a\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}";
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	cache_fixture_json(f, SCHED_CSI_DRIVERS,
			   "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"storageCapacity\":true}}");
	cache_fixture_json(f, SCHED_STORAGE_CLASSES,
			   "{\"metadata\":{\"name\":\"fast\"},\"provisioner\":\"d\","
			   "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
	claim(f, "data", "", "\"storageClassName\":\"fast\"");
	t = pod(f, "p", data);
	cluster_task_set_retry(f->c, t, MODEL_TIME_NEVER);
	(void)cache_take_dirty(f->cache);
	put_capacity(f, 2);
	assert_true(cache_take_dirty(f->cache));
	assert_true(t->retry_at == MODEL_TIME_NONE);
	cluster_task_set_retry(f->c, t, MODEL_TIME_NEVER);
	put_capacity(f, 1);
	assert_false(cache_take_dirty(f->cache));
	assert_true(t->retry_at == MODEL_TIME_NEVER);
	put_capacity(f, 2);
	assert_true(cache_take_dirty(f->cache));
	assert_true(t->retry_at == MODEL_TIME_NONE);
	/* One that cannot be read is as if there was none. */
	cache_fixture_raw(f, SCHED_STORAGE_CAPACITIES, "ns/p",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"}}");
	assert_string_equal(f->bad_text, "storageClassName: missing");
	assert_null(storage_capacity_find(f->c, STR_LIT("ns/p")));
	put_capacity(f, 2);
	cache_fixture_delete(f, SCHED_STORAGE_CAPACITIES, "ns/p");
	assert_null(storage_capacity_find(f->c, STR_LIT("ns/p")));
	(void)cache_take_dirty(f->cache);
	cache_fixture_delete(f, SCHED_CSI_DRIVERS, "d");
	assert_true(cache_take_dirty(f->cache));
	assert_false(storage_capacity_has_driver(f->c, STR_LIT("d")));
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

/* A pod that waits for its claim, on node n. */
static struct task *start(struct cache_fixture *f)
{
	struct node *n = cache_fixture_node(f, "n", "4");
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	cache_fixture_json(f, SCHED_STORAGE_CLASSES,
			   "{\"metadata\":{\"name\":\"fast\"},\"provisioner\":\"d\","
			   "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
	claim(f, "data", "", "\"storageClassName\":\"fast\"");
	t = pod(f, "p", "{\"name\":\"a\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}}");
	ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_ASSUMED);
	cluster_task_set_status(f->c, t, TASK_BINDING, n);
	volumes_wait(f->c, t, f->now + 1);
	volumes_select(f->c, t);
	return t;
}

static void test_writes_that_fail_give_the_place_back(void **state)
{
	static const struct {
		enum sched_outcome outcome;
		bool pauses;
	} rows[] = { { SCHED_REJECTED, true },
		     { SCHED_STALE, true },
		     { SCHED_GONE, true },
		     { SCHED_CANCELLED, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct task *t = start(f);

		unit_row_number(i);
		assert_true(find(f, "ns/data")->writing);
		cache_fixture_done(f, SCHED_REQ_CLAIM, "ns/data", NULL, rows[i].outcome);
		assert_false(find(f, "ns/data")->writing);
		assert_int_equal(t->status, TASK_PENDING);
		assert_int_equal(t->retry_at > f->now, rows[i].pauses);
		assert_int_equal(cache_fixture_charged(f, "q"), 0);
		cache_fixture_destroy(f);
	}
}

static void test_writes_that_are_done_are_awaited(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = start(f);

	cache_fixture_done(f, SCHED_REQ_CLAIM, "ns/unknown", NULL, SCHED_DONE);
	cache_fixture_done(f, SCHED_REQ_CLAIM, "ns/data", NULL, SCHED_DONE);
	assert_int_equal(t->status, TASK_BINDING);
	assert_false(find(f, "ns/data")->writing);
	/* A pod that is deleted waits no more. */
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	assert_int_equal(f->c->binding.n, 0);
	assert_int_equal(find(f, "ns/data")->node, MODEL_NONE);
}

/* The same pod, for the claim of which volume v is being reserved. */
static struct task *start_with_volume(struct cache_fixture *f)
{
	struct task *t;

	cache_fixture_json(f, SCHED_VOLUMES,
			   "{\"metadata\":{\"name\":\"v\",\"uid\":\"u-v\",\"resourceVersion\":"
			   "\"3\"},\"spec\":{\"storageClassName\":\"fast\"},\"status\":{"
			   "\"phase\":\"Available\"}}");
	t = start(f);
	volumes_take(volumes_find_claim(f->c, STR_LIT("ns/data")),
		     volumes_find_volume(f->c, STR_LIT("v")));
	return t;
}

static void test_reservations_that_fail_give_the_place_back(void **state)
{
	static const struct {
		enum sched_outcome outcome;
		bool pauses;
	} rows[] = { { SCHED_REJECTED, true },
		     { SCHED_STALE, true },
		     { SCHED_GONE, true },
		     { SCHED_UNANSWERED, true },
		     { SCHED_CANCELLED, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct task *t = start_with_volume(f);

		unit_row_number(i);
		cache_fixture_done(f, SCHED_REQ_VOLUME, "v", NULL, rows[i].outcome);
		assert_null(find(f, "ns/data")->taken);
		assert_null(volumes_find_volume(f->c, STR_LIT("v"))->taker);
		assert_int_equal(t->status, TASK_PENDING);
		assert_int_equal(t->retry_at > f->now, rows[i].pauses);
		assert_int_equal(cache_fixture_charged(f, "q"), 0);
		assert_null(cluster_verify(f->c));
		cache_fixture_destroy(f);
	}
}

static void test_reservations_that_are_done(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = start_with_volume(f);

	cache_fixture_done(f, SCHED_REQ_VOLUME, "unknown", NULL, SCHED_DONE);
	cache_fixture_done(f, SCHED_REQ_VOLUME, "v", NULL, SCHED_DONE);
	assert_int_equal(t->status, TASK_BINDING);
	/* The claim has gone meanwhile, so that nothing is reserved: nothing happens. */
	cache_fixture_done(f, SCHED_REQ_VOLUME, "v", NULL, SCHED_STALE);
	assert_int_equal(t->status, TASK_BINDING);
	assert_null(cluster_verify(f->c));
}

static void test_a_new_leader_decides_again(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = start(f);

	cache_rebuild_ledger(f->cache, f->now);
	assert_int_equal(t->status, TASK_PENDING);
	assert_int_equal(f->c->binding.n, 0);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_records_go_with_the_last_name),
		CACHE_FIXTURE_TEST(test_a_change_wakes_the_pods_that_wait),
		CACHE_FIXTURE_TEST(test_what_cannot_be_read_is_as_if_it_were_not_there),
		cmocka_unit_test(test_writes_that_fail_give_the_place_back),
		CACHE_FIXTURE_TEST(test_writes_that_are_done_are_awaited),
		cmocka_unit_test(test_reservations_that_fail_give_the_place_back),
		CACHE_FIXTURE_TEST(test_reservations_that_are_done),
		CACHE_FIXTURE_TEST(test_a_new_leader_decides_again),
		CACHE_FIXTURE_TEST(test_limits_of_a_node_come_first_or_last),
		CACHE_FIXTURE_TEST(test_free_storage),
	};

	return cmocka_run_group_tests_name("ingest/cache_volumes", tests, NULL, NULL);
}
