#include "collections/list.h"

#include "lib/unit.h"

#include <stdlib.h>

#include "base/xmalloc.h"

struct item {
	int n;
	struct list_node node;
};

static struct item *item_of(struct list_node *node)
{
	return LIST_ENTRY(node, struct item, node);
}

static void check(struct list_node *head, const int *want, size_t count)
{
	size_t i = 0;

	LIST_FOR_EACH (node, head) {
		assert_true(i < count);
		assert_int_equal(item_of(node)->n, want[i++]);
		assert_ptr_equal(node->next->prev, node);
		assert_ptr_equal(node->prev->next, node);
	}
	assert_int_equal(i, count);
	assert_int_equal(list_is_empty(head), count == 0);
}

static void test_links(void **state)
{
	struct item a = { .n = 1 }, b = { .n = 2 }, c = { .n = 3 };
	struct list_node head;

	(void)state;
	list_init(&head);
	check(&head, NULL, 0);
	list_append(&head, &b.node);
	list_append(&head, &c.node);
	list_prepend(&head, &a.node);
	check(&head, (const int[]){ 1, 2, 3 }, 3);
	list_remove(&b.node);
	list_remove(&b.node); /* harmless */
	check(&head, (const int[]){ 1, 3 }, 2);
	list_insert_before(&a.node, &b.node);
	check(&head, (const int[]){ 2, 1, 3 }, 3);
}

static void test_free_while_walking(void **state)
{
	struct list_node head;
	int seen = 0;

	(void)state;
	list_init(&head);
	for (int i = 0; i < 10; i++) {
		struct item *it = xmalloc_zero(1, sizeof(*it));

		it->n = i;
		list_append(&head, &it->node);
	}
	LIST_FOR_EACH (node, &head) {
		assert_int_equal(item_of(node)->n, seen++);
		list_remove(node);
		free(item_of(node));
	}
	assert_int_equal(seen, 10);
	assert_true(list_is_empty(&head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_free_while_walking),
	};

	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
