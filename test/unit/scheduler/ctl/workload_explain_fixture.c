#include "unit/scheduler/ctl/workload_explain_fixture.h"

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/unit.h"

void workload_explain_fixture_init(struct workload_explain_fixture *f, const char *yaml,
				   const char *config, const char *key)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct workload_simulation_options opt = { .now = 0 };
	struct err err = ERR_INIT;
	int r;

	*f = (struct workload_explain_fixture){ .source = { .in = sim_input_create(NULL, NULL) } };
	r = sim_input_add(f->source.in, "f", str_of(yaml), &err);
	if (r == 0 && config != NULL) {
		r = yaml_parse(str_of(config), &d, &err);
	}
	opt.config = d;
	opt.config_path = "config";
	opt.now = f->source.now = sim_input_youngest(f->source.in);
	if (r == 0) {
		r = workload_simulation_create(f->source.in, &opt, &f->source.world, &err);
	}
	if (r == 0) {
		r = workload_explain_workload(&f->source, key, &f->x, &err);
	}
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

void workload_explain_fixture_finish(struct workload_explain_fixture *f)
{
	workload_explain_finish(&f->x);
	live_workloads_finish(&f->source);
}
