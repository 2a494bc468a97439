/* Structural schemas: documents in, causes out. */
#include "lib/unit.h"

#include "base/attrs.h"
#include "base/str.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "schema/schema.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;
	int r = yaml_parse(str_of(text), &d, NULL);

	assert_int_equal(r, 0);
	return d;
}

struct row {
	const char *schema, *doc, *field; /* of the first cause; NULL: valid */
};

static const struct row validations[] = {
	{ "{type: integer, minimum: 1, maximum: 3}", "1", NULL },
	{ "{type: integer, minimum: 1, maximum: 3}", "3", NULL },
	{ "{properties: {a: {type: integer, minimum: 1}}}", "{a: 0}", "a" },
	{ "{properties: {a: {type: integer, maximum: 3}}}", "{a: 4}", "a" },
	{ "{properties: {a: {type: integer}}}", "{a: 1.5}", "a" },
	{ "{properties: {a: {type: number}}}", "{a: 1}", NULL },
	{ "{properties: {a: {type: integer, format: int32}}}", "{a: 2147483647}", NULL },
	{ "{properties: {a: {type: integer, format: int32}}}", "{a: 2147483648}", "<nil>" },
	{ "{properties: {a: {type: string, format: date-time}}}", "{a: soon}", "a" },
	{ "{properties: {a: {type: string, maxLength: 2}}}", "{a: abc}", "a" },
	{ "{properties: {a: {type: string, minLength: 2}}}", "{a: ab}", NULL },
	{ "{properties: {a: {type: string, pattern: '^x+$'}}}", "{a: xy}", "a" },
	{ "{properties: {a: {type: string, enum: [x, y]}}}", "{a: z}", "a" },
	{ "{properties: {a: {type: string, nullable: true}}}", "{a: null}", NULL },
	{ "{properties: {a: {type: string}}}", "{a: null}", "a" },
	{ "{properties: {a: {type: object, required: [b]}}}", "{a: {}}", "a.b" },
	{ "{properties: {a: {items: {type: string}}}}", "{a: [x, 1]}", "a[1]" },
	{ "{properties: {a: {maxItems: 1}}}", "{a: [x]}", NULL },
	{ "{properties: {a: {type: array, maxItems: 1}}}", "{a: [x, y]}", "a" },
	{ "{additionalProperties: {type: string}}", "{x: 1}", "x" },
	{ "{properties: {a: {x-kubernetes-int-or-string: true}}}", "{a: 1.5}", "a" },
	{ "{properties: {a: {x-kubernetes-int-or-string: true}}}", "{a: '1'}", NULL },
	{ "{properties: {a: {x-kubernetes-int-or-string: true}}}", "{a: 9223372036854775807}",
	  NULL },
	{ "{properties: {a: {x-kubernetes-int-or-string: true}}}", "{a: 19223372036854775807}",
	  "a" },
	{ "{properties: {a: {type: integer}}}", "{a: 9223372036854775807}", NULL },
	{ "{properties: {a: {type: integer}}}", "{a: -9223372036854775809}", "a" },
	{ "{properties: {a: {type: array, x-kubernetes-list-type: set}}}", "{a: [x, x]}", "a[1]" },
	{ "{properties: {a: {type: array, x-kubernetes-list-type: map, "
	  "x-kubernetes-list-map-keys: [k]}}}",
	  "{a: [{k: 1}, {k: 2}, {k: 1}]}", "a[2]" },
	{ "{properties: {a: {not: {required: [x, y]}}}}", "{a: {x: 1, y: 1}}", "<nil>" },
	{ "{properties: {a: {not: {required: [x, y]}}}}", "{a: {x: 1}}", NULL },
	{ "{properties: {a: {anyOf: [{type: integer}, {type: string}]}}}", "{a: true}", "<nil>" },
	{ "{properties: {a: {oneOf: [{type: integer}, {minimum: 1}]}}}", "{a: 1}", "<nil>" },
	{ "{properties: {a: {anyOf: [{type: integer}, {type: string}]}}}", "{a: x}", NULL },
	{ "{properties: {a: {anyOf: [{type: integer}, {minimum: 1}]}}}", "{a: 1}", NULL },
	{ "{properties: {a: {oneOf: [{type: integer}, {type: string}]}}}", "{a: x}", NULL },
	{ "{properties: {a: {oneOf: [{type: integer}, {type: string}]}}}", "{a: true}", "<nil>" },
	{ "{properties: {a: {allOf: [{type: integer}, {minimum: 2}]}}}", "{a: 2}", NULL },
	{ "{properties: {a: {allOf: [{type: integer}, {minimum: 2}]}}}", "{a: 1}", "a" },
	{ "{properties: {a: {type: object, minProperties: 1}}}", "{a: {}}", "a" },
	{ "{properties: {a: {type: object, minProperties: 1}}}", "{a: {x: 1}}", NULL },
	{ "{properties: {a: {type: object, maxProperties: 1}}}", "{a: {x: 1, y: 1}}", "a" },
	{ "{properties: {a: {type: array, minItems: 2}}}", "{a: [x]}", "a" },
	{ "{properties: {a: {type: array, minItems: 2}}}", "{a: [x, x]}", NULL },
	{ "{properties: {a: {type: array, x-kubernetes-list-type: atomic}}}", "{a: [x, x]}", NULL },
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *schema = parse(rows[i].schema);
		CLEANUP(jdoc_destroyp) struct jdoc *doc = parse(rows[i].doc);
		CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
		CLEANUP(strmap_destroyp) struct strmap *patterns = schema_patterns_create();
		const char *field;

		schema_validate(schema, patterns, doc, causes);
		field = jdoc_path_str(jdoc_at(causes, 0), "field");
		if (!str_streq(field, rows[i].field)) {
			fail_msg("row %zu: %s: %s", i, rows[i].doc, field);
		}
	}
}

static void test_validation(void **state)
{
	(void)state;
	check_rows(validations, ARRAY_LEN(validations));
}

/* maxLength and minLength are numbers of characters, not of bytes. */
static void test_lengths(void **state)
{
	static const struct row rows[] = {
		{ "{properties: {a: {type: string, maxLength: 2}}}", "{a: \xc3\xa4\xe2\x82\xac}",
		  NULL },
		{ "{properties: {a: {type: string, maxLength: 2}}}", "{a: \xc3\xa4\xe2\x82\xacx}",
		  "a" },
		{ "{properties: {a: {type: string, minLength: 2}}}", "{a: \xe2\x82\xac}", "a" },
	};

	(void)state;
	check_rows(rows, ARRAY_LEN(rows));
}

/* Each is named once, however many are like it. */
static void test_duplicates_are_all_named(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *schema =
		parse("{properties: {a: {type: array, x-kubernetes-list-type: set}}}");
	CLEANUP(jdoc_destroyp) struct jdoc *doc = parse("{a: [x, y, x, x, y]}");
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
	CLEANUP(strmap_destroyp) struct strmap *patterns = schema_patterns_create();
	static const char *const fields[] = { "a[2]", "a[3]", "a[4]" };

	(void)state;
	schema_validate(schema, patterns, doc, causes);
	assert_int_equal(jdoc_count(causes), ARRAY_LEN(fields));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		unit_row_number(i);
		assert_string_equal(jdoc_path_str(jdoc_at(causes, i), "field"), fields[i]);
	}
}

static void test_pruning_and_defaults(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *schema = parse(
		"{properties: {spec: {properties: {a: {default: 1}, o: {properties: {d: {default: "
		"x}}}, l: {items: {properties: {z: {default: 2}}}}, m: {additionalProperties: {}}, "
		"k: {x-kubernetes-preserve-unknown-fields: true}}}}}");
	CLEANUP(jdoc_destroyp)
	struct jdoc *doc =
		parse("{kind: K, metadata: {name: n}, gone: 1, spec: {gone: 1, o: {gone: "
		      "1}, l: [{gone: 1}], m: {any: {thing: 1}}, k: {any: 1}}}");
	CLEANUP(jdoc_destroyp)
	struct jdoc *want = parse("{kind: K, metadata: {name: n}, spec: {a: 1, o: {d: x}, l: [{z: "
				  "2}], m: {any: {}}, k: {any: 1}}}");

	(void)state;
	schema_prune(schema, doc);
	schema_default(schema, doc);
	assert_true(jdoc_equal(doc, want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_validation),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_duplicates_are_all_named),
		cmocka_unit_test(test_pruning_and_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
