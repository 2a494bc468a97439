/* scheduler/pods/cycle/known_names.h: the names that a configuration may use, and their
 * arguments, taken from the registries of plugins and actions: conf_parse does not know the
 * registries. Any thread. */
#ifndef SCHEDULER_PODS_CYCLE_KNOWN_NAMES_H
#define SCHEDULER_PODS_CYCLE_KNOWN_NAMES_H

#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/session/action.h"
#include "scheduler/pods/session/plugin.h"

struct known_names {
	struct conf_name *plugins, *actions; /* as in struct conf_names */
};

struct known_names_source {
	const struct plugin_row *plugins;
	size_t nplugins;
	const struct action_row *actions;
	size_t nactions;
};

/* Strings and tables of arguments are those of the rows. */
void known_names_init(struct known_names *n, const struct known_names_source *from);
void known_names_finish(struct known_names *n);
/* Valid until known_names_finish. */
struct conf_names known_names_conf(const struct known_names *n);

#endif
