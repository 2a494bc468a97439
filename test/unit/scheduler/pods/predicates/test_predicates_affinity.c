#include "scheduler/pods/predicates/predicates_affinity.h"

#include "lib/pods/core_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/domains.h"

#define NEAR "node(s) didn't match pod affinity rules"
#define AWAY "node(s) didn't match pod anti-affinity rules"
#define EXISTING "node(s) didn't satisfy existing pods anti-affinity rules"

static struct core_fixture sf;
static struct node *a, *b, *bare;

/* Nodes in zones a and b, and one in none. */
static int setup(void **state)
{
	(void)state;
	core_fixture_init(&sf, NULL);
	a = cluster_fixture_node(sf.f.cluster, "a", 10000);
	b = cluster_fixture_node(sf.f.cluster, "b", 10000);
	bare = cluster_fixture_node(sf.f.cluster, "bare", 10000);
	term_fixture_node_labels(sf.f.cluster, a, "zone=a");
	term_fixture_node_labels(sf.f.cluster, b, "zone=b");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	core_fixture_finish(&sf);
	return 0;
}

static struct task *add(const char *name, const char *labels, const char *terms)
{
	return term_fixture_task(sf.f.cluster, name, NULL, labels, terms);
}

static struct task *run(const char *name, const char *labels, const char *terms, struct node *n)
{
	struct task *t = add(name, labels, terms);

	cluster_task_set_status(sf.f.cluster, t, TASK_RUNNING, n);
	return t;
}

static void assert_refused(const struct task *t, const struct node *n, bool later, const char *text)
{
	bool unresolvable;
	const char *got = predicates_affinity_refusal(domains_view(sf.s, t), t->klass, n, later,
						      &unresolvable);

	if (text == NULL || got == NULL) {
		assert_ptr_equal(got, text);
		return;
	}
	assert_string_equal(got, text);
	assert_int_equal(unresolvable, str_streq(text, NEAR));
}

static void test_anti_affinity_in_both_directions(void **state)
{
	struct task *own, *other, *victim;

	(void)state;
	run("x", "app=x", "", a);
	victim = run("keeps", "", "away zone app=y", b);
	own = add("own", "", "away zone app=x");
	other = add("other", "app=y", "");
	core_fixture_open(&sf);
	assert_refused(own, a, false, AWAY);
	assert_refused(own, b, false, NULL);
	assert_refused(own, bare, false, NULL);
	assert_refused(other, b, false, EXISTING);
	assert_refused(other, a, false, NULL);
	/* A pod that terminates keeps away until it is gone. */
	statement_evict(sf.s, victim, own, "");
	assert_refused(other, b, false, EXISTING);
	assert_refused(other, b, true, NULL);
}

/* Others keep away from where a pod is expected, which is not enough to be near it. */
static void test_pipelined_pods(void **state)
{
	struct task *x, *away, *near;

	(void)state;
	x = add("x", "app=x", "");
	away = add("away", "", "away zone app=x");
	near = add("near", "", "near zone app=x");
	core_fixture_open(&sf);
	statement_pipeline(sf.s, x, a);
	assert_refused(away, a, false, AWAY);
	assert_refused(away, a, true, AWAY);
	assert_refused(near, a, false, NEAR);
	assert_refused(near, a, true, NULL);
	assert_refused(near, b, true, NEAR);
}

static void test_near_a_pod(void **state)
{
	struct task *near, *both, *x;

	(void)state;
	x = run("x", "app=x", "", a);
	near = add("near", "app=y", "near zone app=x");
	both = add("both", "", "near zone app=x; near rack app=x");
	core_fixture_open(&sf);
	assert_refused(near, a, false, NULL);
	assert_refused(near, b, false, NEAR);
	assert_refused(near, bare, false, NEAR);
	assert_refused(both, a, false, NEAR);
	/* It is still there, but it will not be. */
	statement_evict(sf.s, x, near, "");
	assert_refused(near, a, false, NULL);
	assert_refused(near, a, true, NEAR);
}

/* The first pod of a group goes anywhere in a domain, unless others of it are expected somewhere.
 */
static void test_the_first_of_a_group(void **state)
{
	struct task *first, *second, *stranger;

	(void)state;
	first = add("first", "app=x", "near zone app=x");
	second = add("second", "app=x", "near zone app=x");
	stranger = add("stranger", "app=y", "near zone app=x");
	core_fixture_open(&sf);
	assert_refused(first, a, false, NULL);
	assert_refused(first, b, false, NULL);
	assert_refused(first, bare, false, NEAR);
	assert_refused(stranger, a, false, NEAR);
	statement_pipeline(sf.s, first, b);
	assert_refused(second, b, false, NULL);
	assert_refused(second, a, false, NEAR);
	assert_refused(second, b, true, NULL);
	assert_refused(second, a, true, NEAR);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_anti_affinity_in_both_directions),
		T(test_pipelined_pods),
		T(test_near_a_pod),
		T(test_the_first_of_a_group),
	};

	return cmocka_run_group_tests_name("pods/predicates/predicates_affinity", tests, NULL,
					   NULL);
}
