/* test/lib/quota/quota_random.h: random worlds of the Workload engine, as texts of quota_world, and
 * random changes of them. The random choices come from a seed, or from bytes: any bytes will do.
 * Owner: the test. */
#ifndef TEST_LIB_QUOTA_QUOTA_RANDOM_H
#define TEST_LIB_QUOTA_QUOTA_RANDOM_H

#include "base/rng.h"
#include "base/strbuf.h"

struct quota_random {
	struct rng rng;
	const uint8_t *bytes; /* NULL: numbers are those of rng */
	size_t n;             /* bytes that are left */
};

/* Names are c0..., q0..., w0...; the flavors of all are x and y, the resource is cpu. */
struct quota_random_shape {
	unsigned cohorts, queues, workloads;
};

void quota_random_seed(struct quota_random *r, uint64_t seed);
void quota_random_bytes(struct quota_random *r, const uint8_t *bytes, size_t n);
/* In [0, bound), bound from 1 to 256; 0 when no bytes are left. */
unsigned quota_random_below(struct quota_random *r, unsigned bound);

/* The options come first, in one line; every object follows with its lines together. */
struct quota_random_shape quota_random_world(struct quota_random *r, struct strbuf *out);
/* Workload number i, for one of the queues. */
void quota_random_workload(struct quota_random *r, struct strbuf *out, unsigned i,
			   unsigned nqueues);
/* Changes the configuration of a world of this shape: quota, policies and stop of a queue, quota or
 * parent of a cohort, which may close a circle. */
void quota_random_edit(struct quota_random *r, struct strbuf *out, struct quota_random_shape shape);

#endif
