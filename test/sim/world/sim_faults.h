/* test/sim/world/sim_faults.h: the faults of a run, their limits, and how often each happened.
 * Owner: the run. */
#ifndef TEST_SIM_WORLD_SIM_FAULTS_H
#define TEST_SIM_WORLD_SIM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "kube/pool.h"

/* The longest backoff after a refusal (SIM_STATUS_403), and the write that follows. */
#define SIM_FAULTS_REFUSED_NS (POOL_REFUSED_MAX_NS + 10 * CLOCK_NS_PER_S)

struct rng;

enum sim_fault {
	SIM_REFUSED,         /* connection refused: nothing was sent */
	SIM_DROP_BEFORE,     /* connection cut, nothing done */
	SIM_DROP_AFTER,      /* connection cut, the request was carried out */
	SIM_TIMEOUT_BEFORE,  /* no answer in time, nothing done */
	SIM_TIMEOUT_AFTER,   /* no answer in time, the request was carried out */
	SIM_TIMEOUT_LATE,    /* no answer in time, carried out after the client has given up */
	SIM_STATUS_429,      /* refused with Retry-After */
	SIM_STATUS_500,      /* failed, nothing done */
	SIM_STATUS_500_DONE, /* failed, but the request was carried out */
	SIM_STATUS_409,      /* a write lost a race */
	SIM_STATUS_403,      /* a right is missing for a while */
	SIM_CRASH_BEFORE,    /* the scheduler dies as it sends a request, which may still arrive */
	SIM_CRASH_AFTER,     /* the scheduler dies after the effect, before the answer */
	SIM_CRASH_IDLE,      /* the scheduler dies between two steps */
	SIM_TERMINATE,       /* the scheduler is stopped, and another one starts */
	SIM_PAUSE,           /* the scheduler stands still until another one leads, then goes on */
	SIM_WATCH_TRUNCATED, /* the stream ends within a frame */
	SIM_WATCH_DUPLICATE, /* a frame comes twice */
	SIM_WATCH_CLOSED,    /* the stream ends between frames */
	SIM_WATCH_GONE,      /* 410 in the stream */
	SIM_WATCH_LATE,      /* the stream stands still for a while */
	SIM_CLOCK_STEP,      /* the wall clock of the scheduler's machine is set */
	SIM_COMPACTED,       /* the server forgets its history: lagging watches and lists get 410 */
	SIM_FAULT_COUNT_
};

enum sim_request_kind {
	SIM_REQUEST_OTHER,
	SIM_REQUEST_CHANGE, /* 409 may be an answer */
	SIM_REQUEST_POD,    /* likewise; a write of a pod, Job or Workload, in which faults are more
			       frequent */
};

struct sim_faults {
	struct rng *rng;
	bool on;
	unsigned per_mille; /* of requests */
	uint64_t struck[SIM_FAULT_COUNT_];
	int64_t last_at; /* monotonic ns of the last one */
};

const char *sim_faults_name(enum sim_fault f);
/* Counts one more fault of this kind. */
void sim_faults_strike(struct sim_faults *f, enum sim_fault which, int64_t now);
/* Chooses the fault of a request; false: none. Does not count it. */
bool sim_faults_of_request(struct sim_faults *f, enum sim_request_kind kind, enum sim_fault *ret);
/* The fault of a stream that has a frame to deliver. */
bool sim_faults_of_stream(struct sim_faults *f, enum sim_fault *ret);

#endif
