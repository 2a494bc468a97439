#include "scheduler/pods/cycle/claims.h"

#include "base/attrs.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/cycle_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/values/pod_class.h"

struct fixture {
	struct cycle_fixture f;
	struct cluster *c;
	struct task *t;
	struct claim *cl;
};

static struct volumes_claim_spec spec;

static void set(struct fixture *x, struct volumes_claim_spec s)
{
	s.key = STR_LIT("ns/data");
	s.klass = STR_LIT("fast");
	(void)volumes_set_claim(x->c, &s);
}

/* The pod has a node, which is written on its claim. */
static void start(struct fixture *x)
{
	struct pod_claim of;
	struct pod_class k;

	cycle_fixture_init(&x->f, NULL);
	x->c = x->f.cluster;
	cluster_fixture_queue(x->c, "q", NULL, -1);
	cluster_fixture_node(x->c, "n", 1000);
	x->t = cluster_fixture_task(x->c, "p", cluster_fixture_podgroup(x->c, "g", "q", 1), 1000);
	of = (struct pod_claim){ .name = cluster_fixture_name(x->c, "data") };
	k = *x->t->klass;
	k.claims = &of;
	k.nclaims = 1;
	k.claims_in = cluster_fixture_name(x->c, "ns");
	cluster_task_set_class(x->c, x->t, cluster_class_intern(x->c, &k));
	volumes_set_class(x->c, &(struct volumes_class_spec){
					.name = STR_LIT("fast"),
					.waits = true,
					.provisioner = cluster_fixture_name(x->c, "d") });
	spec = (struct volumes_claim_spec){ .uid = "u", .resource_version = 1 };
	set(x, spec);
	x->cl = volumes_find_claim(x->c, STR_LIT("ns/data"));
	assert_non_null(strstr(cycle_fixture_run(&x->f), "Bind p n"));
	(void)cycle_fixture_run(&x->f);
	assert_int_equal(x->t->status, TASK_BINDING);
	assert_int_equal(x->t->bind_by, CYCLE_FIXTURE_START + CLAIMS_TIMEOUT_NS);
	assert_true(x->cl->writing);
	assert_int_equal(x->cl->node, 0);
}

static const char *message(const struct fixture *x)
{
	for (size_t i = 0; i < x->f.decisions->n; i++) {
		if (x->f.decisions->v[i].kind == DECISION_EVENT &&
		    str_streq(x->f.decisions->v[i].reason, "VolumesNotBound")) {
			return x->f.decisions->v[i].message;
		}
	}
	return NULL;
}

/* Until the write has ended, and what it wrote is seen, a claim without a node says nothing. */
static void test_the_write_is_awaited(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	assert_string_equal(cycle_fixture_run(&x.f), "");
	volumes_written(x.cl, true, 5);
	spec.resource_version = 4;
	set(&x, spec);
	assert_string_equal(cycle_fixture_run(&x.f), "");
	spec.resource_version = 5;
	set(&x, spec);
	assert_string_equal(cycle_fixture_run(&x.f), "GiveBack p");
	assert_string_equal(message(&x),
			    "persistentvolumeclaim \"data\", node n: provisioning failed");
	assert_int_equal(x.t->status, TASK_PENDING);
	/* The fixture's clock goes on by a second with each cycle. */
	assert_int_equal(x.t->retry_at, x.f.now);
	assert_int_equal(x.cl->node, MODEL_NONE);
	assert_int_equal(queue_find(x.c, STR_LIT("q"))->charged.v[RES_CPU], 0);
	cycle_fixture_finish(&x.f);
}

static void test_reasons_to_give_the_place_back(void **state)
{
	static const struct {
		struct volumes_claim_spec spec;
		const char *why;
	} rows[] = {
		{ { .selected = "n", .deleting = true }, "it is gone, lost or being deleted" },
		{ { .selected = "n", .lost = true }, "it is gone, lost or being deleted" },
		{ { .selected = "other" }, "provisioning failed" },
		{ { .bound = true, .volume = STR_LIT("far") },
		  "its volume cannot be had on the node" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture x;

		unit_row_number(i);
		start(&x);
		volumes_set_volume(x.c, &(struct volumes_volume_spec){ .name = STR_LIT("far"),
								       .restricted = true });
		volumes_written(x.cl, true, 2);
		set(&x, (struct volumes_claim_spec){ .selected = "n", .resource_version = 2 });
		assert_string_equal(cycle_fixture_run(&x.f), "");
		set(&x, rows[i].spec);
		x.cl->resource_version = 3;
		assert_non_null(strstr(cycle_fixture_run(&x.f), "GiveBack p"));
		assert_non_null(strstr(message(&x), rows[i].why));
		cycle_fixture_finish(&x.f);
	}
}

static void test_the_claim_or_the_node_goes(void **state)
{
	struct fixture x;
	struct node *n;

	(void)state;
	start(&x);
	assert_true(volumes_remove_claim(x.c, STR_LIT("ns/data")));
	assert_non_null(strstr(cycle_fixture_run(&x.f), "GiveBack p"));
	cycle_fixture_finish(&x.f);
	start(&x);
	n = cluster_node_find(x.c, STR_LIT("n"));
	n->exists = false;
	cluster_node_changed(x.c, n, &n->allocatable, true);
	assert_non_null(strstr(cycle_fixture_run(&x.f), "GiveBack p"));
	assert_non_null(strstr(message(&x), "the node is gone"));
	cycle_fixture_finish(&x.f);
}

static void test_the_volume_may_be_seen_later_than_the_claim(void **state)
{
	struct fixture x;

	(void)state;
	start(&x);
	set(&x, (struct volumes_claim_spec){ .bound = true, .volume = STR_LIT("v") });
	assert_string_equal(cycle_fixture_run(&x.f), "");
	volumes_set_volume(x.c, &(struct volumes_volume_spec){ .name = STR_LIT("v") });
	assert_string_equal(cycle_fixture_run(&x.f), "FinishBind p n");
	assert_int_equal(x.t->status, TASK_BINDING);
	assert_int_equal(x.t->bind_by, MODEL_TIME_NONE);
	assert_string_equal(cycle_fixture_run(&x.f), "");
	cycle_fixture_finish(&x.f);
}

static void test_the_wait_ends(void **state)
{
	struct fixture x;
	int64_t timer = INT64_MAX;

	(void)state;
	start(&x);
	volumes_written(x.cl, true, 2);
	set(&x, (struct volumes_claim_spec){ .selected = "n", .resource_version = 2 });
	assert_false(claims_are_due(x.c, x.f.now, &timer));
	assert_int_equal(timer, x.t->bind_by);
	x.f.now = x.t->bind_by - 1;
	assert_string_equal(cycle_fixture_run(&x.f), "");
	assert_int_equal(cycle_last_stats(x.f.cycle).next_timer, x.t->bind_by);
	x.f.now = x.t->bind_by;
	assert_string_equal(cycle_fixture_run(&x.f), "GiveBack p");
	assert_non_null(strstr(message(&x), "it was not bound in time"));
	cycle_fixture_finish(&x.f);
}

static void set_volume(struct fixture *x, struct volumes_volume_spec s)
{
	s.name = STR_LIT("v");
	s.klass = STR_LIT("fast");
	volumes_set_volume(x->c, &s);
}

/* As start, with a volume that is reserved for the claim. */
static void start_with_volume(struct fixture *x)
{
	const struct volumes_volume_spec free_one = { .available = true, .resource_version = 3 };

	start(x);
	set_volume(x, free_one);
	volumes_written(x->cl, true, 2);
	set(x, (struct volumes_claim_spec){ .uid = "u", .resource_version = 2 });
	assert_non_null(strstr(cycle_fixture_run(&x->f), "GiveBack p"));
	x->f.now = x->t->retry_at;
	assert_non_null(strstr(cycle_fixture_run(&x->f), "TakeVolume p v; Bind p n"));
	(void)cycle_fixture_run(&x->f);
	assert_int_equal(x->t->status, TASK_BINDING);
	assert_false(x->cl->writing);
	assert_string_equal(x->cl->taken->name, "v");
	assert_true(x->cl->taken->writing);
}

static void test_a_reserved_volume_is_awaited(void **state)
{
	struct volumes_volume_spec seen = { .ref = STR_LIT("ns/data"),
					    .ref_uid = "u",
					    .resource_version = 4 };
	struct fixture x;

	(void)state;
	start_with_volume(&x);
	/* The claimRef may be seen before the answer comes. */
	set_volume(&x, seen);
	assert_string_equal(cycle_fixture_run(&x.f), "");
	volumes_claimed(x.c, volumes_find_volume(x.c, STR_LIT("v")), true, 4);
	assert_null(x.cl->taken);
	assert_string_equal(cycle_fixture_run(&x.f), "");
	set(&x, (struct volumes_claim_spec){
			.uid = "u", .bound = true, .volume = STR_LIT("v"), .resource_version = 5 });
	assert_string_equal(cycle_fixture_run(&x.f), "FinishBind p n");
	cycle_fixture_finish(&x.f);
	start_with_volume(&x);
	volumes_claimed(x.c, volumes_find_volume(x.c, STR_LIT("v")), true, 4);
	assert_string_equal(cycle_fixture_run(&x.f), "");
	assert_non_null(x.cl->taken);
	set_volume(&x, seen);
	assert_null(x.cl->taken);
	assert_string_equal(cycle_fixture_run(&x.f), "");
	cycle_fixture_finish(&x.f);
}

static void test_a_reserved_volume_is_lost(void **state)
{
	static const struct {
		struct volumes_volume_spec volume;
		bool done;
		const char *why;
	} rows[] = {
		{ { .ref = STR_LIT("ns/other") }, false, "another claim has got its volume" },
		{ { .ref = STR_LIT("ns/data"), .ref_uid = "u", .restricted = true },
		  true,
		  "its volume cannot be had on the node" },
		/* The claimRef was taken off again. */
		{ { .available = true }, true, "provisioning failed" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct volumes_volume_spec seen = rows[i].volume;
		struct fixture x;

		unit_row_number(i);
		start_with_volume(&x);
		seen.resource_version = 5;
		if (rows[i].done) {
			volumes_claimed(x.c, volumes_find_volume(x.c, STR_LIT("v")), true, 4);
		}
		set_volume(&x, seen);
		assert_non_null(strstr(cycle_fixture_run(&x.f), "GiveBack p"));
		assert_non_null(strstr(message(&x), rows[i].why));
		assert_int_equal(x.t->status, TASK_PENDING);
		cycle_fixture_finish(&x.f);
	}
}

/* The claim, or the volume, is another object of the name by now. */
static void test_what_is_reserved_goes_with_its_objects(void **state)
{
	struct fixture x;

	(void)state;
	start_with_volume(&x);
	set(&x, (struct volumes_claim_spec){ .uid = "another", .resource_version = 9 });
	assert_null(x.cl->taken);
	assert_null(volumes_find_volume(x.c, STR_LIT("v"))->taker);
	/* It is being written: no other claim gets it before the answer. */
	assert_non_null(strstr(cycle_fixture_run(&x.f), "GiveBack p"));
	x.f.now = x.t->retry_at;
	assert_null(strstr(cycle_fixture_run(&x.f), "TakeVolume"));
	cycle_fixture_finish(&x.f);
	start_with_volume(&x);
	assert_true(volumes_remove_volume(x.c, STR_LIT("v")));
	assert_null(x.cl->taken);
	assert_non_null(strstr(cycle_fixture_run(&x.f), "GiveBack p"));
	cycle_fixture_finish(&x.f);
	start_with_volume(&x);
	assert_true(volumes_remove_claim(x.c, STR_LIT("ns/data")));
	assert_null(volumes_find_volume(x.c, STR_LIT("v"))->taker);
	assert_null(cluster_verify(x.c));
	cycle_fixture_finish(&x.f);
	start_with_volume(&x);
	set_volume(&x, (struct volumes_volume_spec){ .uid = "another", .available = true });
	assert_null(x.cl->taken);
	cycle_fixture_finish(&x.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_write_is_awaited),
		cmocka_unit_test(test_reasons_to_give_the_place_back),
		cmocka_unit_test(test_the_claim_or_the_node_goes),
		cmocka_unit_test(test_the_volume_may_be_seen_later_than_the_claim),
		cmocka_unit_test(test_the_wait_ends),
		cmocka_unit_test(test_a_reserved_volume_is_awaited),
		cmocka_unit_test(test_a_reserved_volume_is_lost),
		cmocka_unit_test(test_what_is_reserved_goes_with_its_objects),
	};

	return cmocka_run_group_tests_name("cycle/claims", tests, NULL, NULL);
}
