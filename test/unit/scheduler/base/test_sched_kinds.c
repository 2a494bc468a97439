#include "scheduler/base/sched_kinds.h"

#include "lib/unit.h"

#include "api/kinds.h"
#include "api/kueue/custom_job.h"
#include "base/attrs.h"
#include "base/strbuf.h"

/* Every kind has its names, and no two share one. */
static void all_are_named(void **state)
{
	(void)state;
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		const struct kinds_row *k = sched_kinds_names((enum sched_resource)r);

		assert_non_null(k);
		assert_ptr_equal(k->fields, sched_kinds_get((enum sched_resource)r)->fields);
		for (int other = 0; other < r; other++) {
			assert_ptr_not_equal(k, sched_kinds_names((enum sched_resource)other));
			assert_string_not_equal(sched_kinds_label((enum sched_resource)r),
						sched_kinds_label((enum sched_resource)other));
		}
	}
}

/* One that only a configuration names is decoded by what all of them have. */
static void custom_kinds_are_none_of_these(void **state)
{
	(void)state;
	assert_ptr_equal(sched_kinds_get(SCHED_CUSTOM)->fields, &custom_job_fields);
	assert_string_equal(sched_kinds_label(SCHED_CUSTOM), "custom");
	assert_true(SCHED_CUSTOM > SCHED_RESOURCE_COUNT_);
}

/* Those of the pods wing come first, those that neither wing watches last. */
static void the_first_ones_are_watched(void **state)
{
	unsigned basic = sched_kinds_watched(false), all = sched_kinds_watched(true);

	(void)state;
	assert_int_equal(basic, SCHED_FLAVORS);
	assert_int_equal(all, SCHED_MULTIKUEUE_CONFIGS);
	for (unsigned r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		const struct sched_kind *k = sched_kinds_get((enum sched_resource)r);

		assert_int_equal((k->wings & SCHED_WING_PODS) != 0,
				 r < basic || r == SCHED_BUDGETS);
		assert_int_equal(k->unwatched || k->wings == SCHED_WING_FLEET, r >= all);
	}
}

/* Those that only help to place pods better. */
static void some_are_done_without(void **state)
{
	(void)state;
	for (unsigned r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		bool without = r == SCHED_CSI_DRIVERS || r == SCHED_STORAGE_CAPACITIES;

		assert_int_equal(sched_kinds_may_be_forbidden((enum sched_resource)r), without);
		assert_true(!without || sched_kinds_may_be_missing((enum sched_resource)r));
	}
}

static void names_in_order(enum sched_wing wing, struct strbuf *out)
{
	enum sched_resource r = SCHED_RESOURCE_COUNT_;

	while (sched_kinds_next(wing, &r)) {
		strbuf_printf(out, "%s ", sched_kinds_names(r)->plural);
	}
}

static void referenced_kinds_are_read_first(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf pods = STRBUF_INIT, workloads = STRBUF_INIT;
	enum sched_resource none = SCHED_RESOURCE_COUNT_;

	(void)state;
	names_in_order(SCHED_WING_PODS, &pods);
	assert_string_equal(pods.p,
			    "priorityclasses namespaces queues podgroups podgroups nodes csinodes "
			    "csidrivers storageclasses csistoragecapacities persistentvolumes "
			    "persistentvolumeclaims pods "
			    "poddisruptionbudgets ");
	names_in_order(SCHED_WING_WORKLOADS, &workloads);
	assert_string_equal(workloads.p,
			    "namespaces limitranges runtimeclasses topologies resourceflavors "
			    "admissionchecks cohorts clusterqueues localqueues "
			    "workloadpriorityclasses workloads ");
	assert_false(sched_kinds_next(SCHED_WING_FLEET, &none));
}

static void paths_of_lists_and_objects(void **state)
{
	static const struct {
		enum sched_resource resource;
		const char *key, *sub, *path;
	} rows[] = {
		{ SCHED_PODS, NULL, NULL, "/api/v1/pods" },
		{ SCHED_PODGROUPS, NULL, NULL, "/apis/scheduling.volcano.sh/v1beta1/podgroups" },
		{ SCHED_KUBE_PODGROUPS, NULL, NULL, "/apis/scheduling.k8s.io/v1beta1/podgroups" },
		{ SCHED_RUNTIME_CLASSES, NULL, NULL, "/apis/node.k8s.io/v1/runtimeclasses" },
		{ SCHED_WORKLOADS, "team/w", "status",
		  "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/w/status" },
		{ SCHED_COHORTS, "all", NULL, "/apis/kueue.x-k8s.io/v1beta2/cohorts/all" },
		{ SCHED_MULTIKUEUE_CONFIGS, NULL, NULL,
		  "/apis/kueue.x-k8s.io/v1beta2/multikueueconfigs" },
		{ SCHED_MULTIKUEUE_CLUSTERS, "east", "status",
		  "/apis/kueue.x-k8s.io/v1beta2/multikueueclusters/east/status" },
		{ SCHED_SECRETS, "headgate/east", NULL,
		  "/api/v1/namespaces/headgate/secrets/east" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

		unit_row_number(i);
		if (rows[i].key == NULL) {
			sched_kinds_path(rows[i].resource, NULL, NULL, rows[i].sub, &path);
		} else {
			sched_kinds_key_path(rows[i].resource, str_of(rows[i].key), rows[i].sub,
					     &path);
		}
		assert_string_equal(path.p, rows[i].path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_named),
		cmocka_unit_test(custom_kinds_are_none_of_these),
		cmocka_unit_test(the_first_ones_are_watched),
		cmocka_unit_test(some_are_done_without),
		cmocka_unit_test(referenced_kinds_are_read_first),
		cmocka_unit_test(paths_of_lists_and_objects),
	};

	return cmocka_run_group_tests_name("base/sched_kinds", tests, NULL, NULL);
}
