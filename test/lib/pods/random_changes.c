#include "lib/pods/random_changes.h"

#include "lib/pods/cluster_fixture.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/values/pod_class.h"

void random_changes_init(struct random_changes *r, struct cluster *c, uint64_t seed)
{
	*r = (struct random_changes){ .c = c };
	rng_init(&r->rng, seed);
	cluster_fixture_queue(c, "p", NULL, -1);
	r->left = cluster_fixture_queue(c, "left", "p", -1);
	r->right = cluster_fixture_queue(c, "right", "p", -1);
	r->node = cluster_fixture_node(c, "n", 100);
	for (size_t i = 0; i < RANDOM_CHANGES_PODGROUPS; i++) {
		const char name[] = { (char)('a' + i), '\0' };

		r->g[i] = cluster_fixture_podgroup(c, name, "left", 1);
		r->g[i]->has_min_resources = i > 0;
		r->g[i]->min_resources.v[RES_CPU] = 10 * (int64_t)i;
		cluster_podgroup_changed(c, r->g[i]);
	}
	for (size_t i = 0; i < RANDOM_CHANGES_TASKS; i++) {
		const char name[] = { (char)('s' + i), '\0' };

		r->t[i] = cluster_fixture_task(c, name, r->g[i % RANDOM_CHANGES_PODGROUPS],
					       3 + (int64_t)i);
	}
}

static void change_task(struct random_changes *r, struct task *t)
{
	struct queue *q = rng_below(&r->rng, 2) == 0 ? r->left : r->right;

	switch (rng_below(&r->rng, 7)) {
	case 0:
		ledger_release(r->c, t);
		ledger_charge(r->c, t, q, CHARGE_BOUND);
		break;
	case 1:
		ledger_release(r->c, t);
		break;
	case 2:
		cluster_task_set_status(r->c, t, TASK_RUNNING, r->node);
		break;
	case 3:
		cluster_task_set_status(r->c, t, TASK_PENDING, NULL);
		break;
	case 4:
		t->flags ^= (uint32_t)TASK_FOREIGN_GATE;
		cluster_task_changed(r->c, t);
		break;
	case 5:
		ledger_release(r->c, t);
		cluster_task_set_class(
			r->c, t, cluster_fixture_class(r->c, 1 + (int64_t)rng_below(&r->rng, 12)));
		break;
	default:
		cluster_task_set_podgroup(r->c, t,
					  r->g[rng_below(&r->rng, RANDOM_CHANGES_PODGROUPS)]);
		break;
	}
}

static void change_podgroup(struct random_changes *r, struct podgroup *g)
{
	static const char *const queues[] = { "left", "right", "left", "right", "nowhere", "" };

	switch (rng_below(&r->rng, 3)) {
	case 0:
		cluster_podgroup_set_queue(r->c, g, str_of(queues[rng_below(&r->rng, 6)]));
		break;
	case 1:
		g->min_resources.v[RES_CPU] = (int64_t)rng_below(&r->rng, 40);
		cluster_podgroup_changed(r->c, g);
		break;
	default:
		cluster_podgroup_set_phase(r->c, g, (enum podgroup_phase)rng_below(&r->rng, 3));
		break;
	}
}

void random_changes_step(struct random_changes *r)
{
	for (uint64_t n = rng_below(&r->rng, 3); n > 0; n--) {
		if (rng_below(&r->rng, 3) == 0) {
			change_podgroup(r, r->g[rng_below(&r->rng, RANDOM_CHANGES_PODGROUPS)]);
		} else {
			change_task(r, r->t[rng_below(&r->rng, RANDOM_CHANGES_TASKS)]);
		}
	}
}

void random_changes_scan(struct random_changes *r)
{
	for (size_t i = 0; i < r->c->queues.n; i++) {
		struct queue *q = r->c->queues.v[i];

		if (q != NULL && rng_below(&r->rng, 2) == 0) {
			cluster_podgroup_drop_changed(r->c, q, q->changed.n);
		}
	}
}

void random_changes_finish(struct random_changes *r)
{
	for (size_t i = 0; i < RANDOM_CHANGES_TASKS; i++) {
		ledger_release(r->c, r->t[i]);
	}
}
