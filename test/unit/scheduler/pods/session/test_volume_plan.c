#include "scheduler/pods/session/volume_plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volume_match.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/plugins/registry.h"

static struct hooks_fixture f;
static struct node *node;
static struct volume_plan plan;

static int setup(void **state)
{
	(void)state;
	hooks_fixture_init(&f, "- plugins:\n  - name: predicates\n", plugin_registry,
			   plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 1000);
	volumes_set_class(f.cluster,
			  &(struct volumes_class_spec){ .name = STR_LIT("local"), .waits = true });
	volumes_set_class(f.cluster, &(struct volumes_class_spec){
					     .name = STR_LIT("made"),
					     .waits = true,
					     .provisioner = cluster_fixture_name(f.cluster, "d") });
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static void add_claim(const char *key, const char *klass, int64_t bytes)
{
	(void)volumes_set_claim(f.cluster, &(struct volumes_claim_spec){ .key = str_of(key),
									 .klass = str_of(klass),
									 .uid = key,
									 .form.bytes = bytes });
}

/* host NULL: every node reaches it. */
static void add_volume(const char *name, const char *host, bool by_name, int64_t bytes)
{
	const char *values[] = { host == NULL ? NULL : cluster_fixture_name(f.cluster, host) };
	struct match_expr e = { .key = cluster_fixture_name(f.cluster,
							    by_name ? "metadata.name"
								    : VOLUME_MATCH_HOST_LABEL),
				.values = values,
				.nvalues = 1,
				.on_field = by_name };
	struct match_term t = { &e, 1, 0 };

	volumes_set_volume(f.cluster, &(struct volumes_volume_spec){ .name = str_of(name),
								     .klass = STR_LIT("local"),
								     .form.bytes = bytes,
								     .available = true,
								     .restricted = host != NULL,
								     .affinity = &t,
								     .naffinity = host != NULL });
}

static const struct pod_class *class_of(const char *const *claims, size_t n)
{
	struct pod_claim *of = xmalloc_zero(n, sizeof(*of));
	struct pod_class k = { .claims = of,
			       .nclaims = n,
			       .claims_in = cluster_fixture_name(f.cluster, "ns") };
	const struct pod_class *interned;

	for (size_t i = 0; i < n; i++) {
		of[i].name = cluster_fixture_name(f.cluster, claims[i]);
	}
	interned = cluster_class_intern(f.cluster, &k);
	free(of);
	return interned;
}

/* "name - ..." by claim; NULL: there is none. */
static const char *plan_for(const struct pod_class *k)
{
	static char text[200];
	size_t len = 0;

	hooks_fixture_open(&f);
	if (!volume_plan_make(f.s, k, node, &plan)) {
		return NULL;
	}
	for (size_t i = 0; i < k->nclaims; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i == 0 ? "" : " ",
					plan.take[i] == NULL ? "-" : plan.take[i]->name);
	}
	return text;
}

static void label_host(const char *host)
{
	struct label l = { cluster_fixture_name(f.cluster, VOLUME_MATCH_HOST_LABEL),
			   cluster_fixture_name(f.cluster, host) };

	vec_push(&node->labels, l);
}

static void test_the_smallest_that_does(void **state)
{
	static const char *const names[] = { "a" };
	const struct pod_class *k = class_of(names, 1);

	(void)state;
	add_claim("ns/a", "local", 5);
	assert_null(plan_for(k));
	add_volume("small", NULL, false, 4);
	add_volume("far", "other", false, 5);
	assert_null(plan_for(k));
	add_volume("by-name", "n", true, 9);
	assert_string_equal(plan_for(k), "by-name");
	/* Its label is not its name. */
	label_host("host");
	add_volume("by-label", "host", false, 8);
	assert_string_equal(plan_for(k), "by-label");
	add_volume("anywhere", NULL, false, 7);
	assert_string_equal(plan_for(k), "anywhere");
	add_volume("also-anywhere", NULL, false, 7);
	assert_string_equal(plan_for(k), "also-anywhere");
	volumes_take(volumes_find_claim(f.cluster, STR_LIT("ns/a")),
		     volumes_find_volume(f.cluster, STR_LIT("by-name")));
	assert_string_equal(plan_for(k), "-");
	add_claim("ns/b", "local", 9);
	assert_null(plan_for(class_of((const char *const[]){ "b" }, 1)));
	cluster_class_unref(f.cluster, k);
}

/* The smallest claim chooses first, so that the larger one finds what is left. */
static void test_claims_of_one_pod(void **state)
{
	static const char *const names[] = { "large", "small", "small" };
	const struct pod_class *k = class_of(names, 3);

	(void)state;
	add_claim("ns/small", "local", 1);
	add_claim("ns/large", "local", 5);
	add_volume("v5", NULL, false, 5);
	assert_null(plan_for(k));
	add_volume("v6", NULL, false, 6);
	assert_string_equal(plan_for(k), "v6 v5 -");
	cluster_class_unref(f.cluster, k);
}

static void test_made_only_where_none_is_there(void **state)
{
	static const char *const names[] = { "a" };
	const struct pod_class *k = class_of(names, 1);
	struct volumes_claim_spec spec = { .key = STR_LIT("ns/a"), .klass = STR_LIT("made") };

	(void)state;
	add_claim("ns/a", "made", 1);
	assert_string_equal(plan_for(k), "-");
	volumes_set_volume(f.cluster, &(struct volumes_volume_spec){ .name = STR_LIT("v"),
								     .klass = STR_LIT("made"),
								     .form.bytes = 1,
								     .available = true });
	assert_string_equal(plan_for(k), "v");
	/* Its provisioner may be at work. */
	spec.selected = "n";
	(void)volumes_set_claim(f.cluster, &spec);
	assert_string_equal(plan_for(k), "-");
	spec.selected = "other";
	(void)volumes_set_claim(f.cluster, &spec);
	assert_null(plan_for(k));
	/* Without a provisioner the node says nothing. */
	spec.klass = STR_LIT("local");
	(void)volumes_set_claim(f.cluster, &spec);
	assert_null(plan_for(k));
	add_volume("w", NULL, false, 0);
	assert_string_equal(plan_for(k), "w");
	cluster_class_unref(f.cluster, k);
}

/* Storage is named as the reason where it is the only one. */
static void test_made_where_storage_is_free(void **state)
{
	static const char *const names[] = { "a", "b" };
	const struct pod_class *k = class_of(names, 2);
	struct match_term all = { .nexprs = 0 };
	struct storage_capacity_spec room = {
		.key = STR_LIT("ns/p"), .klass = STR_LIT("made"), .nodes = &all, .bytes = 5
	};

	(void)state;
	(void)storage_capacity_set_driver(f.cluster, STR_LIT("d"), true);
	(void)storage_capacity_set(f.cluster, &room);
	add_claim("ns/a", "made", 5);
	add_claim("ns/b", "made", 6);
	assert_null(plan_for(k));
	assert_true(plan.lacks_storage);
	room.bytes = 6;
	(void)storage_capacity_set(f.cluster, &room);
	assert_string_equal(plan_for(k), "- -");
	assert_false(plan.lacks_storage);
	/* A volume that is there needs none; and where there is no volume, storage is not the
	 * reason. */
	add_claim("ns/a", "local", 9);
	add_volume("w", NULL, false, 9);
	assert_string_equal(plan_for(k), "w -");
	add_claim("ns/a", "local", 10);
	add_claim("ns/b", "made", 7);
	assert_null(plan_for(k));
	assert_false(plan.lacks_storage);
	cluster_class_unref(f.cluster, k);
}

static void test_a_claim_ref_that_is_there(void **state)
{
	static const char *const names[] = { "a" };
	const struct pod_class *k = class_of(names, 1);
	const char *values[] = { cluster_fixture_name(f.cluster, "n") };
	struct match_expr e = { .key = cluster_fixture_name(f.cluster, "metadata.name"),
				.values = values,
				.nvalues = 1,
				.on_field = true };
	struct match_term t = { &e, 1, 0 };
	struct volumes_volume_spec spec = { .name = STR_LIT("ref"),
					    .restricted = true,
					    .affinity = &t,
					    .naffinity = 1,
					    .form.bytes = 9,
					    .ref = STR_LIT("ns/a") };

	(void)state;
	add_claim("ns/a", "local", 5);
	add_volume("free", NULL, false, 5);
	volumes_set_volume(f.cluster, &spec);
	assert_string_equal(plan_for(k), "-");
	values[0] = cluster_fixture_name(f.cluster, "other");
	volumes_set_volume(f.cluster, &spec);
	assert_null(plan_for(k));
	cluster_class_unref(f.cluster, k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_smallest_that_does, setup, teardown),
		cmocka_unit_test_setup_teardown(test_claims_of_one_pod, setup, teardown),
		cmocka_unit_test_setup_teardown(test_made_where_storage_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(test_made_only_where_none_is_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_claim_ref_that_is_there, setup, teardown),
	};

	return cmocka_run_group_tests_name("pods/session/volume_plan", tests, NULL, NULL);
}
