/* scheduler/ctl/multikueue/worker_kinds.h: the kinds that a manager of MultiKueue carries by its
 * configuration (multiKueue.externalFrameworks), as an API server serves them. One thread. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_KINDS_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_KINDS_H

#include <stdint.h>

#include "api/kueue/custom_kinds.h"

struct arena;
struct err;
struct flags_list;
struct transport;

/* Of the flag --external-framework; everything lives in the arena. */
int worker_kinds_parse(const struct flags_list *names, struct arena *arena,
		       struct custom_kinds *ret, struct err *err);
/* The plural at this API server; the caller frees it. -ERR_NOT_FOUND: objects of the kind cannot be
 * carried there, and the error says why. Blocking. */
int worker_kinds_ask(struct transport *t, const struct custom_kind *k, int64_t timeout_ns,
		     char **ret_plural, struct err *err);

#endif
