#include <stdio.h>

#include "base/err.h"
#include "base/rng.h"
#include "collections/hash.h"
#include "process/signals.h"
#include "webhook/main/webhook_app.h"
#include "webhook/main/webhook_options.h"

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct webhook_options o;
	int fd, r;

	hash_seed(rng_entropy(), rng_entropy());
	r = webhook_options_parse(argc, argv, &o, &err);
	if (r < 0) {
		fprintf(stderr, "headgate-webhook: %s\n", err.text);
		return 2;
	}
	if (r > 0) {
		return 0;
	}
	fd = signals_block(&err);
	if (fd < 0) {
		fprintf(stderr, "headgate-webhook: %s\n", err.text);
		return 1;
	}
	return webhook_app_run(&o, fd);
}
