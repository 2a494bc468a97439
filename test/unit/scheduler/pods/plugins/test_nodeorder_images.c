#include "scheduler/pods/plugins/nodeorder_images.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/images.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

enum { NODES = 4, IMAGES = 3 };

struct world {
	struct cluster *c;
	struct arena *arena;
	struct node *nodes[NODES];
};

static void start(struct world *w)
{
	static const char *const names[NODES] = { "n0", "n1", "n2", "n3" };

	w->c = cluster_create();
	w->arena = arena_create(0);
	for (size_t i = 0; i < NODES; i++) {
		w->nodes[i] = cluster_fixture_node(w->c, names[i], 1);
	}
}

static void finish(struct world *w)
{
	cluster_destroy(w->c);
	arena_destroy(w->arena);
}

/* Image i is on the first on[i] nodes. */
static void spread(struct world *w, const int64_t *bytes, const size_t *on)
{
	static const char *const names[IMAGES] = { "i0", "i1", "i2" };

	for (size_t n = 0; n < NODES; n++) {
		struct images_entry v[IMAGES];
		size_t count = 0;

		for (size_t i = 0; i < IMAGES; i++) {
			if (n < on[i]) {
				v[count++] = (struct images_entry){ names[i], bytes[i] };
			}
		}
		images_set_node(w->c, w->nodes[n], v, count);
	}
}

static struct nodeorder_images judge(struct world *w, uint32_t times, uint32_t sources,
				     size_t nimages)
{
	struct pod_image of[IMAGES] = { { .name = "i0", .times = times },
					{ .name = "i1", .times = 1 },
					{ .name = "i2", .times = 1 } };
	struct pod_class k = { .images = of, .nimages = nimages, .image_sources = sources };
	struct task *t = cluster_fixture_task(w->c, "t", NULL, 1);

	pod_class_normalise(&k);
	cluster_task_set_class(w->c, t, cluster_class_intern(w->c, &k));
	return nodeorder_images_judge(w->c, t->klass, NODES, w->arena);
}

/* Scores by hand, from kube-scheduler's formula. */
static void test_scores(void **state)
{
	static const struct {
		int64_t bytes[IMAGES];
		size_t on[IMAGES];
		uint32_t times, sources;
		size_t nimages;
		int64_t want[NODES];
	} rows[] = {
		/* One image on all nodes, at both ends and between. */
		{ { 23 * MIB }, { 4 }, 1, 1, 1, { 0 } },
		{ { 1000 * MIB }, { 4 }, 1, 1, 1, { 100, 100, 100, 100 } },
		{ { 5 * GIB }, { 4 }, 1, 1, 1, { 100, 100, 100, 100 } },
		{ { 511 * MIB }, { 4 }, 1, 1, 1, { 49, 49, 49, 49 } },
		{ { 512 * MIB }, { 4 }, 1, 1, 1, { 50, 50, 50, 50 } },
		/* On a part of the nodes: its size times that part. */
		{ { 1000 * MIB }, { 1 }, 1, 1, 1, { 23 } },
		{ { 1000 * MIB }, { 2 }, 1, 1, 1, { 48, 48 } },
		{ { 92 * MIB }, { 1 }, 1, 1, 1, { 0 } },
		{ { 132 * MIB }, { 1 }, 1, 1, 1, { 1 } },
		/* The same image in two containers, and containers with other images. */
		{ { 1000 * MIB }, { 2 }, 2, 2, 1, { 49, 49 } },
		{ { 1000 * MIB }, { 2 }, 1, 2, 1, { 24, 24 } },
		{ { 1000 * MIB }, { 2 }, 1, 3, 1, { 16, 16 } },
		/* Sums of what each node has. */
		{ { 400 * MIB, 800 * MIB, 100 * MIB }, { 1, 2, 4 }, 1, 3, 3, { 19, 16, 2, 2 } },
		/* Each of them alone would be 0. */
		{ { 20 * MIB, 20 * MIB, 20 * MIB }, { 4, 4, 2 }, 1, 3, 3, { 0, 0, 0, 0 } },
		{ { 20 * MIB, 20 * MIB, 60 * MIB }, { 4, 4, 2 }, 1, 3, 3, { 1, 1, 0, 0 } },
		/* Nothing overflows. */
		{ { INT64_MAX }, { 4 }, 1 << 20, 1 << 20, 1, { 100, 100, 100, 100 } },
		{ { 0 }, { 4 }, 1, 1, 1, { 0 } },
		{ { 5 * GIB }, { 0 }, 1, 1, 1, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct nodeorder_images images;
		struct world w;

		unit_row_number(i);
		start(&w);
		spread(&w, rows[i].bytes, rows[i].on);
		images = judge(&w, rows[i].times, rows[i].sources, rows[i].nimages);
		for (size_t n = 0; n < NODES; n++) {
			assert_int_equal(nodeorder_images_score(&images, w.nodes[n]),
					 rows[i].want[n]);
		}
		finish(&w);
	}
}

/* Pods with other images share the scores where these decide nothing. */
static void test_texts(void **state)
{
	static const struct {
		int64_t bytes[IMAGES];
		size_t on[IMAGES];
		const char *text;
	} rows[] = {
		{ { 0 }, { 0 }, "" },
		{ { 92 * MIB }, { 1 }, "" },
		{ { 24 * MIB }, { 4 }, "i0=25165824/1048576000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct nodeorder_images images;
		struct world w;

		unit_row_number(i);
		start(&w);
		spread(&w, rows[i].bytes, rows[i].on);
		images = judge(&w, 1, 1, 1);
		nodeorder_images_format(&images, &text);
		assert_true(str_eq_c(strbuf_str(&text), rows[i].text));
		finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests_name("plugins/nodeorder_images", tests, NULL, NULL);
}
