#include <stdio.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/version.h"
#include "scheduler/app/app.h"
#include "scheduler/app/options.h"

int main(int argc, char **argv)
{
	struct sched_options o;
	struct err err = ERR_INIT;
	int r;

	hash_seed(rng_entropy(), rng_entropy());
	r = options_parse(argc, argv, &o, &err);

	if (r < 0) {
		fprintf(stderr, "headgate-scheduler: %s\n", err.text);
		return 2;
	}
	if (r > 0) {
		return 0;
	}
	if (o.version) {
		printf("headgate-scheduler %s\n", HEADGATE_VERSION);
		r = 0;
	} else {
		r = app_run(&o);
	}
	options_finish(&o);
	return r;
}
