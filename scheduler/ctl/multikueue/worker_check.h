/* scheduler/ctl/multikueue/worker_check.h: looks at one worker cluster with the account of the
 * manager, and finds what is right and what is missing there. The worker is another's: few requests
 * are made, each has a limit, and all together have one. Any thread; blocks. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_CHECK_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "api/kueue/custom_kinds.h"
#include "collections/vec.h"
#include "scheduler/ctl/multikueue/waiting_queues.h"
#include "scheduler/ctl/multikueue/worker_role.h"

#define WORKER_CHECK_MAX_QUEUES 50    /* LocalQueues that are looked for */
#define WORKER_CHECK_MAX_REPLICAS 500 /* that are looked at */

struct arena;
struct transport;
struct worker_access;

enum worker_finding_state {
	WORKER_FINDING_OK,
	WORKER_FINDING_WARNING,
	WORKER_FINDING_FAILED,  /* the manager cannot use the worker as it should */
	WORKER_FINDING_UNKNOWN, /* it could not be looked at */
	WORKER_FINDING_COUNT_
};

struct worker_finding {
	enum worker_finding_state state;
	const char *about; /* static: "rights" */
	const char *text;
};

struct worker_check_options {
	const char *origin; /* label of the replicas that the manager makes */
	enum worker_role_level level;
	struct custom_kinds kinds; /* that the manager carries besides; borrowed */
	int64_t call_ns;           /* longest time of one request; 0: 10 s */
	int64_t all_ns;            /* of all requests to one worker; 0: 30 s */
};

struct worker_check {
	const char *cluster; /* borrowed */
	struct arena *arena;
	struct VEC(struct worker_finding) findings; /* in the order in which they were made */
};

/* access: as the manager's objects give it. queues: those that the worker needs; NULL: not known.
 */
void worker_check_run(const struct worker_check_options *opt, const struct worker_access *access,
		      const struct waiting_queues_keys *queues, struct worker_check *ret);
/* Adds a finding that the caller has made; text is copied. */
void worker_check_add(struct worker_check *c, enum worker_finding_state state, const char *about,
		      const char *text);
/* Everything was looked at, and nothing is missing. */
bool worker_check_is_good(const struct worker_check *c);
const char *worker_check_state_name(enum worker_finding_state state); /* "ok" */
void worker_check_finish(struct worker_check *c);                     /* zeroed is fine */

#endif
