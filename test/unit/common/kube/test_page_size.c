#include "kube/page_size.h"

#include "lib/unit.h"

static void test_halves_down_to_one(void **state)
{
	struct page_size p;
	unsigned n = 0;
	(void)state;

	page_size_init(&p, 0);
	assert_int_equal(p.limit, 500);
	assert_int_equal(page_size_budget(&p), PAGE_SIZE_BYTES);
	while (page_size_shrink(&p)) {
		n++;
	}
	assert_int_equal(n, 8);
	assert_int_equal(p.limit, 1);
	/* One object may be as large as any that etcd takes. */
	assert_int_equal(page_size_budget(&p), PAGE_SIZE_OBJECT_BYTES);
}

static void test_grows_after_small_pages_only(void **state)
{
	struct page_size p;
	(void)state;

	page_size_init(&p, 7);
	while (page_size_shrink(&p)) {
	}
	page_size_answered(&p, PAGE_SIZE_BYTES / 4);
	assert_int_equal(p.limit, 1);
	page_size_answered(&p, PAGE_SIZE_BYTES / 4 - 1);
	assert_int_equal(p.limit, 2);
	page_size_answered(&p, 0);
	assert_int_equal(p.limit, 4);
	page_size_answered(&p, 0);
	assert_int_equal(p.limit, 7);
	page_size_answered(&p, 0);
	assert_int_equal(p.limit, 7);
}

/* Objects of `sizes` are listed in order; returns the bytes read, dropped answers included. */
static size_t cost_of(const size_t *sizes, size_t n)
{
	struct page_size p;
	size_t at = 0, cost = 0;

	page_size_init(&p, 0);
	while (at < n) {
		size_t bytes = 0, end = at;

		while (end < n && end - at < p.limit && bytes <= page_size_budget(&p)) {
			bytes += sizes[end++];
		}
		if (bytes > page_size_budget(&p)) {
			cost += page_size_budget(&p);
			assert_true(page_size_shrink(&p));
			continue;
		}
		cost += bytes;
		page_size_answered(&p, bytes);
		at = end;
	}
	return cost;
}

/* Runs of small objects let the limit grow before each run of large ones. */
static void test_hostile_sizes_cost_a_small_multiple(void **state)
{
	static size_t sizes[60000];
	size_t n = sizeof(sizes) / sizeof(sizes[0]);
	(void)state;

	for (size_t small = 1; small < 4096; small *= 2) {
		for (size_t large = 1; large <= 64; large *= 4) {
			size_t stored = 0;

			for (size_t i = 0; i < n; i++) {
				sizes[i] = i % (small + large) < small ? 1000 : 1300000;
				stored += sizes[i];
			}
			assert_true(cost_of(sizes, n) <= 8 * stored);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_halves_down_to_one),
		cmocka_unit_test(test_grows_after_small_pages_only),
		cmocka_unit_test(test_hostile_sizes_cost_a_small_multiple),
	};

	return cmocka_run_group_tests_name("page size", tests, NULL, NULL);
}
