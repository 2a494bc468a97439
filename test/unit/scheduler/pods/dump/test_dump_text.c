#include "scheduler/pods/dump/dump_text.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "lib/unit.h"
#include "scheduler/base/match.h"
#include "scheduler/pods/model/cluster.h"

static void test_texts(void **state)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct cluster *c = cluster_create();
	const char *one = NULL, *same = NULL, *none = "";
	(void)state;

	assert_int_equal(jdoc_parse(STR_LIT("{\"t\":\"x\",\"null\":null,\"n\":1}"), &d, NULL), 0);
	assert_int_equal(dump_text_read(c, jdoc_get(d, "t"), &one, NULL), 0);
	assert_string_equal(one, "x");
	assert_int_equal(dump_text_read_needed(c, jdoc_get(d, "t"), &same, NULL), 0);
	assert_ptr_equal(same, one);
	assert_int_equal(dump_text_read(c, jdoc_get(d, "null"), &none, NULL), 0);
	assert_null(none);
	assert_int_equal(dump_text_read_needed(c, jdoc_get(d, "absent"), &none, NULL),
			 -ERR_INVALID);
	assert_int_equal(dump_text_read(c, jdoc_get(d, "n"), &none, NULL), -ERR_INVALID);
	cluster_destroy(c);
}

static void test_labels(void **state)
{
	static const char text[] = "{\"l\":[[\"a\",\"1\"],[\"b\",\"\"]]}";
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL, *bad = NULL;
	struct cluster *c = cluster_create();
	struct label *v = NULL;
	struct err err = ERR_INIT;
	struct json_out o;
	size_t n = 0;
	(void)state;

	assert_int_equal(jdoc_parse(STR_LIT(text), &d, NULL), 0);
	assert_int_equal(dump_text_read_labels(c, jdoc_get(d, "l"), &v, &n, NULL), 0);
	assert_int_equal(n, 2);
	json_out_init(&o, &out);
	json_out_object(&o);
	dump_text_write_labels(&o, "l", v, n);
	json_out_object_end(&o);
	json_out_end(&o);
	assert_string_equal(out.p, text);
	free(v);
	assert_int_equal(jdoc_parse(STR_LIT("[[\"a\",\"1\"],[\"b\"]]"), &bad, NULL), 0);
	assert_int_equal(dump_text_read_labels(c, bad, &v, &n, &err), -ERR_INVALID);
	assert_string_equal(err.text, "[1]: a text is missing");
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests_name("pods/dump/dump_text", tests, NULL, NULL);
}
