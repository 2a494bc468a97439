#include "scheduler/ctl/list/stop_resume.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/list/kueue_kinds.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define MANAGER "headgatectl"

struct change {
	const struct kinds_row *kind;
	const char *namespace_, *name;
	const char *patch; /* JSON merge patch */
};

/* A stopped Workload is deactivated (Kueue: spec.active); queues have a policy, by which what
 * runs may go on (Hold) or is evicted (HoldAndDrain). */
static const char *patch_of(const struct kinds_row *kind, bool stop, bool keep_running)
{
	if (str_streq(kind->kind, "Workload")) {
		return stop ? "{\"spec\":{\"active\":false}}" : "{\"spec\":{\"active\":true}}";
	}
	return !stop          ? "{\"spec\":{\"stopPolicy\":\"None\"}}"
	       : keep_running ? "{\"spec\":{\"stopPolicy\":\"Hold\"}}"
			      : "{\"spec\":{\"stopPolicy\":\"HoldAndDrain\"}}";
}

static int send(struct transport *t, const struct change *c, enum cluster_args_dry dry,
		struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	rest_path(&path, c->kind->group, c->kind->version, c->namespace_, c->kind->plural, c->name,
		  NULL);
	if (dry == CLUSTER_ARGS_DRY_CLIENT) { /* it must at least exist */
		return rest_call(t, HTTP_GET, path.p, NULL, (struct str){ NULL, 0 }, CALL_NS, NULL,
				 err);
	}
	/* Without a resourceVersion: the patch sets one field, to a value that does not depend
	 * on what others have changed. */
	strbuf_printf(&path, "?fieldManager=" MANAGER "%s",
		      dry == CLUSTER_ARGS_DRY_SERVER ? "&dryRun=All" : "");
	return rest_call(t, HTTP_PATCH, path.p, "application/merge-patch+json", str_of(c->patch),
			 CALL_NS, NULL, err);
}

static int apply(const struct cluster_args *a, const struct change *c, struct err *err)
{
	struct transport *t = NULL;
	int r = cluster_args_connect(a, &t, err);

	if (r == 0 && send(t, c, a->dry, err) < 0) {
		r = err_wrap(err, "%s %s%s%s", c->kind->singular,
			     c->namespace_ == NULL ? "" : c->namespace_,
			     c->namespace_ == NULL ? "" : "/", c->name);
	}
	transport_destroy(t);
	return r;
}

static int change(const struct cluster_args *a, const struct kinds_row *kind, bool stop)
{
	static const char *const dry[] = { [CLUSTER_ARGS_DO] = "",
					   [CLUSTER_ARGS_DRY_CLIENT] = " (dry run)",
					   [CLUSTER_ARGS_DRY_SERVER] = " (server dry run)" };
	char space[256] = "";
	const char *slash = strchr(a->rest[1], '/');
	struct change c = { .kind = kind,
			    .name = slash == NULL ? a->rest[1] : slash + 1,
			    .patch = patch_of(kind, stop, a->keep_running) };
	struct err err = ERR_INIT;

	if (slash != NULL && !kind->namespaced) {
		fprintf(stderr, "headgatectl: %s: a %s has no namespace\n", a->rest[1],
			kind->singular);
		return VERB_USAGE;
	}
	if (kind->namespaced) {
		snprintf(space, sizeof(space), "%.*s",
			 slash == NULL ? (int)sizeof(space) : (int)(slash - a->rest[1]),
			 slash == NULL ? a->namespace_ : a->rest[1]);
		c.namespace_ = space;
	}
	if (apply(a, &c, &err) < 0) {
		return verb_fail(&err);
	}
	printf("%s.%s/%s %s%s\n", kind->singular, kind->group, c.name, stop ? "stopped" : "resumed",
	       dry[a->dry]);
	return VERB_OK;
}

int stop_resume_run(const struct verb *verb, int argc, char **argv, bool stop)
{
	static const char *const kinds[] = { "ClusterQueue", "LocalQueue", "Workload", NULL };
	const struct kinds_row *kind;
	struct cluster_args a;
	int code;

	if (!cluster_args_parse(verb, argc, argv, &a, &code)) {
		return code;
	}
	kind = kueue_kinds_need(verb->name, a.nrest == 0 ? NULL : a.rest[0], kinds);
	if (kind == NULL) {
		return VERB_USAGE;
	}
	if (a.nrest != 2 || a.rest[1][0] == '\0') {
		fprintf(stderr, "headgatectl: expected: %s %s NAME\n", verb->name, kind->singular);
		return VERB_USAGE;
	}
	if (a.keep_running && str_streq(kind->kind, "Workload")) {
		fprintf(stderr, "headgatectl: --keep-already-running is for queues only\n");
		return VERB_USAGE;
	}
	return change(&a, kind, stop);
}
