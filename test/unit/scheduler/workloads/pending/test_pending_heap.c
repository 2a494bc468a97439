#include "scheduler/workloads/pending/pending_heap.h"

#include "lib/unit.h"

#include <stdio.h>

#include "lib/quota/quota_world.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

#define N 40

static void check(const struct quota_world *w, const struct cluster_queue *queue)
{
	for (size_t i = 0; i < queue->heap.n; i++) {
		const struct workload *a = w->q->workloads.v[queue->heap.v[i]];

		assert_int_equal(a->pending.pos, i);
		assert_int_equal(a->pending.where, QUOTA_HEAP);
		if (i > 0) {
			assert_true(pending_heap_cmp(w->q,
						     w->q->workloads.v[queue->heap.v[(i - 1) / 2]],
						     a) < 0);
		}
	}
}

static struct cluster_queue *make(struct quota_world *w)
{
	struct cluster_queue *queue;

	quota_world_init(w, "quota q f cpu nominal=1\n");
	for (int i = 0; i < N; i++) {
		char line[64];

		snprintf(line, sizeof(line), "workload w%02d queue=q cpu=1 prio=%d\n", i,
			 (i * 17) % 23);
		quota_world_add(w, line);
	}
	queue = quota_world_node(w, "q")->queue;
	for (uint32_t i = 0; i < N; i++) {
		pending_heap_push(w->q, queue, w->q->workloads.v[i]);
		check(w, queue);
	}
	return queue;
}

static void empty(struct quota_world *w, struct cluster_queue *queue)
{
	int32_t last = INT32_MAX;

	while (queue->heap.n > 0) {
		struct workload *top = pending_heap_remove(w->q, queue, 0);

		check(w, queue);
		assert_true(top->object.priority <= last);
		assert_int_equal(top->pending.where, QUOTA_NOWHERE);
		last = top->object.priority;
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
	struct cluster_queue *queue;

	(void)state;
	queue = make(&w);
	for (uint32_t i = 0; i < N; i += 3) {
		struct workload *gone = w.q->workloads.v[(i * 7) % N];

		assert_ptr_equal(pending_heap_remove(w.q, queue, gone->pending.pos), gone);
		check(&w, queue);
	}
	empty(&w, queue);
	quota_world_finish(&w);
}

static void the_first_ones_are_seen_where_they_are(void **state)
{
	struct quota_world w;
	struct cluster_queue *queue;
	uint32_t first[N + 1];

	(void)state;
	queue = make(&w);
	for (size_t max = 0; max <= N + 1; max++) {
		size_t n = pending_heap_first(w.q, queue, first, max);

		assert_int_equal(n, max < N ? max : N);
		assert_int_equal(queue->heap.n, N);
	}
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(pending_heap_remove(w.q, queue, 0)->id, first[i]);
	}
	assert_int_equal(pending_heap_first(w.q, queue, first, 1), 0);
	quota_world_finish(&w);
}

static void changed_keys_are_put_right(void **state)
{
	struct quota_world w;
	struct cluster_queue *queue;

	(void)state;
	queue = make(&w);
	for (uint32_t i = 0; i < N; i++) {
		w.q->workloads.v[i]->object.priority = (int32_t)((i * 31) % 29);
		pending_heap_fix(w.q, queue, w.q->workloads.v[i]->pending.pos);
		check(&w, queue);
	}
	for (uint32_t i = 0; i < N; i++) {
		w.q->workloads.v[i]->object.priority = -(int32_t)i;
	}
	pending_heap_rebuild(w.q, queue);
	check(&w, queue);
	empty(&w, queue);
	quota_world_finish(&w);
}

/* Admission fair sharing: what LocalQueues used comes first, before the sticky preemptor. */
static void usage_puts_them_in_another_order(void **state)
{
	struct quota_world w;
	struct cluster_queue *queue;

	(void)state;
	quota_world_init(&w, "option admission_fair_sharing=true\n"
			     "queue q usage-based\n"
			     "quota q f cpu nominal=1\n"
			     "local ns/l0 queue=q usage=3\n"
			     "local ns/l1 queue=q usage=2\n"
			     "local ns/l2 queue=q usage=1\n");
	queue = quota_world_node(&w, "q")->queue;
	for (uint32_t i = 0; i < N; i++) {
		char line[80];

		snprintf(line, sizeof(line), "workload w%02u queue=q local=l%u cpu=1 prio=%u\n", i,
			 i % 3, (i * 17) % 23);
		quota_world_add(&w, line);
		quota_local_remember(w.q, w.q->workloads.v[i]);
		pending_heap_push(w.q, queue, w.q->workloads.v[i]);
		check(&w, queue);
	}
	queue->preemptor = 1;
	for (uint32_t i = 0; i < 3; i++) {
		quota_local_find(w.q, STR_LIT("ns/l2"))->usage = i;
		pending_heap_reorder(w.q, queue);
		check(&w, queue);
	}
	while (queue->heap.n > 0) {
		(void)pending_heap_remove(w.q, queue, (uint32_t)(queue->heap.n / 2));
		check(&w, queue);
	}
	quota_world_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_leave_in_order),
		cmocka_unit_test(any_element_can_leave),
		cmocka_unit_test(the_first_ones_are_seen_where_they_are),
		cmocka_unit_test(changed_keys_are_put_right),
		cmocka_unit_test(usage_puts_them_in_another_order),
	};

	return cmocka_run_group_tests_name("workloads/pending/pending_heap", tests, NULL, NULL);
}
