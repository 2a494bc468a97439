#include "scheduler/base/message_json.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"

static void test_texts(void **state)
{
	static const struct {
		const char *object, *whole, *status; /* NULL: nothing is kept */
	} rows[] = {
		{ "{\"kind\":\"Job\",\"metadata\":{\"name\":\"a\",\"managedFields\":[{\"manager\":"
		  "\"x\"}],\"resourceVersion\":\"5\"},\"spec\":{\"managedFields\":1},\"status\":{"
		  "\"active\":1}}",
		  "{\"kind\":\"Job\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\"},"
		  "\"spec\":{\"managedFields\":1},\"status\":{\"active\":1}}",
		  "{\"metadata\":{\"resourceVersion\":\"5\"},\"status\":{\"active\":1}}" },
		{ "{\"metadata\":{\"managedFields\":[]}}", "{\"metadata\":{}}",
		  "{\"metadata\":{}}" },
		{ "{}", "{}", "{}" },
		{ "{\"metadata\":5}", NULL, NULL },
		{ "[1]", NULL, NULL },
		{ "{\"a\":", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (int part = 0; part < 2; part++) {
			struct sched_msg *m = message_new(SCHED_MSG_UPSERT);
			const char *want = part == 0 ? rows[i].whole : rows[i].status;

			unit_row_number(i);
			(part == 0 ? message_json_keep
				   : message_json_keep_status)(m, str_of(rows[i].object));
			if (want == NULL) {
				assert_null(m->json.p);
			} else {
				assert_true(str_eq_c(m->json, want));
			}
			message_free(m);
		}
	}
}

/* Only a Job that waits to be started may need a Workload at once. */
static void test_lent(void **state)
{
	static const struct {
		enum sched_resource resource;
		const char *object;
		bool lent;
	} rows[] = {
		{ SCHED_JOBS, "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"suspend\":true,\"x\":1}}",
		  true },
		{ SCHED_JOBS, "{\"spec\":{\"suspend\":false}}", false },
		{ SCHED_JOBS,
		  "{\"spec\":{\"suspend\":true},\"status\":{\"conditions\":[{\"type\":"
		  "\"Failed\",\"status\":\"True\"}]}}",
		  false },
		{ SCHED_JOBS, "{\"spec\":{\"suspend\":5}}", false },
		{ SCHED_NAMESPACES, "{}", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep) char *text = NULL;
		struct sched_msg *m = message_decode(rows[i].resource, STR_LIT("ns/j"),
						     str_of(rows[i].object), 1);

		unit_row_number(i);
		message_json_lend(m, str_of(rows[i].object));
		text = message_json_take(m);
		assert_true(str_streq(text, rows[i].lent ? rows[i].object : NULL));
		assert_null(message_json_take(m));
		message_json_lend(m, str_of(rows[i].object)); /* freed with the message */
		message_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts),
					    cmocka_unit_test(test_lent) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
