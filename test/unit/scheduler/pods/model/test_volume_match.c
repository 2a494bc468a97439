#include "scheduler/pods/model/volume_match.h"

#include "base/attrs.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/volumes.h"

static struct cluster *c;

static int setup(void **state)
{
	(void)state;
	c = cluster_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_null(cluster_verify(c));
	cluster_destroy(c);
	return 0;
}

static const struct volume *set_volume(const char *name, struct volumes_volume_spec spec)
{
	spec.name = str_of(name);
	volumes_set_volume(c, &spec);
	return volumes_find_volume(c, str_of(name));
}

static struct claim *set_claim(struct volumes_claim_spec spec)
{
	spec.key = STR_LIT("ns/data");
	spec.klass = STR_LIT("local");
	(void)volumes_set_claim(c, &spec);
	return volumes_find_claim(c, spec.key);
}

/* The claim asks for each of these; each row is a volume that differs in one. */
static void test_what_suits(void **state)
{
	const struct label ssd = { cluster_fixture_name(c, "disk"),
				   cluster_fixture_name(c, "ssd") },
			   hdd = { cluster_fixture_name(c, "disk"),
				   cluster_fixture_name(c, "hdd") };
	const char *values[] = { ssd.value };
	struct match_expr e = { .key = ssd.key, .values = values, .nvalues = 1 };
	const struct match_term selector = { &e, 1, 0 };
	const struct {
		struct volumes_volume_spec volume;
		bool suits;
	} rows[] = {
		{ { .form = { 10, VOLUME_ONCE, true, cluster_fixture_name(c, "gold") },
		    .labels = &ssd,
		    .nlabels = 1 },
		  true },
		{ { .form = { 99, VOLUME_ONCE | VOLUME_MANY, true,
			      cluster_fixture_name(c, "gold") },
		    .labels = &ssd,
		    .nlabels = 1 },
		  true },
		{ { .form = { 9, VOLUME_ONCE, true, cluster_fixture_name(c, "gold") },
		    .labels = &ssd,
		    .nlabels = 1 },
		  false },
		{ { .form = { 10, VOLUME_MANY, true, cluster_fixture_name(c, "gold") },
		    .labels = &ssd,
		    .nlabels = 1 },
		  false },
		{ { .form = { 10, VOLUME_ONCE, false, cluster_fixture_name(c, "gold") },
		    .labels = &ssd,
		    .nlabels = 1 },
		  false },
		{ { .form = { 10, VOLUME_ONCE, true, NULL }, .labels = &ssd, .nlabels = 1 },
		  false },
		{ { .form = { 10, VOLUME_ONCE, true, cluster_fixture_name(c, "gold") },
		    .labels = &hdd,
		    .nlabels = 1 },
		  false },
		{ { .form = { 10, VOLUME_ONCE, true, cluster_fixture_name(c, "gold") } }, false },
		{ { .form = { 10, VOLUME_ONCE, true, cluster_fixture_name(c, "gold") },
		    .labels = &ssd,
		    .nlabels = 1,
		    .deleting = true },
		  false },
	};
	const struct claim *cl = set_claim((struct volumes_claim_spec){
		.form = { 10, VOLUME_ONCE, true, cluster_fixture_name(c, "gold") },
		.selector = &selector });

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_int_equal(volume_match_suits(cl, set_volume("v", rows[i].volume)),
				 rows[i].suits);
	}
}

static void test_which_are_unclaimed(void **state)
{
	static const struct {
		struct volumes_volume_spec volume;
		bool unclaimed;
	} rows[] = {
		{ { .klass = STR_LIT("local"), .available = true }, true },
		{ { .klass = STR_LIT("local") }, false },
		{ { .available = true }, false },
		{ { .klass = STR_LIT("local"), .available = true, .deleting = true }, false },
		{ { .klass = STR_LIT("local"), .available = true, .ref = STR_LIT("ns/x") }, false },
	};
	const struct claim *cl = set_claim((struct volumes_claim_spec){ .uid = "u" });

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		(void)set_volume("v", rows[i].volume);
		assert_int_equal(cl->klass->unclaimed.n, rows[i].unclaimed);
		assert_null(cluster_verify(c));
	}
	(void)set_volume("v", rows[0].volume);
	assert_true(volumes_remove_volume(c, STR_LIT("v")));
	assert_int_equal(cl->klass->unclaimed.n, 0);
}

static void add(const char *name, const char *host, int64_t bytes)
{
	const char *values[] = { host == NULL ? NULL : cluster_fixture_name(c, host) };
	struct match_expr e = { .key = cluster_fixture_name(c, VOLUME_MATCH_HOST_LABEL),
				.values = values,
				.nvalues = 1 };
	struct match_term t = { &e, 1, 0 };

	(void)set_volume(name, (struct volumes_volume_spec){ .klass = STR_LIT("local"),
							     .form.bytes = bytes,
							     .available = true,
							     .restricted = host != NULL,
							     .affinity = &t,
							     .naffinity = host != NULL });
}

static void test_by_host_size_and_name(void **state)
{
	static const struct {
		const char *host;
		int64_t bytes;
		size_t at;
	} rows[] = {
		{ "", 0, 0 },  { "", 5, 0 },  { "", 6, 1 },   { "a", 0, 1 },
		{ "a", 3, 1 }, { "a", 4, 3 }, { "a", 10, 4 }, { "b", 0, 4 },
		{ "b", 1, 4 }, { "b", 2, 5 }, { "zz", 0, 5 },
	};
	static const char *const order[] = { "anywhere", "x", "y", "v", "w" };
	const struct claim *cl = set_claim((struct volumes_claim_spec){ .uid = "u" });

	(void)state;
	add("v", "a", 9);
	add("w", "b", 1);
	add("y", "a", 3);
	add("x", "a", 3);
	add("anywhere", NULL, 5);
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		assert_string_equal(cl->klass->unclaimed.v[i]->name, order[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_int_equal(volume_match_position(cl->klass, rows[i].host, rows[i].bytes),
				 rows[i].at);
	}
	/* It changes its place with its size. */
	add("x", "a", 10);
	assert_string_equal(cl->klass->unclaimed.v[3]->name, "x");
}

static void test_what_is_reserved(void **state)
{
	struct claim *cl = set_claim(
		(struct volumes_claim_spec){ .uid = "u", .form = { .bytes = 5, .access = 1 } });
	struct volumes_volume_spec spec = { .klass = STR_LIT("local"),
					    .form.bytes = 5,
					    .available = true };
	struct volume *mine;

	(void)state;
	mine = volumes_find_volume(c, str_of(set_volume("mine", spec)->name));
	assert_null(volume_match_reserved(c, cl));
	/* Neither its access modes nor its labels or its phase are asked for. */
	spec.ref = STR_LIT("ns/data");
	(void)set_volume("b", spec);
	assert_string_equal(volume_match_reserved(c, cl)->name, "b");
	(void)set_volume("a", spec);
	assert_string_equal(volume_match_reserved(c, cl)->name, "a");
	spec.ref_uid = "another";
	(void)set_volume("a", spec);
	assert_string_equal(volume_match_reserved(c, cl)->name, "b");
	spec.ref_uid = "u";
	(void)set_volume("a", spec);
	assert_string_equal(volume_match_reserved(c, cl)->name, "a");
	spec.form.bytes = 4;
	(void)set_volume("a", spec);
	assert_string_equal(volume_match_reserved(c, cl)->name, "b");
	volumes_take(cl, mine);
	assert_ptr_equal(volume_match_reserved(c, cl), mine);
	volumes_claimed(c, mine, false, 0);
	assert_string_equal(volume_match_reserved(c, cl)->name, "b");
	assert_true(volumes_remove_volume(c, STR_LIT("b")));
	assert_null(volume_match_reserved(c, cl));
	assert_true(volumes_remove_claim(c, STR_LIT("ns/data")));
	/* The volume a still names it. */
	assert_non_null(volumes_find_claim(c, STR_LIT("ns/data")));
	assert_true(volumes_remove_volume(c, STR_LIT("a")));
	assert_null(volumes_find_claim(c, STR_LIT("ns/data")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_suits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_which_are_unclaimed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_by_host_size_and_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_reserved, setup, teardown),
	};

	return cmocka_run_group_tests_name("pods/model/volume_match", tests, NULL, NULL);
}
