/* Both worker clusters are one API server: a ClusterQueue of 2 cpu with the victims "cheap" and
 * "dear", which has run for an hour longer. Workloads of 1 cpu wait. */
#include "scheduler/multikueue/fleet/fleet_prices.h"

#include "lib/unit.h"

#include <string.h>

#include "apiserver/apiserver.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/multikueue/fleet_fixture.h"
#include "scheduler/multikueue/fleet/fleet_holders.h"
#include "scheduler/multikueue/fleet/fleet_view.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define S CLOCK_NS_PER_S
#define SPEC(priority)                                                                             \
	"spec: {queueName: main, priority: " priority ", podSets: [{name: main, count: 1, "        \
	"template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}" \
	"}]}"
#define CONDITION(type, since)                                                                     \
	"{type: " type ", status: 'True', reason: r, message: '', lastTransitionTime: '" since "'" \
	"}"
#define OBJECT(kind, name)                                                                         \
	"apiVersion: kueue.x-k8s.io/v1beta2\nkind: " kind "\nmetadata: {name: " name "}\n"
#define WORKLOAD(name)                                                                             \
	"---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\n"                                \
	"metadata: {name: " name ", namespace: default}\n"
#define VICTIM(name, since)                                                                        \
	WORKLOAD(name)                                                                             \
	SPEC("0")                                                                                  \
	"\nstatus: {conditions: [" CONDITION("QuotaReserved", since) ", " CONDITION(               \
		"Admitted",                                                                        \
		since) "], "                                                                       \
		       "admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1, " \
		       "flavors: {cpu: f}, resourceUsage: {cpu: '1'}}]}}\n"
#define WAITING(name) WORKLOAD(name) SPEC("10") "\n"

static const char manifests[] = OBJECT("ResourceFlavor", "f") "---\n" OBJECT(
	"ClusterQueue",
	"cq") "spec: {namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority}, "
	      "resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: "
	      "[{name: cpu, nominalQuota: '2'}]}]}]}\n"
	      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
	      "metadata: {name: main, namespace: default}\nspec: {clusterQueue: cq}\n" VICTIM(
		      "cheap", "2027-01-15T07:59:00Z") VICTIM("dear", "2027-01-15T07:00:00Z")
		      WAITING("p") WAITING("q") WAITING("r");

struct test {
	struct fleet_fixture f;
	struct kueue_conf *conf;
	struct fleet_prices *prices;
	struct fleet_holders holders;
	struct fleet_workload *p, *q, *r;
	struct fleet_view view;
};

static void begin(struct test *t)
{
	*t = (struct test){ .conf = NULL };
	fleet_fixture_begin(&t->f);
	fleet_fixture_load(&t->f, manifests);
	(void)fleet_fixture_cluster(&t->f, "east");
	(void)fleet_fixture_cluster(&t->f, "west");
	fleet_fixture_connect(&t->f);
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &t->conf, NULL), 0);
	t->prices = fleet_prices_create(&(struct fleet_prices_options){ .conf = t->conf,
									.clock = &t->f.clock.base,
									.post = fleet_fixture_post,
									.ctx = &t->f });
	t->p = fleet_workload_create(str_of("default/p"));
	t->q = fleet_workload_create(str_of("default/q"));
	t->r = fleet_workload_create(str_of("default/r"));
}

static void end(struct test *t)
{
	fleet_clusters_destroy(t->f.clusters);
	t->f.clusters = NULL;
	fleet_prices_destroy(t->prices);
	fleet_fixture_end(&t->f);
	fleet_view_finish(&t->view);
	vec_finish(&t->holders);
	fleet_workload_destroy(t->p);
	fleet_workload_destroy(t->q);
	fleet_workload_destroy(t->r);
	kueue_conf_destroy(t->conf);
}

static struct fleet_cluster *cluster(struct test *t, const char *name)
{
	return fleet_clusters_find(t->f.clusters, str_of(name));
}

static int64_t wall(const struct test *t)
{
	return clock_wall(&t->f.clock.base);
}

/* Candidates on both clusters that have signalled since then. */
static void make_view(struct test *t, int64_t since)
{
	static const char *const names[] = { "east", "west" };

	vec_clear(&t->view.replicas);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct replica r = { .cluster = names[i],
					   .uid = "x",
					   .reachable = true,
					   .has_gate = true,
					   .signals = true,
					   .answer = REPLICA_GATED,
					   .signal_seen = since,
					   .cost = REPLICA_COST_UNKNOWN };

		vec_push(&t->view.replicas, r);
	}
}

static bool set(struct test *t, const struct fleet_workload *w)
{
	return fleet_prices_set(t->prices, &t->view, w, t->f.clusters, &t->holders);
}

/* Returns how many readings have ended. */
static size_t deliver(struct test *t)
{
	size_t n;

	fleet_fixture_settle(&t->f);
	n = t->f.surveys.n;
	for (size_t i = 0; i < n; i++) {
		struct sched_msg *m = t->f.surveys.v[i];
		const struct fleet_cluster *k = fleet_clusters_of(t->f.clusters, m->source);

		fleet_prices_handle(t->prices, k == NULL ? "east" : k->name, m);
		message_free(m);
	}
	vec_clear(&t->f.surveys);
	return n;
}

static int64_t cost(const struct test *t, size_t i)
{
	return t->view.replicas.v[i].cost;
}

/* Prices w on both clusters, by readings if need be. */
static void price(struct test *t, const struct fleet_workload *w)
{
	make_view(t, wall(t));
	if (!set(t, w)) {
		(void)deliver(t);
		assert_true(set(t, w));
	}
}

static void test_a_reading_serves_several(void **state UNUSED)
{
	struct test t;

	begin(&t);
	make_view(&t, wall(&t));
	assert_false(set(&t, t.p));
	/* While it runs no other one is begun. */
	assert_false(set(&t, t.p));
	assert_false(set(&t, t.q));
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	assert_int_equal(deliver(&t), 2);
	assert_true(set(&t, t.p));
	assert_int_equal(cost(&t, 0), cost(&t, 1));
	assert_true(cost(&t, 0) > 0);
	make_view(&t, wall(&t));
	assert_true(set(&t, t.q));
	assert_true(cost(&t, 0) > 0);
	assert_null(fleet_prices_error(t.prices, "east"));
	assert_int_equal(deliver(&t), 0);
	end(&t);
	fleet_prices_destroy(NULL);
}

static void test_nothing_to_compare(void **state UNUSED)
{
	struct test t;

	begin(&t);
	make_view(&t, wall(&t));
	t.view.replicas.v[1].signals = false;
	assert_true(set(&t, t.p));
	assert_int_equal(deliver(&t), 0);
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	assert_null(fleet_prices_error(t.prices, "east"));
	/* Of three replicas two are candidates: the third one is not read. */
	make_view(&t, wall(&t));
	vec_push(&t.view.replicas, t.view.replicas.v[0]);
	t.view.replicas.v[0].answer = REPLICA_DOES_NOT_FIT;
	assert_false(set(&t, t.p));
	assert_int_equal(deliver(&t), 2);
	assert_true(set(&t, t.p));
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	assert_true(cost(&t, 1) > 0);
	end(&t);
}

static void test_age_of_readings(void **state UNUSED)
{
	static const struct {
		const char *name;
		int64_t after, signal; /* ns after the reading: now, and the signal */
		bool serves;
	} rows[] = {
		{ "at once", 0, 0, true },
		{ "almost too old", 5 * S - 1, 0, true },
		{ "too old", 5 * S, 0, false },
		{ "the signal came later", S, 1, false },
		{ "the signal comes now", S, S, false },
		{ "the clock was set back", S, S + 1, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct test t;
		int64_t began;

		unit_row(rows[i].name);
		begin(&t);
		began = wall(&t);
		price(&t, t.p);
		clock_fake_advance(&t.f.clock, rows[i].after);
		make_view(&t, began + rows[i].signal);
		assert_int_equal(set(&t, t.q), rows[i].serves);
		assert_int_equal(deliver(&t), rows[i].serves ? 0 : 2);
		end(&t);
	}
}

static void set_faults(struct test *t, const char *script)
{
	struct err err = ERR_INIT;

	if (apiserver_set_faults(t->f.api, str_of(script), &err) < 0) {
		fail_msg("%s", err.text);
	}
}

static void test_failure_is_not_repeated(void **state UNUSED)
{
	struct test t;

	begin(&t);
	set_faults(&t, "[{fault: status, code: 403, count: 0, path: '/apis/.*/clusterqueues'}]");
	make_view(&t, wall(&t));
	assert_false(set(&t, t.p));
	assert_int_equal(deliver(&t), 2);
	assert_non_null(fleet_prices_error(t.prices, "east"));
	assert_non_null(strstr(fleet_prices_error(t.prices, "east"), "clusterqueues"));
	assert_true(set(&t, t.p));
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	set_faults(&t, "[]");
	clock_fake_advance(&t.f.clock, 60 * S - 1);
	assert_true(set(&t, t.p));
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	clock_fake_advance(&t.f.clock, 1);
	assert_false(set(&t, t.p));
	assert_non_null(fleet_prices_error(t.prices, "east"));
	assert_int_equal(deliver(&t), 2);
	assert_true(set(&t, t.p));
	assert_true(cost(&t, 0) > 0);
	assert_null(fleet_prices_error(t.prices, "east"));
	end(&t);
}

static void test_lost_connection(void **state UNUSED)
{
	struct test t;
	struct sched_msg *late;

	begin(&t);
	make_view(&t, wall(&t));
	assert_false(set(&t, t.p));
	fleet_fixture_settle(&t.f);
	assert_int_equal(t.f.surveys.n, 2);
	late = t.f.surveys.v[0];
	message_free(t.f.surveys.v[1]);
	vec_clear(&t.f.surveys);
	/* The answer of a connection that has ended is not taken. */
	fleet_prices_lost(t.prices, "east");
	fleet_prices_lost(t.prices, "never read");
	fleet_prices_handle(t.prices, "east", late);
	assert_false(set(&t, t.p));
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	/* Nor where another reading is running. */
	late->source = 77;
	fleet_prices_handle(t.prices, "east", late);
	assert_false(set(&t, t.p));
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	fleet_prices_handle(t.prices, "never read", late);
	message_free(late);
	assert_int_equal(deliver(&t), 1);
	assert_false(set(&t, t.p)); /* west's was thrown away */
	assert_true(cost(&t, 0) > 0);
	end(&t);
}

static void test_reading_ends_with_its_connection(void **state UNUSED)
{
	struct test t;

	begin(&t);
	make_view(&t, wall(&t));
	assert_false(set(&t, t.p));
	fleet_prices_lost(t.prices, "east");
	fleet_prices_lost(t.prices, "west");
	assert_int_equal(deliver(&t), 0);
	end(&t);
}

static void test_clusters_that_are_not_connected(void **state UNUSED)
{
	struct test t;

	begin(&t);
	cluster(&t, "east")->source = 0;
	make_view(&t, wall(&t));
	assert_false(set(&t, t.p));
	assert_int_equal(deliver(&t), 1);
	cluster(&t, "east")->source = 0;
	assert_true(set(&t, t.p));
	assert_int_equal(cost(&t, 0), REPLICA_COST_UNKNOWN);
	assert_true(cost(&t, 1) > 0);
	fleet_fixture_handle(&t.f, fleet_fixture_deleted(SCHED_MULTIKUEUE_CLUSTERS, "east"));
	assert_true(set(&t, t.p));
	end(&t);
}

static void grant(struct test *t, struct fleet_workload *w, const char *name)
{
	fleet_prices_promise(t->prices, w, name, &t->holders);
	(void)fleet_holders_set(&t->holders, w, cluster(t, name)->name);
}

static void test_promised_victims(void **state UNUSED)
{
	struct test t;
	int64_t cheap, dear;

	begin(&t);
	price(&t, t.p);
	cheap = cost(&t, 0);
	grant(&t, t.p, "east");
	assert_int_equal(t.p->promised.n, 1);
	assert_string_equal(t.p->promised.v[0], "default/cheap");

	price(&t, t.q);
	dear = cost(&t, 0);
	assert_true(dear > cheap);
	assert_int_equal(cost(&t, 1), cheap); /* nothing is promised there */
	/* It is promised what it was priced with. */
	grant(&t, t.q, "east");
	assert_int_equal(t.q->promised.n, 1);
	assert_string_equal(t.q->promised.v[0], "default/dear");

	price(&t, t.r);
	assert_true(cost(&t, 0) == INT64_MAX);
	assert_int_equal(cost(&t, 1), cheap);
	/* Those of one itself are its own. */
	price(&t, t.p);
	assert_int_equal(cost(&t, 0), cheap);
	/* Its victims are free when it holds the token no more. */
	(void)fleet_holders_set(&t.holders, t.p, NULL);
	price(&t, t.r);
	assert_int_equal(cost(&t, 0), cheap);
	end(&t);
}

/* A reading from while a Workload had the token shows its victims, which are not there any more, or
 * their room before it was taken. */
static void test_reading_from_before_an_end(void **state UNUSED)
{
	struct test t;

	begin(&t);
	price(&t, t.p);
	grant(&t, t.p, "east");
	(void)fleet_holders_set(&t.holders, t.p, NULL);
	fleet_prices_ended(t.prices, "east");
	fleet_prices_ended(t.prices, "never read");
	assert_false(set(&t, t.q));
	assert_int_equal(deliver(&t), 1); /* of east alone */
	assert_true(set(&t, t.q));

	/* One that was under way is repeated, but once: others end meanwhile. */
	fleet_prices_ended(t.prices, "east");
	assert_false(set(&t, t.q));
	fleet_prices_ended(t.prices, "east");
	assert_int_equal(deliver(&t), 1);
	assert_false(set(&t, t.q));
	fleet_prices_ended(t.prices, "east");
	assert_int_equal(deliver(&t), 1);
	assert_true(set(&t, t.q));
	assert_true(cost(&t, 0) > 0);
	end(&t);
}

static void test_promise_without_a_reading(void **state UNUSED)
{
	struct test t;

	begin(&t);
	vec_push(&t.p->promised, xmalloc_dup("default/of-before"));
	grant(&t, t.p, "east");
	assert_int_equal(t.p->promised.n, 0);
	price(&t, t.p);
	grant(&t, t.p, "west");
	assert_int_equal(t.p->promised.n, 1);
	fleet_prices_lost(t.prices, "west");
	grant(&t, t.p, "west");
	assert_int_equal(t.p->promised.n, 0);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reading_serves_several),
		cmocka_unit_test(test_nothing_to_compare),
		cmocka_unit_test(test_age_of_readings),
		cmocka_unit_test(test_failure_is_not_repeated),
		cmocka_unit_test(test_lost_connection),
		cmocka_unit_test(test_reading_ends_with_its_connection),
		cmocka_unit_test(test_clusters_that_are_not_connected),
		cmocka_unit_test(test_promised_victims),
		cmocka_unit_test(test_reading_from_before_an_end),
		cmocka_unit_test(test_promise_without_a_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
