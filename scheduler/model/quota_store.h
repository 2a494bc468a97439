/* scheduler/model/quota_store.h: building and changing a struct quota: objects come, change and go
 * in any order; names that nobody defined yet have placeholders. Who holds quota and who is pending
 * is not decided here: callers take a workload out (quota/forest.h, quota/queues.h) before they
 * remove it (asserted). Owner: the sched thread. Pure. */
#ifndef SCHEDULER_MODEL_QUOTA_STORE_H
#define SCHEDULER_MODEL_QUOTA_STORE_H

#include "base/str.h"
#include "model/quota_model.h"

/* Options: Kueue's defaults of 0.20, fair sharing off. */
struct quota *quota_create(void);
void quota_destroy(struct quota *q); /* NULL is fine */
void quota_options_default(struct quota_options *o);

const char *quota_name(struct quota *q, struct str name); /* interned */
uint32_t quota_resource(struct quota *q, struct str name);
uint32_t quota_pair_get(struct quota *q, uint32_t flavor, uint32_t resource); /* adds when new */
uint32_t quota_pair_find(const struct quota *q, uint32_t flavor,
			 uint32_t resource); /* MODEL_NONE */

/* *_get makes a placeholder (exists = false) when unknown; *_find gives NULL. Queues and cohorts
 * are different name spaces. */
struct quota_flavor *quota_flavor_get(struct quota *q, struct str name);
struct quota_flavor *quota_flavor_find(const struct quota *q, struct str name);
struct quota_node *quota_queue_get(struct quota *q, struct str name);
struct quota_node *quota_queue_find(const struct quota *q, struct str name);
struct quota_node *quota_cohort_get(struct quota *q, struct str name);
struct quota_node *quota_cohort_find(const struct quota *q, struct str name);
/* After parent, exists, cells, groups or weight of any node changed: resolves parents (making
 * placeholder cohorts, dropping those that nobody names) and bumps forest_gen. */
void quota_nodes_changed(struct quota *q);
/* Works out `inactive` of a queue from flavors, checks and stop. */
void quota_queue_check(struct quota *q, struct quota_node *n);

struct quota_local *quota_local_get(struct quota *q, struct str key);
struct quota_local *quota_local_find(const struct quota *q, struct str key);
void quota_local_remove(struct quota *q, struct quota_local *l);

struct workload *quota_workload_add(struct quota *q, struct str key);
struct workload *quota_workload_find(const struct quota *q, struct str key);
void quota_workload_remove(struct quota *q, struct workload *w);

struct quota_namespace *quota_namespace_get(struct quota *q, struct str name);
struct quota_namespace *quota_namespace_find(const struct quota *q, struct str name);
void quota_namespace_remove(struct quota *q, struct str name);

/* spec.priority, and the boost when its gate is on. */
int64_t workload_priority(const struct quota *q, const struct workload *w);
/* The time that orders equal priorities (Kueue: queue-order timestamp). */
int64_t workload_queue_time(const struct quota *q, const struct workload *w);
bool quota_selector_matches(const struct quota_selector *s, const struct label *labels, size_t n);

/* Sorted lists of amounts. */
int64_t quota_amounts_get(const struct quota_amounts *a, uint32_t id);       /* 0 where absent */
void quota_amounts_add(struct quota_amounts *a, uint32_t id, int64_t value); /* saturating */
void quota_amounts_finish(struct quota_amounts *a);

#endif
