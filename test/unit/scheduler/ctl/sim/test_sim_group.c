#include "scheduler/ctl/sim/sim_group.h"

#include "lib/unit.h"

#include "api/core/pod.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/pods/cluster_fixture.h"
#include "scheduler/pods/model/cluster.h"

/* The PodGroup that a pod with this metadata and spec gets; it requests cpu in thousandths. */
static struct jdoc *make_for(struct cluster *c, const char *pod_yaml, int64_t cpu)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct task *t = cluster_fixture_task(c, "t", NULL, cpu);
	struct api_pod pod;
	struct jdoc *group;

	assert_int_equal(yaml_parse(str_of(pod_yaml), &d, NULL), 0);
	assert_int_equal(decode_jdoc(&pod_fields, d, &pod, a, NULL), 0);
	group = sim_group_make(c, t, &pod);
	cluster_task_remove(c, t);
	return group;
}

static struct jdoc *make(struct cluster *c, const char *pod_yaml)
{
	return make_for(c, pod_yaml, 300);
}

static void test_names(void **state)
{
	static const struct {
		const char *yaml, *name;
	} rows[] = {
		{ "metadata: {name: p, uid: \"\"}", "podgroup-p" },
		{ "metadata: {name: p, uid: u1}", "podgroup-u1" },
		{ "metadata: {name: p, uid: u1, ownerReferences: [{kind: Job, name: j, uid: u2, "
		  "controller: true}]}",
		  "podgroup-u2" },
		{ "metadata: {name: p, uid: u1, ownerReferences: [{kind: Job, name: j, "
		  "controller: true}]}",
		  "podgroup-j" },
		{ "metadata: {name: p, uid: u1, ownerReferences: [{kind: Job, name: j, uid: u2}]}",
		  "podgroup-u1" },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *group = make(c, rows[i].yaml);

		unit_row(rows[i].yaml);
		assert_string_equal(jdoc_path_str(group, "metadata.name"), rows[i].name);
		assert_string_equal(jdoc_path_str(group, "metadata.namespace"), "ns");
		assert_string_equal(jdoc_path_str(group, "spec.queue"), "default");
		assert_int_equal(jdoc_int(jdoc_path(group, "spec.minMember"), 0), 1);
		assert_string_equal(jdoc_path_str(group, "spec.minResources.cpu"), "300m");
	}
	cluster_destroy(c);
}

static void test_annotations(void **state)
{
	struct cluster *c = cluster_create();
	CLEANUP(jdoc_destroyp)
	struct jdoc *group =
		make(c, "metadata: {name: p, annotations: {scheduling.volcano.sh/queue-name: q, "
			"scheduling.volcano.sh/group-min-member: \"3\"}}\n"
			"spec: {priorityClassName: high}\n");

	(void)state;
	assert_string_equal(jdoc_path_str(group, "spec.queue"), "q");
	assert_int_equal(jdoc_int(jdoc_path(group, "spec.minMember"), 0), 3);
	assert_string_equal(jdoc_path_str(group, "spec.minResources.cpu"), "900m");
	assert_string_equal(jdoc_path_str(group, "spec.priorityClassName"), "high");
	assert_string_equal(jdoc_path_str(group, "status.phase"), "Pending");
	cluster_destroy(c);
}

/* More than can be counted is the most that can be. */
static void test_large_groups(void **state)
{
	struct cluster *c = cluster_create();
	CLEANUP(jdoc_destroyp)
	struct jdoc *group = make_for(c,
				      "metadata: {name: p, annotations: {"
				      "scheduling.volcano.sh/group-min-member: \"2147483647\"}}",
				      INT64_MAX / 2147483646);

	(void)state;
	assert_string_equal(jdoc_path_str(group, "spec.minResources.cpu"), "9223372036854775807m");
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_large_groups),
	};

	return cmocka_run_group_tests_name("ctl/sim/sim_group", tests, NULL, NULL);
}
