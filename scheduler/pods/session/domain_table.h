/* scheduler/pods/session/domain_table.h: counts of pods by topology domain: nodes with the same
 * value of a label, the topology key, form a domain. One table counts the pods that a selector
 * selects, or those that have a term. Memory: an arena of the caller. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_DOMAIN_TABLE_H
#define SCHEDULER_PODS_SESSION_DOMAIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cluster;
struct domain_names;
struct node;

/* Where a pod is in a session. */
enum domain_state {
	DOMAIN_OUT,       /* on no node */
	DOMAIN_HERE,      /* has a node, or gets it by a decision of this session */
	DOMAIN_RELEASING, /* has a node, and terminates there */
	DOMAIN_PIPELINED, /* waits there for resources that are being released, or belongs to a
			     gang that does */
};

struct domain_count {
	uint32_t here; /* terminating pods included */
	uint32_t releasing, pipelined;
};

/* The domains of a topology key. */
struct domain_key {
	const char *name; /* interned; NULL: of a label that no node has */
	uint32_t *of;     /* by node id: domain; DOMAIN_NONE: the node has no such label */
	uint32_t *nodes;  /* by domain: how many it has */
	uint32_t n;
	struct domain_key *next;
};
#define DOMAIN_NONE UINT32_MAX

struct domain_table {
	const struct domain_key *key;
	struct domain_count *counts; /* by domain; NULL: nothing was counted */
	struct domain_count total;
	/* Of a spread constraint; NULL for others, which count on all nodes: */
	const uint64_t *eligible; /* bit set by node id: nodes on which pods count */
	uint8_t *has_eligible;    /* by domain */
	uint32_t domains;         /* that have an eligible node */
	/* Pods in the one of these that has the fewest: now, and with those that are pipelined. */
	uint32_t least, least_later;
};

/* The names of all labels that nodes have. O(nodes and their labels). */
struct domain_names *domain_table_names(struct arena *a, const struct cluster *c);
bool domain_table_has_name(const struct domain_names *names, const char *name); /* O(1) */
/* O(nodes). name NULL: that of a label that no node has. */
struct domain_key *domain_table_key(struct arena *a, const struct cluster *c, const char *name);
/* For spread constraints: before anything is counted. */
void domain_table_limit(struct domain_table *t, struct arena *a, const struct cluster *c,
			const uint64_t *eligible);
/* A pod in that state comes to the node (by 1) or goes (by -1). Tables that sum up weights change
 * by more than 1; a sum below 0 is kept modulo 2^32. True: the answers about other nodes may have
 * changed as well. */
bool domain_table_add(struct domain_table *t, struct arena *a, uint32_t node,
		      enum domain_state state, int32_t by);
/* The counts in the domain of the node; false: it is in none. */
bool domain_table_get(const struct domain_table *t, const struct node *n, struct domain_count *ret);
/* Pods that count for a spread: terminating ones do not, as in kube-scheduler. later: pipelined
 * ones do. */
static inline uint32_t domain_count_spread(const struct domain_count *c, bool later)
{
	return c->here - c->releasing + (later ? c->pipelined : 0);
}

#endif
