#include "scheduler/pods/session/session_overlay.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "lib/pods/core_fixture.h"
#include "lib/unit.h"

static void sums_saturate_at_both_ends(void **state)
{
	static const struct {
		const char *name;
		int64_t before, amount;
		int sign;
		int64_t after;
	} rows[] = {
		{ "added", 5, 3, 1, 8 },
		{ "taken away", 5, 3, -1, 2 },
		{ "below zero", 3, 5, -1, 0 },
		{ "beyond the largest", INT64_MAX - 1, 5, 1, INT64_MAX },
	};
	struct core_fixture sf;

	(void)state;
	core_fixture_init(&sf, NULL);
	core_fixture_open(&sf);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct res a = { .v = { rows[i].before, 7 } }, b = { .v = { rows[i].amount, 9 } };

		unit_row(rows[i].name);
		session_overlay_add(sf.s->overlay, &a, &b, 1, rows[i].sign);
		assert_true(a.v[0] == rows[i].after);
		assert_int_equal(a.v[1], 7);
	}
	/* The log must not point to this frame. */
	vec_clear(&sf.s->overlay->log);
	core_fixture_finish(&sf);
}

static void every_write_is_logged_with_its_old_value(void **state)
{
	struct core_fixture sf;
	struct overlay *o;
	int64_t a = 1;
	uint32_t b = 2;
	uint8_t c = 3;

	(void)state;
	core_fixture_init(&sf, NULL);
	core_fixture_open(&sf);
	o = sf.s->overlay;
	session_overlay_set64(o, &a, 10);
	session_overlay_set32(o, &b, 20);
	session_overlay_set8(o, &c, 30);
	assert_int_equal(o->log.n, 3);
	assert_int_equal(o->log.v[0].old + o->log.v[1].old * 10 + o->log.v[2].old * 100, 321);
	assert_int_equal(a + b + c, 60);
	vec_clear(&o->log);
	core_fixture_finish(&sf);
}

static void touching_a_node_is_seen_by_caches(void **state)
{
	struct core_fixture sf;
	const struct node *n;
	struct overlay *o;

	(void)state;
	core_fixture_init(&sf, NULL);
	n = cluster_fixture_node(sf.f.cluster, "n1", 1000);
	core_fixture_open(&sf);
	o = sf.s->overlay;
	session_overlay_touch(o, n, false);
	session_overlay_touch(o, n, true);
	assert_int_equal(session_node_version(sf.s, n), 2);
	assert_int_equal(o->touched.n, 2);
	assert_int_equal(o->grown, 1);
	core_fixture_finish(&sf);
}

/* Slots are kept between sessions and grow with the cluster; nothing of an old one shows. */
static void slots_grow_with_the_cluster(void **state)
{
	struct core_fixture sf;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 40; i++) {
			char *name = xmalloc_printf("p%d-%d", round, i);

			cluster_fixture_task(sf.f.cluster, name, NULL, 10);
			free(name);
		}
		core_fixture_open(&sf);
		for (size_t i = 0; i < sf.f.cluster->tasks.n; i++) {
			struct overlay_task *slot =
				session_overlay_task(sf.s->overlay, sf.f.cluster->tasks.v[i]);

			assert_int_equal(slot->charge, CHARGE_NONE);
			slot->charge = CHARGE_BOUND;
		}
		session_close(sf.s);
	}
	core_fixture_open(&sf);
	core_fixture_finish(&sf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_saturate_at_both_ends),
		cmocka_unit_test(every_write_is_logged_with_its_old_value),
		cmocka_unit_test(touching_a_node_is_seen_by_caches),
		cmocka_unit_test(slots_grow_with_the_cluster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
