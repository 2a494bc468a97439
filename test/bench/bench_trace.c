/* bench_trace: the same Jobs on the same fleets of worker clusters, once for each rule by which
 * preemption gates are opened: Workloads that were preempted, those of them that were preempted for
 * a Job that ran elsewhere, the work that was lost, and how long Jobs waited. Virtual time: the
 * figures are the same on any machine. */
#include <stdio.h>

#include "lib/unit.h"

#include "lib/multikueue/fleet_shapes.h"
#include "lib/multikueue/fleet_trace.h"
#include "process/log.h"

static void print(const struct fleet_trace *t)
{
	printf("%s: %s\n", t->name, t->says);
	printf("  %-12s %8s %8s %11s %7s %7s\n", "RULE", "VICTIMS", "IN VAIN", "LOST POD-S",
	       "P50 S", "P99 S");
	for (int rule = 0; rule < FLEET_TRACE_RULE_COUNT_; rule++) {
		struct fleet_trace_result r;

		fleet_trace_play(t, (enum fleet_trace_rule)rule, &r);
		printf("  %-12s %8u %8u %11lld %7lld %7lld\n",
		       fleet_trace_rule_name((enum fleet_trace_rule)rule), r.victims, r.in_vain,
		       (long long)r.lost_pod_s, (long long)r.p50_s, (long long)r.p99_s);
		if (r.ran != r.managed || r.twice > 0) {
			printf("    of %u Jobs %u ran to their end, %u on two workers at once\n",
			       r.managed, r.ran, r.twice);
		}
	}
}

int main(void)
{
	struct fleet_trace t;

	log_set_level(LOG_ERROR);
	for (size_t i = 0; fleet_shapes_get(i, &t); i++) {
		print(&t);
	}
	return 0;
}
