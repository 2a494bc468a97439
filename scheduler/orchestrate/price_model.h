/* scheduler/orchestrate/price_model.h: the model of one worker cluster, from the lists of its
 * objects: what prices are found in. Pure. Owner: one thread at a time; the model may be handed on.
 *
 * The configuration of a worker cannot be read from its API server: it is taken to have the same as
 * the manager. Objects that cannot be read are left out and counted; a Workload among them holds
 * its quota as far as that is readable, and is never a victim.
 *
 * The worker's clock, for the seconds that a victim has run, is the newest of: the creation of a
 * Workload, which only the API server stamps, and the transitions of the conditions of the Workload
 * in question, of which the latest is the request for its gate. All are times of the worker, so an
 * offset of its clock changes nothing. Seconds are too few by the time that has passed since then,
 * for all victims alike. The conditions of other Workloads do not count: one with a time in the
 * future would make all victims old. */
#ifndef SCHEDULER_ORCHESTRATE_PRICE_MODEL_H
#define SCHEDULER_ORCHESTRATE_PRICE_MODEL_H

#include "base/str.h"
#include "scheduler/orchestrate/price.h"

struct kueue_conf;
struct price_model;
struct sched_msg;

/* conf is borrowed and must outlive it. */
struct price_model *price_model_create(const struct kueue_conf *conf);
void price_model_destroy(struct price_model *m); /* NULL is fine */

/* An object of a list, as message_decode makes it; the message is freed. Of kinds for which
 * workload_cache_reads is true, others change nothing; Workloads come last, after
 * price_model_rules_complete. */
void price_model_take(struct price_model *m, struct sched_msg *msg);
/* All lists but that of Workloads are complete: on them the requests of Workloads depend. */
void price_model_rules_complete(struct price_model *m);
/* The list of Workloads is complete as well. Nothing is taken any more. */
void price_model_complete(struct price_model *m);
/* How many objects could not be read. */
size_t price_model_bad(const struct price_model *m);

/* The price of the Workload with this key ("namespace/name") in a complete model. promised: as in
 * struct price_request. Texts live in the arena or as long as the model. */
void price_model_find(struct price_model *m, struct str key, const char *const *promised,
		      size_t npromised, struct arena *arena, struct price *ret);

#endif
