#include <stdio.h>

#include "base/str.h"
#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"

/* Where the pod is when the update comes that shows it on node "n". */
enum before { UNKNOWN, PENDING, BINDING_THERE, BINDING_ELSEWHERE, UNDONE, BOUND, OTHER_UID };

struct bind_row {
	const char *what;
	enum before before;
	bool marked, standby, other_scheduler, opted_in, terminating;
	const char *phase;
	unsigned foreign;
};

static const struct bind_row bind_rows[] = {
	{ .what = "another program binds it", .before = PENDING, .foreign = 1 },
	{ .what = "and it runs at once", .before = PENDING, .phase = "Running", .foreign = 1 },
	{ .what = "and is over at once", .before = PENDING, .phase = "Succeeded", .foreign = 1 },
	{ .what = "and is deleted at once", .before = PENDING, .terminating = true, .foreign = 1 },
	{ .what = "another one was faster", .before = BINDING_ELSEWHERE, .foreign = 1 },
	{ .what = "and our bind was answered first", .before = UNDONE, .foreign = 1 },
	{ .what = "ours, seen before its answer", .before = BINDING_THERE, .marked = true },
	{ .what = "ours, the mark was taken away", .before = BINDING_THERE },
	{ .what = "an earlier try of ours without an answer",
	  .before = BINDING_ELSEWHERE,
	  .marked = true },
	{ .what = "ours, after it was given up", .before = UNDONE, .marked = true },
	{ .what = "a former leader's, late", .before = PENDING, .marked = true },
	{ .what = "on a node in the first list, or created so", .before = UNKNOWN },
	{ .what = "an update of a bound pod", .before = BOUND },
	{ .what = "another pod by the same name, created on a node", .before = OTHER_UID },
	{ .what = "before we led", .before = PENDING, .standby = true },
	{ .what = "a pod of another scheduler", .before = PENDING, .other_scheduler = true },
	{ .what = "and it is gated by us",
	  .before = PENDING,
	  .other_scheduler = true,
	  .opted_in = true },
};

static void come_to(struct cache_fixture *f, const struct bind_row *row)
{
	struct cache_fixture_pod p = { .name = "p",
				       .group = "g",
				       .scheduler =
					       row->other_scheduler ? "default-scheduler" : NULL,
				       .opted_in = row->opted_in };
	struct node *there = cache_fixture_node(f, "n", "8"),
		    *elsewhere = cache_fixture_node(f, "m", "8");
	struct task *t;

	if (row->before == UNKNOWN) {
		return;
	}
	p.node = row->before == BOUND ? "n" : NULL;
	p.uid = row->before == OTHER_UID ? "old-" : NULL;
	t = cache_fixture_pod(f, &p);
	if (row->before == BINDING_THERE) {
		cluster_task_set_status(f->c, t, TASK_BINDING, there);
	} else if (row->before == BINDING_ELSEWHERE || row->before == UNDONE) {
		cluster_task_set_status(f->c, t, TASK_BINDING, elsewhere);
	}
	if (row->before == UNDONE) {
		cache_fixture_done(f, SCHED_REQ_BIND, "ns/p", NULL, SCHED_STALE);
	}
	if (row->before == OTHER_UID) {
		cache_fixture_delete(f, SCHED_PODS, "ns/p");
	}
}

static void test_binds_of_other_schedulers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bind_rows); i++) {
		const struct bind_row *row = &bind_rows[i];
		struct cache_fixture *f = cache_fixture_create();
		struct cache_fixture_pod p = { .name = "p",
					       .group = "g",
					       .node = "n",
					       .phase = row->phase,
					       .deleted = row->terminating,
					       .bound_by_us = row->marked,
					       .scheduler = row->other_scheduler
								    ? "default-scheduler"
								    : NULL,
					       .opted_in = row->opted_in };

		(void)cache_fixture_group(f, "g", "q", 1);
		if (!row->standby) {
			cache_rebuild_ledger(f->cache, f->now);
		}
		come_to(f, row);
		assert_int_equal(f->foreign_binds, 0);
		(void)cache_fixture_pod(f, &p);
		if (f->foreign_binds != row->foreign) {
			fail_msg("%s: reported %u times", row->what, f->foreign_binds);
		}
		(void)cache_fixture_pod(f, &p);
		assert_int_equal(f->foreign_binds, row->foreign); /* once */
		cache_fixture_destroy(f);
	}
}

/* The fixture's clock stands at 15:06:40. */
#define NEW "2025-06-15T15:06:40Z"
#define OLD "2025-06-15T15:06:38Z"

struct group_row {
	const char *what, *name, *owner, *created;
	bool marked, standby, no_pod, other_scheduler;
	unsigned foreign;
};

static const struct group_row group_rows[] = {
	{ .what = "another controller", .name = "podgroup-u-1", .owner = "u-1", .foreign = 1 },
	{ .what = "ours, of this or a former leader",
	  .name = "podgroup-u-1",
	  .owner = "u-1",
	  .marked = true },
	{ .what = "a person's", .name = "train", .owner = "u-1" },
	{ .what = "a person's with a funny name", .name = "podgroup-u-1" },
	{ .what = "of another owner", .name = "podgroup-u-1", .owner = "u-2" },
	{ .what = "a name that is only the prefix", .name = "podgroup-", .owner = "u-1" },
	{ .what = "without a pod", .name = "podgroup-u-1", .owner = "u-1", .no_pod = true },
	{ .what = "for another scheduler",
	  .name = "podgroup-u-1",
	  .owner = "u-1",
	  .other_scheduler = true },
	{ .what = "before we led", .name = "podgroup-u-1", .owner = "u-1", .standby = true },
	{ .what = "made before, seen late",
	  .name = "podgroup-u-1",
	  .owner = "u-1",
	  .created = OLD },
};

static void see_group(struct cache_fixture *f, const struct group_row *row, const char *uid)
{
	char owner[80] = "";

	if (row->owner != NULL) {
		(void)snprintf(owner, sizeof(owner), "{\"uid\":\"%s\"}", row->owner);
	}
	cache_fixture_json(
		f, SCHED_PODGROUPS,
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"%s\","
		"\"resourceVersion\":\"%lld\",\"creationTimestamp\":\"%s\","
		"\"annotations\":{%s},\"ownerReferences\":[%s]},"
		"\"spec\":{\"minMember\":1}}",
		row->name, uid, (long long)++f->version, row->created == NULL ? NEW : row->created,
		row->marked ? "\"headgate.io/made-by\":\"headgate-scheduler\"" : "", owner);
}

static void see_member(struct cache_fixture *f, const struct group_row *row)
{
	const struct cache_fixture_pod p = { .name = "p",
					     .group = row->name,
					     .scheduler = row->other_scheduler ? "default-scheduler"
									       : NULL,
					     .node = row->other_scheduler ? "n" : NULL };

	if (!row->no_pod) {
		(void)cache_fixture_pod(f, &p);
	}
}

/* The pod gets its annotation after the PodGroup, or the PodGroup comes late. */
static void test_podgroups_of_other_controllers(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(group_rows); i++) {
		const struct group_row *row = &group_rows[i / 2];
		struct cache_fixture *f = cache_fixture_create();

		if (!row->standby) {
			cache_rebuild_ledger(f->cache, f->now);
		}
		if (i % 2 == 0) {
			see_group(f, row, "g-1");
			assert_int_equal(f->foreign_podgroups, 0);
			see_member(f, row);
		} else {
			see_member(f, row);
			see_group(f, row, "g-1");
		}
		if (f->foreign_podgroups != row->foreign) {
			fail_msg("%s: reported %u times", row->what, f->foreign_podgroups);
		}
		see_group(f, row, "g-1");
		see_member(f, row);
		assert_int_equal(f->foreign_podgroups, row->foreign); /* once */
		cache_fixture_destroy(f);
	}
}

static void test_a_podgroup_that_is_gone_is_forgotten(void **state)
{
	static const struct group_row theirs = { .name = "podgroup-u-1", .owner = "u-1" }, ours = {
		.name = "podgroup-u-1", .owner = "u-1", .marked = true
	};
	struct cache_fixture *f = *state;

	cache_rebuild_ledger(f->cache, f->now);
	see_group(f, &theirs, "g-1");
	cache_fixture_delete(f, SCHED_PODGROUPS, "ns/podgroup-u-1");
	see_member(f, &ours);
	assert_int_equal(f->foreign_podgroups, 0);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	see_group(f, &theirs, "g-2");
	see_group(f, &ours, "g-3"); /* a relist shows only what has come of it */
	see_member(f, &ours);
	assert_int_equal(f->foreign_podgroups, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binds_of_other_schedulers),
		cmocka_unit_test(test_podgroups_of_other_controllers),
		CACHE_FIXTURE_TEST(test_a_podgroup_that_is_gone_is_forgotten),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_foreign", tests, NULL, NULL);
}
