/* Volcano's conformance plugin: keeps pods of system priority classes and of kube-system from being
 * evicted. No action asks that yet, since none evicts, so the plugin has nothing to answer; it is
 * known so that a configuration may name it. */
#include "scheduler/pods/plugins/registry.h"

const struct plugin_ops conformance_ops = {
	.name = "conformance",
};
