#include "kube/list_page.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"

static void note(void *ctx, struct str object, const struct cut_meta *meta)
{
	strbuf_printf(ctx, STR_FMT "/" STR_FMT "@" STR_FMT "=%zu;", STR_ARG(meta->namespace_),
		      STR_ARG(meta->name), STR_ARG(meta->resource_version), object.len);
}

static void test_pages(void **state)
{
	static const struct {
		const char *body, *log, *version, *next;
		size_t items;
	} rows[] = {
		{ "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\",\"continue\":"
		  "\"tok\",\"remainingItemCount\":3},\"items\":[{\"metadata\":{\"name\":\"a\","
		  "\"namespace\":\"n\",\"resourceVersion\":\"1\"}}, "
		  "{\"metadata\":{\"name\":\"b\"}} "
		  "]}",
		  "n/a@1=63;/b@=25;", "10", "tok", 2 },
		/* items before metadata */
		{ "{\"items\":[{\"metadata\":{\"name\":\"a\"}}],\"metadata\":{\"resourceVersion\":"
		  "\"5\"}}",
		  "/a@=25;", "5", "", 1 },
		{ "{\"metadata\":{},\"items\":[]}", "", "", "", 0 },
		/* a nil slice in Go */
		{ "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":null}", "", "5", "", 0 },
		/* items without a name are not reported */
		{ "{\"metadata\":{},\"items\":[1,{},{\"metadata\":{}},{\"metadata\":{\"name\":"
		  "\"z\"}}]}",
		  "/z@=25;", "", "", 4 },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf log = STRBUF_INIT;
		struct list_page page;

		unit_row(rows[i].body);
		assert_int_equal(list_page_cut(str_of(rows[i].body), note, &log, &page, NULL), 0);
		assert_string_equal(log.p, rows[i].log);
		assert_true(str_eq_c(page.resource_version, rows[i].version));
		assert_true(str_eq_c(page.continue_, rows[i].next));
		assert_int_equal(page.items, rows[i].items);
	}
}

static void test_broken(void **state)
{
	static const struct {
		const char *body, *error;
	} rows[] = {
		{ "", "list: not an object" },
		{ "[]", "list: not an object" },
		{ "{\"items\":[", "list: broken JSON" },
		{ "{\"metadata\":{},\"items\":[]} x", "list: broken JSON" },
		{ "{\"items\":[]}", "list: metadata: missing or broken" },
		{ "{\"metadata\":{\"a\" 1},\"items\":[]}", "list: metadata: missing or broken" },
		{ "{\"metadata\":{}}", "list: items: missing" },
		{ "{\"metadata\":{},\"items\":{}}", "list: items: not an array" },
		{ "{\"metadata\":{},\"items\":[{} {}]}", "list: items[1]: broken JSON" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf log = STRBUF_INIT;
		struct err err = ERR_INIT;
		struct list_page page = { .items = 77 };

		unit_row(rows[i].body);
		assert_int_equal(list_page_cut(str_of(rows[i].body), note, &log, &page, &err),
				 -ERR_INVALID);
		assert_string_equal(err.text, rows[i].error);
		assert_int_equal(page.items, 77);
	}
}

static void make_page(struct strbuf *b, size_t items)
{
	strbuf_reset(b);
	strbuf_add_c(b, "{\"metadata\":{},\"items\":[1");
	for (size_t i = 1; i < items; i++) {
		strbuf_add_c(b, ",1");
	}
	strbuf_add_c(b, "]}");
}

static void test_item_limit(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	struct list_page page;
	(void)state;

	make_page(&b, LIST_PAGE_MAX_ITEMS);
	assert_int_equal(list_page_cut(strbuf_str(&b), note, NULL, &page, NULL), 0);
	assert_int_equal(page.items, LIST_PAGE_MAX_ITEMS);
	make_page(&b, LIST_PAGE_MAX_ITEMS + 1);
	assert_int_equal(list_page_cut(strbuf_str(&b), note, NULL, &page, NULL), -ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_item_limit),
	};

	return cmocka_run_group_tests_name("list_page", tests, NULL, NULL);
}
