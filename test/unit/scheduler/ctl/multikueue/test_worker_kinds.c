#include "scheduler/ctl/multikueue/worker_kinds.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"
#include "process/flags.h"
#include "unit/scheduler/ctl/multikueue/worker_fixture.h"

static void names(void **state UNUSED)
{
	const struct flags_list good = { .v = { "Foo.v1.example.com", "Bar.v2.example.org" } };
	const struct flags_list bad = { .v = { "Foo.v1.example.com", "Bar" } };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct err err = ERR_INIT;
	struct custom_kinds k;

	assert_int_equal(worker_kinds_parse(&good, arena, &k, &err), 0);
	assert_int_equal(k.n, 2);
	assert_string_equal(k.v[1].group, "example.org");
	assert_int_equal(worker_kinds_parse(&bad, arena, &k, &err), -ERR_INVALID);
	assert_string_equal(err.text, "--external-framework: \"Bar\" is not Kind.version.group");
}

#define FOOS                                                                                       \
	"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "  \
	"fooz.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Foo, "     \
	"plural: fooz, singular: foo}, versions: [{name: v1, served: true, storage: true, "        \
	"subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, "                    \
	"x-kubernetes-preserve-unknown-fields: true}}}]}}"

static void plurals(void **state UNUSED)
{
	static const struct custom_kind foo = { "Foo.v1.example.com", "Foo", "v1", "example.com",
						"example.com/v1" };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *config = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *plural = NULL;
	struct worker_fixture worker;
	struct transport *t = NULL;
	struct err err = ERR_INIT;

	worker_fixture_start(&worker, false);
	worker_fixture_kubeconfig(&worker, "t", &text);
	assert_int_equal(kubeconfig_parse(strbuf_str(&text), "", NULL, &config, &err), 0);
	assert_int_equal(transport_http_create(config, "test", &t, &err), 0);
	assert_int_equal(worker_kinds_ask(t, &foo, INT64_C(30000000000), &plural, &err),
			 -ERR_NOT_FOUND);
	assert_string_equal(err.text, "Foo.v1.example.com is not served");
	worker_fixture_load(&worker, FOOS);
	assert_int_equal(worker_kinds_ask(t, &foo, INT64_C(30000000000), &plural, &err), 0);
	assert_string_equal(plural, "fooz");
	transport_destroy(t);
	worker_fixture_stop(&worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names), cmocka_unit_test(plurals) };

	return cmocka_run_group_tests_name("multikueue/worker_kinds", tests, NULL, NULL);
}
