/* The deterministic simulation of pods. Without arguments: all seeds, as a TAP test. */
#include "base/attrs.h"
#include "sim/sim_program.h"

static const uint64_t kept[] = {
	801189, /* the clock of the simulation went back: a stream that stood still was due */
	805126, /* a gang that did not opt in: autoscalers do not see all of it */
	805506, /* a bind of a best-effort pod was undone to a reservation, and withdrawn later */
};

int main(int argc, char **argv)
{
	const struct sim_program p = { SIM_RUN_PODS, 200, 2500, kept, ARRAY_LEN(kept) };

	return sim_program(argc, argv, &p);
}
