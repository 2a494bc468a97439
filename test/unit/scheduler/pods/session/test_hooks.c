#include "scheduler/pods/session/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf.h"

/* Fakes record each call, and answer as the test wants. */
static struct strbuf asked;
static int order;
static enum vote vote;
static bool yes;
static double score;

struct fake {
	char name;
};

static void note(void *state, const char *what)
{
	const struct fake *f = state;

	strbuf_printf(&asked, "%c:%s ", f->name, what);
}

static int create_fake(char name, const struct plugin_args *args, void **ret, struct err *err)
{
	struct fake *f = xmalloc(sizeof(*f));
	double weight;

	if (conf_args_number(args->v, args->n, "weight", 1, &weight, err) < 0) {
		free(f);
		return -ERR_INVALID;
	}
	f->name = name;
	*ret = f;
	return 0;
}

static int create_a(const struct plugin_args *args, void **ret, struct err *err)
{
	return create_fake('a', args, ret, err);
}

static int create_b(const struct plugin_args *args, void **ret, struct err *err)
{
	return create_fake('b', args, ret, err);
}

static void fake_open(void *state, struct session *s)
{
	(void)s;
	note(state, "open");
}

static void fake_close(void *state, struct session *s)
{
	(void)s;
	note(state, "close");
}

static int fake_podgroup_order(void *state, const struct session *s, const struct podgroup *a,
			       const struct podgroup *b)
{
	(void)s;
	(void)a;
	(void)b;
	note(state, "job_order");
	return order;
}

static int fake_queue_order(void *state, const struct session *s, const struct queue *a,
			    const struct queue *b)
{
	(void)s;
	(void)a;
	(void)b;
	note(state, "queue_order");
	return order;
}

static int fake_task_order(void *state, const struct session *s, const struct task *a,
			   const struct task *b)
{
	(void)s;
	(void)a;
	(void)b;
	note(state, "task_order");
	return order;
}

static enum vote fake_podgroup_enqueueable(void *state, struct session *s, const struct podgroup *g,
					   struct reason *why)
{
	(void)s;
	(void)g;
	(void)why;
	note(state, "job_enqueueable");
	return vote;
}

static void fake_podgroup_enqueued(void *state, struct session *s, const struct podgroup *g)
{
	(void)s;
	(void)g;
	note(state, "job_enqueued");
}

static bool fake_podgroup_valid(void *state, struct session *s, const struct podgroup *g,
				struct reason *why)
{
	(void)s;
	(void)g;
	note(state, "job_valid");
	if (!yes && why != NULL) {
		why->code = "invalid";
	}
	return yes;
}

static bool fake_podgroup_ready(void *state, const struct session *s, const struct podgroup *g)
{
	(void)s;
	(void)g;
	note(state, "job_ready");
	return yes;
}

static enum vote fake_podgroup_pipelined(void *state, const struct session *s,
					 const struct podgroup *g)
{
	(void)s;
	(void)g;
	note(state, "job_pipelined");
	return vote;
}

static bool fake_overused(void *state, const struct session *s, const struct queue *q)
{
	(void)s;
	(void)q;
	note(state, "overused");
	return yes;
}

static bool fake_queue_accepts(void *state, const struct session *s, const struct queue *q,
			       struct reason *why)
{
	(void)s;
	(void)q;
	(void)why;
	note(state, "queue_accepts");
	return yes;
}

static bool fake_allocatable(void *state, struct session *s, const struct queue *q,
			     const struct task *t, struct reason *why)
{
	(void)s;
	(void)q;
	(void)t;
	(void)why;
	note(state, "allocatable");
	return yes;
}

static void fake_quota_limits(void *state, struct session *s, struct res *limits)
{
	(void)s;
	note(state, "quota_limits");
	limits[0].v[RES_CPU] = 7;
}

static bool fake_class_predicate(void *state, const struct session *s, const struct pod_class *k,
				 const struct node *n, struct reason *why)
{
	(void)s;
	(void)k;
	(void)n;
	(void)why;
	note(state, "class_predicate");
	return yes;
}

static bool fake_predicate(void *state, const struct session *s, const struct task *t,
			   const struct node *n, struct reason *why)
{
	(void)s;
	(void)t;
	(void)n;
	(void)why;
	note(state, "predicate");
	return yes;
}

static bool fake_domain_predicate(void *state, const struct session *s, const struct task *t,
				  const struct node *n, bool later, struct reason *why)
{
	(void)later;
	(void)s;
	(void)t;
	(void)n;
	(void)why;
	note(state, "domain_predicate");
	return yes;
}

static void fake_domain_scores(void *state, const struct session *s, const struct task *t,
			       const struct node *const *nodes, size_t n, double *scores)
{
	(void)s;
	(void)t;
	(void)nodes;
	note(state, "domain_scores");
	for (size_t i = 0; i < n; i++) {
		scores[i] += score;
	}
}

static double fake_node_score(void *state, const struct session *s, const struct pod_class *k,
			      const struct node *n)
{
	(void)s;
	(void)k;
	(void)n;
	note(state, "node_score");
	return score;
}

static void fake_node_score_key(void *state, const struct session *s, const struct pod_class *k,
				struct strbuf *out)
{
	(void)s;
	(void)k;
	note(state, "node_score_key");
	strbuf_add_c(out, "x");
}

static void fake_on_allocate(void *state, struct session *s, const struct task *t)
{
	(void)s;
	(void)t;
	note(state, "on_allocate");
}

static void fake_on_deallocate(void *state, struct session *s, const struct task *t)
{
	(void)s;
	(void)t;
	note(state, "on_deallocate");
}

#define FAKE(label, create_fn)                                                                     \
	{                                                                                          \
		.name = label, .create = create_fn, .destroy = free, .open = fake_open,            \
		.close = fake_close, .job_order = fake_podgroup_order,                             \
		.queue_order = fake_queue_order, .task_order = fake_task_order,                    \
		.job_enqueueable = fake_podgroup_enqueueable,                                      \
		.job_enqueued = fake_podgroup_enqueued, .job_valid = fake_podgroup_valid,          \
		.job_ready = fake_podgroup_ready, .job_pipelined = fake_podgroup_pipelined,        \
		.overused = fake_overused, .queue_accepts = fake_queue_accepts,                    \
		.allocatable = fake_allocatable, .quota_limits = fake_quota_limits,                \
		.class_predicate = fake_class_predicate, .predicate = fake_predicate,              \
		.domain_predicate = fake_domain_predicate, .domain_scores = fake_domain_scores,    \
		.node_score = fake_node_score, .node_score_key = fake_node_score_key,              \
		.on_allocate = fake_on_allocate, .on_deallocate = fake_on_deallocate,              \
	}

static const struct plugin_ops fake_a = FAKE("a", create_a), fake_b = FAKE("b", create_b);
static const struct plugin_ops bare = { .name = "bare" };
static const struct plugin_row rows[] = {
	{ "a", &fake_a },
	{ "absent", NULL },
	{ "b", &fake_b },
	{ "bare", &bare },
};

static void start(struct hooks_fixture *f, const char *tiers)
{
	order = 0;
	vote = VOTE_ABSTAIN;
	yes = true;
	score = 0;
	hooks_fixture_init(f, tiers, rows, ARRAY_LEN(rows));
	hooks_fixture_open(f);
	strbuf_reset(&asked);
}

#define TWO_TIERS "- plugins:\n  - name: b\n  - name: absent\n- plugins:\n  - name: a\n"

static void test_sessions_open_in_order_and_close_in_reverse(void **state)
{
	struct hooks_fixture f;

	(void)state;
	strbuf_reset(&asked);
	hooks_fixture_init(&f, TWO_TIERS "  - name: bare\n", rows, ARRAY_LEN(rows));
	hooks_fixture_open(&f);
	assert_string_equal(asked.p, "b:open a:open b:quota_limits a:quota_limits ");
	strbuf_reset(&asked);
	hooks_fixture_finish(&f);
	assert_string_equal(asked.p, "a:close b:close ");
}

static void call_everything(struct hooks_fixture *f)
{
	struct queue *q = cluster_fixture_queue(f->cluster, "q", NULL, -1);
	struct podgroup *g = cluster_fixture_podgroup(f->cluster, "j", "q", 1);
	struct task *t = cluster_fixture_task(f->cluster, "t", g, 1);
	struct node *n = cluster_fixture_node(f->cluster, "n", 1);
	const struct node *nodes[] = { n };
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct res limits[8];
	double sum;

	hooks_fixture_open(f);
	strbuf_reset(&asked);
	hooks_quota_limits(f->hooks, f->s, limits);
	hooks_queue_order(f->s, q, q);
	hooks_job_order(f->s, g, g);
	hooks_task_order(f->s, t, t);
	hooks_queue_accepts(f->s, q, NULL);
	hooks_allocatable(f->s, q, t, NULL);
	hooks_overused(f->s, q);
	hooks_job_enqueueable(f->s, g, NULL);
	hooks_job_enqueued(f->s, g);
	hooks_job_valid(f->s, g, NULL);
	hooks_job_ready(f->s, g);
	hooks_job_pipelined(f->s, g);
	hooks_class_predicate(f->s, t->klass, n, NULL);
	hooks_predicate(f->s, t, n, NULL);
	hooks_node_score(f->s, t->klass, n);
	hooks_node_score_key(f->s, t->klass, &key);
	hooks_domain_scores(f->s, t, nodes, 1, &sum);
	hooks_on_allocate(f->s, t);
	hooks_on_deallocate(f->s, t);
}

static void test_every_extension_point_reaches_its_plugin(void **state)
{
	struct hooks_fixture f;

	(void)state;
	start(&f, "- plugins:\n  - name: a\n");
	call_everything(&f);
	assert_string_equal(asked.p,
			    "a:quota_limits a:queue_order a:job_order a:task_order a:queue_accepts "
			    "a:queue_accepts a:allocatable a:overused a:job_enqueueable "
			    "a:job_enqueued a:job_valid a:job_ready a:job_pipelined "
			    "a:class_predicate a:predicate a:domain_predicate a:node_score "
			    "a:node_score_key a:domain_scores a:on_allocate "
			    "a:on_deallocate ");
	hooks_fixture_finish(&f);
}

static void test_the_answer_of_the_only_plugin_is_the_answer(void **state)
{
	struct hooks_fixture f;
	struct queue *q;
	struct task *t;
	struct node *n;

	(void)state;
	start(&f, "- plugins:\n  - name: a\n");
	q = cluster_fixture_queue(f.cluster, "q", NULL, -1);
	t = cluster_fixture_task(f.cluster, "t", cluster_fixture_podgroup(f.cluster, "j", "q", 1),
				 1);
	n = cluster_fixture_node(f.cluster, "n", 1);
	hooks_fixture_open(&f);
	for (int i = 0; i < 2; i++) {
		yes = i != 0;
		assert_int_equal(hooks_overused(f.s, q), yes);
		assert_int_equal(hooks_queue_accepts(f.s, q, NULL), yes);
		assert_int_equal(hooks_allocatable(f.s, q, t, NULL), yes);
		assert_int_equal(hooks_class_predicate(f.s, t->klass, n, NULL), yes);
		assert_int_equal(hooks_predicate(f.s, t, n, NULL), yes);
	}
	hooks_fixture_finish(&f);
}

static void test_switches_take_extension_points_away(void **state)
{
	static const struct {
		const char *key, *gone;
	} cases[] = {
		{ "enableQueueOrder", "queue_order" },
		{ "enableJobOrder", "job_order" },
		{ "enableTaskOrder", "task_order" },
		{ "enabledAllocatable", "quota_limits queue_accepts allocatable" },
		{ "enabledOverused", "overused" },
		{ "enableJobEnqueued", "job_enqueueable job_enqueued" },
		{ "enableJobReady", "job_ready" },
		{ "enableJobPipelined", "job_pipelined" },
		{ "enablePredicate", "class_predicate predicate domain_predicate" },
		{ "enableNodeOrder", "node_score node_score_key domain_scores" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str gone = str_of(cases[i].gone);
		struct hooks_fixture f;
		char tiers[96];
		size_t removed = 0, left = 0;

		unit_row(cases[i].key);
		snprintf(tiers, sizeof(tiers), "- plugins:\n  - {name: a, %s: false}\n",
			 cases[i].key);
		start(&f, tiers);
		call_everything(&f);
		while (gone.p != NULL) {
			struct str point = str_next(&gone, ' ');
			char text[64];

			snprintf(text, sizeof(text), "a:" STR_FMT " ", STR_ARG(point));
			assert_null(strstr(asked.p, text));
			removed += str_eq_c(point, "queue_accepts") ? 2 : 1;
		}
		for (const char *p = asked.p; *p != '\0'; p++) {
			left += *p == ' ';
		}
		assert_int_equal(left + removed, 21);
		hooks_fixture_finish(&f);
	}
}

static void test_quota_plugins_are_those_with_limits(void **state)
{
	struct hooks_fixture f;
	struct res limits[1];

	(void)state;
	start(&f, TWO_TIERS);
	assert_true(hooks_has_quota_plugin(f.hooks));
	hooks_quota_limits(f.hooks, f.s, limits);
	assert_int_equal(limits[0].v[RES_CPU], 7);
	assert_int_equal(limits[0].v[RES_MEMORY], RES_UNLIMITED);
	hooks_fixture_finish(&f);
	start(&f, "- plugins:\n  - name: bare\n  - {name: a, enabledAllocatable: false}\n");
	assert_false(hooks_has_quota_plugin(f.hooks));
	hooks_quota_limits(f.hooks, f.s, limits);
	assert_int_equal(limits[0].v[RES_CPU], RES_UNLIMITED);
	hooks_fixture_finish(&f);
}

static void test_orders_fall_back_to_unique_keys(void **state)
{
	struct hooks_fixture f;
	struct queue *q, *r;
	struct podgroup *i, *j;
	struct task *t, *u;

	(void)state;
	start(&f, TWO_TIERS);
	q = cluster_fixture_queue(f.cluster, "q", NULL, -1);
	r = cluster_fixture_queue(f.cluster, "r", NULL, -1);
	i = cluster_fixture_podgroup(f.cluster, "i", "q", 1);
	j = cluster_fixture_podgroup(f.cluster, "j", "q", 1);
	t = cluster_fixture_task(f.cluster, "t", i, 1);
	u = cluster_fixture_task(f.cluster, "u", i, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_queue_order(f.s, q, r) < 0);
	assert_true(hooks_job_order(f.s, i, j) < 0);
	assert_true(hooks_task_order(f.s, t, u) < 0);
	assert_true(hooks_task_order(f.s, u, t) > 0);
	order = 1;
	strbuf_reset(&asked);
	assert_true(hooks_queue_order(f.s, q, r) > 0);
	assert_true(hooks_job_order(f.s, i, j) > 0);
	assert_true(hooks_task_order(f.s, t, u) > 0);
	assert_string_equal(asked.p, "b:queue_order b:job_order b:task_order ");
	hooks_fixture_finish(&f);
}

static void test_votes_and_reasons_come_through(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct hooks_fixture f;
	struct reason why = { .code = NULL };
	double sums[] = { 7, 8 };
	struct podgroup *g;

	(void)state;
	start(&f, TWO_TIERS);
	g = cluster_fixture_podgroup(f.cluster, "j", NULL, 1);
	hooks_fixture_open(&f);
	yes = false;
	assert_false(hooks_job_valid(f.s, g, &why));
	assert_string_equal(why.code, "invalid");
	assert_false(hooks_job_ready(f.s, g));
	vote = VOTE_REJECT;
	assert_false(hooks_job_enqueueable(f.s, g, NULL));
	assert_false(hooks_job_pipelined(f.s, g));
	vote = VOTE_PERMIT;
	strbuf_reset(&asked);
	assert_true(hooks_job_enqueueable(f.s, g, NULL));
	assert_string_equal(asked.p, "b:job_enqueueable ");
	score = 1.5;
	assert_true(hooks_node_score(f.s, NULL, NULL) == 3);
	hooks_node_score_key(f.s, NULL, &key);
	assert_string_equal(key.p, "xx");
	hooks_domain_scores(f.s, NULL, NULL, 2, sums);
	assert_true(sums[0] == 3 && sums[1] == 3);
	assert_true(hooks_scores_domains(f.s));
	hooks_fixture_finish(&f);
}

static void test_without_plugins_the_answer_is_yes(void **state)
{
	struct hooks_fixture f;
	struct podgroup *g;

	(void)state;
	start(&f, "- plugins: [{name: bare}, {name: absent}]\n");
	g = cluster_fixture_podgroup(f.cluster, "j", NULL, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_valid(f.s, g, NULL));
	assert_true(hooks_job_ready(f.s, g));
	assert_true(hooks_job_pipelined(f.s, g));
	assert_true(hooks_job_enqueueable(f.s, g, NULL));
	assert_true(hooks_allocatable(f.s, NULL, NULL, NULL));
	assert_false(hooks_overused(f.s, NULL));
	assert_true(hooks_predicate(f.s, NULL, NULL, NULL));
	assert_false(hooks_scores_domains(f.s));
	hooks_fixture_finish(&f);
}

static void test_arguments_that_do_not_parse_name_plugin_and_argument(void **state)
{
	static const struct conf_name plugins[] = { { .name = "a" },
						    { .name = "b" },
						    { .name = NULL } };
	static const struct conf_name actions[] = { { .name = "x" }, { .name = NULL } };
	const struct conf_options opt = { .known = { plugins, actions } };
	struct sched_conf *conf = NULL;
	struct hooks *h = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(conf_parse(STR_LIT("actions: x\ntiers:\n- plugins:\n  - name: b\n"
					    "  - {name: a, arguments: {weight: big}}\n"),
				    "t", &opt, &conf, &err),
			 0);
	assert_int_equal(hooks_create(conf, rows, ARRAY_LEN(rows), &h, &err), -ERR_INVALID);
	assert_string_equal(err.text, "plugin a: weight: \"big\" is not a number");
	assert_null(h);
	conf_destroy(conf);
	hooks_destroy(NULL);
}

static int finish(void **state)
{
	(void)state;
	strbuf_finish(&asked);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions_open_in_order_and_close_in_reverse),
		cmocka_unit_test(test_every_extension_point_reaches_its_plugin),
		cmocka_unit_test(test_the_answer_of_the_only_plugin_is_the_answer),
		cmocka_unit_test(test_switches_take_extension_points_away),
		cmocka_unit_test(test_quota_plugins_are_those_with_limits),
		cmocka_unit_test(test_orders_fall_back_to_unique_keys),
		cmocka_unit_test(test_votes_and_reasons_come_through),
		cmocka_unit_test(test_without_plugins_the_answer_is_yes),
		cmocka_unit_test(test_arguments_that_do_not_parse_name_plugin_and_argument),
	};

	strbuf_init(&asked);
	return cmocka_run_group_tests(tests, NULL, finish);
}
