/* scheduler/ctl/list/kueue_kinds.h: kinds of the group kueue.x-k8s.io as users type them. */
#ifndef SCHEDULER_CTL_LIST_KUEUE_KINDS_H
#define SCHEDULER_CTL_LIST_KUEUE_KINDS_H

#include "api/kinds.h"

/* Plural, singular, kind or a short name ("cq", "lq", "wl"), with or without the group; here
 * "queue" is a LocalQueue. NULL: none of the group. */
const struct kinds_row *kueue_kinds_find(const char *alias);
/* The same, but the kind must be one of `kinds` (NULL-terminated); else prints to standard error
 * what the verb accepts, and returns NULL. */
const struct kinds_row *kueue_kinds_need(const char *verb, const char *alias,
					 const char *const *kinds);

#endif
