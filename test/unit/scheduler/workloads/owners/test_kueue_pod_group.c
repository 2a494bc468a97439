#include "scheduler/workloads/owners/kueue_pod_group.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"
#include "unit/scheduler/workloads/owners/pod_fixture.h"

static void add_names(struct strbuf *out, const struct pod_group_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		strbuf_printf(out, "%s%s", i > 0 ? " " : "", l->v[i]->meta.name);
	}
	strbuf_add_ch(out, '/');
}

/* "kept/excess/replaced/absent" */
static void expect_split(struct kueue_pod_group_split *s, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf have = STRBUF_INIT;

	add_names(&have, &s->kept);
	add_names(&have, &s->excess);
	add_names(&have, &s->replaced);
	strbuf_printf(&have, "%d", (int)s->absent);
	assert_string_equal(have.p, want);
	kueue_pod_group_split_finish(s);
}

static size_t read_pods(const char *text, const char *notes, struct api_pod *pods,
			const struct api_pod **list)
{
	const struct pod_fixture f = { .total = "2", .annotations = notes };
	size_t n = pod_fixture_pods(&f, text, pods);

	for (size_t i = 0; i < n; i++) {
		list[i] = &pods[i];
	}
	return n;
}

static const struct {
	const char *name, *pods, *notes, *podsets, *want;
} stays[] = {
	{ .name = "as many as asked for",
	  .pods = "a:R b:R c:G2",
	  .podsets = "r1:2 r2:1",
	  .want = "a b c///0" },
	{ .name = "the younger one is too many",
	  .pods = "a:G b:G c:G",
	  .podsets = "r1:2",
	  .want = "a b/c//0" },
	{ .name = "rather one that was let go",
	  .pods = "a:G b:R c:R",
	  .podsets = "r1:2",
	  .want = "b c/a//0" },
	{ .name = "rather one with our finalizer",
	  .pods = "a:Rx b:G c:G",
	  .podsets = "r1:2",
	  .want = "b c/a//0" },
	{ .name = "one has to come", .pods = "a:R", .podsets = "r1:2", .want = "a///1" },
	{ .name = "one that failed keeps its place until then",
	  .pods = "a:R b:F",
	  .podsets = "r1:2",
	  .want = "a b///1" },
	{ .name = "and has been replaced then",
	  .pods = "a:R b:F c:G",
	  .podsets = "r1:2",
	  .want = "a c//b/0" },
	{ .name = "of two that failed the one that ended first",
	  .pods = "a:Fd b:F c:G",
	  .podsets = "r1:2",
	  .want = "c b//a/1" },
	{ .name = "one that will never run does not count",
	  .pods = "a:Gd b:G",
	  .podsets = "r1:1",
	  .want = "b//a/0" },
	{ .name = "one that still runs does, though it is being deleted",
	  .pods = "a:Rd b:R",
	  .podsets = "r1:2",
	  .want = "a b///0" },
	{ .name = "a role without pod set",
	  .pods = "a:R b:R2",
	  .podsets = "r1:1",
	  .want = "a///0" },
	{ .name = "admitted with the first pod: the others may come later",
	  .pods = "a:R",
	  .notes = ",'kueue.x-k8s.io/pod-group-fast-admission':'true'",
	  .podsets = "r1:5",
	  .want = "a///0" },
	{ .name = "but one there must be",
	  .pods = "a:F",
	  .notes = ",'kueue.x-k8s.io/pod-group-fast-admission':'true'",
	  .podsets = "r1:5",
	  .want = "a///1" },
};

static void which_pods_stay(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stays); i++) {
		struct api_pod pods[POD_FIXTURE_MAX];
		const struct api_pod *list[POD_FIXTURE_MAX];
		struct kueue_pod_group_split s = { .absent = 0 };
		const struct pod_fixture_workload wf = { .podsets = stays[i].podsets };
		struct api_workload w;
		size_t n = read_pods(stays[i].pods, stays[i].notes, pods, list);

		unit_row(stays[i].name);
		pod_fixture_workload(&wf, &w);
		kueue_pod_group_split(list, n, &w, JOB_FIXTURE_NOW * 2, &s);
		expect_split(&s, stays[i].want);
	}
}

/* Of two failed pods the one that was active longer ago is replaced; without a time it counts as
 * active until now. b ended at 5. */
static void the_end_of_a_failed_pod_is_that_of_its_containers(void **state)
{
	static const struct {
		const char *type, *status, *reason; /* of the condition of a */
		int64_t time;
		const char *want;
	} cases[] = {
		{ "ContainersReady", "False", "PodFailed", 4, "c b//a/1" },
		{ "ContainersReady", "False", "PodFailed", 9, "c a//b/1" },
		{ "ContainersReady", "False", "PodFailed", FIELD_NO_TIME, "c a//b/1" },
		{ "ContainersReady", "False", "Other", 4, "c a//b/1" },
		{ "ContainersReady", "True", "PodFailed", 4, "c a//b/1" },
		{ "Ready", "False", "PodFailed", 4, "c a//b/1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct api_condition a = { .type = cases[i].type,
					   .status = cases[i].status,
					   .reason = cases[i].reason,
					   .last_transition = cases[i].time };
		struct api_condition b = { .type = "ContainersReady",
					   .status = "False",
					   .reason = "PodFailed",
					   .last_transition = 5 };
		struct api_pod pods[POD_FIXTURE_MAX];
		const struct api_pod *list[POD_FIXTURE_MAX];
		struct kueue_pod_group_split s = { .absent = 0 };
		const struct pod_fixture_workload wf = { .podsets = "r1:2" };
		size_t n = read_pods("a:F b:F c:G", NULL, pods, list);
		struct api_workload w;

		unit_row(cases[i].type);
		pods[0].status.conditions = (struct api_conditions){ &a, 1 };
		pods[1].status.conditions = (struct api_conditions){ &b, 1 };
		pod_fixture_workload(&wf, &w);
		kueue_pod_group_split(list, n, &w, JOB_FIXTURE_NOW, &s);
		expect_split(&s, cases[i].want);
	}
}

static void which_pods_make_a_group(void **state)
{
	static const struct {
		const char *pods;
		int32_t total;
		const char *want;
	} cases[] = {
		{ "a:G b:G", 2, "a b///0" },       { "a:G", 2, "a///1" },
		{ "a:G b:G c:G2", 2, "a b/c//0" }, { "a:Gd b:G c:F d:G", 2, "b d//a c/0" },
		{ "a:S b:G", 2, "a b///0" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct api_pod pods[POD_FIXTURE_MAX];
		const struct api_pod *list[POD_FIXTURE_MAX];
		struct kueue_pod_group_split s = { .absent = 0 };
		size_t n = read_pods(cases[i].pods, NULL, pods, list);

		unit_row(cases[i].pods);
		kueue_pod_group_split_new(list, n, cases[i].total, &s);
		expect_split(&s, cases[i].want);
	}
}

static void states_of_pods(void **state)
{
	static const struct {
		const char *pod;
		bool counts, held, ready;
	} cases[] = {
		{ "a:G", true, true, false },    { "a:P", true, false, false },
		{ "a:R", true, false, true },    { "a:S", true, true, true },
		{ "a:F", false, true, false },   { "a:Gd", false, true, false },
		{ "a:Pd", false, false, false }, { "a:Rd", true, false, true },
	};
	struct api_pod pod;
	const struct api_pod *list[1];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row(cases[i].pod);
		(void)read_pods(cases[i].pod, NULL, &pod, list);
		assert_int_equal(kueue_pod_group_counts(&pod), cases[i].counts);
		assert_int_equal(kueue_pod_group_is_held(&pod), cases[i].held);
		assert_int_equal(kueue_pod_group_is_ready(&pod), cases[i].ready);
		assert_true(kueue_pod_group_is_managed(&pod));
		assert_string_equal(kueue_pod_group_name(&pod), "g");
		assert_string_equal(kueue_pod_group_role(&pod), "r1");
		assert_int_equal(kueue_pod_group_total(&pod), 2);
	}
	pod.meta.annotations.n = 0;
	assert_false(kueue_pod_group_is_managed(&pod)); /* a Job's pod has the label as well */
	assert_int_equal(kueue_pod_group_total(&pod), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_pods_stay),
		cmocka_unit_test(the_end_of_a_failed_pod_is_that_of_its_containers),
		cmocka_unit_test(which_pods_make_a_group),
		cmocka_unit_test(states_of_pods),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
