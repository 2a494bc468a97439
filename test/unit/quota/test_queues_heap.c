#include "quota/queues_heap.h"

#include "lib/unit.h"

#include <stdio.h>

#include "lib/quota_world.h"
#include "quota/queues.h"

#define N 40

static void check(const struct quota_world *w, const struct quota_queue *queue)
{
	for (size_t i = 0; i < queue->heap.n; i++) {
		const struct workload *a = w->q->workloads.v[queue->heap.v[i]];

		assert_int_equal(a->pos, i);
		assert_int_equal(a->where, QUOTA_HEAP);
		if (i > 0) {
			assert_true(queues_cmp(w->q, w->q->workloads.v[queue->heap.v[(i - 1) / 2]],
					       a) < 0);
		}
	}
}

static struct quota_queue *make(struct quota_world *w)
{
	struct quota_queue *queue;

	quota_world_init(w, "quota q f cpu nominal=1\n");
	for (int i = 0; i < N; i++) {
		char line[64];

		snprintf(line, sizeof(line), "workload w%02d queue=q cpu=1 prio=%d\n", i,
			 (i * 17) % 23);
		quota_world_add(w, line);
	}
	queue = quota_world_node(w, "q")->queue;
	for (uint32_t i = 0; i < N; i++) {
		queues_heap_push(w->q, queue, w->q->workloads.v[i]);
		check(w, queue);
	}
	return queue;
}

static void empty(struct quota_world *w, struct quota_queue *queue)
{
	int32_t last = INT32_MAX;

	while (queue->heap.n > 0) {
		struct workload *top = queues_heap_remove(w->q, queue, 0);

		check(w, queue);
		assert_true(top->priority <= last);
		assert_int_equal(top->where, QUOTA_NOWHERE);
		last = top->priority;
	}
}

static void elements_leave_in_order(void **state)
{
	struct quota_world w;

	(void)state;
	empty(&w, make(&w));
	quota_world_finish(&w);
}

static void any_element_can_leave(void **state)
{
	struct quota_world w;
	struct quota_queue *queue;

	(void)state;
	queue = make(&w);
	for (uint32_t i = 0; i < N; i += 3) {
		struct workload *gone = w.q->workloads.v[(i * 7) % N];

		assert_ptr_equal(queues_heap_remove(w.q, queue, gone->pos), gone);
		check(&w, queue);
	}
	empty(&w, queue);
	quota_world_finish(&w);
}

static void changed_keys_are_put_right(void **state)
{
	struct quota_world w;
	struct quota_queue *queue;

	(void)state;
	queue = make(&w);
	for (uint32_t i = 0; i < N; i++) {
		w.q->workloads.v[i]->priority = (int32_t)((i * 31) % 29);
		queues_heap_fix(w.q, queue, w.q->workloads.v[i]->pos);
		check(&w, queue);
	}
	for (uint32_t i = 0; i < N; i++) {
		w.q->workloads.v[i]->priority = -(int32_t)i;
	}
	queues_heap_rebuild(w.q, queue);
	check(&w, queue);
	empty(&w, queue);
	quota_world_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_leave_in_order),
		cmocka_unit_test(any_element_can_leave),
		cmocka_unit_test(changed_keys_are_put_right),
	};

	return cmocka_run_group_tests_name("queues_heap", tests, NULL, NULL);
}
