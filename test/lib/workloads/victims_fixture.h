/* test/lib/workloads/victims_fixture.h: searches for victims in a quota world, for unit tests and
 * fuzzing: expectations as text, and checks of any answer against the definitions. Owner: the test.
 */
#ifndef TEST_LIB_WORKLOADS_VICTIMS_FIXTURE_H
#define TEST_LIB_WORKLOADS_VICTIMS_FIXTURE_H

#include "base/strbuf.h"
#include "lib/quota/quota_world.h"
#include "scheduler/workloads/preempt/victims.h"

struct victims_fixture { /* a request and what it points to */
	struct victims_request r;
	struct quota_amounts need;
	uint32_t pairs[16];
};

/* need: "default/cpu=3 default/memory=1Gi?": the requests of the workload; "?": no preemption is
 * needed for this pair. */
void victims_fixture_init(struct victims_fixture *v, const struct quota_world *w,
			  const char *preemptor, const char *need);
void victims_fixture_finish(struct victims_fixture *v);
/* Appends the errors of the answer to out; true: there are none. It must be the answer to r as the
 * world is now. */
bool victims_fixture_check(const struct victims_request *r, const struct victims *found,
			   struct strbuf *out);
/* Finds, checks, and compares with "low:InClusterQueue mid:InCohortReclamation" in the order in
 * which they are taken; "": none. Workloads are named without their namespace. */
void victims_fixture_expect(const struct quota_world *w, const char *preemptor, const char *need,
			    const char *victims);
/* Whether the request fits without those workloads. Without borrowing: into the queue's own
 * quota. */
bool victims_fixture_fits(const struct victims_request *r, const struct victims *gone,
			  bool may_borrow);
/* Hash of all usage on the forest. */
uint64_t victims_fixture_usage(const struct quota_world *w);

#endif
