#include "lib/workloads/workload_sim_fixture.h"

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/unit.h"

static int create(const char *yaml, const char *config, struct workload_simulation **ret,
		  struct err *err)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct workload_simulation_options opt = { .now = 0 };
	int r = sim_input_add(in, "f", str_of(yaml), err);

	if (r == 0 && config != NULL) {
		r = yaml_parse(str_of(config), &d, err);
	}
	opt.config = d;
	opt.config_path = "config";
	opt.now = sim_input_youngest(in);
	return r < 0 ? r : workload_simulation_create(in, &opt, ret, err);
}

struct workload_simulation *workload_sim_fixture_create(const char *yaml, const char *config)
{
	struct workload_simulation *s = NULL;
	struct err err = ERR_INIT;

	if (create(yaml, config, &s, &err) < 0) {
		fail_msg("%s", err.text);
	}
	return s;
}

void workload_sim_fixture_refused(const char *yaml, struct err *ret)
{
	struct workload_simulation *s = NULL;

	assert_int_equal(create(yaml, NULL, &s, ret), -ERR_INVALID);
	assert_null(s);
}
