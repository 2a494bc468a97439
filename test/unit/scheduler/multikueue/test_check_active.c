/* The condition Active of an AdmissionCheck, in the cases that Kueue tests. */
#include "scheduler/multikueue/check_active.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "base/strbuf.h"

/* The state of each cluster by its letter: m, i, u. */
static const char *const some[] = { "m1", "u1", "i1" };
static const char *const usable[] = { "u2", "u1" };
static const char *const useless[] = { "i2", "m1", "i1" };

static bool find_config(void *ctx, const char *name, struct check_active_config *ret)
{
	(void)ctx;
	*ret = strcmp(name, "some") == 0      ? (struct check_active_config){ name, some, 3 }
	       : strcmp(name, "usable") == 0  ? (struct check_active_config){ name, usable, 2 }
	       : strcmp(name, "useless") == 0 ? (struct check_active_config){ name, useless, 3 }
					      : (struct check_active_config){ NULL, NULL, 0 };
	return ret->name != NULL || strcmp(name, "empty") == 0;
}

static enum check_active_cluster find_cluster(void *ctx, const char *name)
{
	(void)ctx;
	return name[0] == 'm'   ? CHECK_ACTIVE_MISSING
	       : name[0] == 'i' ? CHECK_ACTIVE_INACTIVE
				: CHECK_ACTIVE_USABLE;
}

#define GROUP "kueue.x-k8s.io"
#define KIND "MultiKueueConfig"

static void conditions(void **state)
{
	static const char bad[] =
		"spec.parameters does not name a MultiKueueConfig of kueue.x-k8s.io";
	static const struct {
		const char *name;
		struct api_check_parameters parameters;
		const char *status, *reason, *message;
	} rows[] = {
		{ "no parameters", { NULL, NULL, NULL }, "False", "BadConfig", bad },
		{ "another group", { "x", KIND, "some" }, "False", "BadConfig", bad },
		{ "another kind", { GROUP, "x", "some" }, "False", "BadConfig", bad },
		{ "no name", { GROUP, KIND, NULL }, "False", "BadConfig", bad },
		{ "no such configuration",
		  { GROUP, KIND, "x" },
		  "False",
		  "BadConfig",
		  "MultiKueueConfig x does not exist" },
		{ "all can be used",
		  { GROUP, KIND, "usable" },
		  "True",
		  "Active",
		  "The admission check is active" },
		{ "some can be used",
		  { GROUP, KIND, "some" },
		  "True",
		  "SomeActiveClusters",
		  "Missing clusters: [m1], Inactive clusters: [i1]" },
		{ "none can be used",
		  { GROUP, KIND, "useless" },
		  "False",
		  "NoUsableClusters",
		  "Missing clusters: [m1], Inactive clusters: [i2 i1]" },
		{ "no clusters", { GROUP, KIND, "empty" }, "False", "NoUsableClusters", "" },
	};
	const struct check_active_source source = { find_config, find_cluster, NULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf message = STRBUF_INIT;
		const char *reason;

		unit_row(rows[i].name);
		assert_string_equal(check_active(i == 0 ? NULL : &rows[i].parameters, &source,
						 &reason, &message),
				    rows[i].status);
		assert_string_equal(reason, rows[i].reason);
		assert_string_equal(message.len == 0 ? "" : message.p, rows[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(conditions) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
