#include "scheduler/workloads/owners/pod_podset.h"

#include "lib/unit.h"

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/compares.h"
#include "lib/decode_fixture.h"
#include "scheduler/workloads/owners/owner_spec.h"
#include "unit/scheduler/workloads/owners/pod_fixture.h"

struct pods {
	struct api_pod v[POD_FIXTURE_MAX];
	const struct api_pod *list[POD_FIXTURE_MAX];
	struct pod_podset_of of;
};

static void read_pods(struct pods *p, const struct pod_fixture *f, const char *text)
{
	p->of = (struct pod_podset_of){ p->list, pod_fixture_pods(f, text, p->v) };
	for (size_t i = 0; i < p->of.n; i++) {
		p->list[i] = &p->v[i];
	}
}

static void one_pod_set_for_each_role(void **state)
{
	static const struct {
		const char *pods;
		struct pod_fixture f;
		const char *name, *want;
	} cases[] = {
		{ "a:G", { .total = NULL }, NULL, "main=1(a)" },
		{ "b:G2 a:G c:G2", { .total = "3" }, "g", "r1=1(a) r2=2(b)" },
		{ "a:G2",
		  { .total = "5",
		    .annotations = ",'kueue.x-k8s.io/pod-group-fast-admission':'true'" },
		  "g",
		  "r2=5(a)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(strbuf_finish) struct strbuf have = STRBUF_INIT;
		struct owner_spec s = { .queue = "lq" };
		struct pods p;

		unit_row(cases[i].pods);
		read_pods(&p, &cases[i].f, cases[i].pods);
		assert_true(pod_podset_fill(&p.of, arena, &s));
		for (size_t k = 0; k < s.npodsets; k++) {
			strbuf_printf(&have, "%s%s=%d(%s)", k > 0 ? " " : "", s.podsets[k].name,
				      (int)s.podsets[k].count, s.podsets[k].from.name);
		}
		assert_string_equal(have.p, cases[i].want);
		assert_string_equal(s.queue, "lq");
		if (cases[i].name != NULL) {
			assert_string_equal(s.name, cases[i].name);
		} else {
			assert_true(str_has_prefix(str_of(s.name), "pod-a-"));
		}
	}
}

static void pods_that_make_no_group(void **state)
{
	static const struct {
		const char *pods, *total;
		bool fits;
	} cases[] = {
		{ "a:G b:G", "2", true },  { "a:G b:Go", "2", false }, { "a:G b:Fo", "2", true },
		{ "a:G b:G", "0", false }, { "a:G b:G", "-1", false }, { "a:G b:G", "two", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		const struct pod_fixture f = { .total = cases[i].total };
		struct pods p;

		unit_row(cases[i].pods);
		read_pods(&p, &f, cases[i].pods);
		assert_int_equal(pod_podset_mismatch(&p.of, arena) == NULL, cases[i].fits);
	}
}

static void queues_differ(void **state)
{
	static const struct pod_fixture one = { .total = "2" },
					other = { .total = "2",
						  .labels = ",'kueue.x-k8s.io/queue-name':'x'" };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct pods p, q;

	(void)state;
	read_pods(&p, &one, "a:G b:G");
	read_pods(&q, &other, "b:G");
	p.list[1] = q.list[0];
	assert_string_equal(pod_podset_mismatch(&p.of, arena),
			    "pods 'a' and 'b' of the group have different queues");
}

static void labels_are_those_of_all_pods(void **state)
{
	static const struct pod_fixture one = { .total = "2", .labels = ",'a':'1'" },
					other = { .total = "2", .labels = ",'a':'2','b':'2'" };
	const struct field_strs keys[] = {
		{ (const char *const[]){ "b", "c" }, 2 },
		{ (const char *const[]){ "b", "a" }, 2 },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct owner_spec s = { .queue = "lq" };
	struct pods p, q;

	(void)state;
	read_pods(&p, &one, "a:G b:G");
	read_pods(&q, &other, "b:G");
	p.list[1] = q.list[0];
	assert_null(pod_podset_labels(&p.of, NULL, arena, &s));
	assert_int_equal(s.labels.n, 0);
	assert_null(pod_podset_labels(&p.of, &keys[0], arena, &s));
	assert_int_equal(s.labels.n, 1);
	assert_string_equal(field_map_get(&s.labels, "b"), "2");
	assert_string_equal(pod_podset_labels(&p.of, &keys[1], arena, &s),
			    "pods of the group have different values of the label a");
}

static void notes_are_those_of_all_pods(void **state)
{
	static const struct pod_fixture one = { .total = "2", .annotations = ",'a':'1'" },
					other = { .total = "2", .annotations = ",'a':'2','b':'2'" };
	const struct field_strs keys[] = {
		{ (const char *const[]){ "b", "c" }, 2 },
		{ (const char *const[]){ "b", "a" }, 2 },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct owner_spec s = { .queue = "lq" };
	struct pods p, q;

	(void)state;
	read_pods(&p, &one, "a:G b:G");
	read_pods(&q, &other, "b:G");
	p.list[1] = q.list[0];
	assert_null(pod_podset_notes(&p.of, NULL, arena, &s));
	assert_int_equal(s.notes.n, 0);
	assert_null(pod_podset_notes(&p.of, &keys[0], arena, &s));
	assert_int_equal(s.notes.n, 1);
	assert_string_equal(field_map_get(&s.notes, "b"), "2");
	assert_int_equal(s.labels.n, 0);
	assert_string_equal(pod_podset_notes(&p.of, &keys[1], arena, &s),
			    "pods of the group have different values of the annotation a");
}

enum { MEMBERS = 2000 };

/* Each with a role of its own: with as many pod sets it would be two million comparisons, at each
 * change of a pod. */
static void too_many_roles_are_not_all_looked_at(void **state)
{
	static const struct field_pair group = { KUEUE_POD_GROUP_NAME, "g" };
	static struct field_pair roles[MEMBERS];
	static struct api_pod pods[MEMBERS];
	static const struct api_pod *list[MEMBERS];
	const struct pod_podset_of of = { list, MEMBERS };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct owner_spec s = { .queue = "lq" };

	(void)state;
	for (int i = 0; i < MEMBERS; i++) {
		roles[i] = (struct field_pair){ KUEUE_ROLE_HASH, arena_printf(arena, "r%d", i) };
		pods[i].meta.labels = (struct field_map){ &group, 1 };
		pods[i].meta.annotations = (struct field_map){ &roles[i], 1 };
		list[i] = &pods[i];
	}
	compares_made = 0;
	assert_false(pod_podset_fill(&of, arena, &s));
	assert_in_range(compares_made, 1, 20 * MEMBERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pod_set_for_each_role),
		cmocka_unit_test(too_many_roles_are_not_all_looked_at),
		cmocka_unit_test(labels_are_those_of_all_pods),
		cmocka_unit_test(notes_are_those_of_all_pods),
		cmocka_unit_test(pods_that_make_no_group),
		cmocka_unit_test(queues_differ),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
