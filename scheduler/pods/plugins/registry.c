#include "scheduler/pods/plugins/registry.h"

#include "base/attrs.h"

const struct plugin_row plugin_registry[] = {
	{ "binpack", &binpack_ops },
	{ "capacity", &capacity_ops },
	{ "cdp", &cdp_ops },
	{ "conformance", &conformance_ops },
	{ "deviceshare", NULL },
	{ "drf", &drf_ops },
	{ "extender", NULL },
	{ "gang", &gang_ops },
	{ "network-topology-aware", NULL },
	{ "nodegroup", NULL },
	{ "nodeorder", &nodeorder_ops },
	{ "numa-aware", NULL },
	{ "overcommit", &overcommit_ops },
	{ "pdb", &pdb_ops },
	{ "predicates", &predicates_ops },
	{ "priority", &priority_ops },
	{ "proportion", &proportion_ops },
	{ "rescheduling", NULL },
	{ "resource-strategy-fit", NULL },
	{ "resourcequota", NULL },
	{ "sla", NULL },
	{ "task-topology", NULL },
	{ "tdm", NULL },
	{ "usage", NULL },
};
const size_t plugin_registry_count = ARRAY_LEN(plugin_registry);
