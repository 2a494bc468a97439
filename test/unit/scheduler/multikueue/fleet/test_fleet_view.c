#include "scheduler/multikueue/fleet/fleet_view.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "lib/multikueue/fleet_fixture.h"
#include "scheduler/multikueue/fleet/fleet_holders.h"
#include "scheduler/multikueue/records/fleet_offers.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker/link.h"

#define NOW 77
#define RESERVED "{'type':'QuotaReserved','status':'True'}"
#define PENDING "'admissionChecks':[{'name':'mk','state':'Pending'}]"

struct test {
	struct fleet_fixture f;
	struct fleet_offers *offers;
	struct fleet_holders holders;
	struct fleet_workload *w;
	struct fleet_view view;
	struct fleet_view_source source;
};

static void offer(struct test *t, enum sched_resource r, const char *key, const char *json)
{
	struct sched_msg *m = fleet_fixture_object(r, key, 1, json);

	(void)fleet_offers_handle(t->offers, m);
	message_free(m);
}

/* Clusters a, b, c, d; the config names c, a, b. */
static void begin(struct test *t)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	*t = (struct test){ .holders = VEC_INIT };
	fleet_fixture_begin(&t->f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		fleet_fixture_cluster(&t->f, names[i])->source = i + 1;
	}
	t->offers = fleet_offers_create();
	offer(t, SCHED_ADMISSION_CHECKS, "mk",
	      "{'spec':{'controllerName':'kueue.x-k8s.io/multikueue','parameters':{'apiGroup':"
	      "'kueue.x-k8s.io','kind':'MultiKueueConfig','name':'all'}}}");
	offer(t, SCHED_MULTIKUEUE_CONFIGS, "all", "{'spec':{'clusters':['c','a','b','missing']}}");
	t->w = fleet_workload_create(str_of("ns/w"));
	t->source = (struct fleet_view_source){ .offers = t->offers,
						.clusters = t->f.clusters,
						.holders = &t->holders,
						.connecting_until = 99,
						.max_open = 1 };
}

static void end(struct test *t)
{
	fleet_view_finish(&t->view);
	vec_finish(&t->holders);
	fleet_workload_destroy(t->w);
	fleet_offers_destroy(t->offers);
	fleet_fixture_end(&t->f);
}

static void set_local(struct test *t, const char *json)
{
	struct sched_msg *m = fleet_fixture_object(SCHED_WORKLOADS, "ns/w", 1, json);

	assert_int_equal(fleet_workload_set_local(t->w, m, NOW, NULL), 0);
	message_free(m);
}

static void place(struct fleet_workload *w, const char *cluster, const char *json)
{
	struct sched_msg *m = fleet_fixture_object(SCHED_WORKLOADS, "ns/w", 1, json);

	fleet_workload_observe(w, fleet_workload_replica(w, cluster), m->object, 1, NOW);
	message_free(m);
}

#define REPLICA "{'metadata':{'name':'w','namespace':'ns','uid':'x'},'spec':{'queueName':'main'}}"

/* want: names of one character. */
static void expect_order(struct test *t, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;

	strbuf_add_c(&got, "");
	fleet_view_make(&t->view, t->w, &t->source, NOW);
	for (size_t i = 0; i < t->view.of.n; i++) {
		assert_string_equal(t->view.replicas.v[i].cluster, t->view.of.v[i]->cluster);
		strbuf_add_c(&got, t->view.of.v[i]->cluster);
	}
	assert_string_equal(got.p, want);
	assert_int_equal(t->view.view.n, got.len);
	assert_ptr_equal(t->view.view.replicas, t->view.replicas.v);
}

static void test_order(void **state UNUSED)
{
	static const struct {
		const char *name, *local, *want;
	} rows[] = {
		{ "in the order of the config",
		  "{'status':{" PENDING ",'nominatedClusterNames':['a','b','c']}}", "cab" },
		{ "the nominated ones alone",
		  "{'status':{" PENDING ",'nominatedClusterNames':['b']}}", "b" },
		{ "then those outside of the config",
		  "{'status':{" PENDING ",'nominatedClusterNames':['d','b','c']}}", "cbd" },
		{ "without a check, as nominated", "{'status':{'nominatedClusterNames':['b','a']}}",
		  "ba" },
		{ "clusters that do not exist",
		  "{'status':{" PENDING ",'nominatedClusterNames':['gone','missing','a']}}", "a" },
		{ "named twice", "{'status':{" PENDING ",'nominatedClusterNames':['d','a','d']}}",
		  "ad" },
		{ "nothing", "{'status':{" PENDING "}}", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct test t;

		unit_row(rows[i].name);
		begin(&t);
		set_local(&t, rows[i].local);
		expect_order(&t, rows[i].want);
		end(&t);
	}
}

#define LOCAL                                                                                      \
	"{'metadata':{'annotations':{'" TOKEN_ANNOTATION                                           \
	"':'{\\'epoch\\':1,\\'phase\\':\\'%s\\',\\'holder\\':\\'a\\',\\'uid\\':\\'x\\',"           \
	"\\'outcome\\':\\'Timeout\\',\\'grantedAt\\':\\'2027-01-15T08:00:00.000000Z\\'}'}},"       \
	"'status':{" PENDING ",'nominatedClusterNames':['b']}}"

static void test_replicas_and_holder_are_last(void **state UNUSED)
{
	static const struct {
		const char *phase, *want;
	} rows[] = {
		{ "Granted", "bda" },
		{ "Revoking", "bda" },
		{ "Free", "bd" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
		struct test t;

		unit_row(rows[i].phase);
		begin(&t);
		strbuf_printf(&json, LOCAL, rows[i].phase);
		set_local(&t, json.p);
		place(t.w, "d", REPLICA);
		/* Known, but without a replica. */
		fleet_workload_observe(t.w, fleet_workload_replica(t.w, "c"), NULL, 3, NOW);
		expect_order(&t, rows[i].want);
		end(&t);
	}
}

static void test_replica_of_a_new_cluster(void **state UNUSED)
{
	struct test t;

	begin(&t);
	fleet_clusters_find(t.f.clusters, str_of("b"))->source = 0;
	set_local(&t, "{'status':{" PENDING ",'nominatedClusterNames':['a','b']}}");
	expect_order(&t, "ab");
	/* Connected: there is none. Not connected: there may be one. */
	assert_true(t.view.replicas.v[0].reachable);
	assert_null(t.view.replicas.v[0].uid);
	assert_int_equal(t.view.of.v[0]->source, 1);
	assert_false(t.view.replicas.v[1].reachable);
	assert_int_equal(t.view.view.now, NOW);
	assert_int_equal(t.view.view.connecting_until, 99);
	assert_ptr_equal(t.view.view.token, &t.w->token);
	end(&t);
}

/* b is in the config, and the Workload is offered to a and c. */
static void test_next_offer(void **state UNUSED)
{
	static const struct {
		const char *name, *nominated;
		uint64_t source;
		int64_t up_at, want;
	} rows[] = {
		{ "it makes its first connection", "['a','c']", 0, 0, 99 },
		{ "it has just connected", "['a','c']", 2, NOW - 1, NOW - 1 + CLOCK_NS_PER_S },
		{ "it is connected, and not offered", "['a','c']", 2, NOW - CLOCK_NS_PER_S, NOW },
		{ "it is offered", "['a','b','c']", 0, 0, NOW },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
		struct fleet_cluster *b;
		struct test t;

		unit_row(rows[i].name);
		begin(&t);
		for (size_t k = 0; k < fleet_clusters_count(t.f.clusters); k++) {
			fleet_clusters_at(t.f.clusters, k)->up_at = NOW - CLOCK_NS_PER_S;
		}
		b = fleet_clusters_find(t.f.clusters, str_of("b"));
		b->source = rows[i].source;
		b->up_at = rows[i].up_at;
		strbuf_printf(&json, "{'status':{" PENDING ",'nominatedClusterNames':%s}}",
			      rows[i].nominated);
		set_local(&t, json.p);
		fleet_view_make(&t.view, t.w, &t.source, NOW);
		assert_int_equal(t.view.view.offers_until, rows[i].want);
		end(&t);
	}
}

/* A cluster that has failed to connect is not waited for. */
static void test_no_offer_of_the_failed(void **state UNUSED)
{
	struct test t;

	begin(&t);
	fleet_fixture_secret(&t.f, "b", "no kubeconfig");
	fleet_fixture_connect(&t.f);
	assert_true(link_is_settled(fleet_clusters_find(t.f.clusters, str_of("b"))->link));
	set_local(&t, "{'status':{" PENDING ",'nominatedClusterNames':['a','c']}}");
	fleet_view_make(&t.view, t.w, &t.source, NOW);
	assert_int_equal(t.view.view.offers_until, NOW);
	end(&t);
}

static void test_deleted_cluster(void **state UNUSED)
{
	struct test t;

	begin(&t);
	set_local(&t, "{'status':{" PENDING ",'nominatedClusterNames':['a','b']}}");
	place(t.w, "a", REPLICA);
	fleet_fixture_handle(&t.f, fleet_fixture_deleted(SCHED_MULTIKUEUE_CLUSTERS, "a"));
	expect_order(&t, "b");
	end(&t);
}

static void test_wanted(void **state UNUSED)
{
	static const struct {
		const char *name, *local;
		bool want;
	} rows[] = {
		{ "pending with quota", "{'status':{" PENDING ",'conditions':[" RESERVED "]}}",
		  true },
		{ "no check", "{'status':{'conditions':[" RESERVED "]}}", false },
		{ "check is ready",
		  "{'status':{'admissionChecks':[{'name':'mk','state':'Ready'}],"
		  "'conditions':[" RESERVED "]}}",
		  false },
		{ "check is retried",
		  "{'status':{'admissionChecks':[{'name':'mk','state':"
		  "'Retry'}],'conditions':[" RESERVED "]}}",
		  false },
		{ "check has no state",
		  "{'status':{'admissionChecks':[{'name':'mk'}],'conditions':[" RESERVED "]}}",
		  false },
		{ "no quota", "{'status':{" PENDING "}}", false },
		{ "quota is lost",
		  "{'status':{" PENDING
		  ",'conditions':[{'type':'QuotaReserved','status':'False'}]}}",
		  false },
		{ "evicted",
		  "{'status':{" PENDING ",'conditions':[" RESERVED
		  ",{'type':'Evicted','status':'True'}]}}",
		  false },
		{ "evicted before",
		  "{'status':{" PENDING ",'conditions':[" RESERVED
		  ",{'type':'Evicted','status':'False'}]}}",
		  true },
		{ "finished",
		  "{'status':{" PENDING ",'conditions':[" RESERVED
		  ",{'type':'Finished','status':'True'}]}}",
		  false },
		{ "being deleted",
		  "{'metadata':{'deletionTimestamp':'2027-01-15T08:00:00Z'},'status':{" PENDING
		  ",'conditions':[" RESERVED "]}}",
		  false },
		{ "not active",
		  "{'spec':{'active':false},'status':{" PENDING ",'conditions':[" RESERVED "]}}",
		  false },
		{ "active",
		  "{'spec':{'active':true},'status':{" PENDING ",'conditions':[" RESERVED "]}}",
		  true },
	};
	struct test t;

	begin(&t);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		set_local(&t, rows[i].local);
		fleet_view_make(&t.view, t.w, &t.source, NOW);
		assert_int_equal(t.view.view.wanted, rows[i].want);
	}
	end(&t);
}

static void test_busy(void **state UNUSED)
{
	struct test t;
	struct fleet_workload *other = fleet_workload_create(str_of("ns/other"));

	begin(&t);
	set_local(&t, "{'status':{" PENDING ",'nominatedClusterNames':['a','b']}}");
	place(t.w, "a", REPLICA);
	place(t.w, "b", REPLICA);
	place(other, "b", REPLICA);
	expect_order(&t, "ab");
	assert_false(t.view.is_busy);
	(void)fleet_holders_set(&t.holders, other,
				fleet_clusters_find(t.f.clusters, str_of("b"))->name);
	expect_order(&t, "ab");
	assert_true(t.view.is_busy);
	assert_false(t.view.replicas.v[0].busy);
	assert_true(t.view.replicas.v[1].busy);
	t.source.max_open = 2;
	expect_order(&t, "ab");
	assert_false(t.view.is_busy);
	assert_false(t.view.replicas.v[1].busy);
	t.source.max_open = 1;
	(void)fleet_holders_set(&t.holders, other, NULL);
	expect_order(&t, "ab");
	assert_false(t.view.is_busy);
	fleet_workload_destroy(other);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_replicas_and_holder_are_last),
		cmocka_unit_test(test_replica_of_a_new_cluster),
		cmocka_unit_test(test_next_offer),
		cmocka_unit_test(test_no_offer_of_the_failed),
		cmocka_unit_test(test_deleted_cluster),
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
