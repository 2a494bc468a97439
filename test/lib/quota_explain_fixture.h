/* test/lib/quota_explain_fixture.h: explanations of Workloads of manifests written into a test.
 * Owner: the test. */
#ifndef TEST_LIB_QUOTA_EXPLAIN_FIXTURE_H
#define TEST_LIB_QUOTA_EXPLAIN_FIXTURE_H

#include "ctl/quota_explain.h"

struct quota_explain_fixture {
	struct quota_source source;
	struct quota_explanation x;
};

/* config: YAML or NULL. Fails the test when there is no such Workload. */
void quota_explain_fixture_init(struct quota_explain_fixture *f, const char *yaml,
				const char *config, const char *key);
void quota_explain_fixture_finish(struct quota_explain_fixture *f);

#endif
