#include "webhook/server/lister.h"

#include "lib/unit.h"

#include <pthread.h>
#include <string.h>

#include "api/volcano/gate.h"
#include "base/clock.h"
#include "kube/reflector/reflector.h"
#include "lib/net/fake_transport.h"
#include "obs/metric.h"
#include "process/log.h"
#include "webhook/admit/admit.h"

#define BOOKMARK "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"2\"}}}\n"

static void drop_line(struct str line, void *ctx)
{
	(void)line;
	(void)ctx;
}

static void send(struct lister *l, reflector_fn fn, enum reflector_event_kind kind, const char *key,
		 const char *object)
{
	struct reflector_event event = { .kind = kind,
					 .key = str_of(key),
					 .object = str_of(object) };

	fn(l, &event);
}

static void test_views_are_immutable(void **state)
{
	struct lister *l = lister_create(NULL);
	const struct admit_view *before, *after;

	(void)state;
	send(l, lister_on_queue, REFLECTOR_UPSERT, "b", "{\"spec\":{\"weight\":1}}");
	send(l, lister_on_queue, REFLECTOR_UPSERT, "a", "{}");
	before = lister_view(l);
	assert_int_equal(before->queue_count, 2);
	assert_string_equal(before->queues[0]->meta.name, "a");
	assert_true(before->queues_known);
	send(l, lister_on_queue, REFLECTOR_UPSERT, "b", "{\"spec\":{\"weight\":2}}");
	send(l, lister_on_queue, REFLECTOR_DELETE, "a", NULL);
	after = lister_view(l);
	assert_int_equal(before->queue_count, 2);
	assert_int_equal(admit_find_queue(before, "b")->spec.weight, 1);
	assert_int_equal(after->queue_count, 1);
	assert_int_equal(admit_find_queue(after, "b")->spec.weight, 2);
	lister_release(before);
	lister_release(after);
	lister_destroy(l);
	lister_destroy(NULL);
}

static void test_namespaces_that_matter(void **state)
{
	struct lister *l = lister_create(NULL);
	const struct admit_view *v;

	(void)state;
	send(l, lister_on_namespace, REFLECTOR_UPSERT, "plain",
	     "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
	send(l, lister_on_namespace, REFLECTOR_UPSERT, "gated",
	     "{\"metadata\":{\"labels\":{\"volcano.sh/queue-allocation-gate\":\"true\"}}}");
	send(l, lister_on_namespace, REFLECTOR_UPSERT, "queued",
	     "{\"metadata\":{\"annotations\":{\"scheduling.volcano.sh/queue-name\":\"q\"}}}");
	v = lister_view(l);
	assert_int_equal(v->namespace_count, 3);
	assert_string_equal(field_map_get(&admit_find_namespace(v, "plain")->labels, "a"), "b");
	assert_null(admit_find_namespace(v, "plain")->gate);
	assert_ptr_equal(admit_find_namespace(v, "gated")->gate, gate_at(1));
	assert_string_equal(admit_find_namespace(v, "queued")->queue, "q");
	lister_release(v);
	/* the label is taken off */
	send(l, lister_on_namespace, REFLECTOR_UPSERT, "gated", "{\"metadata\":{}}");
	send(l, lister_on_namespace, REFLECTOR_DELETE, "queued", NULL);
	v = lister_view(l);
	assert_null(admit_find_namespace(v, "gated")->gate);
	assert_null(admit_find_namespace(v, "queued"));
	lister_release(v);
	lister_destroy(l);
}

static void test_defaults_of_the_quota_kinds(void **state)
{
	struct lister *l = lister_create(NULL);
	const struct admit_view *v;

	(void)state;
	send(l, lister_on_default_queue, REFLECTOR_UPSERT, "b/default", "{}");
	send(l, lister_on_default_queue, REFLECTOR_UPSERT, "a/default", "{}");
	send(l, lister_on_default_queue, REFLECTOR_UPSERT, "c/default", "{}");
	send(l, lister_on_default_queue, REFLECTOR_DELETE, "c/default", NULL);
	send(l, lister_on_default_class, REFLECTOR_UPSERT, "default", "{}");
	v = lister_view(l);
	assert_int_equal(v->default_queue_count, 2);
	assert_true(admit_has_default_queue(v, "a"));
	assert_true(admit_has_default_queue(v, "b"));
	assert_false(admit_has_default_queue(v, "c"));
	assert_false(admit_has_default_queue(v, NULL));
	assert_true(v->has_default_class);
	send(l, lister_on_default_class, REFLECTOR_DELETE, "default", NULL);
	send(l, lister_on_default_queue, REFLECTOR_DELETE, "a/default", NULL);
	/* A view that is held does not change. */
	assert_true(admit_has_default_queue(v, "a"));
	lister_release(v);
	v = lister_view(l);
	assert_false(v->has_default_class);
	assert_false(admit_has_default_queue(v, "a"));
	lister_release(v);
	lister_destroy(l);
}

/* It is synced when all four kinds are, and quota's kinds are listed only when they are asked for.
 */
static void test_what_is_followed(void **state)
{
	static const char *const lists[] = {
		"GET /apis/scheduling.volcano.sh/v1beta1/queues?limit=500",
		"GET /api/v1/namespaces?limit=500",
		"GET /apis/kueue.x-k8s.io/v1beta2/localqueues?limit=500"
		"&fieldSelector=metadata.name%3Ddefault",
		"GET /apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses?limit=500"
		"&fieldSelector=metadata.name%3Ddefault",
	};

	(void)state;
	for (size_t quota = 0; quota < 2; quota++) {
		struct lister *l = lister_create(NULL);
		size_t n = quota ? 4 : 2;
		struct fake_transport *t;
		struct clock_fake clock;
		uint64_t calls[4];

		clock_fake_init(&clock, 1000 * CLOCK_NS_PER_S);
		t = fake_transport_create(&clock);
		if (quota) {
			lister_follow_quota(l);
		}
		lister_connect(l, fake_transport_base(t), &clock.base);
		fake_transport_run(t);
		for (size_t i = 0; i < n; i++) {
			calls[i] = fake_transport_expect(t, lists[i]);
		}
		fake_transport_expect_none(t);
		for (size_t i = 0; i < n; i++) {
			assert_false(lister_is_synced(l));
			fake_transport_answer(
				t, calls[i], 200,
				"{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}");
		}
		assert_true(lister_is_synced(l));
		fake_transport_destroy(t);
		lister_destroy(l);
	}
}

/* Of all kinds that are followed, the one without contact is named. */
static void test_what_is_stale(void **state)
{
	static const char *const names[] = { "queues", "namespaces", "localqueues",
					     "workloadpriorityclasses" };

	(void)state;
	log_set_sink(drop_line, NULL);
	for (size_t silent = 0; silent < ARRAY_LEN(names); silent++) {
		struct lister *l = lister_create(NULL);
		uint64_t lists[ARRAY_LEN(names)], watches[ARRAY_LEN(names)];
		struct fake_transport *t;
		struct clock_fake clock;
		int64_t since = 0, start;
		const char *name;

		unit_row(names[silent]);
		clock_fake_init(&clock, 1000 * CLOCK_NS_PER_S);
		clock_fake_advance(&clock, CLOCK_NS_PER_S);
		t = fake_transport_create(&clock);
		lister_follow_quota(l);
		lister_connect(l, fake_transport_base(t), &clock.base);
		fake_transport_run(t);
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			lists[i] = fake_transport_expect_prefix(t, "GET /api");
		}
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			fake_transport_answer(
				t, lists[i], 200,
				"{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}");
			watches[i] = fake_transport_expect_prefix(t, "GET /api");
		}
		start = clock_mono(&clock.base);
		for (unsigned step = 0; step < 4; step++) {
			assert_null(lister_stale_since(l, clock_mono(&clock.base), &since));
			for (size_t i = 0; i < ARRAY_LEN(names); i++) {
				if (i != silent || step == 0) {
					fake_transport_chunk(t, watches[i], BOOKMARK);
				}
			}
			fake_transport_advance(t, 25 * CLOCK_NS_PER_S);
		}
		name = lister_stale_since(l, clock_mono(&clock.base), &since);
		assert_non_null(name);
		assert_string_equal(name, names[silent]);
		assert_int_equal(since, start);
		fake_transport_destroy(t);
		lister_destroy(l);
	}
}

static void test_undecodable_keeps_the_old(void **state)
{
	struct metric_registry *r = metric_registry_create();
	struct lister *l = lister_create(r);
	struct metric_family *f = metric_register(
		r, "headgate_webhook_undecodable_objects_total",
		"Queues and namespaces that could not be decoded.", METRIC_COUNTER, NULL);
	const struct admit_view *v;

	(void)state;
	log_set_sink(drop_line, NULL);
	send(l, lister_on_queue, REFLECTOR_UPSERT, "a", "{\"spec\":{\"weight\":3}}");
	send(l, lister_on_queue, REFLECTOR_UPSERT, "a", "{\"spec\":{\"weight\":\"x\"}}");
	send(l, lister_on_queue, REFLECTOR_UPSERT, "b", "{\"spec\":[]}");
	send(l, lister_on_namespace, REFLECTOR_UPSERT, "n", "{\"metadata\":1}");
	v = lister_view(l);
	assert_int_equal(v->queue_count, 1);
	assert_int_equal(v->queues[0]->spec.weight, 3);
	assert_true(metric_cell_get(metric_cell(f, NULL)) == 3);
	lister_release(v);
	lister_destroy(l);
	metric_registry_destroy(r);
}

static void test_unconnected(void **state)
{
	struct lister *l = lister_create(NULL);
	const struct admit_view *v = lister_view(l);

	(void)state;
	assert_true(lister_is_synced(l));
	assert_false(v->queues_known);
	lister_release(v);
	lister_destroy(l);
}

static void *read_views(void *arg)
{
	struct lister *l = arg;

	for (int i = 0; i < 2000; i++) {
		const struct admit_view *v = lister_view(l);

		for (size_t j = 0; j < v->queue_count; j++) {
			assert_int_equal(strlen(v->queues[j]->meta.name), 1);
		}
		lister_release(v);
	}
	return NULL;
}

static void test_readers_and_writer(void **state)
{
	struct lister *l = lister_create(NULL);
	pthread_t threads[2];
	char key[2] = "a";

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, read_views, l), 0);
	}
	for (int i = 0; i < 2000; i++) {
		key[0] = (char)('a' + i % 20);
		send(l, lister_on_queue, i % 3 == 0 ? REFLECTOR_DELETE : REFLECTOR_UPSERT, key,
		     "{}");
	}
	for (size_t i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
	}
	lister_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views_are_immutable),
		cmocka_unit_test(test_namespaces_that_matter),
		cmocka_unit_test(test_defaults_of_the_quota_kinds),
		cmocka_unit_test(test_what_is_followed),
		cmocka_unit_test(test_what_is_stale),
		cmocka_unit_test(test_undecodable_keeps_the_old),
		cmocka_unit_test(test_unconnected),
		cmocka_unit_test(test_readers_and_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
