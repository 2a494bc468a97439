#include "scheduler/pods/dump/dump_pod_terms.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/selectors.h"

static int read_text(struct cluster *c, const char *text, struct pod_class *k, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	for (const char *p = text; *p != '\0'; p++) {
		strbuf_add_ch(&json, *p == '\'' ? '"' : *p);
	}
	assert_int_equal(jdoc_parse(strbuf_str(&json), &d, NULL), 0);
	*k = (struct pod_class){ .refs = 0 };
	return dump_pod_terms_read(c, d, k, err);
}

static void test_refuses(void **state)
{
	static const char *const rows[] = {
		"[{}]",
		"[{'topologyKey':'z','kind':99}]",
		"[{'topologyKey':'z','namespaces':[7]}]",
		"[{'topologyKey':'z','pods':[{'weight':0},{'weight':0}]}]",
		"[{'topologyKey':'z','namespacesBy':[{}]}]",
		"[{'topologyKey':'z','kind':1},{'topologyKey':'z'}]",
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct pod_class k;

		unit_row_number(i);
		assert_int_equal(read_text(c, rows[i], &k, &err), -ERR_INVALID);
		assert_string_not_equal(err.text, "");
		pod_term_free(k.terms, k.nterms);
	}
	cluster_destroy(c);
}

static void test_limit(void **state)
{
	for (int n = POD_CLASS_TERMS_MAX; n <= POD_CLASS_TERMS_MAX + 1; n++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct cluster *c = cluster_create();
		struct pod_class k;

		(void)state;
		for (int i = 0; i < n; i++) {
			strbuf_printf(&text, "%s{'topologyKey':'z'}", i == 0 ? "[" : ",");
		}
		strbuf_add_ch(&text, ']');
		assert_int_equal(read_text(c, text.p, &k, NULL),
				 n > POD_CLASS_TERMS_MAX ? -ERR_INVALID : 0);
		pod_term_free(k.terms, k.nterms);
		cluster_destroy(c);
	}
}

static void write_namespaces(const struct cluster *c, struct strbuf *text)
{
	struct json_out o;

	json_out_init(&o, text);
	json_out_object(&o);
	dump_pod_terms_write_namespaces(&o, c);
	json_out_object_end(&o);
	json_out_end(&o);
}

/* Labels of namespaces are there where a term selects by them. */
static void test_namespaces(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf none = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL, *bad = NULL;
	struct cluster *c = cluster_create(), *loaded = cluster_create();
	struct err err = ERR_INIT;

	(void)state;
	term_fixture_namespace(c, "ns", "team=red");
	write_namespaces(c, &none);
	assert_string_equal(none.p, "{}");
	(void)term_fixture_task(c, "t", NULL, "", "away zone * of=team=red");
	write_namespaces(c, &text);
	assert_int_equal(jdoc_parse(strbuf_str(&text), &d, NULL), 0);
	assert_int_equal(dump_pod_terms_read_namespaces(loaded, jdoc_get(d, "namespaces"), NULL),
			 0);
	assert_string_equal(access_namespace_label(loaded, "ns", "team"), "red");
	assert_int_equal(jdoc_parse(STR_LIT("[{\"labels\":[]}]"), &bad, NULL), 0);
	assert_int_equal(dump_pod_terms_read_namespaces(loaded, bad, &err), -ERR_INVALID);
	cluster_destroy(c);
	cluster_destroy(loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_namespaces),
	};

	return cmocka_run_group_tests_name("pods/dump/dump_pod_terms", tests, NULL, NULL);
}
