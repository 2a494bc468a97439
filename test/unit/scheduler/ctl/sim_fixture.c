#include "unit/scheduler/ctl/sim_fixture.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/ctl/sim/simulation.h"

static int create(const char *yaml, struct simulation **ret, struct err *err)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct simulation_options opt = { .conf_path = NULL };
	int r = sim_input_add(in, "f", str_of(yaml), err);

	return r < 0 ? r : simulation_create(in, &opt, ret, err);
}

struct simulation *sim_fixture_create(const char *yaml)
{
	struct simulation *s = NULL;
	struct err err = ERR_INIT;

	if (create(yaml, &s, &err) < 0) {
		fail_msg("%s", err.text);
	}
	return s;
}

void sim_fixture_refused(const char *yaml, struct err *ret)
{
	struct simulation *s = NULL;

	assert_int_equal(create(yaml, &s, ret), -ERR_INVALID);
	assert_null(s);
}

void sim_fixture_steps(const struct simulation *s, struct strbuf *out)
{
	static const char *const names[] = { "Ungate",  "Bind",     "Evict", "Pipeline",
					     "Publish", "Withdraw", "Event" };
	size_t n;
	const struct sim_step *steps = simulation_steps(s, &n);

	strbuf_add_c(out, "");
	for (size_t i = 0; i < n; i++) {
		if (steps[i].kind != SIM_EVENT) {
			strbuf_printf(out, "%s%u %s %s%s%s", out->len > 0 ? "; " : "",
				      steps[i].cycle, names[steps[i].kind], steps[i].object,
				      steps[i].node != NULL ? " " : "",
				      steps[i].node != NULL ? steps[i].node : "");
		}
	}
}
