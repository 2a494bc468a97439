#include "api/kinds.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/event.h"
#include "api/lease.h"
#include "api/namespace.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/scheduling.h"
#include "base/attrs.h"

/* Sorted by group, then plural. */
static const struct kinds_row rows[] = {
	{ "", "events", "v1", "Event", "event", "ev", true, false, &event_fields },
	{ "", "namespaces", "v1", "Namespace", "namespace", "ns", false, true, &namespace_fields },
	{ "", "nodes", "v1", "Node", "node", "no", false, true, &node_fields },
	{ "", "pods", "v1", "Pod", "pod", "po", true, true, &pod_fields },
	{ "coordination.k8s.io", "leases", "v1", "Lease", "lease", "", true, false, &lease_fields },
	{ "scheduling.k8s.io", "priorityclasses", "v1", "PriorityClass", "priorityclass", "pc",
	  false, false, &scheduling_priority_class_fields },
	{ "scheduling.volcano.sh", "podgroups", "v1beta1", "PodGroup", "podgroup",
	  "pg,podgroup-v1beta1", true, false, &scheduling_pod_group_fields },
	{ "scheduling.volcano.sh", "queues", "v1beta1", "Queue", "queue", "q,queue-v1beta1", false,
	  true, &scheduling_queue_fields },
};

const struct kinds_row *kinds_all(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(rows);
	return rows;
}

const struct kinds_row *kinds_find(const char *group, const char *plural)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].group, group) == 0 && strcmp(rows[i].plural, plural) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

void kinds_api_version(const struct kinds_row *k, char out[128])
{
	snprintf(out, 128, "%s%s%s", k->group, k->group[0] == '\0' ? "" : "/", k->version);
}

const struct kinds_row *kinds_by_kind(const char *api_version, const char *kind)
{
	char version[128];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		kinds_api_version(&rows[i], version);
		if (str_streq(version, api_version) && str_streq(rows[i].kind, kind)) {
			return &rows[i];
		}
	}
	return NULL;
}

static bool same(struct str a, const char *b)
{
	return a.len == strlen(b) && strncasecmp(a.p, b, a.len) == 0;
}

static bool is_alias(const struct kinds_row *k, struct str name)
{
	struct str rest = str_of(k->short_names);

	if (same(name, k->plural) || same(name, k->singular)) {
		return true;
	}
	while (rest.p != NULL) {
		struct str s = str_next(&rest, ',');

		if (s.len > 0 && str_eq(s, name)) {
			return true;
		}
	}
	return false;
}

const struct kinds_row *kinds_by_alias(struct str alias)
{
	struct str group = alias, name;

	if (alias.len == 0) {
		return NULL;
	}
	name = str_next(&group, '.');
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (is_alias(&rows[i], name) &&
		    (group.p == NULL || str_eq_c(group, rows[i].group))) {
			return &rows[i];
		}
	}
	return NULL;
}
