#include "webhook/admit/jobs/pod_role.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static const char *hash(const char *yaml, struct arena *arena)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	assert_int_equal(yaml_parse(str_of(yaml), &d, NULL), 0);
	return pod_role_hash(d, arena);
}

static const char base[] = "{containers: [{name: c, image: a, resources: {requests: {cpu: '1',"
			   " memory: 1Gi}}}], nodeSelector: {a: b}}";

static void pods_of_equal_roles(void **state)
{
	static const struct {
		const char *spec;
		bool alike;
	} cases[] = {
		{ base, true },
		{ "{nodeSelector: {a: b}, containers: [{name: other, image: x, resources: "
		  "{requests:"
		  " {memory: 1Gi, cpu: '1'}, limits: {cpu: '9'}}}], tolerations: null}",
		  true },
		{ "{containers: [{resources: {requests: {cpu: '2', memory: 1Gi}}}], nodeSelector:"
		  " {a: b}}",
		  false },
		{ "{containers: [{resources: {requests: {cpu: '1', memory: 1Gi}}, ports:"
		  " [{containerPort: 1}]}], nodeSelector: {a: b}}",
		  false },
		{ "{initContainers: [{resources: {requests: {cpu: '1', memory: 1Gi}}}],"
		  " nodeSelector: {a: b}}",
		  false },
		{ "{containers: [{resources: {requests: {cpu: '1', memory: 1Gi}}}], nodeSelector:"
		  " {a: c}}",
		  false },
		{ "{containers: [{resources: {requests: {cpu: '1', memory: 1Gi}}}], nodeSelector:"
		  " {a: b}, priority: 3}",
		  false },
		{ "{containers: [{resources: {requests: {cpu: '1', memory: 1Gi}}}], nodeSelector:"
		  " {a: b}, tolerations: [{key: x}]}",
		  false },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *have = hash(cases[i].spec, arena);

		unit_row(cases[i].spec);
		assert_int_equal(strlen(have), POD_ROLE_DIGITS);
		assert_int_equal(str_streq(have, hash(base, arena)), cases[i].alike);
	}
}

/* Pods that are nested as deep as a document may be have a hash, too. */
static void deeply_nested_pods(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	unsigned depth = JDOC_MAX_DEPTH - 1;

	(void)state;
	strbuf_add_c(&text, "{\"affinity\":");
	for (unsigned i = 0; i < depth; i++) {
		strbuf_add_ch(&text, '[');
	}
	for (unsigned i = 0; i < depth; i++) {
		strbuf_add_ch(&text, ']');
	}
	strbuf_add_ch(&text, '}');
	assert_int_equal(jdoc_parse(strbuf_str(&text), &d, NULL), 0);
	assert_int_equal(strlen(pod_role_hash(d, arena)), POD_ROLE_DIGITS);
}

/* It is stored in pods, so that a release with other hashes would split groups. */
static void the_hash_of_a_role_does_not_change(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);

	(void)state;
	assert_string_equal(hash(base, arena), "c167fae0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_of_a_role_does_not_change),
		cmocka_unit_test(pods_of_equal_roles),
		cmocka_unit_test(deeply_nested_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
