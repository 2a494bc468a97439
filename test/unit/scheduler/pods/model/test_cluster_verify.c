#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

struct scene {
	struct cluster *c;
	struct queue *q, *below;
	struct podgroup *g;
	struct task *t, *u;
	struct node *n;
};

static void build(struct scene *s)
{
	s->c = cluster_create();
	s->q = cluster_fixture_queue(s->c, "q", NULL, 1000);
	s->below = cluster_fixture_queue(s->c, "below", "q", 1000);
	s->g = cluster_fixture_podgroup(s->c, "j", "q", 1);
	s->t = cluster_fixture_task(s->c, "t", s->g, 100);
	s->u = cluster_fixture_task(s->c, "u", s->g, 100);
	s->n = cluster_fixture_node(s->c, "n", 1000);
	cluster_task_set_status(s->c, s->t, TASK_RUNNING, s->n);
}

static void harm_used(struct scene *s)
{
	s->n->used.v[RES_MEMORY]++;
}

static void harm_releasing(struct scene *s)
{
	s->n->releasing.v[RES_CPU]++;
}

static void harm_total(struct scene *s)
{
	s->c->total.v[RES_CPU]--;
}

static void harm_status(struct scene *s)
{
	s->u->status = TASK_UNKNOWN;
}

static void harm_session_status(struct scene *s)
{
	s->u->status = TASK_ALLOCATED;
}

static void harm_podgroup_pos(struct scene *s)
{
	s->t->podgroup_pos = 1;
}

static void harm_node_pos(struct scene *s)
{
	s->t->node_pos = 1;
}

static void harm_queue_pos(struct scene *s)
{
	s->g->queue_pos = 4;
}

static void harm_charge(struct scene *s)
{
	s->u->charge = CHARGE_UNGATED;
}

static void harm_exists(struct scene *s)
{
	s->q->exists = false;
}

static void harm_depth(struct scene *s)
{
	s->below->depth = 7;
}

static void harm_refs(struct scene *s)
{
	s->c->class_by_id.v[s->t->klass->id]->refs++;
}

static void harm_drift(struct scene *s)
{
	s->c->drift = 1;
}

static void harm_free_list(struct scene *s)
{
	vec_push(&s->c->tasks.free, 77);
}

static void harm_name(struct scene *s)
{
	s->u->name[0] = 'x';
}

static void test_finds_each_fault(void **state)
{
	static void (*const harms[])(struct scene *) = {
		harm_used,           harm_releasing,    harm_total,    harm_status,
		harm_session_status, harm_podgroup_pos, harm_node_pos, harm_queue_pos,
		harm_charge,         harm_exists,       harm_depth,    harm_refs,
		harm_drift,          harm_free_list,    harm_name,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		struct scene s;

		build(&s);
		assert_null(cluster_verify(s.c));
		harms[i](&s);
		if (cluster_verify(s.c) == NULL) {
			fail_msg("fault %u is not found", (unsigned)i);
		}
		cluster_destroy(s.c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_finds_each_fault) };

	return cmocka_run_group_tests_name("pods/model/cluster_verify", tests, NULL, NULL);
}
