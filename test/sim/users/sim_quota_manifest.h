/* test/sim/users/sim_quota_manifest.h: objects of the Workload engine and Jobs as JSON text. Pure.
 */
#ifndef TEST_SIM_USERS_SIM_QUOTA_MANIFEST_H
#define TEST_SIM_USERS_SIM_QUOTA_MANIFEST_H

#include <stdbool.h>

#include "sim/oracles/sim_tree.h"

struct strbuf;

struct sim_quota_manifest_queue {
	const char *name;
	const char *cohort; /* NULL: none */
	unsigned nflavors;
	unsigned cpu[SIM_TREE_FLAVORS];               /* nominal quota; GiB of memory likewise */
	int borrow, lend;                             /* CPUs; -1: no limit */
	const char *within, *reclaim, *borrow_within; /* policies of preemption; NULL: default */
	const char *when_borrow, *when_preempt;       /* flavorFungibility; NULL: default */
	bool strict, checked;
};

struct sim_quota_manifest_job {
	char name[24];
	const char *queue, *class_; /* class_ NULL: none */
	const char *runs_for;       /* NULL: for ever */
	const char *flavor;         /* node selector; NULL: any */
	const char *scheduler;      /* NULL: not ours */
	unsigned milli_cpu, mib;    /* of each pod; mib 0: asks for no memory */
	unsigned parallelism, completions, min_parallelism; /* min_parallelism 0: all or nothing */
	unsigned max_seconds;                               /* 0: no limit */
	bool fails;
};

/* Each appends one object. */
void sim_quota_manifest_queue(const struct sim_quota_manifest_queue *q, struct strbuf *out);
void sim_quota_manifest_job(const struct sim_quota_manifest_job *j, struct strbuf *out);
/* The list spec.resourceGroups of a queue. */
void sim_quota_manifest_groups(const struct sim_quota_manifest_queue *q, struct strbuf *out);

#endif
