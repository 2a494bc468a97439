#include "lib/pods/cluster_checksum.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static struct cluster *build(void)
{
	struct cluster *c = cluster_create();
	struct podgroup *g;

	(void)cluster_fixture_queue(c, "q", NULL, 1000);
	(void)cluster_fixture_node(c, "n", 1000);
	g = cluster_fixture_podgroup(c, "j", "q", 1);
	(void)cluster_fixture_task(c, "t", g, 100);
	return c;
}

static void test_equal_clusters_agree(void **state)
{
	struct cluster *a = build(), *b = build();

	(void)state;
	assert_true(cluster_checksum(a) == cluster_checksum(a));
	assert_true(cluster_checksum(a) == cluster_checksum(b));
	cluster_destroy(a);
	cluster_destroy(b);
}

static void test_every_change_shows(void **state)
{
	struct cluster *c = build();
	struct task *t = c->tasks.v[0];
	struct podgroup *g = c->podgroups.v[0];
	struct queue *q = queue_find(c, STR_LIT("q"));
	struct node *n = c->nodes.v[0];
	uint64_t sums[16];
	size_t k = 0;

	(void)state;
	sums[k++] = cluster_checksum(c);
	t->flags |= TASK_PARKED;
	sums[k++] = cluster_checksum(c);
	t->retry_at = 5;
	sums[k++] = cluster_checksum(c);
	t->cond_message = 9;
	sums[k++] = cluster_checksum(c);
	g->min_member = 3;
	sums[k++] = cluster_checksum(c);
	g->phase = PODGROUP_INQUEUE;
	sums[k++] = cluster_checksum(c);
	q->charged.v[RES_MEMORY] = 1;
	sums[k++] = cluster_checksum(c);
	q->scan.done = true;
	sums[k++] = cluster_checksum(c);
	q->state = QUEUE_CLOSED;
	sums[k++] = cluster_checksum(c);
	n->unschedulable = true;
	sums[k++] = cluster_checksum(c);
	n->used.v[RES_CPU] = 1;
	sums[k++] = cluster_checksum(c);
	c->total.v[RES_CPU]++;
	sums[k++] = cluster_checksum(c);
	for (size_t i = 0; i < k; i++) {
		for (size_t m = 0; m < i; m++) {
			assert_true(sums[i] != sums[m]);
		}
	}
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_clusters_agree),
		cmocka_unit_test(test_every_change_shows),
	};

	return cmocka_run_group_tests_name("pods/model/cluster_checksum", tests, NULL, NULL);
}
