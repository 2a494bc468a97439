/* scheduler/pods/session/domains.h: inter-pod affinity, anti-affinity and topology spread in a
 * session: how many pods, on nodes or placed by this session, the terms of a pod select in each
 * topology domain. A view holds these counts for all pods of one class to which the same terms of
 * other pods apply. It is made when the first such pod is looked at, O(pods and terms that its own
 * terms and labels match), and kept up to date with every pod that is placed, evicted or taken
 * back, O(terms that select it). A pod without terms, which no anti-affinity or preference of
 * another pod selects, has no view and costs nothing; preferences cost nothing where no plugin
 * scores domains. Thread: sched. Pure. */
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

/* The view of t; NULL: no term is about it. Valid until the next call for another pod. */
const struct domain_view *domains_view(const struct session *s, const struct task *t);
/* Numbers for caches: of the view (0: none); and of its state, which changes when answers may have
 * changed about nodes that did not change themselves. No number is used twice in a session. */
uint64_t domains_view_id(const struct domain_view *v);
uint64_t domains_view_version(const struct domain_view *v);
/* The version of scores, which changes with every pod that counts; 0: there is no preference. */
uint64_t domains_view_score_version(const struct domain_view *v);
/* Whether some term decides where the pod may go, as opposed to a preference. */
bool domains_view_decides(const struct domain_view *v);

/* The topology keys: nodes with equal values of these labels get equal answers. Valid as long as
 * the view. */
const struct domain_key *const *domains_keys(const struct domain_view *v, size_t *ret_n);

/* About term i of the pod's class: whether it selects the pod itself; how many pods it selects in
 * the domain of the node (false: the node is in none); how many in all domains. Terms of affinity
 * count the pods that all of them together select. */
bool domains_selects_itself(const struct domain_view *v, size_t i);
bool domains_selected(const struct domain_view *v, size_t i, const struct node *n,
		      struct domain_count *ret);
struct domain_count domains_total(const struct domain_view *v, size_t i);

/* A gang that began with its pod t on the node did not become complete: its next attempt begins in
 * other domains. Call it when the first attempt was taken back; one gang at a time. False:
 * another attempt would be the same, since pods that are there already decide where t goes. */
bool domains_avoid(struct session *s, const struct task *t, const struct node *n);
void domains_avoid_nothing(struct session *s);
/* Whether the domain of the node for affinity term i of the class is avoided. */
bool domains_is_avoided(const struct domain_view *v, size_t i, const struct node *n);

/* Required anti-affinity of other pods that selects this pod: how many sets of equal terms there
 * are, and how many pods with the terms of a set are in the domain of the node (false: the node is
 * in none). */
size_t domains_forbidding(const struct domain_view *v);
bool domains_forbids(const struct domain_view *v, size_t set, const struct node *n,
		     struct domain_count *ret);

/* Preferences of other pods that select this pod: how many sets of terms with one selector and
 * topology key there are, and the sum of the weights of a set, over the pods with such terms in the
 * domain of the node (false: the node is in none). */
size_t domains_preferring(const struct domain_view *v);
bool domains_prefers(const struct domain_view *v, size_t set, const struct node *n,
		     struct domain_count *ret);

/* Whether pods on the node count for spread constraint i of the class. */
typedef bool (*domain_eligible_fn)(const struct pod_class *k, size_t i, const struct node *n);
/* The table of spread constraint i, made at the first call. */
const struct domain_table *domains_spread(const struct session *s, const struct domain_view *v,
					  size_t i, domain_eligible_fn eligible);

#endif
