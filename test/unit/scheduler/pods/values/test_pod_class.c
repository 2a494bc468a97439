#include "scheduler/pods/values/pod_class.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

static char *signature(const struct pod_class *k)
{
	struct strbuf b = STRBUF_INIT;

	pod_class_format(k, &b);
	return strbuf_steal(&b, NULL);
}

static void assert_differ(const struct pod_class *a, const struct pod_class *b)
{
	char *x = signature(a), *y = signature(b);

	assert_string_not_equal(x, y);
	free(x);
	free(y);
}

static void assert_same(const struct pod_class *a, const struct pod_class *b)
{
	char *x = signature(a), *y = signature(b);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void test_normalise_derives(void **state)
{
	struct pod_class k = { .request = { .v = { [RES_MEMORY] = 5 } } };
	struct pod_class empty = { .mask = 7 };

	(void)state;
	pod_class_normalise(&k);
	assert_int_equal(k.request.v[RES_PODS], 1);
	assert_int_equal(k.mask, 1u << RES_MEMORY);
	assert_false(k.best_effort);
	pod_class_normalise(&empty);
	assert_int_equal(empty.mask, 0);
	assert_true(empty.best_effort);
	empty.unoffered = (struct unoffered){ &(struct unoffered_amount){ "a", 1 }, 1 };
	pod_class_normalise(&empty);
	assert_false(empty.best_effort);
}

static void test_order_does_not_matter(void **state)
{
	struct label s1[] = { { "a", "1" }, { "b", "2" } }, s2[] = { { "b", "2" }, { "a", "1" } };
	struct toleration t1[] = { { .key = "x", .value = "", .exists = true },
				   { .key = NULL, .value = "", .any_effect = true } };
	struct toleration t2[] = { t1[1], t1[0] };
	struct host_port p1[] = { { "0.0.0.0", 0, 80 }, { "0.0.0.0", 1, 80 } };
	struct host_port p2[] = { p1[1], p1[0] };
	struct pod_image i1[] = { { .name = "i", .times = 1 }, { .name = "j", .times = 1 } };
	struct pod_image i2[] = { i1[1], i1[0] };
	const char *v1[] = { "z1", "z2" }, *v2[] = { "z2", "z1" };
	struct match_expr e1 = { .key = "zone", .values = v1, .nvalues = 2 };
	struct match_expr e2 = { .key = "zone", .values = v2, .nvalues = 2 };
	struct match_term m1 = { &e1, 1, 0 }, m2 = { &e2, 1, 0 };
	struct pod_class a = { .selector = s1,
			       .nselector = 2,
			       .tolerations = t1,
			       .ntolerations = 2,
			       .ports = p1,
			       .nports = 2,
			       .images = i1,
			       .nimages = 2,
			       .required = &m1,
			       .nrequired = 1,
			       .has_required = true };
	struct pod_class b = { .selector = s2,
			       .nselector = 2,
			       .tolerations = t2,
			       .ntolerations = 2,
			       .ports = p2,
			       .nports = 2,
			       .images = i2,
			       .nimages = 2,
			       .required = &m2,
			       .nrequired = 1,
			       .has_required = true };

	(void)state;
	pod_class_normalise(&a);
	pod_class_normalise(&b);
	assert_same(&a, &b);
}

static void test_every_part_matters(void **state)
{
	struct label sel = { "a", "1" }, joined = { "a1", "" };
	struct toleration tol = { .key = "a", .value = "1" };
	struct host_port port = { "0.0.0.0", 0, 1 };
	const char *values[] = { "1" };
	struct match_expr e = { .key = "a", .values = values, .nvalues = 1 };
	struct match_expr field = { .key = "a", .values = values, .nvalues = 1, .on_field = true };
	struct match_expr not_in = {
		.key = "a", .op = MATCH_NOT_IN, .values = values, .nvalues = 1
	};
	struct match_term t = { &e, 1, 0 }, tf = { &field, 1, 0 }, tn = { &not_in, 1, 0 };
	struct match_term w1 = { &e, 1, 1 }, w2 = { &e, 1, 2 };
	struct pod_image i1 = { .name = "a", .times = 1 }, i2 = { .name = "a", .times = 2 };
	struct pod_image i3 = { .name = "b", .times = 1 };
	struct unoffered_amount a1 = { "a", 1 }, a2 = { "a", 2 }, b1 = { "b", 1 };
	struct pod_class v[] = {
		{ .nports = 0 },
		{ .request = { .v = { [RES_CPU] = 1 } } },
		{ .request = { .v = { [RES_CPU] = 2 } } },
		{ .request = { .v = { [RES_MEMORY] = 1 } } },
		{ .selector = &sel, .nselector = 1 },
		{ .selector = &joined, .nselector = 1 },
		{ .tolerations = &tol, .ntolerations = 1 },
		{ .ports = &port, .nports = 1 },
		{ .has_required = true },
		{ .has_required = true, .required = &t, .nrequired = 1 },
		{ .has_required = true, .required = &tf, .nrequired = 1 },
		{ .has_required = true, .required = &tn, .nrequired = 1 },
		{ .preferred = &w1, .npreferred = 1 },
		{ .preferred = &w2, .npreferred = 1 },
		{ .unsupported = "no" },
		{ .unoffered = { &a1, 1 } },
		{ .unoffered = { &a2, 1 } },
		{ .unoffered = { &b1, 1 } },
		{ .images = &i1, .nimages = 1, .image_sources = 2 },
		{ .images = &i2, .nimages = 1, .image_sources = 2 },
		{ .images = &i3, .nimages = 1, .image_sources = 2 },
		{ .images = &i1, .nimages = 1, .image_sources = 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		pod_class_normalise(&v[i]);
		for (size_t j = 0; j < i; j++) {
			assert_differ(&v[i], &v[j]);
		}
	}
}

/* They are preferences, which a plugin may not know. */
static void test_images_are_not_in_the_shape(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf with = STRBUF_INIT, without = STRBUF_INIT;
	struct pod_image image = { .name = "a", .times = 1 };
	struct pod_class k = { .request = { .v = { [RES_CPU] = 1 } } };

	(void)state;
	pod_class_normalise(&k);
	pod_class_format_shape(&k, &without);
	k.images = &image;
	k.nimages = k.image_sources = 1;
	pod_class_format_shape(&k, &with);
	assert_string_equal(with.p, without.p);
}

/* ab and ba have the parts a and b in both orders. */
static void assert_parts_matter(struct pod_class *ab, struct pod_class *ba, struct pod_class *a,
				struct pod_class *b)
{
	pod_class_normalise(ab);
	pod_class_normalise(ba);
	pod_class_normalise(a);
	pod_class_normalise(b);
	assert_same(ab, ba);
	assert_differ(a, b);
}

/* Pods that differ in a single field of a single part are of different classes, and the order in
 * which parts stand never makes a difference: no comparison leaves a field out. */
static void test_every_field_of_a_part_matters(void **state)
{
	struct label labels[] = { { "a", "1" }, { "b", "1" }, { "a", "2" } };
	struct toleration tolerations[] = {
		{ .key = "a", .value = "1", .effect = TAINT_PREFER_NO_SCHEDULE },
		{ .key = "b", .value = "1", .effect = TAINT_PREFER_NO_SCHEDULE },
		{ .key = "a", .value = "2", .effect = TAINT_PREFER_NO_SCHEDULE },
		{ .key = "a", .value = "1", .effect = TAINT_NO_SCHEDULE },
		{ .key = "a", .value = "1", .effect = TAINT_NO_EXECUTE },
		{ .key = "a", .value = "1", .any_effect = true },
		{ .key = "a", .value = "1", .exists = true, .effect = TAINT_PREFER_NO_SCHEDULE },
		{ .key = NULL, .value = "1", .effect = TAINT_PREFER_NO_SCHEDULE },
	};
	struct host_port ports[] = { { "0.0.0.0", 0, 80 },
				     { "0.0.0.0", 0, 81 },
				     { "0.0.0.0", 1, 80 },
				     { "10.0.0.1", 0, 80 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		unit_row_number(i);
		for (size_t j = 0; j < i; j++) {
			struct label ab[] = { labels[i], labels[j] },
				     ba[] = { labels[j], labels[i] };

			assert_parts_matter(
				&(struct pod_class){ .selector = ab, .nselector = 2 },
				&(struct pod_class){ .selector = ba, .nselector = 2 },
				&(struct pod_class){ .selector = &labels[i], .nselector = 1 },
				&(struct pod_class){ .selector = &labels[j], .nselector = 1 });
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(tolerations); i++) {
		unit_row_number(i);
		for (size_t j = 0; j < i; j++) {
			struct toleration ab[] = { tolerations[i], tolerations[j] };
			struct toleration ba[] = { tolerations[j], tolerations[i] };

			assert_parts_matter(
				&(struct pod_class){ .tolerations = ab, .ntolerations = 2 },
				&(struct pod_class){ .tolerations = ba, .ntolerations = 2 },
				&(struct pod_class){ .tolerations = &tolerations[i],
						     .ntolerations = 1 },
				&(struct pod_class){ .tolerations = &tolerations[j],
						     .ntolerations = 1 });
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
		unit_row_number(i);
		for (size_t j = 0; j < i; j++) {
			struct host_port ab[] = { ports[i], ports[j] },
					 ba[] = { ports[j], ports[i] };

			assert_parts_matter(&(struct pod_class){ .ports = ab, .nports = 2 },
					    &(struct pod_class){ .ports = ba, .nports = 2 },
					    &(struct pod_class){ .ports = &ports[i], .nports = 1 },
					    &(struct pod_class){ .ports = &ports[j], .nports = 1 });
		}
	}
}

static void test_copy_is_deep(void **state)
{
	struct label sel[] = { { "a", "1" } };
	const char *values[] = { "1", "2" };
	struct match_expr e = { .key = "a", .values = values, .nvalues = 2 };
	struct match_term t = { &e, 1, 3 };
	struct pod_class k = {
		.refs = 9, .selector = sel, .nselector = 1, .preferred = &t, .npreferred = 1
	};
	struct pod_class *copy;
	char *before;

	(void)state;
	pod_class_normalise(&k);
	before = signature(&k);
	copy = pod_class_copy(&k, before);
	values[0] = "9";
	sel[0].key = "b";
	e.op = MATCH_EXISTS;
	assert_string_equal(copy->signature, before);
	free(before);
	before = signature(copy);
	assert_string_equal(copy->signature, before);
	assert_int_equal(copy->refs, 0);
	free(before);
	pod_class_destroy(copy);
	pod_class_destroy(NULL);
}

static void test_charge_of_a_class(void **state)
{
	struct pod_class k = { .request = { .v = { [RES_CPU] = 5 } } };
	struct pod_class other = k;

	(void)state;
	pod_class_normalise(&k);
	pod_class_normalise(&other);
	assert_int_equal(pod_class_charge(&k)->v[RES_CPU], 5);
	assert_int_equal(pod_class_charge_mask(&k), 1u << RES_CPU | 1u << RES_PODS);
	other.charged_to_workload = true;
	assert_true(res_is_zero(pod_class_charge(&other)));
	assert_int_equal(pod_class_charge_mask(&other), 0);
	assert_differ(&k, &other);
}

/* A text that was read from a dump becomes the one that is compared by its address. */
static void test_refusals_are_known_by_their_text(void **state)
{
	static const char *const known[] = {
		POD_CLASS_MANY_TERMS, POD_CLASS_CLAIMS,     POD_CLASS_RESOURCE_CLAIMS,
		POD_CLASS_TOO_LARGE,  POD_CLASS_UNREADABLE,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		const char *found = pod_class_refusal(str_of(known[i]));

		unit_row_number(i);
		assert_non_null(found);
		assert_string_equal(found, known[i]);
	}
	assert_null(pod_class_refusal(STR_LIT("because")));
	assert_null(pod_class_refusal(STR_LIT("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals_are_known_by_their_text),
		cmocka_unit_test(test_normalise_derives),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_every_part_matters),
		cmocka_unit_test(test_images_are_not_in_the_shape),
		cmocka_unit_test(test_every_field_of_a_part_matters),
		cmocka_unit_test(test_copy_is_deep),
		cmocka_unit_test(test_charge_of_a_class),
	};

	return cmocka_run_group_tests_name("pods/values/pod_class", tests, NULL, NULL);
}
