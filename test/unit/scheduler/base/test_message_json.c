#include "scheduler/base/message_json.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "scheduler/base/message.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
