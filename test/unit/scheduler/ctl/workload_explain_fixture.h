/* test/unit/scheduler/ctl/workload_explain_fixture.h: explanations of Workloads of manifests
 * written into a test. Owner: the test. */
#ifndef TEST_UNIT_SCHEDULER_CTL_WORKLOAD_EXPLAIN_FIXTURE_H
#define TEST_UNIT_SCHEDULER_CTL_WORKLOAD_EXPLAIN_FIXTURE_H

#include "scheduler/ctl/explain/workload_explain.h"

struct workload_explain_fixture {
	struct live_workloads source;
	struct workload_explanation x;
};

/* config: YAML or NULL. Fails the test when there is no such Workload. */
void workload_explain_fixture_init(struct workload_explain_fixture *f, const char *yaml,
				   const char *config, const char *key);
void workload_explain_fixture_finish(struct workload_explain_fixture *f);

#endif
