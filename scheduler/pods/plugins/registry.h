/* scheduler/pods/plugins/registry.h: the plugins there are; one file each, none includes another.
 * The table that the configuration is compiled from (plugin_registry, pods/session/plugin.h) lists
 * them next to the names that Volcano has and we do not. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_REGISTRY_H
#define SCHEDULER_PODS_PLUGINS_REGISTRY_H

#include "scheduler/pods/session/plugin.h"

extern const struct plugin_ops binpack_ops;
extern const struct plugin_ops capacity_ops;
extern const struct plugin_ops cdp_ops;
extern const struct plugin_ops conformance_ops;
extern const struct plugin_ops drf_ops;
extern const struct plugin_ops gang_ops;
extern const struct plugin_ops nodeorder_ops;
extern const struct plugin_ops overcommit_ops;
extern const struct plugin_ops pdb_ops;
extern const struct plugin_ops predicates_ops;
extern const struct plugin_ops priority_ops;
extern const struct plugin_ops proportion_ops;

#endif
