#include "scheduler/pods/dump/dump_class.h"

#include <stdlib.h>

#include "base/err.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"
#include "scheduler/pods/model/cluster.h"

static int load(struct cluster *c, const char *json, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(json), &d, err), 0);
	return dump_class_load(c, d, err);
}

static void test_loads_in_canonical_order(void **state)
{
	struct cluster *c = cluster_create();

	(void)state;
	assert_int_equal(load(c,
			      "{\"request\":{\"cpu\":5},\"selector\":[[\"b\",\"2\"],[\"a\",\"1\"]],"
			      "\"required\":[],\"ports\":[{\"ip\":\"1.2.3.4\",\"protocol\":2,"
			      "\"port\":65535}]}",
			      NULL),
			 0);
	assert_int_equal(c->class_by_id.n, 1);
	assert_int_equal(c->class_by_id.v[0]->request.v[RES_PODS], 1);
	assert_string_equal(c->class_by_id.v[0]->selector[0].key, "a");
	assert_true(c->class_by_id.v[0]->has_required);
	assert_int_equal(c->class_by_id.v[0]->ports[0].port, 65535);
	assert_int_equal(c->class_by_id.v[0]->refs, 0);
	cluster_destroy(c);
}

static void test_refuses(void **state)
{
	static const char *const rows[] = {
		"{\"selector\":[[\"a\"]]}",
		"{\"selector\":[[\"a\",1]]}",
		"{\"required\":[{\"weight\":0,\"exprs\":[{\"op\":1}]}]}",
		"{\"required\":[{\"weight\":0,\"exprs\":[{\"key\":\"a\",\"op\":6}]}]}",
		"{\"required\":[{\"exprs\":[]}]}",
		"{\"preferred\":[{\"weight\":0,\"exprs\":[{\"key\":5,\"op\":0}]}]}",
		"{\"tolerations\":[{\"key\":\"a\",\"value\":\"\",\"effect\":3}]}",
		"{\"tolerations\":[{\"key\":\"a\",\"effect\":0}]}",
		"{\"ports\":[{\"ip\":\"::\",\"protocol\":3,\"port\":1}]}",
		"{\"ports\":[{\"ip\":\"::\",\"protocol\":0,\"port\":65536}]}",
		"{\"request\":{\"cpu\":-1}}",
		"{\"unsupported\":\"whim\"}",
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(load(c, rows[i], &err), -ERR_INVALID);
		assert_string_not_equal(err.text, "");
		assert_int_equal(c->class_by_id.n, 0);
	}
	assert_int_equal(load(c, "{}", NULL), 0);
	assert_int_equal(load(c, "{}", NULL), -ERR_INVALID); /* twice */
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads_in_canonical_order),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("pods/dump/dump_class", tests, NULL, NULL);
}
