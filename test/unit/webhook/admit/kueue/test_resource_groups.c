/* Counts at their limits and one beyond; all other rules are cases in test/admission/cases. */
#include "webhook/admit/kueue/resource_groups.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "enc/decode.h"

/* Groups with so many resources and flavors each. */
struct shape {
	unsigned groups, resources, flavors;
	const char *message; /* NULL: allowed */
};

static const struct shape shapes[] = {
	{ 0, 0, 0, NULL },
	{ 16, 1, 1, NULL },
	{ 17, 1, 1, "spec.resourceGroups: 17 items, at most 16 are allowed" },
	{ 1, 64, 8, NULL },
	{ 1, 65, 1, "spec.resourceGroups[0].coveredResources: 65 items, 1 to 64 are allowed" },
	{ 1, 8, 64, NULL },
	{ 1, 1, 65, "spec.resourceGroups[0].flavors: 65 items, 1 to 64 are allowed" },
	{ 1, 57, 9,
	  "spec.resourceGroups[0]: 9 flavors times 57 resources, at most 512 are allowed" },
	{ 4, 64, 8, NULL },
	{ 5, 52, 1,
	  "spec.resourceGroups: 260 resources and 5 flavors, at most 256 of each are allowed" },
	{ 4, 8, 64, NULL },
	{ 5, 1, 52,
	  "spec.resourceGroups: 5 resources and 260 flavors, at most 256 of each are allowed" },
};

static void add_flavor(struct strbuf *out, const struct shape *s, unsigned group, unsigned flavor)
{
	strbuf_printf(out, "%s{\"name\":\"f-%u-%u\",\"resources\":[", flavor == 0 ? "" : ",", group,
		      flavor);
	for (unsigned r = 0; r < s->resources; r++) {
		strbuf_printf(out, "%s{\"name\":\"r-%u-%u\",\"nominalQuota\":1}", r == 0 ? "" : ",",
			      group, r);
	}
	strbuf_add_c(out, "]}");
}

static void write_shape(struct strbuf *out, const struct shape *s)
{
	strbuf_add_c(out, "{\"spec\":{\"resourceGroups\":[");
	for (unsigned g = 0; g < s->groups; g++) {
		strbuf_printf(out, "%s{\"coveredResources\":[", g == 0 ? "" : ",");
		for (unsigned r = 0; r < s->resources; r++) {
			strbuf_printf(out, "%s\"r-%u-%u\"", r == 0 ? "" : ",", g, r);
		}
		strbuf_add_c(out, "],\"flavors\":[");
		for (unsigned f = 0; f < s->flavors; f++) {
			add_flavor(out, s, g, f);
		}
		strbuf_add_c(out, "]}");
	}
	strbuf_add_c(out, "]}}");
}

static void test_counts(void **state)
{
	const struct resource_groups_rules rules = { .parent_field = "cohortName" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct admit_answer answer CLEANUP(admit_answer_finish);
		const struct admit_request q = { .arena = arena };
		const struct admit_check c = { &q, &answer };
		struct api_cluster_queue queue;

		unit_row_number(i);
		admit_answer_init(&answer);
		write_shape(&text, &shapes[i]);
		assert_int_equal(decode_text(&kueue_cluster_queue_fields, strbuf_str(&text), &queue,
					     arena, NULL),
				 0);
		resource_groups_check(&c, &queue.spec.resource_groups, &rules);
		assert_int_equal(answer.allowed, shapes[i].message == NULL);
		if (shapes[i].message != NULL) {
			assert_string_equal(answer.message, shapes[i].message);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests_name("webhook/admit/kueue/resource_groups", tests, NULL,
					   NULL);
}
