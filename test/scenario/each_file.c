#include "scenario/each_file.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/str.h"
#include "collections/vec.h"
#include "lib/unit.h"

static int is_scenario(const struct dirent *e)
{
	return str_has_suffix(str_of(e->d_name), ".yaml");
}

int each_file_run(const char *group, const char *folder, void (*test)(void **state))
{
	struct VEC(struct CMUnitTest) tests = VEC_INIT;
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_scenario, alphasort), failed;

	for (int i = 0; i < n; i++) {
		struct CMUnitTest t = { .name = entries[i]->d_name,
					.test_func = test,
					.initial_state = entries[i]->d_name };

		vec_push(&tests, t);
	}
	failed = n <= 0 ? 1 : _cmocka_run_group_tests(group, tests.v, tests.n, NULL, NULL);
	for (int i = 0; i < n; i++) {
		free(entries[i]);
	}
	free(entries);
	vec_finish(&tests);
	return failed;
}
