/* test/sim/sim_program.h: the program around runs: options, seeds one after the other, TAP,
 * statistics. Owner: main. */
#ifndef TEST_SIM_SIM_PROGRAM_H
#define TEST_SIM_SIM_PROGRAM_H

#include "sim/sim_run.h"

struct sim_program {
	enum sim_run_kind kind;
	uint64_t seeds, steps; /* without options */
	/* Seeds beyond them that failed once, played without options. */
	const uint64_t *regression_seeds;
	size_t nregression_seeds;
	/* The first of them are plain: they failed before there were actors. Both played and
	 * replayed without these. */
	size_t nplain;
};

/* The exit code. */
int sim_program(int argc, char **argv, const struct sim_program *p);

#endif
