/* The deterministic simulation of Jobs and Workloads. Without arguments: all seeds, as a TAP test.
 */
#include "sim/sim_program.h"

int main(int argc, char **argv)
{
	const struct sim_program p = { SIM_RUN_QUOTA, 60, 2500, NULL, 0 };

	return sim_program(argc, argv, &p);
}
