/* Strategic merge patches: old, patch, new. */
#include "lib/unit.h"

#include "apiserver/verbs/strategic.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;
	int r = yaml_parse(str_of(text), &d, NULL);

	assert_int_equal(r, 0);
	return d;
}

static void test_patches(void **state)
{
	static const struct {
		const char *old, *patch, *new; /* new NULL: refused */
	} rows[] = {
		{ "{a: 1, b: 2}", "{b: null, c: {d: 3, e: null}}", "{a: 1, c: {d: 3}}" },
		{ "{spec: {containers: [{name: a, image: x}, {name: b}]}}",
		  "{spec: {containers: [{name: a, image: y}, {name: c}]}}",
		  "{spec: {containers: [{name: a, image: y}, {name: c}, {name: b}]}}" },
		{ "{spec: {containers: [{name: a}, {name: b}]}}",
		  "{spec: {containers: [{name: a, $patch: delete}]}}",
		  "{spec: {containers: [{name: b}]}}" },
		{ "{spec: {containers: [{name: a}, {name: b}]}}",
		  "{spec: {containers: [{name: c}, {$patch: replace}]}}",
		  "{spec: {containers: [{name: c}]}}" },
		{ "{spec: {tolerations: [{key: a}, {key: b}]}}",
		  "{spec: {tolerations: [{key: c}]}}", "{spec: {tolerations: [{key: c}]}}" },
		{ "{status: {conditions: [{type: A, status: x}]}}",
		  "{status: {conditions: [{type: A, reason: r}, {type: B}]}}",
		  "{status: {conditions: [{type: A, status: x, reason: r}, {type: B}]}}" },
		{ "{spec: {schedulingGates: [{name: a}, {name: b}]}}",
		  "{spec: {schedulingGates: [{name: b, $patch: delete}]}}",
		  "{spec: {schedulingGates: [{name: a}]}}" },
		{ "{metadata: {finalizers: [a, b]}}",
		  "{metadata: {$deleteFromPrimitiveList/finalizers: [a], finalizers: [c]}}",
		  "{metadata: {finalizers: [c, b]}}" },
		{ "{spec: {containers: [{name: a}, {name: b}]}}",
		  "{spec: {$setElementOrder/containers: [{name: b}, {name: a}]}}",
		  "{spec: {containers: [{name: b}, {name: a}]}}" },
		{ "{spec: {strategy: {a: 1, b: 2}}}",
		  "{spec: {strategy: {$retainKeys: [a], a: 3}}}", "{spec: {strategy: {a: 3}}}" },
		{ "{a: {x: 1}}", "{a: {$patch: replace, y: 2}}", "{a: {y: 2}}" },
		{ "{a: {x: 1}}", "{a: {$patch: delete}}", "{}" },
		{ "{spec: {containers: [{name: a, ports: [{containerPort: 1}]}]}}",
		  "{spec: {containers: [{name: a, ports: [{containerPort: 2}]}]}}",
		  "{spec: {containers: [{name: a, ports: [{containerPort: 2}, {containerPort: "
		  "1}]}]}}" },
		{ "{spec: {}}", "{spec: {containers: [{image: x}]}}", NULL },
		{ "{spec: {containers: text}}", "{spec: {containers: [{name: x}]}}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *doc = parse(rows[i].old);
		CLEANUP(jdoc_destroyp) struct jdoc *patch = parse(rows[i].patch);
		CLEANUP(jdoc_destroyp)
		struct jdoc *want = rows[i].new == NULL ? NULL : parse(rows[i].new);
		int r = strategic_apply(&doc, patch, NULL);

		if ((r < 0) != (want == NULL) || (want != NULL && !jdoc_equal(doc, want))) {
			fail_msg("row %zu: %s", i, rows[i].patch);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_patches) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
