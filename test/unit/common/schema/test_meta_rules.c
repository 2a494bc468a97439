/* Validation of metadata: documents in, causes out. */
#include "schema/meta_rules.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

#define TEN "abcdefghij"
#define FIFTY TEN TEN TEN TEN TEN
#define NAMED(more) "{metadata: {name: n" more "}}"
#define LABEL(key, value) NAMED(", labels: {" key ": \"" value "\"}")
#define ANNOTATION(key) NAMED(", annotations: {" key ": x}")
#define FINALIZERS(list) NAMED(", finalizers: [" list "]")
#define OWNERS(list) NAMED(", ownerReferences: [" list "]")
#define DELETED(list) NAMED(", deletionTimestamp: t, finalizers: [" list "]")
#define BAD(field, value) "metadata." field ": Invalid value: \"" value "\": "

enum { CUSTOM, BUILT_IN, NAMESPACE, ROLE };

static const struct meta_rules_kind kinds[] = {
	[CUSTOM] = { "kueue.x-k8s.io", "Workload", true },
	[BUILT_IN] = { "", "Pod", false },
	[NAMESPACE] = { "", "Namespace", false },
	[ROLE] = { "rbac.authorization.k8s.io", "Role", false },
};

static const struct {
	const char *doc;
	const char *first, *second; /* how the causes begin; NULL: there are no more */
	int kind;
	const char *old;
} rows[] = {
	{ .doc = NAMED("") },
	{ .doc = "{metadata: {}}", .first = "metadata.name: Required value" },
	{ .doc = "{metadata: {name: \"\"}}", .first = "metadata.name: Required value" },
	{ .doc = "{metadata: {}}", .old = NAMED("") },
	{ .doc = "{metadata: {name: a.b-c.0}}" },
	{ .doc = "{metadata: {name: A}}", .first = BAD("name", "A") "a lowercase RFC 1123 sub" },
	{ .doc = "{metadata: {name: a..b}}", .first = BAD("name", "a..b") },
	{ .doc = "{metadata: {name: -a}}", .first = BAD("name", "-a") },
	{ .doc = "{metadata: {name: a-}}", .first = BAD("name", "a-") },
	{ .doc = "{metadata: {name: a_b}}", .first = BAD("name", "a_b") },
	{ .doc = "{metadata: {name: \"A:b\"}}", .kind = ROLE },
	{ .doc = "{metadata: {name: a-0}}", .kind = NAMESPACE },
	{ .doc = "{metadata: {name: a.b}}",
	  .kind = NAMESPACE,
	  .first = BAD("name", "a.b") "must not contain dots" },
	{ .doc = "{metadata: {name: a_b}}",
	  .kind = NAMESPACE,
	  .first = BAD("name", "a_b") "a lowercase RFC 1123 label" },
	{ .doc = "{metadata: {name: " FIFTY TEN "abc}}", .kind = NAMESPACE },
	{ .doc = "{metadata: {name: " FIFTY TEN "abcd}}",
	  .kind = NAMESPACE,
	  .first = BAD("name", FIFTY TEN "abcd") "must be no more than 63 bytes" },
	{ .doc = "{metadata: {name: " FIFTY FIFTY FIFTY FIFTY FIFTY "abc}}" },
	{ .doc = "{metadata: {name: " FIFTY FIFTY FIFTY FIFTY FIFTY "abcd}}",
	  .first = BAD("name", FIFTY FIFTY FIFTY FIFTY FIFTY "abcd") "must be no more than 253" },

	{ .doc = LABEL("k", "") },
	{ .doc = LABEL("a.b/K_y.z-0", "V_a.l-9") },
	{ .doc = LABEL("k", "a b"), .first = BAD("labels", "a b") "a valid label must" },
	{ .doc = LABEL("k", "-a"), .first = BAD("labels", "-a") },
	{ .doc = LABEL("k", "a."), .first = BAD("labels", "a.") },
	{ .doc = LABEL("k", FIFTY TEN "abc") },
	{ .doc = LABEL("k", FIFTY TEN "abcd"), .first = BAD("labels", FIFTY TEN "abcd") "must be" },
	{ .doc = LABEL(FIFTY TEN "abc", "") },
	{ .doc = LABEL(FIFTY TEN "abcd", ""),
	  .first = BAD("labels", FIFTY TEN "abcd") "name part must be no more than 63 bytes" },
	{ .doc = LABEL("\"\"", ""), .first = BAD("labels", "") "name part must be non-empty" },
	{ .doc = LABEL("a/", ""), .first = BAD("labels", "a/") "name part must be non-empty" },
	{ .doc = LABEL("/a", ""), .first = BAD("labels", "/a") "prefix part must be non-empty" },
	{ .doc = LABEL("a/b/c", ""), .first = BAD("labels", "a/b/c") "a valid label key" },
	{ .doc = LABEL("A/b", ""), .first = BAD("labels", "A/b") "prefix part a lowercase" },
	{ .doc = LABEL("a/_b", ""), .first = BAD("labels", "a/_b") "name part must consist" },
	{ .doc = LABEL("_a", "_b"), .first = BAD("labels", "_a"), .second = BAD("labels", "_b") },

	/* The case of the keys of annotations does not matter. */
	{ .doc = ANNOTATION("A.b/C") },
	{ .doc = ANNOTATION("a/b/c"), .first = BAD("annotations", "a/b/c") "a qualified name" },
	{ .doc = ANNOTATION("A_/b"), .first = BAD("annotations", "A_/b") "prefix part" },

	{ .doc = FINALIZERS("a.b/c, orphan, foregroundDeletion, kubernetes"), .kind = BUILT_IN },
	{ .doc = FINALIZERS("a.b/c, own"),
	  .kind = BUILT_IN,
	  .first = BAD("finalizers[1]", "own") "name is neither a standard" },
	{ .doc = FINALIZERS("own") },
	{ .doc = FINALIZERS("a b"), .first = BAD("finalizers", "a b") },
	{ .doc = FINALIZERS("a, b"), .old = FINALIZERS("a") },
	{ .doc = FINALIZERS("a"), .old = DELETED("b, a") },
	{ .doc = FINALIZERS("a, b"),
	  .old = DELETED("a"),
	  .first = "metadata.finalizers: Forbidden: no new finalizers can be added if the object "
		   "is being deleted, found new finalizers []string{\"b\"}" },

	{ .doc = OWNERS(
		  "{kind: K, name: a, uid: u, controller: true}, {kind: K, name: b, uid: u}") },
	{ .doc = OWNERS("{name: a, uid: u}"),
	  .first = "metadata.ownerReferences[0].kind: Required value: must not be empty" },
	{ .doc = OWNERS("{kind: K, uid: u}"),
	  .first = "metadata.ownerReferences[0].name: Required" },
	{ .doc = OWNERS("{kind: K, name: a, uid: u}, {kind: K, name: a}"),
	  .first = "metadata.ownerReferences[1].uid: Required" },
	{ .doc = OWNERS("{kind: K, name: a, uid: u, controller: false}, "
			"{kind: K, name: b, uid: u, controller: true}, "
			"{kind: L, name: c, uid: u, controller: true}"),
	  .first = "metadata.ownerReferences: Invalid value: [{" },
};

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(str_of(text), &d, NULL), 0);
	return d;
}

static void expect_cause(const struct jdoc *cause, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "%s: %s", jdoc_str_or(jdoc_get(cause, "field"), ""),
		      jdoc_str_or(jdoc_get(cause, "message"), ""));
	if (want == NULL ? cause != NULL : strncmp(text.p, want, strlen(want)) != 0) {
		fail_msg("got '%s', want '%s'", text.p, want == NULL ? "" : want);
	}
}

static void test_causes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *doc = parse(rows[i].doc);
		CLEANUP(jdoc_destroyp)
		struct jdoc *old = rows[i].old == NULL ? NULL : parse(rows[i].old);
		CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
		const struct jdoc *first;

		unit_row(rows[i].doc);
		meta_rules_check(&kinds[rows[i].kind], doc, old, causes);
		first = jdoc_first(causes);
		expect_cause(first, rows[i].first);
		expect_cause(first == NULL ? NULL : jdoc_next(first), rows[i].second);
	}
}

/* Two of two controllers are named. */
static void test_which_controllers(void **state)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *doc = parse(OWNERS("{kind: K, name: a, uid: u, controller: true}, "
					"{kind: L, name: b, uid: u, controller: true}"));
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

	(void)state;
	meta_rules_check(&kinds[CUSTOM], doc, NULL, causes);
	assert_non_null(strstr(jdoc_str(jdoc_get(jdoc_first(causes), "message")),
			       "Found \"true\" in references for K/a and L/b"));
}

/* Keys and values together. */
static void test_size_of_annotations(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(jdoc_destroyp) struct jdoc *doc = parse(NAMED(", annotations: {key: x}"));
		CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
		CLEANUP(xmalloc_freep) char *big = xmalloc_zero(262144 - 7 + more + 1, 1);

		memset(big, 'x', 262144 - 7 + more);
		jdoc_set_str(jdoc_get_mut(jdoc_get_mut(doc, "metadata"), "annotations"), "big",
			     big);
		meta_rules_check(&kinds[CUSTOM], doc, NULL, causes);
		assert_int_equal(jdoc_count(causes), more);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_which_controllers),
		cmocka_unit_test(test_size_of_annotations),
	};

	return cmocka_run_group_tests_name("schema/meta_rules", tests, NULL, NULL);
}
