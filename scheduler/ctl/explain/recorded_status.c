#include "scheduler/ctl/explain/recorded_status.h"

#include <stdio.h>
#include <string.h>

#include "api/kinds.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/explain/live_workloads.h"
#include "scheduler/ctl/explain/offer_lookup.h"
#include "scheduler/ctl/explain/offer_text.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define OBJECTS_MAX 2

struct recorded {
	const char *queue;         /* NULL: not known */
	const struct offer *offer; /* of a Workload; NULL: of a pod */
	struct {
		enum sched_resource kind;
		const struct jdoc *json; /* NULL: not there */
	} objects[OBJECTS_MAX];          /* the one that is explained comes first */
};

static const char *text_of(const struct jdoc *condition, const char *member)
{
	return jdoc_str_or(jdoc_get(condition, member), "");
}

static void print_table(const struct recorded *r)
{
	static const char *const heads[] = { "OBJECT", "CONDITION", "STATUS",
					     "REASON", "MESSAGE",   NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);
	const struct jdoc *first = r->objects[0].json;

	printf("%s:%*s%s/%s\n", sched_kinds_names(r->objects[0].kind)->kind,
	       (int)(10 - strlen(sched_kinds_names(r->objects[0].kind)->kind)), "",
	       jdoc_str_or(jdoc_path(first, "metadata.namespace"), ""),
	       jdoc_str_or(jdoc_path(first, "metadata.name"), ""));
	printf("Queue:     %s\n\n", r->queue == NULL ? "<unknown>" : r->queue);
	for (size_t i = 0; i < OBJECTS_MAX; i++) {
		const struct jdoc *c =
			jdoc_first(jdoc_path(r->objects[i].json, "status.conditions"));

		for (; c != NULL; c = jdoc_next(c)) {
			columns_add(table, "%s", sched_kinds_names(r->objects[i].kind)->kind);
			columns_add(table, "%s", text_of(c, "type"));
			columns_add(table, "%s", text_of(c, "status"));
			columns_add(table, "%s", text_of(c, "reason"));
			columns_add(table, "%s", text_of(c, "message"));
		}
	}
	columns_print(table, stdout);
	if (r->offer != NULL) {
		offer_text_print(r->offer, stdout);
	}
}

static void write_conditions(struct json_out *o, enum sched_resource kind,
			     const struct jdoc *object)
{
	static const char *const members[] = { "type", "status", "reason", "message" };
	const struct jdoc *c = jdoc_first(jdoc_path(object, "status.conditions"));

	for (; c != NULL; c = jdoc_next(c)) {
		json_out_object(o);
		json_out_kv(o, "kind", sched_kinds_names(kind)->kind);
		for (size_t i = 0; i < ARRAY_LEN(members); i++) {
			json_out_kv(o, members[i], text_of(c, members[i]));
		}
		json_out_object_end(o);
	}
}

static void print_json(const struct recorded *r)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct jdoc *first = r->objects[0].json;
	struct json_out o;

	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_kv(&o, "namespace", jdoc_path_str(first, "metadata.namespace"));
	json_out_kv(&o, "name", jdoc_path_str(first, "metadata.name"));
	json_out_kv(&o, "queue", r->queue);
	json_out_key(&o, "conditions");
	json_out_array(&o);
	for (size_t i = 0; i < OBJECTS_MAX; i++) {
		write_conditions(&o, r->objects[i].kind, r->objects[i].json);
	}
	json_out_array_end(&o);
	if (r->offer != NULL) {
		offer_text_write_json(r->offer, &o);
	}
	json_out_object_end(&o);
	printf("%s\n", text.p);
}

static void print(const struct cluster_args *a, const struct recorded *r)
{
	if (a->output == VERB_JSON) {
		print_json(r);
	} else {
		print_table(r);
	}
}

static int get(struct transport *t, enum sched_resource kind, const char *key, struct jdoc **ret,
	       struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_key_path(kind, str_of(key), NULL, &path);
	return rest_call(t, HTTP_GET, path.p, NULL, (struct str){ NULL, 0 }, CALL_NS, ret, err);
}

/* *ret_group stays NULL without a PodGroup. */
/* The right to read PodGroups may be missing, too: that is an error, while a group that is not
 * there is none. */
static int get_group(struct transport *t, const struct jdoc *pod, struct jdoc **ret_group,
		     struct err *err)
{
	const char *name =
		jdoc_str(jdoc_get(jdoc_path(pod, "metadata.annotations"), KEYS_GROUP_NAME));
	CLEANUP(xmalloc_freep) char *key = NULL;
	int r;

	if (name == NULL) {
		return 0;
	}
	key = xmalloc_printf("%s/%s", jdoc_str_or(jdoc_path(pod, "metadata.namespace"), ""), name);
	r = get(t, SCHED_PODGROUPS, key, ret_group, err);
	/* The group may have been deleted; the pod is explained without it. */
	return r == -ERR_NOT_FOUND ? 0 : r;
}

int recorded_status_pod(const struct cluster_args *a, struct err *err)
{
	CLEANUP(xmalloc_freep) char *key = cluster_args_key(a, a->rest[1]);
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *group = NULL;
	struct recorded found = { 0 };
	struct transport *t = NULL;
	int r;

	fprintf(stderr,
		"headgatectl: warning: %s\nheadgatectl: warning: " RECORDED_STATUS_LACKS "\n",
		err->text);
	r = cluster_args_connect(a, &t, err);
	if (r == 0) {
		r = get(t, SCHED_PODS, key, &pod, err);
	}
	if (r == 0) {
		r = get_group(t, pod, &group, err);
	}
	transport_destroy(t);
	if (r < 0) {
		return r;
	}
	found.queue = jdoc_path_str(group, "spec.queue");
	found.objects[0].kind = SCHED_PODS;
	found.objects[0].json = pod;
	found.objects[1].kind = SCHED_PODGROUPS;
	found.objects[1].json = group;
	print(a, &found);
	return 0;
}

void recorded_status_workload(const struct cluster_args *a, const struct live_workloads *s,
			      const char *key)
{
	const struct sim_object *object = sim_input_find(s->in, SCHED_WORKLOADS, key);
	CLEANUP(offer_explain_finish) struct offer offer = { .arena = NULL };
	struct recorded found = { .queue = jdoc_path_str(object->json, "spec.queueName"),
				  .offer = &offer };

	offer_lookup(a, s, key, &offer);
	found.objects[0].kind = SCHED_WORKLOADS;
	found.objects[0].json = object->json;
	print(a, &found);
}
