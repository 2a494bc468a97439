/* scheduler/pods/values/pod_term.h: terms of a pod about other pods: inter-pod affinity,
 * anti-affinity and topology spread. Texts are interned in the cluster's names. Plain data, owned
 * by the pod class. Pure. */
#ifndef SCHEDULER_PODS_VALUES_POD_TERM_H
#define SCHEDULER_PODS_VALUES_POD_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/base/match.h"

struct intern;
struct pod_selector; /* pods/model/selectors.h */
struct strbuf;

enum pod_term_kind {
	POD_TERM_AFFINITY,      /* required */
	POD_TERM_ANTI_AFFINITY, /* required */
	POD_TERM_SPREAD,        /* DoNotSchedule */
	POD_TERM_PREFERRED,     /* affinity, or anti-affinity by a weight below 0 */
	POD_TERM_SPREAD_ANYWAY, /* ScheduleAnyway */
	POD_TERM_KIND_COUNT_
};

#define POD_TERM_WEIGHT_MAX 100

/* Preferences have the last kinds: they do not decide where a pod may go. */
static inline bool pod_term_is_preference(unsigned kind)
{
	return kind >= POD_TERM_PREFERRED;
}

struct pod_term {
	uint8_t kind;             /* enum pod_term_kind */
	bool selects;             /* false: has no labelSelector, and selects no pod */
	bool selects_namespaces;  /* has a namespaceSelector: its namespaces count as well */
	const char *topology_key; /* interned */
	const char **namespaces;  /* interned, sorted by text */
	size_t nnamespaces;
	struct match_term namespaces_by; /* namespaceSelector: without expressions all namespaces */
	struct match_term pods;          /* labelSelector */
	/* Of both kinds of spread: */
	int32_t max_skew, min_domains;
	bool ignores_affinity; /* nodeAffinityPolicy: Ignore */
	bool honors_taints;    /* nodeTaintsPolicy: Honor */
	int32_t weight;        /* of POD_TERM_PREFERRED: 1 to POD_TERM_WEIGHT_MAX, or less than 0 */
	const struct pod_selector *selector; /* of a class in the cluster; NULL before */
};

/* Brings lists that mean the same in any order into one. */
void pod_term_normalise(struct pod_term *t);
/* The selectors of pods and namespaces alone; and the whole term. */
void pod_term_format_selector(const struct pod_term *t, struct strbuf *out);
void pod_term_format(const struct pod_term *t, struct strbuf *out);
/* Deep copies without selector, for pod_term_free; interned texts are shared. NULL: n is 0. */
struct pod_term *pod_term_copy(const struct pod_term *terms, size_t n);
void pod_term_free(struct pod_term *terms, size_t n); /* NULL is fine */
/* Marks the names for a sweep. */
void pod_term_mark(struct intern *names, const struct pod_term *t);

/* Of expressions alone, also of node affinity. */
void pod_term_normalise_match(struct match_term *t);
void pod_term_mark_match(struct intern *names, const struct match_term *t);

#endif
