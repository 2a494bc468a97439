/* test/sim/users/sim_manifest.h: objects as JSON text. Pure. */
#ifndef TEST_SIM_USERS_SIM_MANIFEST_H
#define TEST_SIM_USERS_SIM_MANIFEST_H

#include <stdbool.h>

struct strbuf;

#define SIM_MANIFEST_FOREIGN_GATE "sim.example.com/hold"

struct sim_manifest_pod {
	char name[48], group[24];            /* group empty: none */
	const char *queue, *runs_for, *pool; /* NULL: none */
	const char *role;                    /* in its gang; NULL: none */
	const char *class_;                  /* priorityClassName; NULL: none */
	const char *deletion_cost;           /* NULL: none */
	const char *task_priority; /* Volcano's annotation: its rank in its gang; NULL: none */
	bool kept;                 /* it must not be evicted */
	unsigned milli_cpu;
	bool opted_in, alias, foreign_gate, best_effort;
	const char *claim; /* that its volume names; NULL: none */
	bool own_claim;    /* its volume, called "own", is a generic ephemeral one */
	unsigned invented; /* how many resources that no node has; named after the pod */
};

struct sim_manifest_queue {
	const char *name, *parent; /* NULL: the root */
	unsigned cpu;              /* of the capability, GiB likewise; 0: none */
	unsigned guarantee;        /* CPUs; 0: none */
	unsigned deserved;         /* likewise */
};

/* Each appends one object. */
void sim_manifest_pod(const struct sim_manifest_pod *p, struct strbuf *out);
/* class_: NULL: none. */
void sim_manifest_group(const char *name, const char *queue, const char *class_,
			unsigned min_member, struct strbuf *out);
void sim_manifest_queue(const struct sim_manifest_queue *q, struct strbuf *out);

#endif
