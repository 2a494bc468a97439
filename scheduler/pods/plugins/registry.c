#include "scheduler/pods/plugins/registry.h"

#include "base/attrs.h"

const struct plugin_row plugin_registry[] = {
	{ "binpack", &binpack_ops, false },
	{ "capacity", &capacity_ops, true },
	{ "cdp", NULL, false },
	{ "conformance", &conformance_ops, false },
	{ "deviceshare", NULL, false },
	{ "drf", NULL, false },
	{ "extender", NULL, false },
	{ "gang", &gang_ops, false },
	{ "network-topology-aware", NULL, false },
	{ "nodegroup", NULL, false },
	{ "nodeorder", NULL, false },
	{ "numa-aware", NULL, false },
	{ "overcommit", NULL, false },
	{ "pdb", NULL, false },
	{ "predicates", &predicates_ops, false },
	{ "priority", &priority_ops, false },
	{ "proportion", NULL, true },
	{ "rescheduling", NULL, false },
	{ "resource-strategy-fit", NULL, false },
	{ "resourcequota", NULL, false },
	{ "sla", NULL, false },
	{ "task-topology", NULL, false },
	{ "tdm", NULL, false },
	{ "usage", NULL, false },
};
const size_t plugin_registry_count = ARRAY_LEN(plugin_registry);
