/* scheduler/pods/session/action.h: an action is one step of a cycle; it sees session queries and
 * statements only. Actions are rows of pods/actions/registry.c; names that Volcano has and we do
 * not are rows with run NULL. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_ACTION_H
#define SCHEDULER_PODS_SESSION_ACTION_H

#include <stddef.h>

struct conf_action;
struct conf_args_row;
struct err;
struct session;

struct action_row {
	const char *name;
	void (*run)(struct session *s);
	/* Of its arguments, and of those that Volcano has beside them; NULL: none. */
	const struct conf_args_row *arguments;
	/* Of their values in the configuration; NULL: it reads none. Fails with -ERR_INVALID. */
	int (*check)(const struct conf_action *a, struct err *err);
	const char *absent; /* why run is NULL; NULL: there is no implementation */
};
extern const struct action_row action_registry[];
extern const size_t action_registry_count;

#endif
