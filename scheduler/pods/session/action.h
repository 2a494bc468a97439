/* scheduler/pods/session/action.h: an action is one step of a cycle; it sees session queries and
 * statements only. Actions are rows of pods/actions/registry.c; names that Volcano has and we do
 * not are rows with run NULL. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_ACTION_H
#define SCHEDULER_PODS_SESSION_ACTION_H

#include <stddef.h>

struct session;

struct action_row {
	const char *name;
	void (*run)(struct session *s);
};
extern const struct action_row action_registry[];
extern const size_t action_registry_count;

#endif
