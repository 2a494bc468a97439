#include "enc/config.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "enc/yaml.h"

enum color { RED, GREEN, BLUE };

struct item {
	const char *name;
	int32_t count;
};
struct part {
	int64_t delay_ns;
	enum color color;
};
struct conf {
	bool on, is_listed, is_default;
	int64_t wait_ns;
	struct part part;
	const char *sum;
	struct item *items;
	size_t nitems;
	const char **texts;
	size_t ntexts;
};

static int check_item(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	const struct item *i = at;

	(void)d;
	return i->count == 13 ? config_fail(r, "count", err, "must not be 13") : i->count == 7;
}

static int read_sum(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	(void)err;
	if (jdoc_count(d) == 0) {
		config_warn(r, NULL, "without effect");
	}
	*(const char **)at = arena_printf(r->arena, "%zu", jdoc_count(d));
	return 0;
}

static const struct config_choice colors[] = {
	{ "red", RED }, { "green", GREEN }, { "blue", BLUE }, { NULL, 0 }
};
static const struct config_row part_rows[] = {
	{ "delay", CONFIG_AT(struct part, DURATION, delay_ns), .def = 5 },
	{ "color", CONFIG_CHOICE_AT(struct part, colors, color), .def = GREEN },
	{ .type = CONFIG_END },
};
static const struct config_row item_rows[] = {
	{ "name", CONFIG_AT(struct item, TEXT, name), .required = true },
	{ "count", CONFIG_AT(struct item, COUNT, count), .def = -1, .max = 20 },
	{ .type = CONFIG_END },
};
static const struct config_row inner_rows[] = {
	{ "wait", CONFIG_AT(struct conf, SECONDS, wait_ns), .def = -1 },
	{ .type = CONFIG_END },
};
static const struct config_row rows[] = {
	{ "on", CONFIG_AT(struct conf, BOOL, on), .def = true },
	{ "inner", .type = CONFIG_OBJECT, .rows = inner_rows },
	{ CONFIG_OBJECT_AT(struct conf, part_rows, part) },
	{ "sum", CONFIG_CUSTOM_AT(struct conf, JDOC_OBJECT, read_sum, sum),
	  .absent = CONFIG_FLAG(struct conf, is_default) },
	{ "items", CONFIG_ITEMS_AT(struct conf, LIST, items, nitems), .max = 3, .rows = item_rows,
	  .read = check_item, .present = CONFIG_FLAG(struct conf, is_listed) },
	{ "texts", CONFIG_ITEMS_AT(struct conf, MAP, texts, ntexts), .read = config_read_text },
	{ "free", .type = CONFIG_IGNORED },
	{ .type = CONFIG_END },
};

struct fixture {
	struct config_reader reader;
	struct conf conf;
	struct strbuf warnings;
	struct err err;
};

static void warn(void *ctx, const char *text)
{
	strbuf_printf(ctx, "%s;", text);
}

static int warn_unknown(struct config_reader *r, const struct config_row *t, const char *key,
			struct err *err)
{
	(void)err;
	config_warn(r, NULL, "%s is not among %s", key, t->name);
	return 0;
}

static int refuse_unknown(struct config_reader *r, const struct config_row *t, const char *key,
			  struct err *err)
{
	(void)t;
	(void)key;
	return config_fail(r, NULL, err, "unknown");
}

static void begin(struct fixture *f, config_unknown_fn unknown)
{
	*f = (struct fixture){ .reader = { .arena = arena_create(0),
					   .warn = warn,
					   .unknown = unknown,
					   .path = STRBUF_INIT },
			       .warnings = STRBUF_INIT,
			       .err = ERR_INIT };
	f->reader.warn_ctx = &f->warnings;
}

static void finish(struct fixture *f)
{
	arena_destroy(f->reader.arena);
	config_finish(&f->reader);
	strbuf_finish(&f->warnings);
}

static int read_text(struct fixture *f, const char *text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(str_of(text), &d, NULL), 0);
	return config_read(&f->reader, rows, d, &f->conf, &f->err);
}

static void check_defaults(const struct conf *c)
{
	assert_true(c->on && c->is_default);
	assert_false(c->is_listed);
	assert_int_equal(c->wait_ns, -1);
	assert_int_equal(c->part.delay_ns, 5);
	assert_int_equal(c->part.color, GREEN);
	assert_null(c->items);
}

static void absent_fields_have_their_defaults(void **state)
{
	static const char *const texts[] = { "", "{}", "on: null\ninner: {}\nitems: null\n",
					     "inner: null\nsum: null\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct fixture f;

		unit_row(texts[i]);
		begin(&f, refuse_unknown);
		assert_int_equal(read_text(&f, texts[i]), 0);
		check_defaults(&f.conf);
		assert_int_equal(f.reader.path.len, 0);
		finish(&f);
	}
}

static void every_type_is_read(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, refuse_unknown);
	assert_int_equal(read_text(&f,
				   "on: false\ninner: {wait: 3}\ndelay: 1m\ncolor: blue\n"
				   "sum: {a: 1, b: 2}\nfree: {any: thing}\n"
				   "items: [{name: x, count: 20}, {name: z, count: 7}, {name: y}]\n"
				   "texts: {a: one, b: two}\n"),
			 0);
	assert_false(f.conf.on || f.conf.is_default);
	assert_true(f.conf.is_listed);
	assert_int_equal(f.conf.wait_ns, INT64_C(3000000000));
	assert_int_equal(f.conf.part.delay_ns, INT64_C(60000000000));
	assert_int_equal(f.conf.part.color, BLUE);
	assert_string_equal(f.conf.sum, "2");
	assert_int_equal(f.conf.nitems, 2);
	assert_int_equal(f.conf.items[0].count, 20);
	assert_int_equal(f.conf.items[1].count, -1);
	assert_string_equal(f.conf.items[1].name, "y");
	assert_int_equal(f.conf.ntexts, 2);
	assert_string_equal(f.conf.texts[1], "two");
	assert_string_equal(f.warnings.p, "");
	finish(&f);
}

static void errors_name_the_path(void **state)
{
	static const struct {
		const char *text, *error, *word;
	} cases[] = {
		{ "[]", "must be an object, not a list", "" },
		{ "on: 1", "on: must be a boolean, not a number", "on" },
		{ "inner: x", "inner: must be an object, not a string", "inner" },
		{ "inner: {wait: -1}", "inner.wait: must be a whole number from 0 to 2147483647",
		  "wait" },
		{ "inner: {wait: 2147483648}",
		  "inner.wait: must be a whole number from 0 to 2147483647", "wait" },
		{ "inner: {size: 1}", "inner.size: unknown", "size" },
		{ "delay: 3", "delay: not a duration like 5m", "delay" },
		{ "color: pink", "color: must be red, green or blue, not pink", "color" },
		{ "color: 3", "color: must be red, green or blue, not a number", "color" },
		{ "sum: 3", "sum: must be an object, not a number", "sum" },
		{ "items: {}", "items: must be a list, not an object", "items" },
		{ "items: [{name: a}, {}]", "items[1].name: missing", "items" },
		{ "items: [{name: a}, null]", "items[1]: must be an object, not null", "items" },
		{ "items: [{name: ''}]", "items[0].name: missing", "name" },
		{ "items: [{name: a, count: 21}]",
		  "items[0].count: must be a whole number from 0 to 20", "count" },
		{ "items: [{name: a, count: 13}]", "items[0].count: must not be 13", "items" },
		{ "items: [{name: a, size: 1}]", "items[0].size: unknown", "size" },
		{ "items: [{name: a}, {name: b}, {name: c}, {name: d}]", "items: more than 3 items",
		  "items" },
		{ "texts: {a: null}", "texts.a: must be a string, not null", "a" },
		{ "texts: {a: 1}", "texts.a: must be a string, not a number", "a" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;

		unit_row(cases[i].text);
		begin(&f, refuse_unknown);
		assert_int_equal(read_text(&f, cases[i].text), -ERR_INVALID);
		assert_string_equal(f.err.text, cases[i].error);
		assert_int_equal(f.reader.word.len, strlen(cases[i].word));
		finish(&f);
	}
}

static void warnings_name_the_path(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, warn_unknown);
	assert_int_equal(read_text(&f, "sum: {}\nitems: [{name: a, x: 1}]\ny: 1\n"), 0);
	assert_string_equal(f.warnings.p, "y: y is not among on;sum: without effect;"
					  "items[0].x: x is not among name;");
	f.reader.warn = NULL;
	assert_int_equal(read_text(&f, "sum: {}\n"), 0);
	f.reader.unknown = NULL;
	assert_int_equal(read_text(&f, "z: {}\n"), 0);
	finish(&f);
}

static void maps_have_a_limit(void **state)
{
	(void)state;
	for (size_t n = CONFIG_MAX_ITEMS; n <= CONFIG_MAX_ITEMS + 1; n++) {
		struct fixture f;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		begin(&f, NULL);
		strbuf_add_c(&text, "texts:\n");
		for (size_t i = 0; i < n; i++) {
			strbuf_printf(&text, "  k%zu: v\n", i);
		}
		assert_int_equal(read_text(&f, text.p), n > CONFIG_MAX_ITEMS ? -ERR_INVALID : 0);
		finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_fields_have_their_defaults),
		cmocka_unit_test(every_type_is_read),
		cmocka_unit_test(errors_name_the_path),
		cmocka_unit_test(warnings_name_the_path),
		cmocka_unit_test(maps_have_a_limit),
	};

	return cmocka_run_group_tests_name("enc/config", tests, NULL, NULL);
}
