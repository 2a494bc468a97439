#include "play/autoscaler.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "kube/transport.h"
#include "play/mirror.h"

#define TIMEOUT_NS (60 * CLOCK_NS_PER_S)
#define NAME_MAX_LEN 64

/* One node, real or ordered, during a scan. */
struct room {
	char name[NAME_MAX_LEN];
	int64_t cpu, memory, pods;            /* free: milli-CPU, bytes, pieces */
	const struct jdoc *labels;            /* of a real node */
	const struct autoscaler_group *group; /* of an ordered one */
};

struct order {
	char name[NAME_MAX_LEN];
	const struct autoscaler_group *group;
	int64_t due; /* monotonic */
};

struct autoscaler {
	struct mirror *mirror;
	struct autoscaler_options opt;
	struct VEC(struct order) orders;
	struct VEC(struct room) rooms;
	_Atomic unsigned ordered;
};

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
	struct autoscaler *a = ctx;
	const struct jdoc *allocatable = jdoc_path(node, "status.allocatable");
	struct room r = { .labels = jdoc_path(node, "metadata.labels") };

	snprintf(r.name, sizeof(r.name), STR_FMT, STR_ARG(key));
	r.cpu = amount(allocatable, "cpu", true);
	r.memory = amount(allocatable, "memory", false);
	r.pods = amount(allocatable, "pods", false);
	vec_push(&a->rooms, r);
	return true;
}

static bool take_room(struct room *r, int64_t cpu, int64_t memory)
{
	if (r->cpu < cpu || r->memory < memory || r->pods < 1) {
		return false;
	}
	r->cpu -= cpu;
	r->memory -= memory;
	r->pods--;
	return true;
}

static bool use_node(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	struct autoscaler *a = ctx;
	const char *node = jdoc_path_str(pod, "spec.nodeName"),
		   *phase = jdoc_path_str(pod, "status.phase");
	int64_t cpu = 0, memory = 0;

	if (node == NULL || str_streq(phase, "Succeeded") || str_streq(phase, "Failed")) {
		return true;
	}
	add_requests(pod, &cpu, &memory);
	for (size_t i = 0; i < a->rooms.n; i++) {
		if (str_streq(a->rooms.v[i].name, node)) {
			a->rooms.v[i].cpu -= cpu;
			a->rooms.v[i].memory -= memory;
			a->rooms.v[i].pods--;
		}
	}
	return true;
}

static bool has_label(const struct room *r, const char *key, const char *value)
{
	if (r->group != NULL) {
		return r->group->label_key != NULL && str_streq(r->group->label_key, key) &&
		       str_streq(r->group->label_value, value);
	}
	return jdoc_is_str(jdoc_get(r->labels, key), value);
}

static bool selector_matches(const struct jdoc *pod, const struct room *r)
{
	const struct jdoc *selector = jdoc_path(pod, "spec.nodeSelector");

	for (const struct jdoc *s = jdoc_first(selector); s != NULL; s = jdoc_next(s)) {
		if (!has_label(r, jdoc_key(s), jdoc_str(s))) {
			return false;
		}
	}
	return true;
}

static struct room room_of_group(const struct autoscaler_group *g, const char *name)
{
	struct room r = { .group = g, .pods = g->pods };
	struct quantity q;

	snprintf(r.name, sizeof(r.name), "%s", name);
	if (quantity_parse(str_of(g->cpu), &q, NULL) == 0) {
		r.cpu = quantity_milli(q);
	}
	if (quantity_parse(str_of(g->memory), &q, NULL) == 0) {
		r.memory = quantity_value(q);
	}
	return r;
}

static unsigned group_size(const struct autoscaler *a, const struct autoscaler_group *g)
{
	unsigned n = 0;

	for (size_t i = 0; i < a->orders.n; i++) {
		n += a->orders.v[i].group == g;
	}
	return n;
}

static void order_node(struct autoscaler *a, const struct jdoc *pod, struct str key, int64_t cpu,
		       int64_t memory)
{
	for (unsigned i = 0; i < a->opt.ngroups; i++) {
		const struct autoscaler_group *g = &a->opt.groups[i];
		struct order o = {
			.group = g, .due = clock_mono(mirror_clock(a->mirror)) + a->opt.provision_ns
		};
		struct room r;

		snprintf(o.name, sizeof(o.name), "%s-%u", g->name, group_size(a, g) + 1);
		r = room_of_group(g, o.name);
		if (group_size(a, g) >= g->max || !selector_matches(pod, &r) ||
		    !take_room(&r, cpu, memory)) {
			continue;
		}
		vec_push(&a->orders, o);
		vec_push(&a->rooms, r);
		atomic_fetch_add(&a->ordered, 1);
		if (a->opt.on_scale_up != NULL) {
			CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(key.p, key.len);

			a->opt.on_scale_up(a->opt.ctx, o.name, name);
		}
		return;
	}
}

static bool consider(void *ctx, struct str key, const struct jdoc *pod)
{
	struct autoscaler *a = ctx;
	int64_t cpu = 0, memory = 0;

	if (!mirror_pod_triggers_scale_up(pod)) {
		return true;
	}
	add_requests(pod, &cpu, &memory);
	for (size_t i = 0; i < a->rooms.n; i++) {
		if (selector_matches(pod, &a->rooms.v[i]) &&
		    take_room(&a->rooms.v[i], cpu, memory)) {
			return true;
		}
	}
	order_node(a, pod, key, cpu, memory);
	return true;
}

static void on_created(void *ctx UNUSED, const struct http_result *result UNUSED)
{
	/* If the creation failed, the next scan finds the node missing and orders it again. */
}

static void create_node(struct autoscaler *a, struct order *o)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct http_call call = { .method = HTTP_POST,
				  .url = "/api/v1/nodes",
				  .content_type = "application/json",
				  .timeout_ns = TIMEOUT_NS,
				  .on_done = on_created };

	strbuf_printf(&body,
		      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\","
		      "\"labels\":{",
		      o->name);
	if (o->group->label_key != NULL) {
		strbuf_printf(&body, "\"%s\":\"%s\",", o->group->label_key, o->group->label_value);
	}
	strbuf_printf(&body,
		      "\"kubernetes.io/"
		      "hostname\":\"%s\"}},\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"%s\","
		      "\"memory\":"
		      "\"%s\",\"pods\":\"%lld\"},\"capacity\":{\"cpu\":\"%s\",\"memory\":\"%s\","
		      "\"pods\":\"%lld\"},\"conditions\":"
		      "[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"KubeletReady\"}]}}",
		      o->name, o->group->cpu, o->group->memory, (long long)o->group->pods,
		      o->group->cpu, o->group->memory, (long long)o->group->pods);
	call.body = strbuf_str(&body);
	transport_submit(mirror_transport(a->mirror), &call);
}

static void scan(void *ctx)
{
	struct autoscaler *a = ctx;
	int64_t now = clock_mono(mirror_clock(a->mirror));

	if (atomic_load(&mirror_transport(a->mirror)->stopping)) {
		return;
	}
	vec_clear(&a->rooms);
	mirror_each(a->mirror, MIRROR_NODES, add_node, a);
	mirror_each(a->mirror, MIRROR_PODS, use_node, a);
	for (size_t i = 0; i < a->orders.n; i++) {
		struct order *o = &a->orders.v[i];

		if (mirror_get(a->mirror, MIRROR_NODES, o->name) != NULL) {
			continue;
		}
		vec_push(&a->rooms, room_of_group(o->group, o->name));
		if (o->due <= now) {
			create_node(a, o);
		}
	}
	if (mirror_is_synced(a->mirror)) {
		mirror_each(a->mirror, MIRROR_PODS, consider, a);
	}
	transport_call(mirror_transport(a->mirror), a->opt.scan_interval_ns, scan, a);
}

struct autoscaler *autoscaler_create(struct mirror *m, const struct autoscaler_options *opt)
{
	struct autoscaler *a = xmalloc_zero(1, sizeof(*a));

	a->mirror = m;
	a->opt = *opt;
	return a;
}

void autoscaler_start(struct autoscaler *a)
{
	transport_call(mirror_transport(a->mirror), a->opt.scan_interval_ns, scan, a);
}

unsigned autoscaler_ordered(const struct autoscaler *a)
{
	return atomic_load(&a->ordered);
}

void autoscaler_destroy(struct autoscaler *a)
{
	if (a != NULL) {
		vec_finish(&a->orders);
		vec_finish(&a->rooms);
		free(a);
	}
}
