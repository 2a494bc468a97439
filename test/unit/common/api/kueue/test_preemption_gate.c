#include "api/kueue/preemption_gate.h"

#include "lib/unit.h"

#include <stdio.h>

#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

#define POSITION PREEMPTION_GATE_POSITION
#define STATE PREEMPTION_GATE_STATE

static void entries(void **state)
{
	static const struct {
		const char *position, *state;
		struct preemption_gate_reading wants;
	} rows[] = {
		{ NULL, NULL, { false, 0, false } },
		{ "Open", NULL, { true, POSITION, false } },
		{ "Closed", NULL, { false, POSITION, false } },
		{ "Ajar", NULL, { false, POSITION, false } },
		{ NULL, "Open", { true, STATE, false } },
		{ NULL, "Closed", { false, STATE, false } },
		{ "Open", "Open", { true, POSITION | STATE, false } },
		{ "Closed", "Closed", { false, POSITION | STATE, false } },
		{ "Open", "Closed", { false, POSITION | STATE, true } },
		{ "Closed", "Open", { false, POSITION | STATE, true } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_preemption_gate_state entry = { .name = "g",
							   .position = rows[i].position,
							   .state = rows[i].state };
		struct preemption_gate_reading r = preemption_gate_read(&entry);

		if (r.open != rows[i].wants.open || r.fields != rows[i].wants.fields ||
		    r.disagree != rows[i].wants.disagree) {
			fail_msg("row %zu", i);
		}
		if (!r.disagree && r.fields != 0) {
			preemption_gate_write(&entry, r.open, r.fields);
			r = preemption_gate_read(&entry);
			assert_int_equal(r.open, rows[i].wants.open);
			assert_int_equal(r.fields, rows[i].wants.fields);
		}
	}
}

static void schemas(void **state)
{
	static const struct {
		const char *version, *properties;
		unsigned fields;
	} rows[] = {
		{ "v1beta2", "\"name\":{},\"position\":{}", POSITION },
		{ "v1beta2", "\"name\":{},\"state\":{}", STATE },
		{ "v1beta2", "\"state\":{},\"position\":{}", POSITION | STATE },
		{ "v1beta2", "\"name\":{}", 0 },
		{ "v1beta1", "\"name\":{},\"position\":{}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *crd = NULL;
		struct err err = ERR_INIT;
		char text[512];

		snprintf(text, sizeof(text),
			 "{\"spec\":{\"versions\":[{\"name\":\"v1alpha1\"},{\"name\":\"%s\","
			 "\"schema\":{\"openAPIV3Schema\":{\"properties\":{\"status\":{"
			 "\"properties\":{\"preemptionGates\":{\"items\":{\"properties\":{%s}}}"
			 "}}}}}}]}}",
			 rows[i].version, rows[i].properties);
		assert_int_equal(jdoc_parse(str_of(text), &crd, &err), 0);
		if (preemption_gate_fields_of(crd) != rows[i].fields) {
			fail_msg("row %zu", i);
		}
	}
	assert_int_equal(preemption_gate_fields_of(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries),
		cmocka_unit_test(schemas),
	};

	return cmocka_run_group_tests_name("api/kueue/preemption_gate", tests, NULL, NULL);
}
