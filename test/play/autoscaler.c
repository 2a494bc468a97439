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
#include "play/node_room.h"

#define TIMEOUT_NS (60 * CLOCK_NS_PER_S)

struct order {
	char name[NODE_ROOM_NAME_MAX];
	const struct autoscaler_group *group;
	int64_t due; /* monotonic */
};

struct autoscaler {
	struct mirror *mirror;
	struct autoscaler_options opt;
	struct VEC(struct order) orders;
	struct node_rooms rooms;
	uint64_t idle_at; /* changes of the mirror at which a scan had nothing to do, + 1 */
	_Atomic unsigned ordered;
};

static struct node_room room_of_group(const struct autoscaler_group *g, const char *name)
{
	struct node_room r = { .pods = g->pods,
			       .label_key = g->label_key,
			       .label_value = g->label_value };
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

static void order_node(struct autoscaler *a, const struct jdoc *pod, struct str key)
{
	for (unsigned i = 0; i < a->opt.ngroups; i++) {
		const struct autoscaler_group *g = &a->opt.groups[i];
		struct order o = {
			.group = g, .due = clock_mono(mirror_clock(a->mirror)) + a->opt.provision_ns
		};
		struct node_room r;

		snprintf(o.name, sizeof(o.name), "%s-%u", g->name, group_size(a, g) + 1);
		r = room_of_group(g, o.name);
		if (group_size(a, g) >= g->max || !node_room_take(&r, pod)) {
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

	if (!mirror_pod_triggers_scale_up(pod)) {
		return true;
	}
	for (size_t i = 0; i < a->rooms.n; i++) {
		if (node_room_take(&a->rooms.v[i], pod)) {
			return true;
		}
	}
	order_node(a, pod, key);
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

/* True: the next time would be the same while the mirror does not change. */
static bool look(struct autoscaler *a)
{
	int64_t now = clock_mono(mirror_clock(a->mirror));
	size_t norders = a->orders.n;
	bool idle = true;

	node_room_read(&a->rooms, a->mirror);
	for (size_t i = 0; i < a->orders.n; i++) {
		struct order *o = &a->orders.v[i];

		if (mirror_get(a->mirror, MIRROR_NODES, o->name) != NULL) {
			continue;
		}
		idle = false;
		vec_push(&a->rooms, room_of_group(o->group, o->name));
		if (o->due <= now) {
			create_node(a, o);
		}
	}
	if (mirror_is_synced(a->mirror)) {
		mirror_each(a->mirror, MIRROR_PODS, consider, a);
	}
	return idle && a->orders.n == norders;
}

static void scan(void *ctx)
{
	struct autoscaler *a = ctx;
	uint64_t changes = mirror_changes(a->mirror);

	if (atomic_load(&mirror_transport(a->mirror)->stopping)) {
		return;
	}
	if (a->idle_at != changes + 1) {
		a->idle_at = look(a) ? changes + 1 : 0;
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
