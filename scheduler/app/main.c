#include <stdio.h>

#include "base/err.h"
#include "base/rng.h"
#include "collections/hash.h"
#include "scheduler/app/app.h"
#include "scheduler/app/options.h"

int main(int argc, char **argv)
{
	struct sched_options o;
	struct err err = ERR_INIT;
	int r;

	/* Keys of hash tables are names that tenants choose: with a seed that is known, one could
	 * choose names that collide. */
	hash_seed(rng_entropy(), rng_entropy());
	r = options_parse(argc, argv, &o, &err);
	if (r < 0) {
		fprintf(stderr, "headgate-scheduler: %s\n", err.text);
		return 2;
	}
	return r > 0 ? 0 : app_run(&o);
}
