#include "collections/heap.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/rng.h"

struct item {
	int key;
	unsigned id;
	size_t index;
};

static int by_key(const void *a, const void *b, const void *ctx)
{
	const struct item *x = a, *y = b;

	assert_string_equal(ctx, "ctx");
	if (x->key != y->key) {
		return x->key < y->key ? -1 : 1;
	}
	return (x->id > y->id) - (x->id < y->id);
}

static void on_moved(void *elem, size_t index)
{
	((struct item *)elem)->index = index;
}

static void check(const struct heap *h)
{
	for (size_t i = 0; i < h->n; i++) {
		assert_int_equal(((struct item *)h->v[i])->index, i);
		if (i > 0) {
			assert_true(by_key(h->v[(i - 1) / 2], h->v[i], "ctx") < 0);
		}
	}
}

/* Random operations; the invariants are checked after each. */
static void test_random(void **state)
{
	struct item items[60];
	struct heap h;
	struct rng rng;

	(void)state;
	rng_init(&rng, 1);
	heap_init(&h, by_key, on_moved, "ctx");
	for (unsigned i = 0; i < ARRAY_LEN(items); i++) {
		items[i] = (struct item){ .id = i, .index = SIZE_MAX };
	}
	for (int step = 0; step < 5000; step++) {
		struct item *it = &items[rng_below(&rng, ARRAY_LEN(items))];
		size_t n = h.n;

		if (it->index == SIZE_MAX) {
			it->key = (int)rng_below(&rng, 20);
			heap_push(&h, it);
			assert_int_equal(h.n, n + 1);
		} else if (rng_below(&rng, 2) == 0) {
			assert_ptr_equal(heap_remove(&h, it->index), it);
			assert_int_equal(it->index, SIZE_MAX);
			assert_int_equal(h.n, n - 1);
		} else {
			(void)heap_remove(&h, it->index);
			it->key = (int)rng_below(&rng, 20);
			heap_push(&h, it);
		}
		check(&h);
	}
	heap_finish(&h);
}

static void test_pop_order(void **state)
{
	static const int keys[] = { 5, 3, 9, 1, 3, 7, 0, 3, 8 };
	struct item items[ARRAY_LEN(keys)];
	const struct item *last = NULL;
	struct heap h;

	(void)state;
	heap_init(&h, by_key, NULL, "ctx");
	assert_null(heap_peek(&h));
	assert_null(heap_pop(&h));
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++) {
		items[i] = (struct item){ .key = keys[i], .id = i };
		heap_push(&h, &items[i]);
	}
	while (h.n > 0) {
		const struct item *top = heap_peek(&h);

		assert_ptr_equal(heap_pop(&h), top);
		assert_true(last == NULL || by_key(last, top, "ctx") < 0);
		last = top;
	}
	assert_int_equal(last->key, 9);
	heap_finish(&h);
	assert_null(h.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_pop_order),
	};

	return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
