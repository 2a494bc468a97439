#include "scheduler/ctl/list/queue_state.h"

#include <stdio.h>
#include <string.h>

#include "api/kinds.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/ctl/cli/cluster_args.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define MANAGER "headgatectl"
#define ATTEMPTS 10 /* of a queue that changes between being read and being written */

struct change {
	struct transport *transport;
	const char *name;
	bool closes;
	enum cluster_args_dry dry;
	const char *done; /* the result, printed after the name */
};

typedef void (*fill_fn)(const struct change *c, const struct jdoc *queue, struct json_out *o);

static void queue_path(const char *name, const char *sub, struct strbuf *out)
{
	sched_kinds_path(SCHED_QUEUES, NULL, name, sub, out);
}

static int get(struct change *c, const char *name, struct jdoc **ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	queue_path(name, NULL, &path);
	return rest_call(c->transport, HTTP_GET, path.p, NULL, (struct str){ NULL, 0 }, CALL_NS,
			 ret, err);
}

/* A merge patch of the queue as it was read: -ERR_CONFLICT when it has changed since. */
static int patch(struct change *c, const struct jdoc *queue, const char *sub, fill_fn fill,
		 struct jdoc **ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	struct json_out o;

	queue_path(c->name, sub, &path);
	strbuf_printf(&path, "?fieldManager=" MANAGER "%s",
		      c->dry == CLUSTER_ARGS_DRY_SERVER ? "&dryRun=All" : "");
	json_out_init(&o, &body);
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "resourceVersion", jdoc_path_str(queue, "metadata.resourceVersion"));
	json_out_kv(&o, "uid", jdoc_path_str(queue, "metadata.uid"));
	if (sub == NULL) {
		fill(c, queue, &o);
	}
	json_out_object_end(&o);
	if (sub != NULL) {
		fill(c, queue, &o);
	}
	json_out_object_end(&o);
	return rest_call(c->transport, HTTP_PATCH, path.p, "application/merge-patch+json",
			 strbuf_str(&body), CALL_NS, ret, err);
}

static void fill_mark(const struct change *c UNUSED, const struct jdoc *queue UNUSED,
		      struct json_out *o)
{
	json_out_key(o, "annotations");
	json_out_object(o);
	json_out_key(o, KEYS_CLOSED_BY_PARENT);
	json_out_null(o);
	json_out_object_end(o);
}

/* Closing, not Closed: the scheduler sets Closed when no PodGroup is left in the queue. A status
 * must have `allocated`, which is not written yet for a new queue. */
static void fill_state(const struct change *c, const struct jdoc *queue, struct json_out *o)
{
	json_out_key(o, "status");
	json_out_object(o);
	json_out_kv(o, "state", c->closes ? KEYS_QUEUE_CLOSING : KEYS_QUEUE_OPEN);
	if (jdoc_path(queue, "status.allocated") == NULL) {
		json_out_key(o, "allocated");
		json_out_object(o);
		json_out_object_end(o);
	}
	json_out_object_end(o);
}

static bool is_closed(const struct jdoc *queue)
{
	const struct jdoc *state = jdoc_path(queue, "status.state");

	return jdoc_is_str(state, KEYS_QUEUE_CLOSED) || jdoc_is_str(state, KEYS_QUEUE_CLOSING);
}

static bool is_marked(const struct jdoc *queue)
{
	const struct jdoc *annotations = jdoc_path(queue, "metadata.annotations");

	return jdoc_get(annotations, KEYS_CLOSED_BY_PARENT) != NULL;
}

/* The scheduler would close the queue again at once. */
static int check_parent(struct change *c, const struct jdoc *queue, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *parent = NULL;
	const char *name = jdoc_path_str(queue, "spec.parent");
	int r;

	if (name == NULL || name[0] == '\0' || str_streq(name, KEYS_ROOT_QUEUE)) {
		return 0;
	}
	r = get(c, name, &parent, err);
	if (r < 0) {
		return err_wrap(err, "spec.parent");
	}
	return !is_closed(parent) ? 0
				  : err_set(err, ERR_INVALID,
					    "its parent, queue %s, is %s: open that one first",
					    name, jdoc_path_str(parent, "status.state"));
}

/* First removes the mark "closed with its parent": a queue that is closed by name does not open
 * with its parent, and an open queue has no mark. */
static int unmark(struct change *c, struct jdoc **queue, struct err *err)
{
	struct jdoc *now = NULL;
	int r;

	if (!is_marked(*queue)) {
		return 0;
	}
	r = patch(c, *queue, NULL, fill_mark, &now, err);
	if (r == 0) {
		jdoc_destroy(*queue);
		*queue = now;
	}
	return r;
}

/* 1. The queue is read, and, to open it, its parent.
 * 2. The mark of a queue that was closed with its parent is removed, since the queue is now
 *    opened or closed by name. Annotations and status are two writes.
 * 3. The state is written.
 * Both writes carry the version that was read: what others change meanwhile gives a conflict,
 * and all begins anew. */
static int try_once(struct change *c, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *queue = NULL;
	bool is_done;
	int r = get(c, c->name, &queue, err);

	if (r == 0 && !c->closes) {
		r = check_parent(c, queue, err);
	}
	if (r < 0) {
		return r;
	}
	is_done = c->closes ? is_closed(queue)
			    : jdoc_is_str(jdoc_path(queue, "status.state"), KEYS_QUEUE_OPEN);
	c->done = !is_done    ? (c->closes ? "closed" : "opened")
		  : c->closes ? "is closed already"
			      : "is open already";
	/* The queue was read, so at least it exists. */
	if (c->dry == CLUSTER_ARGS_DRY_CLIENT) {
		return 0;
	}
	r = unmark(c, &queue, err);
	return r < 0 || is_done ? r : patch(c, queue, "status", fill_state, NULL, err);
}

static int apply(const struct cluster_args *a, struct change *c, struct err *err)
{
	int r = cluster_args_connect(a, &c->transport, err);

	if (r < 0) {
		return r;
	}
	/* The scheduler writes the status of each queue from time to time, so a conflict is
	 * nothing unusual. */
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		r = try_once(c, err);
		if (r != -ERR_CONFLICT) {
			break;
		}
	}
	transport_destroy(c->transport);
	return r < 0 ? err_wrap(err, "queue %s", c->name) : 0;
}

static int usage(bool closes)
{
	fprintf(stderr, "headgatectl: expected: %s queue NAME\n", closes ? "close" : "open");
	return VERB_USAGE;
}

const struct flags_row *const queue_state_tables[] = {
	cluster_args_reach,
	cluster_args_dry_run,
	flags_help,
	NULL,
};

int queue_state_run(const struct verb *verb, int argc, char **argv, bool closes)
{
	static const char *const dry[] = { [CLUSTER_ARGS_DO] = "",
					   [CLUSTER_ARGS_DRY_CLIENT] = " (dry run)",
					   [CLUSTER_ARGS_DRY_SERVER] = " (server dry run)" };
	struct cluster_args a;
	struct change c = { .closes = closes };
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(verb, argc, argv, &a, &code)) {
		return code;
	}
	if (a.nrest != 2 || a.rest[1][0] == '\0' || strchr(a.rest[1], '/') != NULL ||
	    kinds_by_alias(str_of(a.rest[0])) != kinds_by_kind(KEYS_VOLCANO_API_VERSION, "Queue")) {
		return usage(closes);
	}
	c.name = a.rest[1];
	c.dry = a.dry;
	if (closes && str_streq(c.name, KEYS_ROOT_QUEUE)) {
		fprintf(stderr,
			"headgatectl: the root queue is always open; close the queues below it\n");
		return VERB_USAGE;
	}
	if (apply(&a, &c, &err) < 0) {
		return verb_fail(&err);
	}
	printf("queue." KEYS_VOLCANO_GROUP "/%s %s%s\n", c.name, c.done, dry[c.dry]);
	return VERB_OK;
}
