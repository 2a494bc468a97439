#include "api/kueue/custom_kinds.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

static void test_parse(void **state UNUSED)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct custom_kind k;

	assert_int_equal(
		custom_kinds_parse("AppWrapper.v1beta2.workload.codeflare.dev", arena, &k, NULL),
		0);
	assert_string_equal(k.name, "AppWrapper.v1beta2.workload.codeflare.dev");
	assert_string_equal(k.kind, "AppWrapper");
	assert_string_equal(k.version, "v1beta2");
	assert_string_equal(k.group, "workload.codeflare.dev");
	assert_string_equal(k.api_version, "workload.codeflare.dev/v1beta2");
}

static void test_refused(void **state UNUSED)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "", "\"\" is not Kind.version.group" },
		{ "Foo", "\"Foo\" is not Kind.version.group" },
		{ "Foo.v1", "\"Foo.v1\" is not Kind.version.group" },
		{ "Foo.v1.", "\"Foo.v1.\" is not Kind.version.group" },
		{ ".v1.example.com", "\".v1.example.com\" is not Kind.version.group" },
		{ "Foo..example.com", "\"Foo..example.com\" is not Kind.version.group" },
		{ "Fo/o.v1.example.com", "\"Fo/o\" is not a kind" },
		{ "Foo.V1.example.com", "\"V1\" is not a version" },
		{ "Foo.v1.example..com", "\"example..com\" is not an API group" },
		{ "Foo.v1.example.com/x", "\"example.com/x\" is not an API group" },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct custom_kind k;

		unit_row(rows[i].name);
		assert_int_equal(custom_kinds_parse(rows[i].name, arena, &k, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].want);
	}
}

/* n letters, in labels of at most `label` for a group. */
static void add_letters(struct strbuf *out, size_t n, size_t label)
{
	for (size_t i = 0; i < n; i++) {
		strbuf_add_ch(out, i % (label + 1) == label ? '.' : 'a');
	}
}

static int parse_lengths(size_t kind, size_t version, size_t group)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	struct custom_kind k;

	add_letters(&name, kind, kind);
	strbuf_add_ch(&name, '.');
	add_letters(&name, version, version);
	strbuf_add_ch(&name, '.');
	add_letters(&name, group, 62);
	return custom_kinds_parse(name.p, arena, &k, NULL);
}

static void test_limits(void **state UNUSED)
{
	assert_int_equal(parse_lengths(63, 63, 253), 0);
	assert_int_equal(parse_lengths(64, 63, 253), -ERR_INVALID);
	assert_int_equal(parse_lengths(63, 64, 253), -ERR_INVALID);
	assert_int_equal(parse_lengths(63, 63, 254), -ERR_INVALID);
}

static void test_keys(void **state UNUSED)
{
	static const struct custom_kind v[] = {
		{ .name = "Foo.v1.example.com", .version = "v1", .group = "example.com" },
		{ .name = "Foo.v1.example.org", .version = "v1", .group = "example.org" },
	};
	static const struct custom_kinds k = { v, ARRAY_LEN(v) };
	const struct str key = STR_LIT("Foo.v1.example.org/ns/a");

	assert_ptr_equal(custom_kinds_find(&k, STR_LIT("Foo.v1.example.com")), &v[0]);
	assert_null(custom_kinds_find(&k, STR_LIT("Foo.v1.example")));
	assert_ptr_equal(custom_kinds_of_key(&k, key), &v[1]);
	assert_null(custom_kinds_of_key(&k, STR_LIT("ns/a")));
	assert_true(str_eq_c(custom_kinds_object(key), "ns/a"));
}

static void test_problems(void **state UNUSED)
{
	static const struct {
		const char *resources, *want; /* NULL: none */
	} rows[] = {
		{ "", "is not served" },
		{ "{'name':'bars','kind':'Bar','namespaced':true}", "is not served" },
		{ "{'name':'fooz','kind':'Foo','namespaced':false}", "is not namespaced" },
		{ "{'name':'fooz','kind':'Foo','namespaced':true}", "has no subresource status" },
		{ "{'name':'fooz/status','kind':'Foo','namespaced':true},"
		  "{'name':'fooz','kind':'Foo','namespaced':true}",
		  NULL },
	};
	static const struct custom_kind k = { .kind = "Foo" };

	assert_string_equal(custom_kinds_problem(&k, NULL, NULL), "is not served");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
		const char *plural = "", *why;

		unit_row(rows[i].resources);
		strbuf_printf(&text, "{'resources':[%s]}", rows[i].resources);
		for (size_t c = 0; c < text.len; c++) {
			text.p[c] = text.p[c] == '\'' ? '"' : text.p[c];
		}
		assert_int_equal(jdoc_parse(strbuf_str(&text), &list, NULL), 0);
		why = custom_kinds_problem(&k, list, &plural);
		assert_string_equal(why == NULL ? "" : why,
				    rows[i].want == NULL ? "" : rows[i].want);
		assert_string_equal(plural, rows[i].want == NULL ? "fooz" : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),   cmocka_unit_test(test_keys),
		cmocka_unit_test(test_problems),
	};

	return cmocka_run_group_tests_name("custom_kinds", tests, NULL, NULL);
}
