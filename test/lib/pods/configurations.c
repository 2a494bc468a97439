#include "lib/pods/configurations.h"

#include "base/strbuf.h"
#include "scheduler/pods/conf/conf.h"

static const char *const lower_tiers[CONFIGURATIONS_COUNT_] = {
	[CONFIGURATIONS_BUILT_IN] = "- plugins:\n"
				    "  - name: predicates\n"
				    "  - name: capacity\n"
				    "    enableHierarchy: true\n"
				    "  - name: binpack\n",
	[CONFIGURATIONS_PROPORTION] = "- plugins:\n"
				      "  - name: overcommit\n"
				      "  - name: drf\n"
				      "    enablePreemptable: false\n"
				      "  - name: predicates\n"
				      "  - name: proportion\n"
				      "  - name: nodeorder\n"
				      "  - name: binpack\n",
	[CONFIGURATIONS_DRF] = "- plugins:\n"
			       "  - name: drf\n"
			       "    enableHierarchy: true\n"
			       "- plugins:\n"
			       "  - name: predicates\n"
			       "  - name: capacity\n"
			       "    enableHierarchy: true\n"
			       "  - name: nodeorder\n",
};

void configurations_write(enum configurations_row row, bool evicts, struct strbuf *out)
{
	if (row == CONFIGURATIONS_BUILT_IN && !evicts) {
		strbuf_add_c(out, conf_default_text());
		return;
	}
	strbuf_printf(out,
		      "actions: \"enqueue, allocate, backfill%s\"\n"
		      "tiers:\n"
		      "- plugins:\n"
		      "  - name: priority\n"
		      "  - name: gang\n"
		      "    enablePreemptable: false\n"
		      "    enableReclaimable: false\n"
		      "  - name: conformance\n"
		      "%s",
		      evicts ? ", preempt, reclaim" : "", lower_tiers[row]);
}
