/* scheduler/pods/cycle/names.h: the names that a configuration may use, taken from the registries
 * of plugins and actions: conf_parse does not know the registries. Any thread. */
#ifndef SCHEDULER_PODS_CYCLE_NAMES_H
#define SCHEDULER_PODS_CYCLE_NAMES_H

#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/session/action.h"
#include "scheduler/pods/session/plugin.h"

struct names {
	const char **plugins, **actions, **absent; /* NULL-terminated, as in struct conf_names */
};

struct names_source {
	const struct plugin_row *plugins;
	size_t nplugins;
	const struct action_row *actions;
	size_t nactions;
};

/* The strings are those of the rows. */
void names_init(struct names *n, const struct names_source *from);
void names_finish(struct names *n);
/* Valid until names_finish. */
struct conf_names names_conf(const struct names *n);

#endif
