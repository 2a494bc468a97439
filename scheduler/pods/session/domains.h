/* scheduler/pods/session/domains.h: the pods that terms about other pods find in a session, by
 * topology domain: pods on nodes, and those that this session has placed. A view of these counts is
 * for pods of one class on which the same terms of others bear. It is made when the first such pod
 * is looked at, O(pods and terms that its own terms and labels match), and kept up with every pod
 * that is placed, evicted or taken back, O(terms that select it). A pod that has no terms and that
 * no anti-affinity or preference of another selects has no view, and costs nothing; nor do
 * preferences where no plugin scores domains. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_DOMAINS_H
#define SCHEDULER_PODS_SESSION_DOMAINS_H

#include "scheduler/pods/session/domain_table.h"
#include "scheduler/pods/session/session.h"

struct domain_view;
struct domains;

/* For pods/session/session.c. */
struct domains *domains_create(void);
void domains_destroy(struct domains *d); /* NULL is fine */
void domains_open(struct session *s);
/* For pods/session/statement.c: the status or node of t in the session has changed. */
void domains_update(struct session *s, const struct task *t);

/* The view of t; NULL: nothing concerns it. Valid until the next call for another pod. */
const struct domain_view *domains_view(const struct session *s, const struct task *t);
/* Numbers for caches: of the view (0: none); and of its state, which changes when answers may have
 * changed about nodes that did not change themselves. No number is used twice in a session. */
uint64_t domains_view_id(const struct domain_view *v);
uint64_t domains_view_version(const struct domain_view *v);
/* The same for scores, which change with every pod that counts; 0: there is no preference. */
uint64_t domains_view_score_version(const struct domain_view *v);
/* Whether terms decide where the pod may go, beyond preferences. */
bool domains_view_decides(const struct domain_view *v);

/* The topology keys on which answers about a node depend: equal values of these labels, equal
 * answers. Valid as the view is. */
const struct domain_key *const *domains_keys(const struct domain_view *v, size_t *ret_n);

/* Term i of the pod's class: whether it selects the pod itself; pods that it selects in the domain
 * of the node (false: the node is in none), and in all. For terms of affinity: pods that all of
 * those together select. */
bool domains_selects_itself(const struct domain_view *v, size_t i);
bool domains_selected(const struct domain_view *v, size_t i, const struct node *n,
		      struct domain_count *ret);
struct domain_count domains_total(const struct domain_view *v, size_t i);

/* A gang that began with t on the node was not complete there: its next attempt does not begin in
 * the same domains. False: where t goes does not depend on itself, but on pods that are there, so
 * that another attempt would be the same. To be called when the first attempt was taken back. One
 * gang at a time. */
bool domains_avoid(struct session *s, const struct task *t, const struct node *n);
void domains_avoid_nothing(struct session *s);
/* Whether the domain of the node for affinity term i of the class is avoided. */
bool domains_is_avoided(const struct domain_view *v, size_t i, const struct node *n);

/* Pods with a required anti-affinity that selects the pod: sets of equal terms, and how many of
 * these pods are in the domain of the node, likewise. */
size_t domains_forbidding(const struct domain_view *v);
bool domains_forbids(const struct domain_view *v, size_t set, const struct node *n,
		     struct domain_count *ret);

/* Pods with preferences that select the pod: sets of terms with one selector and topology key, and
 * the sum of their weights, for each pod with such terms, in the domain of the node, likewise. */
size_t domains_preferring(const struct domain_view *v);
bool domains_prefers(const struct domain_view *v, size_t set, const struct node *n,
		     struct domain_count *ret);

/* Whether pods on the node count for spread constraint i of the class. */
typedef bool (*domain_eligible_fn)(const struct pod_class *k, size_t i, const struct node *n);
/* The table of spread constraint i, made at the first call. */
const struct domain_table *domains_spread(const struct session *s, const struct domain_view *v,
					  size_t i, domain_eligible_fn eligible);

#endif
