#include <inttypes.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/model/cluster.h"

static void test_refuses_what_does_not_fit(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ "", "dump" },
		{ "[]", "version" },
		{ "{\"version\":2}", "version" },
		{ "{\"version\":1}", "root" },
		{ "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\",\"weight\":\"x\"}]}",
		  "queues[0]: weight: not a whole number" },
		{ "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\",\"state\":9}]}",
		  "queues[0]: state: out of range" },
		{ "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\"},{\"name\":\"root\"}]}",
		  "queues[1]: name" },
		{ "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\","
		  "\"charged\":{\"cpu\":-1}}]}",
		  "charged.cpu: out of range" },
		{ "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\","
		  "\"charged\":{\"gold\":1}}]}",
		  "charged.gold: unknown resource" },
		{ "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\",\"jobs\":[0]}]}",
		  "no such id" },
		{ "{\"version\":1,\"resources\":[\"memory\"]}", "resources[0]: not in its place" },
		{ "{\"version\":1,\"names\":[\"a\",\"a\"]}", "names[1]" },
		{ "{\"version\":1,\"priorityClasses\":[{\"value\":1}]}",
		  "priorityClasses: without name or value" },
		{ "{\"version\":1,\"priorityClasses\":[{\"name\":\"a\",\"value\":2147483648}]}",
		  "priorityClasses: without name or value" },
		{ "{\"version\":1,\"classes\":[{\"unsupported\":\"because\"}]}",
		  "classes[0]: unsupported" },
		{ "{\"version\":1,\"classes\":[{},{}]}", "classes[1]: a class is there twice" },
		{ "{\"version\":1,\"tasks\":[{\"ns\":\"a\",\"name\":\"b\",\"class\":0}]}",
		  "tasks[0]: class: no such id" },
		{ "{\"version\":1,\"tasks\":[{\"ns\":\"a\",\"name\":\"b\",\"role\":3}]}",
		  "tasks[0]: role" },
		{ "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\"}],"
		  "\"tasks\":[{\"ns\":\"a\",\"name\":\"b\",\"status\":3}]}",
		  "does not add up: a bound task has no node" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cluster *c = NULL;
		struct err err = ERR_INIT;

		assert_int_equal(dump_load(str_of(rows[i].json), &c, &err), -ERR_INVALID);
		assert_null(c);
		if (strstr(err.text, rows[i].text) == NULL) {
			fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.text, rows[i].text);
		}
	}
}

static int load_many(unsigned rows)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct cluster *c = NULL;
	struct err err = ERR_INIT;
	int r;

	strbuf_add_c(&text,
		     "{\"version\":1,\"root\":0,\"queues\":[{\"name\":\"root\"}],\"jobs\":[");
	for (unsigned i = 0; i < rows; i++) {
		strbuf_add_c(&text, i == 0 ? "null" : ",null");
	}
	strbuf_add_c(&text, "]}");
	r = dump_load(strbuf_str(&text), &c, &err);
	cluster_destroy(c);
	return r;
}

static void test_rows_at_limit_and_beyond(void **state)
{
	(void)state;
	assert_int_equal(load_many(DUMP_MAX_OBJECTS), 0);
	assert_int_equal(load_many(DUMP_MAX_OBJECTS + 1), -ERR_INVALID);
}

static int load_rivals(unsigned n, int64_t id)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct cluster *c = NULL;
	struct err err = ERR_INIT;
	int r;

	strbuf_add_c(&text, "{\"version\":1,\"names\":[\"ns\"],\"root\":0,\"queues\":[{\"name\":"
			    "\"root\"}],\"jobs\":[{\"ns\":\"ns\",\"name\":\"g\",\"rivals\":[");
	for (unsigned i = 0; i < n; i++) {
		strbuf_printf(&text, "%s[%" PRId64 ",%u,7]", i > 0 ? "," : "", id, i);
	}
	strbuf_add_c(&text, "]}]}");
	r = dump_load(strbuf_str(&text), &c, &err);
	if (r < 0) {
		assert_non_null(strstr(err.text, "jobs[0]: rivals"));
	} else {
		assert_int_equal(c->podgroups.v[0]->rivals.n, n);
	}
	cluster_destroy(c);
	return r;
}

/* A rival may be gone. */
static void test_rivals_at_limit_and_beyond(void **state)
{
	(void)state;
	assert_int_equal(load_rivals(PODGROUP_RIVALS_MAX, UINT32_MAX), 0);
	assert_int_equal(load_rivals(PODGROUP_RIVALS_MAX + 1, 0), -ERR_INVALID);
	assert_int_equal(load_rivals(1, INT64_C(1) << 32), -ERR_INVALID);
	assert_int_equal(load_rivals(1, -1), -ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_what_does_not_fit),
		cmocka_unit_test(test_rows_at_limit_and_beyond),
		cmocka_unit_test(test_rivals_at_limit_and_beyond),
	};

	return cmocka_run_group_tests_name("pods/dump/dump_load", tests, NULL, NULL);
}
