#include "lib/pods/configurations.h"

#include <assert.h>
#include <string.h>

#include "base/strbuf.h"
#include "scheduler/pods/conf/conf.h"

/* After the actions. Each names the plugin gang with one switch of its own. */
static const char *const tiers[CONFIGURATIONS_COUNT] = {
	[CONFIGURATIONS_BUILT_IN] = "- plugins:\n"
				    "  - name: priority\n"
				    "  - name: gang\n"
				    "    enablePreemptable: false\n"
				    "    enableReclaimable: %s\n"
				    "  - name: conformance\n"
				    "- plugins:\n"
				    "  - name: predicates\n"
				    "  - name: capacity\n"
				    "    enableHierarchy: true\n"
				    "  - name: binpack\n",
	/* As Volcano's chart has it. */
	[CONFIGURATIONS_PROPORTION] = "- plugins:\n"
				      "  - name: priority\n"
				      "  - name: gang\n"
				      "    enablePreemptable: false\n"
				      "    enableReclaimable: %s\n"
				      "  - name: conformance\n"
				      "- plugins:\n"
				      "  - name: overcommit\n"
				      "  - name: drf\n"
				      "    enablePreemptable: false\n"
				      "  - name: predicates\n"
				      "  - name: proportion\n"
				      "  - name: nodeorder\n"
				      "  - name: binpack\n",
	[CONFIGURATIONS_DRF] =
		"- plugins:\n"
		"  - {name: priority, enableJobOrder: false}\n"
		"  - {name: drf, enableHierarchy: true}\n"
		"  - {name: gang, enablePreemptable: false, enableReclaimable: %s}\n"
		"- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, "
		"{name: nodeorder}]\n",
};

void configurations_add(unsigned row, enum configurations_evict evict, struct strbuf *out)
{
	static const char *const actions[CONFIGURATIONS_EVICT_COUNT_] = {
		[CONFIGURATIONS_EVICT_NONE] = "",
		[CONFIGURATIONS_EVICT_PODS] = ", preempt, reclaim",
		[CONFIGURATIONS_EVICT_GANGS] = ", gangpreempt, gangreclaim",
		[CONFIGURATIONS_EVICT_BOTH] = ", gangreclaim, preempt, reclaim, gangpreempt",
	};
	const char *gang, *rest;

	assert(row < CONFIGURATIONS_COUNT);
	if (row == CONFIGURATIONS_BUILT_IN && evict == CONFIGURATIONS_EVICT_NONE) {
		strbuf_add_c(out, conf_default_text());
		return;
	}
	strbuf_printf(out, "actions: \"enqueue, allocate, backfill%s\"\ntiers:\n", actions[evict]);
	gang = strstr(tiers[row], "%s");
	rest = gang + 2;
	strbuf_add(out, tiers[row], (size_t)(gang - tiers[row]));
	strbuf_printf(out, "%s%s", evict != CONFIGURATIONS_EVICT_NONE ? "false" : "true", rest);
}
