/* The body of the write that opens or closes a gate. */
#include "scheduler/multikueue/gate_write.h"

#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"

#define HEAD                                                                                       \
	"{\"apiVersion\":\"kueue.x-k8s.io/"                                                        \
	"v1beta2\",\"kind\":\"Workload\",\"metadata\":{\"name\":\"w\","                            \
	"\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"status\":{"               \
	"\"preemptionGates\":[{\"lastTransitionTime\":\"2027-01-15T08:00:00Z\","                   \
	"\"name\":\"kueue.x-k8s.io/multikueue\","
#define TAIL "}]}}"

static void bodies(void **state)
{
	static const struct {
		const char *name;
		bool open;
		unsigned fields;
		const char *body;
	} rows[] = {
		{ "opened as Kueue spells it", true, PREEMPTION_GATE_POSITION,
		  HEAD "\"position\":\"Open\"" TAIL },
		{ "opened as KEP-8303 spells it", true, PREEMPTION_GATE_STATE,
		  HEAD "\"state\":\"Open\"" TAIL },
		{ "closed for readers of both", false,
		  PREEMPTION_GATE_POSITION | PREEMPTION_GATE_STATE,
		  HEAD "\"position\":\"Closed\",\"state\":\"Closed\"" TAIL },
		{ "opened as Kueue spells it where nothing is known", true, 0,
		  HEAD "\"position\":\"Open\"" TAIL },
	};
	const struct api_meta replica = {
		.name = "w", .namespace_ = "ns", .uid = "u", .resource_version = "7"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		unit_row(rows[i].name);
		gate_write_format(&replica, KUEUE_GATE_MULTIKUEUE, rows[i].open, rows[i].fields,
				  INT64_C(1800000000) * CLOCK_NS_PER_S, &text);
		assert_string_equal(text.p, rows[i].body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(bodies) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
