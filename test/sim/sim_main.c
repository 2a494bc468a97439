/* The deterministic simulation of pods. Without arguments: all seeds, as a TAP test. */
#include "base/attrs.h"
#include "sim/sim_program.h"

#define PLAIN 3 /* so many of the first seeds are played without actors */

static const uint64_t regression_seeds[] = {
	801189,   /* a stream that was held up was due already, and the simulated clock went back */
	805126,   /* a gang that did not opt in: autoscalers see only some of its members */
	52001652, /* a withdrawal was not sent, and not decided again while the pod paused */
	874,      /* a pod that waited for releases let another domain have more than maxSkew */
	805506,   /* a bind of a best-effort pod was undone to a reservation, and withdrawn later */
	63000010, /* a deletion named the version of the patch before it, in which the pod was bound
		   */
	63000683, /* all was judged before a volume could be had on another node: the test's fault
		   */
	71001037, /* the PodGroup of a preemptor was deleted: evictions in vain, without a word */
	71002156, /* a member of a gang was evicted for another one, and the gang was too small */
	71005318, /* a gang was evicted for a member that the other gang did not lack */
	71022891, /* a judge: the PodGroup of a pod without its name was moved, and its charge with
		     it */
	76100767, /* a forged mark: the pod on a node is charged to its queue again after a restart:
		     the judge was wrong */
	78001277, /* a gang of one important pod had another gang evicted for its other pods as
		     well */
	74000486, /* a pod was reclaimed though one of a lower priority, behind a smaller one, was
		     enough */
};

int main(int argc, char **argv)
{
	const struct sim_program p = {
		SIM_RUN_PODS, 200, 2500, regression_seeds, ARRAY_LEN(regression_seeds), PLAIN
	};

	return sim_program(argc, argv, &p);
}
