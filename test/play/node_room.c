#include "play/node_room.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/str.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "play/mirror.h"

static int64_t amount(const struct jdoc *list, const char *name, bool milli)
{
	const char *text = jdoc_str(jdoc_get(list, name));
	struct quantity q;

	if (text == NULL || quantity_parse(str_of(text), &q, NULL) < 0) {
		return 0;
	}
	return milli ? quantity_milli(q) : quantity_value(q);
}

static void add_requests(const struct jdoc *pod, int64_t *cpu, int64_t *memory)
{
	const struct jdoc *containers = jdoc_path(pod, "spec.containers");

	for (const struct jdoc *c = jdoc_first(containers); c != NULL; c = jdoc_next(c)) {
		const struct jdoc *requests = jdoc_path(c, "resources.requests");

		*cpu += amount(requests, "cpu", true);
		*memory += amount(requests, "memory", false);
	}
}

static bool add_node(void *ctx, struct str key, const struct jdoc *node)
{
	struct node_rooms *rooms = ctx;
	const struct jdoc *allocatable = jdoc_path(node, "status.allocatable");
	struct node_room r = { .labels = jdoc_path(node, "metadata.labels") };

	snprintf(r.name, sizeof(r.name), STR_FMT, STR_ARG(key));
	r.cpu = amount(allocatable, "cpu", true);
	r.memory = amount(allocatable, "memory", false);
	r.pods = amount(allocatable, "pods", false);
	vec_push(rooms, r);
	return true;
}

static bool use_node(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	struct node_rooms *rooms = ctx;
	const char *node = jdoc_path_str(pod, "spec.nodeName"),
		   *phase = jdoc_path_str(pod, "status.phase");
	int64_t cpu = 0, memory = 0;

	if (node == NULL || str_streq(phase, "Succeeded") || str_streq(phase, "Failed")) {
		return true;
	}
	add_requests(pod, &cpu, &memory);
	for (size_t i = 0; i < rooms->n; i++) {
		if (str_streq(rooms->v[i].name, node)) {
			rooms->v[i].cpu -= cpu;
			rooms->v[i].memory -= memory;
			rooms->v[i].pods--;
		}
	}
	return true;
}

void node_room_read(struct node_rooms *rooms, const struct mirror *m)
{
	vec_clear(rooms);
	mirror_each(m, MIRROR_NODES, add_node, rooms);
	mirror_each(m, MIRROR_PODS, use_node, rooms);
}

static bool has_label(const struct node_room *r, const char *key, const char *value)
{
	return r->label_key != NULL
		       ? str_streq(r->label_key, key) && str_streq(r->label_value, value)
		       : jdoc_is_str(jdoc_get(r->labels, key), value);
}

static bool selector_matches(const struct jdoc *pod, const struct node_room *r)
{
	const struct jdoc *selector = jdoc_path(pod, "spec.nodeSelector");

	for (const struct jdoc *s = jdoc_first(selector); s != NULL; s = jdoc_next(s)) {
		if (!has_label(r, jdoc_key(s), jdoc_str(s))) {
			return false;
		}
	}
	return true;
}

bool node_room_take(struct node_room *r, const struct jdoc *pod)
{
	int64_t cpu = 0, memory = 0;

	add_requests(pod, &cpu, &memory);
	if (!selector_matches(pod, r) || r->cpu < cpu || r->memory < memory || r->pods < 1) {
		return false;
	}
	r->cpu -= cpu;
	r->memory -= memory;
	r->pods--;
	return true;
}
