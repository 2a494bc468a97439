/* The deterministic simulation of Jobs and Workloads. Without arguments: all seeds, as a TAP test.
 */
#include "base/attrs.h"
#include "sim/sim_program.h"

#define PLAIN 19 /* so many of the first seeds are played without actors */

static const uint64_t regression_seeds[] = {
	700190,   /* suspended by its user, and deactivated: its template was not restored */
	800129,   /* a status changed while the first lists came in: the tree was not built */
	800337,   /* the same */
	800361,   /* suspended by its user: taken for another Job, and started without quota */
	800491,   /* as in Kueue: admitted beside victims of others that have not gone yet */
	800635,   /* as 700190 */
	800982,   /* as 800361: its Workload finished as out of sync */
	801098,   /* as 800361 */
	801218,   /* as 700190 */
	801705,   /* as 800361 */
	801741,   /* as 700190 */
	41005439, /* an apply conflicted with the manager of an empty object: the test server's
		     fault */
	41011124, /* its flavor was taken within the cycle; the rest was enough for fewer pods */
	42000414, /* a pod of a Queue that does not exist waited, rightly: the judge was wrong */
	43005132, /* its user deleted a pod that had succeeded: the Job controller was wrong */
	43011161, /* a watch that was behind undid a deletion that a GET had shown: a Job started */
	43061307, /* a check was asked for again before its removal was written: it was reset */
	49002725, /* a write was refused after an attempt of it without an answer had been carried
		     out */
	53000178, /* an apply left a part of a condition that a client owned, again and again */
	43092979, /* a write named a version that had been fetched, but not looked at */
	72003170, /* a tenant took the owner of a Workload off while its Job started: the judge was
		     wrong */
	72034198, /* Workloads named a Job of another namespace as their owner: the judge was wrong
		   */
	921403,   /* an empty list of conditions was applied, and removed those of others */
	5361,     /* never failed: a check deactivates a Workload, as in few other seeds */
	293,  /* never failed: a LocalQueue that is stopped evicts, as in no other seed of a run */
	214,  /* never failed: the scheduler dies while it gives quota, as in no other seed of a run
	       */
	5362, /* never failed: as 5361 */
};

int main(int argc, char **argv)
{
	const struct sim_program p = {
		SIM_RUN_QUOTA, 60, 2500, regression_seeds, ARRAY_LEN(regression_seeds), PLAIN
	};

	return sim_program(argc, argv, &p);
}
