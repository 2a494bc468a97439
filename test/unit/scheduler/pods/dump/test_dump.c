#include "scheduler/pods/dump/dump.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "lib/pods/cluster_checksum.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/ledger_verify.h"
#include "lib/pods/term_fixture.h"
#include "lib/recorded.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/model/selectors.h"
#include "unit/scheduler/pods/dump/dump_fixture.h"

static const struct pod_class *rich_class(struct cluster *c)
{
	struct label sel[] = { { cluster_fixture_name(c, "disk"),
				 cluster_fixture_name(c, "ssd") } };
	const char *values[] = { cluster_fixture_name(c, "z2"), cluster_fixture_name(c, "z1") };
	struct match_expr e[] = {
		{ .key = cluster_fixture_name(c, "zone"), .values = values, .nvalues = 2 },
		{ .key = cluster_fixture_name(c, "metadata.name"),
		  .op = MATCH_NOT_EXISTS,
		  .on_field = true }
	};
	struct match_term required = { e, 2, 0 }, preferred = { e, 1, 50 };
	struct toleration tol[] = {
		{ .value = cluster_fixture_name(c, ""), .exists = true, .any_effect = true },
		{ .key = cluster_fixture_name(c, "gpu"),
		  .value = cluster_fixture_name(c, "yes"),
		  .effect = TAINT_NO_EXECUTE }
	};
	struct host_port port[] = { { cluster_fixture_name(c, "0.0.0.0"), 1, 8080 } };
	struct pod_image image = { .name = "a:1", .times = 2 };
	struct pod_class k = { .request = { .v = { 250, 1 << 20 } },
			       .selector = sel,
			       .nselector = 1,
			       .required = &required,
			       .nrequired = 1,
			       .has_required = true,
			       .charged_to_workload = true,
			       .preferred = &preferred,
			       .npreferred = 1,
			       .tolerations = tol,
			       .ntolerations = 2,
			       .ports = port,
			       .nports = 1,
			       .unsupported = POD_CLASS_CLAIMS,
			       .images = &image,
			       .nimages = 1,
			       .image_sources = 3,
			       .unoffered = { &(struct unoffered_amount){ "example.com/x", 3 },
					      1 } };

	pod_class_normalise(&k);
	return cluster_class_intern(c, &k);
}

static void add_node_spec(struct cluster *c, struct node *n)
{
	struct taint t = { cluster_fixture_name(c, "dedicated"), cluster_fixture_name(c, "x"),
			   TAINT_NO_EXECUTE };
	struct label l = { cluster_fixture_name(c, "zone"), cluster_fixture_name(c, "z1") };
	struct images_entry image = { "b:1", 5 };

	vec_push(&n->taints, t);
	vec_push(&n->labels, l);
	n->unschedulable = true;
	images_set_node(c, n, &image, 1);
}

static uint32_t add_budget(struct cluster *c, const char *key, uint32_t allowed, uint32_t granted)
{
	struct budget *b = xmalloc_zero(1, sizeof(*b));

	b->key = xmalloc_dup(key);
	b->allowed = allowed;
	b->granted = granted;
	b->id = slots_add(&c->budgets, b);
	return b->id;
}

/* A PodGroup of Kubernetes with pods of two queues, one of which does not exist. */
static void add_kube_group(struct cluster *c)
{
	struct podgroup *g;

	(void)cluster_fixture_task(
		c, "k1", cluster_podgroup_get_part(c, STR_LIT("ns"), STR_LIT("k"), STR_LIT("b")),
		1);
	(void)cluster_fixture_task(
		c, "k2",
		cluster_podgroup_get_part(c, STR_LIT("ns"), STR_LIT("k"), STR_LIT("nowhere")), 1);
	g = cluster_podgroup_get_kube(c, STR_LIT("ns"), STR_LIT("k"));
	g->exists = true;
	g->min_member = 2;
	g->uid = xmalloc_dup("kuid");
	cluster_podgroup_kube_changed(c, g);
}

static struct cluster *rich_cluster(void)
{
	struct cluster *c = cluster_create();
	struct queue *a = cluster_fixture_queue(c, "a", NULL, 4000);
	struct queue *b = cluster_fixture_queue(c, "b", "a", -1);
	struct podgroup *g = cluster_fixture_podgroup(c, "j", "b", 2);
	struct podgroup *waits = cluster_fixture_podgroup(c, "waits", "nowhere", 1);
	struct node *n = cluster_fixture_node(c, "n1", 1000);
	struct task *t = cluster_fixture_task(c, "t1", g, 300);
	struct task *gone = cluster_fixture_task(c, "gone", g, 77);
	struct task *u = cluster_fixture_task(c, "t2", waits, 0);
	struct podgroup *alone = cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("t3"));
	struct priority_class *p = xmalloc_zero(1, sizeof(*p));

	cluster_podgroup_set_queue(c, alone, STR_LIT("b"));
	cluster_fixture_task(c, "t3", alone, 100)->flags |= TASK_GATE_ONLY;
	add_kube_group(c);
	assert_true(res_names_add(c->res, STR_LIT("nvidia.com/gpu")) > 0);
	a->guarantee.v[RES_FIRST_NAMED] = 3;
	a->uid = xmalloc_dup("quid");
	a->hierarchy = xmalloc_dup("root/a");
	a->hierarchy_weights = xmalloc_dup("1/2");
	b->state = QUEUE_CLOSING;
	b->scan.timer_at = INT64_C(1750000000123456789);
	b->scan.done = true;
	p->value = -5;
	p->global_default = true;
	strmap_set(c->priority_classes, STR_LIT("low"), p);
	add_node_spec(c, n);
	g->has_min_resources = true;
	g->min_resources.v[RES_MEMORY] = INT64_C(1) << 60;
	g->min_unoffered = unoffered_copy(
		&(struct unoffered){ &(struct unoffered_amount){ "example.com/y", 2 }, 1 });
	g->status_hash = UINT64_MAX - 1;
	waits->uid = xmalloc_dup("wuid");
	cluster_podgroup_note_rival(c, g, waits);
	vec_push(&g->role_min,
		 ((struct podgroup_role_min){ intern_id(c->names, STR_LIT("w")), 2 }));
	t->created = INT64_C(1750000000000000001);
	t->flags |= TASK_OPTED_IN | TASK_PARKED;
	ledger_charge(c, t, b, CHARGE_UNGATED);
	ledger_advance(c, t, CHARGE_BOUND);
	ledger_set_releasing(c, t, true);
	cluster_task_set_status(c, t, TASK_RELEASING, n);
	cluster_task_set_class(c, u, rich_class(c));
	cluster_task_set_nominated(c, u, n);
	term_fixture_namespace(c, "ns", "team=red");
	term_fixture_labels(c, t, "app=x,i=1");
	term_fixture_labels(c, u, "");
	term_fixture_terms(c, cluster_task_find(c, STR_LIT("ns/t3")),
			   "near zone app=x; away zone * in=a+ns of=team=red; "
			   "spread rack - skew=3 min=2 ignore honor");
	u->role = intern_id(c->names, STR_LIT("w"));
	cluster_task_set_retry(c, u, MODEL_TIME_NEVER);
	cluster_task_set_refused(c, t, a->id);
	cluster_task_remove(c, gone);
	add_budget(c, "ns/other", 0, 0);
	u->budget = add_budget(c, "ns/b", INT32_MAX, 3);
	t->budget = TASK_BUDGETS_SEVERAL;
	assert_null(cluster_verify(c));
	assert_null(ledger_verify(c));
	return c;
}

static void test_round_trip(void **state)
{
	struct cluster *c = rich_cluster(), *empty = cluster_create();

	(void)state;
	cluster_destroy(dump_fixture_reload(c));
	cluster_destroy(dump_fixture_reload(empty));
	cluster_destroy(c);
	cluster_destroy(empty);
}

static void test_loaded_cluster_lives_on(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct cluster *c = rich_cluster(), *loaded = NULL;
	struct task *t;

	(void)state;
	dump_format(c, &text);
	cluster_destroy(c);
	assert_int_equal(dump_load(strbuf_str(&text), &loaded, NULL), 0);
	t = cluster_task_find(loaded, STR_LIT("ns/t1"));
	ledger_release(loaded, t);
	cluster_task_remove(loaded, t);
	(void)cluster_fixture_queue(loaded, "nowhere", NULL, -1);
	(void)term_fixture_task(loaded, "new", NULL, "app=x", "");
	t = cluster_task_find(loaded, STR_LIT("ns/new"));
	assert_int_equal(idset_count(&t->labels->selectors), 2);
	assert_null(cluster_verify(loaded));
	assert_null(ledger_verify(loaded));
	cluster_destroy(loaded);
}

static void test_random_clusters(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct cluster *c = cluster_create();
		struct rng r;
		char name[16];

		rng_init(&r, seed);
		for (int i = 0; i < 60; i++) {
			struct task *t;
			struct podgroup *g;

			snprintf(name, sizeof(name), "x%d", (int)rng_below(&r, 8));
			(void)cluster_fixture_queue(c, name, rng_below(&r, 2) ? "x1" : NULL, 5);
			(void)cluster_fixture_node(c, name, (int64_t)rng_below(&r, 1000));
			g = cluster_fixture_podgroup(c, name, rng_below(&r, 2) ? name : "absent",
						     1);
			snprintf(name, sizeof(name), "t%d", i);
			t = cluster_fixture_task(c, name, g, (int64_t)rng_below(&r, 3));
			if (rng_below(&r, 2) == 0) {
				struct queue *q = c->queues.v[rng_below(&r, c->queues.n)];

				ledger_charge(c, t, q == NULL ? c->queues.v[0] : q,
					      CHARGE_PUBLISHED);
				ledger_rebuild_sums(c);
			} else if (rng_below(&r, 2) == 0) {
				cluster_task_set_status(c, t, TASK_RUNNING,
							c->nodes.v[rng_below(&r, c->nodes.n)]);
			} else {
				cluster_task_remove(c, t);
			}
			(void)queue_topology_changed(c);
			ledger_rebuild_sums(c);
		}
		cluster_destroy(dump_fixture_reload(c));
		cluster_destroy(c);
	}
}

/* A copy of the dump with the value at this JSON pointer replaced: whether it is loaded. */
static bool loads_with(const struct jdoc *dump, const char *at, const char *value)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(xmalloc_freep)
	char *json =
		xmalloc_printf("[{\"op\":\"replace\",\"path\":\"%s\",\"value\":%s}]", at, value);
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *copy = jdoc_copy(dump);
	struct cluster *c = NULL;
	bool loaded;

	assert_int_equal(jdoc_parse(str_of(json), &patch, NULL), 0);
	assert_int_equal(patch_apply_json(&copy, patch, NULL), 0);
	jdoc_format(copy, &text);
	loaded = dump_load(strbuf_str(&text), &c, NULL) == 0;
	assert_int_equal(loaded, c != NULL);
	if (loaded) {
		assert_null(cluster_verify(c));
	}
	cluster_destroy(c);
	return loaded;
}

static void try_all(const struct jdoc *dump, const struct jdoc *at, const char *pointer,
		    struct strbuf *accepted)
{
	static const char *const values[] = { "null",    "true", "-9",          "4711",
					      "\"odd\"", "[1]",  "{\"odd\":{}}" };
	size_t i = 0;

	strbuf_printf(accepted, "%s:", pointer);
	for (size_t k = 0; k < ARRAY_LEN(values) && pointer[0] != '\0'; k++) {
		if (loads_with(dump, pointer, values[k])) {
			strbuf_printf(accepted, " %s", values[k]);
		}
	}
	strbuf_add_c(accepted, "\n");
	for (const struct jdoc *m = jdoc_first(at); m != NULL; m = jdoc_next(m), i++) {
		CLEANUP(strbuf_finish) struct strbuf next = STRBUF_INIT;

		strbuf_printf(&next, "%s/", pointer);
		if (jdoc_key(m) == NULL) {
			strbuf_printf(&next, "%zu", i);
		}
		for (const char *p = jdoc_key(m); p != NULL && *p != '\0'; p++) {
			strbuf_add_c(&next, *p == '~'   ? "~0"
					    : *p == '/' ? "~1"
							: (char[]){ *p, '\0' });
		}
		try_all(dump, m, next.p, accepted);
	}
}

/* Each value of a dump in turn is replaced by others: the list says which of them are loaded. */
static void test_each_value_is_checked(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, accepted = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *dump = NULL;
	struct cluster *c = rich_cluster();

	(void)state;
	dump_format(c, &text);
	cluster_destroy(c);
	assert_int_equal(jdoc_parse(strbuf_str(&text), &dump, NULL), 0);
	try_all(dump, dump, "", &accepted);
	recorded_check("test/unit/scheduler/pods/dump/accepted.txt", &accepted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_value_is_checked),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_loaded_cluster_lives_on),
		cmocka_unit_test(test_random_clusters),
	};

	return cmocka_run_group_tests_name("pods/dump/dump", tests, NULL, NULL);
}
