#include <stdio.h>
#include <string.h>

#include "api/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define LABELLED "?labelSelector=kueue.x-k8s.io%%2Fqueue-name"

struct doctor {
	struct transport *transport;
	const struct kueue_conf_owners_kind *kind; /* that is looked at */
	size_t found, failed;
};

static int get(struct doctor *d, const char *path, struct jdoc **ret, struct err *err)
{
	return rest_call(d->transport, HTTP_GET, path, NULL, (struct str){ NULL, 0 }, CALL_NS, ret,
			 err);
}

/* With the label in the template each pod queues by itself. */
static bool pods_have_label(struct str object)
{
	CLEANUP(jdoc_destroyp) struct jdoc *tree = NULL;

	return jdoc_parse(object, &tree, NULL) == 0 &&
	       jdoc_get(jdoc_path(tree, "spec.template.metadata.labels"), KUEUE_QUEUE_NAME) != NULL;
}

static void on_object(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct doctor *d = ctx;

	if (str_streq(d->kind->group, "apps") && pods_have_label(object)) {
		return;
	}
	printf("%s.%s " STR_FMT "/" STR_FMT ": has the label " KUEUE_QUEUE_NAME
	       " and does not wait for quota\n",
	       d->kind->kind, d->kind->group, STR_ARG(meta->namespace_), STR_ARG(meta->name));
	d->found++;
}

/* The plural of the kind in its group, as the API server serves it; NULL: it does not. */
static const char *find_plural(const struct jdoc *resources, const char *kind)
{
	const struct jdoc *r = jdoc_first(jdoc_get(resources, "resources"));

	for (; r != NULL; r = jdoc_next(r)) {
		const char *name = jdoc_str_or(jdoc_get(r, "name"), "/");

		if (jdoc_is_str(jdoc_get(r, "kind"), kind) && strchr(name, '/') == NULL) {
			return name;
		}
	}
	return NULL;
}

static int check_kind(struct doctor *d, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *group = NULL, *resources = NULL;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	const char *version, *plural;
	int r;

	strbuf_printf(&path, "/apis/%s", d->kind->group);
	r = get(d, path.p, &group, err);
	version = jdoc_path_str(group, "preferredVersion.version");
	if (r < 0 || version == NULL) {
		return r == -ERR_NOT_FOUND ? 0 : r;
	}
	strbuf_printf(&path, "/%s", version);
	r = get(d, path.p, &resources, err);
	plural = find_plural(resources, d->kind->kind);
	if (r < 0 || plural == NULL) {
		return r == -ERR_NOT_FOUND ? 0 : r;
	}
	strbuf_printf(&path, "/%s" LABELLED, plural);
	return rest_list_cut(d->transport, path.p, CALL_NS, on_object, d, err);
}

static int examine(const struct cluster_args *a, struct doctor *d, struct err *err)
{
	int r = cluster_args_connect(a, &d->transport, err);

	for (size_t i = 0; r == 0 && kueue_conf_owners_unsupported(i) != NULL; i++) {
		struct err why = ERR_INIT;

		d->kind = kueue_conf_owners_unsupported(i);
		if (check_kind(d, &why) < 0) {
			fprintf(stderr, "headgatectl: %s.%s: %s\n", d->kind->kind, d->kind->group,
				why.text);
			d->failed++;
		}
	}
	transport_destroy(d->transport);
	return r;
}

static int run_verb(int argc, char **argv)
{
	struct doctor d = { .found = 0 };
	struct cluster_args a;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_doctor_verb, argc, argv, &a, &code)) {
		return code;
	}
	if (examine(&a, &d, &err) < 0) {
		return ctl_fail(&err);
	}
	if (d.found == 0 && d.failed == 0) {
		printf("nothing found\n");
	}
	return d.found == 0 && d.failed == 0 ? CTL_OK : CTL_FAILED;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach,
	flags_help,
	NULL,
};

const struct ctl_verb ctl_doctor_verb = {
	CTL_VERB("doctor"),
	.help = "look for objects that name a queue and do not wait for it",
	.flags.doc = "Look for objects that name a queue and do not wait for it: those of kinds "
		     "that Kueue integrates and Headgate does not, unless their pods have the "
		     "label. Kinds that the API server does not serve are left out. The exit code "
		     "is 1 when there are some.",
	.flags.tables = tables,
	.run = run_verb,
};
