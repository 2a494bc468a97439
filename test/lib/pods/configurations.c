#include "lib/pods/configurations.h"

#include <assert.h>

#include "scheduler/pods/conf/conf.h"

/* As Volcano's chart has it. */
static const char volcano_chart[] = "actions: \"enqueue, allocate, backfill\"\n"
				    "tiers:\n"
				    "- plugins:\n"
				    "  - name: priority\n"
				    "  - name: gang\n"
				    "    enablePreemptable: false\n"
				    "  - name: conformance\n"
				    "- plugins:\n"
				    "  - name: overcommit\n"
				    "  - name: drf\n"
				    "    enablePreemptable: false\n"
				    "  - name: predicates\n"
				    "  - name: proportion\n"
				    "  - name: nodeorder\n"
				    "  - name: binpack\n";

static const char hierarchical_drf[] =
	"actions: \"enqueue, allocate, backfill\"\n"
	"tiers:\n"
	"- plugins: [{name: drf, enableHierarchy: true}, {name: gang}]\n"
	"- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, "
	"{name: nodeorder}]\n";

const char *configurations_text(unsigned row)
{
	assert(row < CONFIGURATIONS_COUNT);
	return row == CONFIGURATIONS_BUILT_IN     ? conf_default_text()
	       : row == CONFIGURATIONS_PROPORTION ? volcano_chart
						  : hierarchical_drf;
}
