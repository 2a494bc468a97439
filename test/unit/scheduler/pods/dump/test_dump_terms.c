#include "scheduler/pods/dump/dump_terms.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "lib/unit.h"
#include "scheduler/base/match.h"
#include "scheduler/pods/model/cluster.h"

static void test_round_trip(void **state)
{
	static const char text[] =
		"{\"t\":[{\"weight\":5,\"exprs\":[{\"key\":\"zone\",\"op\":1,\"values\":[\"a\","
		"\"b\"]},{\"key\":\"metadata.name\",\"op\":2,\"onField\":true,\"values\":[]}]},"
		"{\"weight\":0,\"exprs\":[]}]}";
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct cluster *c = cluster_create();
	struct match_term *v = NULL;
	struct json_out o;
	size_t n = 0;

	(void)state;
	assert_int_equal(jdoc_parse(STR_LIT(text), &d, NULL), 0);
	assert_int_equal(dump_terms_read(c, jdoc_get(d, "t"), &v, &n, NULL), 0);
	assert_int_equal(n, 2);
	json_out_init(&o, &out);
	json_out_object(&o);
	dump_terms_write(&o, "t", v, n);
	json_out_object_end(&o);
	json_out_end(&o);
	assert_string_equal(out.p, text);
	match_terms_free(v, n);
	cluster_destroy(c);
}

static void test_the_part_that_was_read_can_be_freed(void **state)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct cluster *c = cluster_create();
	struct match_term *v = NULL;
	struct err err = ERR_INIT;
	size_t n = 0;

	(void)state;
	assert_int_equal(
		jdoc_parse(STR_LIT("[{\"weight\":1,\"exprs\":[{\"key\":\"k\",\"op\":9}]}]"), &d,
			   NULL),
		0);
	assert_int_equal(dump_terms_read(c, d, &v, &n, &err), -ERR_INVALID);
	assert_int_equal(n, 1);
	match_terms_free(v, n);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_the_part_that_was_read_can_be_freed),
	};

	return cmocka_run_group_tests_name("dump/dump_terms", tests, NULL, NULL);
}
