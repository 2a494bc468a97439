#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/unit.h"

static void test_why_a_queue_is_not_active(void **state)
{
	static const struct {
		const char *text, *what;
		enum quota_inactive why;
	} rows[] = {
		{ "queue q\n", NULL, QUOTA_ACTIVE },
		{ "queue q terminating stop=Hold\n", NULL, QUOTA_TERMINATING },
		{ "queue q stop=Hold checks=c\n", NULL, QUOTA_STOPPED },
		{ "queue q stop=HoldAndDrain\n", NULL, QUOTA_STOPPED },
		{ "flavor g missing\nqueue q checks=c\nquota q f cpu\nquota q g cpu\n", "g",
		  QUOTA_FLAVOR_NOT_FOUND },
		{ "check b active=false\nqueue q checks=b,c\n", "c", QUOTA_CHECK_NOT_FOUND },
		{ "check b active=false\nqueue q checks=b\n", "b", QUOTA_CHECK_INACTIVE },
		{ "check b\nqueue q checks=b\n", NULL, QUOTA_ACTIVE },
		{ "check a kind=multikueue\ncheck b\nqueue q checks=a,b\n", NULL, QUOTA_ACTIVE },
		{ "check a kind=provisioning\ncheck b kind=provisioning\nqueue q checks=a,b\n",
		  NULL, QUOTA_ACTIVE },
		{ "check a kind=multikueue\ncheck b\ncheck c kind=multikueue\n"
		  "queue q checks=a,b,c\n",
		  "c", QUOTA_CHECK_TWO_MULTIKUEUE },
		{ "check a kind=multikueue active=false\ncheck b kind=multikueue\n"
		  "queue q checks=a,b\n",
		  "a", QUOTA_CHECK_INACTIVE },
		{ "check a kind=multikueue\ncheck p kind=provisioning\nqueue q checks=p,a\n", "p",
		  QUOTA_CHECK_MULTIKUEUE_AND_PROVISIONING },
		{ "flavor f topology=t\nqueue q\nquota q f cpu\n", "t", QUOTA_TOPOLOGY_NOT_FOUND },
		{ "option topology=false\nflavor f topology=t\nqueue q\nquota q f cpu\n", NULL,
		  QUOTA_ACTIVE },
		{ "topology t\nflavor f topology=t\nqueue q\nquota q f cpu\n", NULL, QUOTA_ACTIVE },
		{ "cohort x parent=x\nqueue q cohort=x\n", "x", QUOTA_COHORT_CYCLE },
		{ "cohort x parent=y\ncohort y parent=x\ncohort z parent=y\nqueue q cohort=z\n",
		  "z", QUOTA_COHORT_CYCLE },
		{ "cohort x parent=y\nqueue q cohort=x\n", NULL, QUOTA_ACTIVE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quota_world w;
		const struct cluster_queue *queue;

		unit_row(rows[i].text);
		quota_world_init(&w, rows[i].text);
		queue = quota_world_node(&w, "q")->queue;
		assert_int_equal(queue->inactive, rows[i].why);
		assert_true(str_streq(queue->inactive_what, rows[i].what));
		quota_world_finish(&w);
	}
}

static void test_it_follows_its_flavors_and_checks(void **state)
{
	struct quota_world w;
	const struct cluster_queue *queue;

	(void)state;
	quota_world_init(&w, "check c\nqueue q checks=c\nquota q f cpu\n");
	queue = quota_world_node(&w, "q")->queue;
	assert_int_equal(queue->inactive, QUOTA_ACTIVE);
	quota_check_remove(w.q, STR_LIT("c"));
	cluster_queue_check_all(w.q);
	assert_int_equal(queue->inactive, QUOTA_CHECK_NOT_FOUND);
	quota_check_set(w.q, STR_LIT("c"), true, QUOTA_CHECK_OTHER);
	quota_flavor_clear(quota_flavor_find(w.q, STR_LIT("f")));
	cluster_queue_check_all(w.q);
	assert_int_equal(queue->inactive, QUOTA_FLAVOR_NOT_FOUND);
	quota_node_clear(quota_world_node(&w, "q"));
	cluster_queue_check_all(w.q);
	assert_int_equal(queue->inactive, QUOTA_TERMINATING);
	quota_world_finish(&w);
}

static void test_reasons_have_names(void **state)
{
	(void)state;
	assert_string_equal(cluster_queue_reason(QUOTA_ACTIVE), "Ready");
	assert_string_equal(cluster_queue_reason(QUOTA_CHECK_NOT_FOUND), "AdmissionCheckNotFound");
	assert_string_equal(cluster_queue_reason(QUOTA_TOPOLOGY_NOT_FOUND), "TopologyNotFound");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why_a_queue_is_not_active),
		cmocka_unit_test(test_it_follows_its_flavors_and_checks),
		cmocka_unit_test(test_reasons_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
