#include "scheduler/ctl/sim/sim_files.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/folder.h"
#include "scheduler/ctl/sim/sim_input.h"

static struct folder folder;

static int begin(void **state)
{
	(void)state;
	folder_make(&folder);
	folder_write(&folder, "b.yaml", "{kind: Namespace, metadata: {name: x, uid: b}}\n");
	folder_write(&folder, "a.yml", "{kind: Namespace, metadata: {name: x, uid: a}}\n");
	folder_write(&folder, "c.json",
		     "{\"kind\": \"Namespace\", \"metadata\": {\"name\": \"y\"}}");
	folder_write(&folder, "notes.txt", "not: [a manifest\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static void test_a_folder_is_read_by_name(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	const char *paths[] = { folder.path };
	const struct sim_object *x;
	size_t n;

	(void)state;
	assert_int_equal(sim_files_read(paths, 1, in, NULL), 0);
	(void)sim_input_objects(in, &n);
	assert_int_equal(n, 2);
	x = sim_input_find(in, SCHED_NAMESPACES, "x");
	assert_non_null(x);
	assert_string_equal(jdoc_path_str(x->json, "metadata.uid"), "b"); /* the later one */
	assert_non_null(strstr(x->where, "/b.yaml: document 1"));
	assert_null(sim_input_find(in, SCHED_NAMESPACES, "z"));
}

/* As long as the dump of a large cluster. */
static void test_a_list_of_any_length(void **state)
{
	static const char ends[][80] = { "", "{\"kind\": \"Namespace\", \"metadata\": {}}",
					 "{\"a\": }" };
	CLEANUP(xmalloc_freep) char *blanks = xmalloc_zero(1, YAML_MAX_BYTES + 1);
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/list.json", folder.path);
	const char *paths[] = { path };

	(void)state;
	memset(blanks, ' ', YAML_MAX_BYTES);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf("{\"items\": [{\"kind\": \"Namespace\", \"metadata\": "
					    "{\"name\": \"far\"}}%s%s], %s\"kind\": \"List\"}",
					    i == 0 ? "" : ",", ends[i], blanks);
		struct err err = ERR_INIT;

		unit_row_number(i);
		folder_write(&folder, "list.json", text);
		assert_int_equal(sim_files_read(paths, 1, in, &err), i == 0 ? 0 : -ERR_INVALID);
		assert_non_null(sim_input_find(in, SCHED_NAMESPACES, "far"));
		if (i > 0) {
			assert_non_null(strstr(err.text, "list.json: item 2"));
		}
	}
	assert_int_equal(remove(path), 0);
}

static void test_errors_name_the_file(void **state)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	CLEANUP(xmalloc_freep) char *text = xmalloc_printf("%s/notes.txt", folder.path);
	CLEANUP(xmalloc_freep) char *missing = xmalloc_printf("%s/none.yaml", folder.path);
	const char *rows[] = { text, missing };
	struct folder empty;
	struct jdoc *d = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		unit_row_number(i);
		assert_true(sim_files_read(&rows[i], 1, in, &err) < 0);
		assert_non_null(strstr(err.text, rows[i]));
		assert_true(sim_files_read_document(rows[i], &d, &err) < 0);
		assert_null(d);
	}
	folder_make(&empty);
	rows[0] = empty.path;
	assert_int_equal(sim_files_read(rows, 1, in, NULL), -ERR_INVALID);
	folder_remove(&empty);
}

static void test_one_document(void **state)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/c.json", folder.path);
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	(void)state;
	assert_int_equal(sim_files_read_document(path, &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "metadata.name"), "y");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_folder_is_read_by_name),
		cmocka_unit_test(test_a_list_of_any_length),
		cmocka_unit_test(test_errors_name_the_file),
		cmocka_unit_test(test_one_document),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
