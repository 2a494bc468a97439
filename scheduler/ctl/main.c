#include "base/rng.h"
#include "collections/hash.h"
#include "scheduler/ctl/ctl.h"

int main(int argc, char **argv)
{
	hash_seed(rng_entropy(), rng_entropy());
	return ctl_run(argc, argv);
}
