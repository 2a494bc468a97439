#include <stdio.h>
#include <string.h>

#include "scheduler/pods/writes/gate_removal.h"

#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"

#define PATCH "PATCH /api/v1/namespaces/ns/pods/p"
#define READ "GET /api/v1/namespaces/ns/pods/p"

static void begin(struct write_fixture *f, const char *queue)
{
	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("ns/p"), gate_removal_new(write_fixture_task(), queue));
}

/* Hole 12 of the shipped feature: a patch without UID ungates a pod that was re-created under the
 * same name. */
static void test_hole_12_the_patch_names_the_uid(void **state)
{
	struct write_fixture f;
	struct jdoc *body = NULL;
	uint64_t id;

	(void)state;
	begin(&f, "team-a");
	id = write_fixture_expect(&f, PATCH);
	assert_string_equal(fake_transport_request(f.transport, id)->content_type,
			    "application/strategic-merge-patch+json");
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &body, NULL), 0);
	assert_string_equal(jdoc_path_str(body, "metadata.uid"), "u-1");
	assert_string_equal(
		jdoc_str(jdoc_get(jdoc_path(body, "metadata.annotations"), "headgate.io/reserved")),
		"team-a");
	jdoc_destroy(body);
	fake_transport_answer(f.transport, id, 422, "{}");
	fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200,
			      "{\"metadata\":{\"uid\":\"u-2\"}}");
	write_fixture_outcome(&f, SCHED_GONE);
	write_fixture_finish(&f);
}

static void test_the_patch_deletes_our_spellings_only(void **state)
{
	struct write_fixture f;
	struct jdoc *body = NULL;
	const struct jdoc *gates;
	uint64_t id;

	(void)state;
	begin(&f, NULL);
	id = write_fixture_expect(&f, PATCH);
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &body, NULL), 0);
	gates = jdoc_path(body, "spec.schedulingGates");
	assert_int_equal(jdoc_count(gates), 2);
	for (const struct jdoc *g = jdoc_first(gates); g != NULL; g = jdoc_next(g)) {
		assert_string_equal(jdoc_str(jdoc_get(g, "$patch")), "delete");
		assert_non_null(strstr(jdoc_str(jdoc_get(g, "name")), "queue-allocation-gate"));
	}
	/* Without a reservation the mark is taken off, too. */
	assert_int_equal(jdoc_kind(jdoc_get(jdoc_path(body, "metadata.annotations"),
					    "headgate.io/reserved")),
			 JDOC_NULL);
	assert_int_equal(jdoc_count(jdoc_path(body, "metadata.annotations")), 1);
	jdoc_destroy(body);
	fake_transport_answer(f.transport, id, 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_refused_patch_is_final_while_the_gate_is_there(void **state)
{
	static const struct {
		const char *gates;
		enum sched_outcome outcome;
	} rows[] = {
		{ "[{\"name\":\"scheduling.volcano.sh/queue-allocation-gate\"}]", SCHED_REJECTED },
		{ "[{\"name\":\"example.com/other\"}]", SCHED_DONE },
		{ "[]", SCHED_DONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;
		char pod[300];

		unit_row_number(i);
		begin(&f, "q");
		fake_transport_answer(f.transport, write_fixture_expect(&f, PATCH), 422, "{}");
		snprintf(pod, sizeof(pod),
			 "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"schedulingGates\":%s}}",
			 rows[i].gates);
		fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200, pod);
		write_fixture_outcome(&f, rows[i].outcome);
		write_fixture_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hole_12_the_patch_names_the_uid),
		cmocka_unit_test(test_the_patch_deletes_our_spellings_only),
		cmocka_unit_test(test_refused_patch_is_final_while_the_gate_is_there),
	};

	return cmocka_run_group_tests_name("pods/writes/gate_removal", tests, NULL, NULL);
}
