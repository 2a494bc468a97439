#include "scheduler/pods/dump/dump_images.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/model/images.h"
#include "unit/scheduler/pods/dump/dump_fixture.h"

static struct cluster *make(void)
{
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 1000), *m = cluster_fixture_node(c, "m", 1);
	struct images_entry first[] = { { "gone", 1 }, { "a:1", IMAGES_BYTES_MAX }, { "b:1", 7 } };
	struct images_entry then[] = { first[1], first[2] };
	struct pod_image of[] = { { .name = "a:1", .times = 2 }, { .name = "c:1", .times = 1 } };
	struct pod_class k = { .images = of, .nimages = 2, .image_sources = 5 };
	struct task *t = cluster_fixture_task(c, "t", NULL, 100);

	images_set_node(c, n, first, 3);
	images_set_node(c, m, then, 2);
	images_set_node(c, n, then, 2); /* the id of "gone" is free */
	pod_class_normalise(&k);
	cluster_task_set_class(c, t, cluster_class_intern(c, &k));
	return c;
}

static void test_round_trip(void **state)
{
	struct cluster *c = make(), *again = dump_fixture_reload(c);

	(void)state;
	assert_int_equal(images_find(again, STR_LIT("a:1"))->bytes, IMAGES_BYTES_MAX);
	assert_int_equal(images_find(again, STR_LIT("a:1"))->nodes, 2);
	assert_int_equal(again->tasks.v[0]->klass->image_sources, 5);
	cluster_destroy(again);
	cluster_destroy(c);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *members, *text;
	} rows[] = {
		{ "\"images\":[{\"bytes\":1}]", "images[0]: name: absent, too long or not unique" },
		{ "\"images\":[{\"name\":\"a\",\"bytes\":0},{\"name\":\"a\",\"bytes\":0}]",
		  "images[1]: name: absent, too long or not unique" },
		{ "\"images\":[{\"name\":\"a\",\"bytes\":-1}]", "images[0]: bytes: out of range" },
		{ "\"images\":[{\"name\":\"a\",\"bytes\":0}]",
		  "does not add up: an image without nodes has a size, or is still there" },
		{ "\"images\":[{\"name\":\"a\",\"bytes\":0}],\"classes\":[{\"images\":[{\"name\":"
		  "\"a\"}],"
		  "\"imageSources\":1}]",
		  "classes[0]: images: without a known name or times" },
		{ "\"classes\":[{\"images\":[{\"times\":1}],\"imageSources\":1}]",
		  "classes[0]: images: without a known name or times" },
		{ "\"classes\":[{\"images\":[{\"name\":\"a\",\"times\":1}],\"imageSources\":1}]",
		  "classes[0]: images: without a known name or times" },
		{ "\"images\":[{\"name\":\"a\",\"bytes\":0}],\"classes\":[{\"images\":[{\"name\":"
		  "\"a\","
		  "\"times\":1}]}]",
		  "classes[0]: imageSources: not a whole number" },
		{ "\"nodes\":[{\"name\":\"n\",\"images\":[0]}]",
		  "nodes[0]: images: not ids in ascending order" },
		{ "\"images\":[{\"name\":\"a\",\"bytes\":0}],\"nodes\":[{\"name\":\"n\",\"images\":"
		  "[0,0]}]",
		  "nodes[0]: images: not ids in ascending order" },
		{ "\"images\":[null],\"nodes\":[{\"name\":\"n\",\"images\":[0]}]",
		  "nodes[0]: images: not ids in ascending order" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, text = STRBUF_INIT;
		struct cluster *c = NULL;
		struct err err = ERR_INIT;

		unit_row_number(i);
		strbuf_printf(&json,
			      "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\"}],%s}",
			      rows[i].members);
		assert_int_equal(dump_load(strbuf_str(&json), &c, &err), -ERR_INVALID);
		strbuf_printf(&text, "dump: %s", rows[i].text);
		assert_string_equal(err.text, text.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests_name("dump/dump_images", tests, NULL, NULL);
}
