#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static void test_charges_do_not_follow_an_edit(void **state)
{
	struct cache_fixture *f = *state;
	struct task *r;

	(void)cache_fixture_queue(f, "other", NULL, NULL);
	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &cache_fixture_running);
	r = cache_fixture_pod(f, &cache_fixture_pending);
	ledger_charge(f->c, r, queue_find(f->c, STR_LIT("q")), CHARGE_PATCHING);
	(void)cache_fixture_group(f, "g", "other", 1);
	assert_int_equal(cache_fixture_charged(f, "q"), 2000);
	assert_int_equal(cache_fixture_charged(f, "other"), 0);
	(void)cache_fixture_group(f, "g", "nowhere", 1);
	assert_int_equal(r->charge, CHARGE_NONE);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(cache_fixture_charged(f, "nowhere"), 0);
	assert_int_equal(cache_fixture_charged(f, "root"), 1000);
}

static void test_spec_is_taken_over(void **state)
{
	struct cache_fixture *f = *state;
	const struct podgroup *g;

	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"1\","
			   "\"resourceVersion\":\"9\"},\"spec\":{\"minMember\":3,\"minTaskMember\":"
			   "{\"w\":2,\"a\":1},\"minResources\":{\"cpu\":\"1100u\",\"count/pods\":"
			   "\"3\",\"example.com/gpu\":\"2\"}},\"status\":{\"phase\":\"Inqueue\","
			   "\"running\":4}}");
	g = cluster_podgroup_find(f->c, STR_LIT("ns/g"));
	assert_int_equal(g->queue, f->c->default_queue);
	assert_int_equal(g->min_member, 3);
	assert_int_equal(g->role_min.n, 2);
	assert_true(g->has_min_resources);
	assert_int_equal(g->min_resources.v[RES_CPU], 2); /* rounded up */
	assert_int_equal(g->min_unoffered.n, 1);
	assert_string_equal(g->min_unoffered.v[0].name, "example.com/gpu");
	assert_int_equal(g->min_unoffered.v[0].amount, 2);
	assert_int_equal(res_names_count(f->c->res), RES_FIRST_NAMED);
	assert_int_equal(g->phase, PODGROUP_INQUEUE);
	assert_int_equal(g->status_running, 4);
}

static void see_group_of(struct cache_fixture *f, const char *annotations, const char *owner_uid,
			 const char *version)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"podgroup-x\","
		      "\"uid\":\"g-x\",\"resourceVersion\":\"%s\",\"annotations\":{%s},"
		      "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
		      "\"name\":\"p\",\"uid\":\"%s\",\"controller\":true}]},"
		      "\"spec\":{\"minMember\":1,\"queue\":\"q\"}}",
		      version, annotations, owner_uid);
	cache_fixture_json(f, SCHED_PODGROUPS, "%s", text.p);
}

#define OURS "\"headgate.io/made-by\":\"headgate-scheduler\""

/* Its own pod is in it before the pod says so; no other pod is, and none that has to say so. */
static void test_a_group_of_ours_adopts_its_pod(void **state)
{
	static const struct {
		struct cache_fixture_pod pod;
		const char *annotations, *uid;
		bool adopted;
	} rows[] = {
		{ { .name = "p" }, OURS, NULL, true },
		{ { .name = "p" }, "", NULL, false },
		{ { .name = "p" }, "\"headgate.io/made-by\":\"x\"", NULL, false },
		{ { .name = "p" }, OURS, "another", false },
		{ { .name = "p", .opted_in = true }, OURS, NULL, false },
		{ { .name = "p", .group = "g" }, OURS, NULL, false },
		{ { .name = "p", .node = "n", .phase = "Running" }, OURS, NULL, false },
	};
	struct cache_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct task *t = cache_fixture_pod(f, &rows[i].pod);
		const struct podgroup *g;

		unit_row_number(i);
		see_group_of(f, rows[i].annotations, rows[i].uid == NULL ? t->uid : rows[i].uid,
			     "100");
		g = cluster_podgroup_find(f->c, STR_LIT("ns/podgroup-x"));
		assert_non_null(g);
		assert_int_equal(t->podgroup == g->id, rows[i].adopted);
		assert_int_equal((t->flags & TASK_ADOPTED) != 0, rows[i].adopted);
		assert_null(cluster_verify(f->c));
		cache_fixture_delete(f, SCHED_PODGROUPS, "ns/podgroup-x");
		cache_fixture_delete(f, SCHED_PODS, "ns/p");
	}
}

static void test_an_adopted_pod_stays_until_it_names_a_group(void **state)
{
	static const struct cache_fixture_pod plain = { .name = "p" },
					      named = { .name = "p", .group = "podgroup-x" },
					      opted = { .name = "p", .opted_in = true };
	struct cache_fixture *f = *state;
	struct task *t = cache_fixture_pod(f, &plain);
	uint32_t podgroup;

	see_group_of(f, OURS, t->uid, "100");
	podgroup = t->podgroup;
	assert_int_not_equal(podgroup, MODEL_NONE);
	t = cache_fixture_pod(f, &plain);
	assert_int_equal(t->podgroup, podgroup);
	assert_int_not_equal(t->flags & TASK_ADOPTED, 0);
	t = cache_fixture_pod(f, &named);
	assert_int_equal(t->podgroup, podgroup);
	assert_int_equal(t->flags & TASK_ADOPTED, 0);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	/* One that opts in has to be annotated; one that lost its PodGroup needs another. */
	for (int i = 0; i < 2; i++) {
		t = cache_fixture_pod(f, &plain);
		see_group_of(f, OURS, t->uid, i == 0 ? "101" : "102");
		assert_int_not_equal(t->flags & TASK_ADOPTED, 0);
		if (i == 1) {
			cache_fixture_delete(f, SCHED_PODGROUPS, "ns/podgroup-x");
		}
		t = cache_fixture_pod(f, i == 0 ? &opted : &plain);
		assert_int_equal(t->podgroup, MODEL_NONE);
		assert_int_equal(t->flags & TASK_ADOPTED, 0);
		cache_fixture_delete(f, SCHED_PODS, "ns/p");
	}
}

static struct podgroup *podgroup_of(const struct cache_fixture *f, const struct task *t)
{
	return t->podgroup == MODEL_NONE ? NULL : f->c->podgroups.v[t->podgroup];
}

/* A pod that names no PodGroup and has no owner is one by itself, gated or not. */
static void test_pods_without_owner_are_groups_of_their_own(void **state)
{
	static const struct {
		const char *meta, *spec; /* more members of them */
		bool alone;
	} rows[] = {
		{ "", "", true },
		{ "", ",\"nodeName\":\"n\"", true },
		{ ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"X\",\"name\":\"x\","
		  "\"uid\":\"x\"}]",
		  "", true },
		{ ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"X\",\"name\":\"x\","
		  "\"uid\":\"x\",\"controller\":true}]",
		  "", false },
		{ ",\"annotations\":{\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"}", "",
		  true },
		{ ",\"annotations\":{\"headgate.io/reserved\":\"q\"}", "", true },
		{ "",
		  ",\"schedulingGates\":[{\"name\":\"scheduling.volcano.sh/"
		  "queue-allocation-gate\"}]",
		  true },
		{ "", ",\"schedulingGates\":[{\"name\":\"example.com/mine\"}]", true },
		{ ",\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}", "", false },
	};
	struct cache_fixture *f = *state;

	f->c->implies_podgroups = true;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct podgroup *g;

		unit_row_number(i);
		cache_fixture_json(
			f, SCHED_PODS,
			"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\"%s},"
			"\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":"
			"\"c\"}]%s}}",
			rows[i].meta, rows[i].spec);
		g = podgroup_of(f, cache_fixture_task(f, "p"));
		assert_int_equal(g != NULL && g->kind == PODGROUP_ALONE, rows[i].alone);
		cache_fixture_delete(f, SCHED_PODS, "ns/p");
		assert_null(cluster_podgroup_find(f->c, STR_LIT("/ns/p")));
	}
}

/* A process that makes no PodGroups may have placed it, or ungated it. */
static void
test_a_pod_that_was_let_go_is_a_group_of_its_own_also_where_podgroups_are_made(void **state)
{
	static const struct {
		struct cache_fixture_pod pod;
		bool alone;
	} rows[] = {
		{ { .name = "p" }, false },
		{ { .name = "p", .opted_in = true }, false },
		{ { .name = "p", .opted_in = true, .gated = true }, false },
		{ { .name = "p", .opted_in = true, .gated = true, .reserved = "q" }, false },
		{ { .name = "p", .opted_in = true, .reserved = "q" }, true },
		{ { .name = "p", .node = "n", .phase = "Running" }, true },
		{ { .name = "p", .opted_in = true, .node = "n", .phase = "Running" }, true },
	};
	struct cache_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct podgroup *g;

		unit_row_number(i);
		g = podgroup_of(f, cache_fixture_pod(f, &rows[i].pod));
		assert_int_equal(g != NULL && g->kind == PODGROUP_ALONE, rows[i].alone);
		cache_fixture_delete(f, SCHED_PODS, "ns/p");
	}
}

static void see_plain(struct cache_fixture *f, const char *annotations, const char *cpu)
{
	cache_fixture_json(f, SCHED_PODS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"uid-p\","
			   "\"annotations\":{%s}},\"spec\":{\"schedulerName\":\"volcano\","
			   "\"priorityClassName\":\"high\",\"priority\":7,\"containers\":[{"
			   "\"name\":\"c\",\"resources\":{"
			   "\"requests\":{\"cpu\":\"%s\"}}}]}}",
			   annotations, cpu);
}

/* It says what the PodGroup of Volcano's controller would, and follows the pod. */
static void test_a_group_that_is_alone_follows_its_pod(void **state)
{
	struct cache_fixture *f = *state;
	const struct podgroup *g;

	f->c->implies_podgroups = true;
	see_plain(f, "", "1500m");
	g = podgroup_of(f, cache_fixture_task(f, "p"));
	assert_true(g->exists && g->kind == PODGROUP_ALONE && g->uid == NULL);
	assert_string_equal(f->c->queues.v[g->queue]->name, "default");
	assert_int_equal(g->min_member, 1);
	assert_true(g->has_min_resources);
	assert_int_equal(g->min_resources.v[RES_CPU], 1500);
	assert_int_equal(g->priority, 7);
	see_plain(f,
		  "\"scheduling.volcano.sh/queue-name\":\"q\","
		  "\"scheduling.volcano.sh/group-min-member\":\"3\"",
		  "2");
	assert_ptr_equal(podgroup_of(f, cache_fixture_task(f, "p")), g);
	assert_string_equal(f->c->queues.v[g->queue]->name, "q");
	assert_int_equal(g->min_member, 3);
	assert_int_equal(g->min_resources.v[RES_CPU], 6000);
	/* Numbers that Volcano would not take count as none, and no product wraps. */
	see_plain(f, "\"scheduling.volcano.sh/group-min-member\":\"2147483648\"", "2");
	assert_int_equal(g->min_member, 1);
	see_plain(f, "\"scheduling.volcano.sh/group-min-member\":\"2147483647\"", "1125899906842");
	assert_true(g->min_resources.v[RES_CPU] == RES_UNLIMITED - 1);
}

/* A process with another flag made one: the pod is in it, whichever is seen first. */
static void test_a_group_of_ours_takes_the_place_of_one_that_is_alone(void **state)
{
	static const struct cache_fixture_pod plain = { .name = "p" };
	struct cache_fixture *f = *state;
	struct task *t;

	f->c->implies_podgroups = true;
	t = cache_fixture_pod(f, &plain);
	assert_true(podgroup_of(f, t)->kind == PODGROUP_ALONE);
	see_group_of(f, OURS, t->uid, "100");
	assert_string_equal(podgroup_of(f, t)->name, "podgroup-x");
	t = cache_fixture_pod(f, &plain);
	assert_string_equal(podgroup_of(f, t)->name, "podgroup-x");
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/podgroup-x");
	t = cache_fixture_pod(f, &plain);
	assert_true(podgroup_of(f, t)->kind == PODGROUP_ALONE);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	(void)cache_fixture_group(f, "podgroup-uid-p", "q", 1);
	t = cache_fixture_pod(f, &plain);
	assert_string_equal(podgroup_of(f, t)->name, "podgroup-uid-p");
	assert_int_not_equal(t->flags & TASK_ADOPTED, 0);
}

/* One that is under quota would name it. */
static void test_a_gated_pod_stays_alone_beside_a_group_of_ours(void **state)
{
	static const struct cache_fixture_pod gated = { .name = "p",
							.opted_in = true,
							.gated = true };
	struct cache_fixture *f = *state;
	struct task *t;

	f->c->implies_podgroups = true;
	t = cache_fixture_pod(f, &gated);
	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"podgroup-uid-p\","
			   "\"uid\":\"g\",\"annotations\":{" OURS "},\"ownerReferences\":[{"
			   "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":"
			   "\"uid-p\",\"controller\":true}]},\"spec\":{\"minMember\":1}}");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(podgroup_of(f, t)->kind, PODGROUP_ALONE);
		assert_int_equal(t->flags & TASK_ADOPTED, 0);
		t = cache_fixture_pod(f, &gated);
	}
}

static void test_deletion_leaves_the_pods(void **state)
{
	struct cache_fixture *f = *state;
	struct podgroup *g = cache_fixture_group(f, "g", "q", 2);
	struct task *r;

	(void)cache_fixture_pod(f, &cache_fixture_running);
	r = cache_fixture_pod(f, &cache_fixture_pending);
	ledger_charge(f->c, r, queue_find(f->c, STR_LIT("q")), CHARGE_UNGATED);
	cache_fixture_json(
		f, SCHED_PODGROUPS,
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"g-g\","
		"\"resourceVersion\":\"%lld\"},\"spec\":{\"minMember\":2,\"queue\":\"q\","
		"\"minTaskMember\":{\"w\":2}}}",
		(long long)++f->version);
	assert_int_equal(g->role_min.n, 1);
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	assert_ptr_equal(cluster_podgroup_find(f->c, STR_LIT("ns/g")), g);
	assert_false(g->exists);
	assert_int_equal(g->min_member, 0);
	assert_int_equal(g->role_min.n, 0);
	assert_int_equal(g->queue, MODEL_NONE);
	assert_int_equal(r->charge, CHARGE_NONE);
	assert_int_equal(cache_fixture_charged(f, "q"),
			 1000); /* a running pod stays where it was charged */
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	cache_fixture_delete(f, SCHED_PODS, "ns/r");
	assert_null(cluster_podgroup_find(f->c, STR_LIT("ns/g")));
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
}

static void test_older_and_bad_ones_are_refused(void **state)
{
	struct cache_fixture *f = *state;
	struct podgroup *g = cache_fixture_group(f, "g", "q", 2);

	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"resourceVersion\":"
			   "\"1\"},\"spec\":{\"minMember\":7}}");
	assert_int_equal(g->min_member, 2);
	cache_fixture_raw(f, SCHED_PODGROUPS, "ns/g",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"},\"spec\":{"
			  "\"minMember\":-1}}");
	cache_fixture_raw(f, SCHED_PODGROUPS, "ns/g",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"},\"spec\":{"
			  "\"minTaskMember\":{\"w\":-1}}}");
	assert_int_equal(f->bad, 2);
	assert_string_equal(f->bad_text, "spec.minTaskMember.w: negative");
	assert_int_equal(g->min_member, 2);
}

#define UNREADABLE(uid)                                                                            \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"" uid "\"},"                 \
	"\"spec\":{\"queue\":\"q\",\"minMember\":1,\"minResources\":{\"cpu\":\"-1\"}}}"

/* Its members stay charged to its queue, and no other starts; a known one is as it was. */
static void test_unreadable_podgroup(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = cache_fixture_pod(f, &cache_fixture_running);
	struct podgroup *g;

	assert_int_equal(t->charge, CHARGE_NONE);
	cache_fixture_raw(f, SCHED_PODGROUPS, "ns/g", UNREADABLE("u1"));
	assert_int_equal(f->bad, 1);
	g = f->c->podgroups.v[t->podgroup];
	assert_true(g->exists);
	assert_int_equal(g->min_member, INT32_MAX);
	assert_int_equal(t->charge, CHARGE_BOUND);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	g = cache_fixture_group(f, "g", "q", 3);
	cache_fixture_raw(f, SCHED_PODGROUPS, "ns/g",
			  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"},\"spec\":5}");
	assert_int_equal(g->min_member, 3);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
}

/* A gang that has had its reservations is tried again when its PodGroup asks for something else. */
static void test_only_changes_of_the_spec_end_the_wait(void **state)
{
	static const struct {
		const char *about, *spec, *status;
		bool ends;
	} rows[] = {
		{ "nothing", "\"minMember\":2,\"queue\":\"q\"", "", false },
		{ "its status", "\"minMember\":2,\"queue\":\"q\"",
		  "\"phase\":\"Inqueue\",\"running\":1,\"conditions\":[{\"type\":"
		  "\"Unschedulable\",\"status\":\"True\"}]",
		  false },
		{ "minMember", "\"minMember\":1,\"queue\":\"q\"", "", true },
		{ "minResources", "\"minMember\":2,\"queue\":\"q\",\"minResources\":{\"cpu\":1}",
		  "", true },
		{ "a resource that no node has",
		  "\"minMember\":2,\"queue\":\"q\",\"minResources\":{\"a.io/b\":1}", "", true },
		{ "a role", "\"minMember\":2,\"queue\":\"q\",\"minTaskMember\":{\"w\":1}", "",
		  true },
		{ "its queue", "\"minMember\":2,\"queue\":\"default\"", "", true },
		{ "its priority", "\"minMember\":2,\"queue\":\"q\",\"priorityClassName\":\"high\"",
		  "", true },
		{ "a field that is not supported",
		  "\"minMember\":2,\"queue\":\"q\",\"networkTopology\":{\"mode\":\"hard\"}", "",
		  true },
	};
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 2);
	t = cache_fixture_pod(f, &cache_fixture_pending);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].about);
		(void)cache_fixture_group(f, "g", "q", 2);
		cluster_task_set_retry(f->c, t, MODEL_TIME_NEVER);
		cache_fixture_json(f, SCHED_PODGROUPS,
				   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":"
				   "\"g-g\",\"resourceVersion\":\"%lld\"},\"spec\":{%s},"
				   "\"status\":{%s}}",
				   (long long)++f->version, rows[i].spec, rows[i].status);
		assert_int_equal(t->retry_at, rows[i].ends ? MODEL_TIME_NONE : MODEL_TIME_NEVER);
	}
	unit_row("another number of a role");
	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"g-g\"},"
			   "\"spec\":{\"minMember\":2,\"minTaskMember\":{\"w\":1}}}");
	cluster_task_set_retry(f->c, t, MODEL_TIME_NEVER);
	cache_fixture_json(f, SCHED_PODGROUPS,
			   "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"g-g\"},"
			   "\"spec\":{\"minMember\":2,\"minTaskMember\":{\"w\":2}}}");
	assert_int_equal(t->retry_at, MODEL_TIME_NONE);
	cluster_task_set_retry(f->c, t, MODEL_TIME_NEVER);
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/g");
	assert_int_equal(t->retry_at, MODEL_TIME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CACHE_FIXTURE_TEST(test_unreadable_podgroup),
		CACHE_FIXTURE_TEST(test_charges_do_not_follow_an_edit),
		CACHE_FIXTURE_TEST(test_spec_is_taken_over),
		CACHE_FIXTURE_TEST(test_a_group_of_ours_adopts_its_pod),
		CACHE_FIXTURE_TEST(test_an_adopted_pod_stays_until_it_names_a_group),
		CACHE_FIXTURE_TEST(test_pods_without_owner_are_groups_of_their_own),
		CACHE_FIXTURE_TEST(
			test_a_pod_that_was_let_go_is_a_group_of_its_own_also_where_podgroups_are_made),
		CACHE_FIXTURE_TEST(test_a_group_that_is_alone_follows_its_pod),
		CACHE_FIXTURE_TEST(test_a_group_of_ours_takes_the_place_of_one_that_is_alone),
		CACHE_FIXTURE_TEST(test_a_gated_pod_stays_alone_beside_a_group_of_ours),
		CACHE_FIXTURE_TEST(test_deletion_leaves_the_pods),
		CACHE_FIXTURE_TEST(test_older_and_bad_ones_are_refused),
		CACHE_FIXTURE_TEST(test_only_changes_of_the_spec_end_the_wait),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_podgroup", tests, NULL, NULL);
}
