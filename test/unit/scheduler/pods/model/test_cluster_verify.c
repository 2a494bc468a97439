#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/images.h"

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
	images_set_node(s->c, s->n, (struct images_entry[]){ { "a:1", 5 }, { "b:1", 5 } }, 2);
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

static void harm_cluster_used(struct scene *s)
{
	s->c->used.v[RES_CPU]++;
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

static void harm_own_task_name(struct scene *s)
{
	s->t->name[0] = 'x';
}

static void harm_task_nominated(struct scene *s)
{
	s->u->nominated = 9;
}

static void harm_bound_without_node(struct scene *s)
{
	s->u->status = TASK_BOUND;
}

static void harm_pending_with_node(struct scene *s)
{
	s->t->status = TASK_PENDING;
}

static void harm_charge_queue(struct scene *s)
{
	s->u->charge = CHARGE_UNGATED;
	s->u->charge_queue = 99;
}

static void harm_task_podgroup(struct scene *s)
{
	s->u->podgroup = 9;
}

static void harm_task_node(struct scene *s)
{
	s->t->node = 9;
}

static void harm_task_id(struct scene *s)
{
	s->t->id = 7;
}

static void harm_podgroup_name(struct scene *s)
{
	s->g->name[0] = 'x';
}

static void harm_by_status(struct scene *s)
{
	s->g->by_status[TASK_FAILED]++;
}

static void harm_unplaced(struct scene *s)
{
	s->g->unplaced++;
}

static void harm_refused(struct scene *s)
{
	s->g->refused++;
}

static void harm_podgroup_queue(struct scene *s)
{
	s->g->queue = s->below->id;
}

static void harm_podgroup_id(struct scene *s)
{
	s->g->id = 7;
}

static void harm_queue_name(struct scene *s)
{
	s->below->name[0] = 'x';
}

static void harm_children(struct scene *s)
{
	s->q->children.v[0] = s->q->id;
}

static void harm_parent(struct scene *s)
{
	s->q->parent = 99;
}

static void harm_child_count(struct scene *s)
{
	s->q->children.n = 0;
}

static void harm_queue_exists(struct scene *s)
{
	s->below->exists = false;
}

static void harm_waiting(struct scene *s)
{
	vec_push(&s->q->waiting, s->g->id);
}

static void harm_node_name(struct scene *s)
{
	s->n->name[0] = 'x';
}

static void harm_nominations(struct scene *s)
{
	s->n->nominations++;
}

static void harm_node_task(struct scene *s)
{
	vec_push(&s->n->tasks, s->u->id);
}

static void harm_image_order(struct scene *s)
{
	s->n->images.v[0] = 1;
	s->n->images.v[1] = 0;
}

static void harm_image_id(struct scene *s)
{
	s->n->images.v[1] = 2;
}

static void harm_image_nodes(struct scene *s)
{
	s->c->images.v[0]->nodes++;
}

static void harm_image_uses(struct scene *s)
{
	s->c->images.v[0]->uses++;
}

static void harm_image_name(struct scene *s)
{
	s->c->images.v[0]->name[0] = 'x';
}

static void harm_image_without_nodes(struct scene *s)
{
	(void)images_add(s->c, STR_LIT("c:1"));
}

static const struct {
	void (*harm)(struct scene *);
	const char *found; /* NULL: of several, any */
} faults[] = {
	{ harm_used, "a node's use is not the sum of its tasks" },
	{ harm_releasing, "a node's use is not the sum of its tasks" },
	{ harm_total, "the cluster's total is not the sum of its nodes" },
	{ harm_cluster_used, "the cluster's use is not the sum of its nodes" },
	{ harm_status, NULL },
	{ harm_session_status, "a task has a status of sessions only" },
	{ harm_podgroup_pos, "a task is not at its place in its PodGroup" },
	{ harm_node_pos, "a task is not at its place on its node" },
	{ harm_queue_pos, "a PodGroup is not at its place in its queue" },
	{ harm_charge, "a task's charge and the queue of its charge disagree" },
	{ harm_exists, "a PodGroup is not in the queue that it names" },
	{ harm_depth, "a queue lists a child that is not its own" },
	{ harm_refs, NULL },
	{ harm_drift, NULL },
	{ harm_free_list, "the number of tasks is off" },
	{ harm_name, "a task is not found by its key" },
	{ harm_own_task_name, "a task is not found by its key" },
	{ harm_task_nominated, "a task is nominated to a node that is gone" },
	{ harm_bound_without_node, "a bound task has no node" },
	{ harm_pending_with_node, "a pending or finished task occupies a node" },
	{ harm_charge_queue, "a task is charged to a queue that is gone" },
	{ harm_task_podgroup, "a task is not at its place in its PodGroup" },
	{ harm_task_node, "a task is not at its place on its node" },
	{ harm_task_id, NULL },
	{ harm_podgroup_name, "a PodGroup is not found by its key" },
	{ harm_by_status, "a PodGroup's counts by status are off" },
	{ harm_unplaced, "a PodGroup's count of tasks that found no node is off" },
	{ harm_refused, "a PodGroup's count of tasks that a queue refused is off" },
	{ harm_podgroup_queue, "a PodGroup is not in the queue that it names" },
	{ harm_podgroup_id, NULL },
	{ harm_queue_name, NULL },
	{ harm_children, "a queue lists a child that is not its own" },
	{ harm_parent, "a queue lists a child that is not its own" },
	{ harm_child_count, "queues list PodGroups or children too many or too few" },
	{ harm_queue_exists, "a queue that does not exist counts as usable" },
	{ harm_waiting, "PodGroups wait for a queue that exists, or are in one that does not" },
	{ harm_node_name, "a node is not found by its name" },
	{ harm_nominations, "nodes count nominations too many or too few" },
	{ harm_node_task, "a node lists a task that is not on it" },
	{ harm_image_order, "a node's images are not known or not in order" },
	{ harm_image_id, "a node's images are not known or not in order" },
	{ harm_image_nodes, "an image counts nodes or classes too many or too few" },
	{ harm_image_uses, "an image counts nodes or classes too many or too few" },
	{ harm_image_name, "an image is not found by its name" },
	{ harm_image_without_nodes, "an image without nodes has a size, or is still there" },
};

static void test_finds_each_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct scene s;
		const char *found;

		unit_row(faults[i].found == NULL ? "" : faults[i].found);
		build(&s);
		assert_null(cluster_verify(s.c));
		faults[i].harm(&s);
		found = cluster_verify(s.c);
		assert_non_null(found);
		if (faults[i].found != NULL) {
			assert_string_equal(found, faults[i].found);
		}
		cluster_destroy(s.c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_finds_each_fault) };

	return cmocka_run_group_tests_name("pods/model/cluster_verify", tests, NULL, NULL);
}
