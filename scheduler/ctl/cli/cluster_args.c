#include "scheduler/ctl/cli/cluster_args.h"

#include <string.h>

#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig.h"
#include "kube/transport.h"

#define AT(kind, member) FLAGS_AT(struct cluster_args, kind, member)
#define END                                                                                        \
	{                                                                                          \
		.type = FLAGS_END                                                                  \
	}

static int set_owner(void *member, const char *value, struct err *err);
static int set_active(void *member, const char *value, struct err *err);
static int set_instance(void *member, const char *value, struct err *err);

static const struct flags_choice statuses[] = {
	{ "pending", CLUSTER_ARGS_PENDING },
	{ "quotareserved", CLUSTER_ARGS_RESERVED },
	{ "admitted", CLUSTER_ARGS_ADMITTED },
	{ "finished", CLUSTER_ARGS_FINISHED },
	{ "all", CLUSTER_ARGS_PENDING | CLUSTER_ARGS_RESERVED | CLUSTER_ARGS_ADMITTED |
			 CLUSTER_ARGS_FINISHED },
	{ NULL, 0 },
};
static const struct flags_choice dry_runs[] = {
	{ "none", CLUSTER_ARGS_DO },
	{ "client", CLUSTER_ARGS_DRY_CLIENT },
	{ "server", CLUSTER_ARGS_DRY_SERVER },
	{ NULL, 0 },
};

const struct flags_row cluster_args_reach[] = {
	{ "kubeconfig", .letter = 'k', AT(TEXT, kubeconfig), .arg = "FILE",
	  .unset = "$KUBECONFIG, in-cluster, ~/.kube/config",
	  .help = "Path of the kubeconfig file" },
	{ "context", AT(TEXT, context), .arg = "NAME", .unset = "the current context",
	  .help = "Name of the kubeconfig context to use" },
	{ "server", .letter = 's', AT(TEXT, server), .arg = "URL", .unset = "from the kubeconfig",
	  .help = "Address of the API server" },
	END,
};
const struct flags_row cluster_args_dump[] = {
	{ "dump", .letter = 'D', AT(TEXT, dump), .arg = "FILE",
	  .help = "Read this dump of a scheduler instead of a cluster" },
	{ "scheduler-conf", .letter = 'C', AT(TEXT, conf), .arg = "FILE", .unset = "built in",
	  .help = "Configuration file of the scheduler" },
	{ "scheduler-name", AT(LIST, scheduler_names), .arg = "NAME", .def = KEYS_DEFAULT_SCHEDULER,
	  .help = "Name of the scheduler in spec.schedulerName of pods; may be repeated" },
	END,
};
const struct flags_row cluster_args_files[] = {
	{ "filename", .letter = 'f', AT(LIST, files), .arg = "FILE",
	  .help = "Read these manifests instead of a cluster: a file, a folder, or - for standard "
		  "input; may be repeated" },
	{ "now", AT(TIME, now), .unset = "now; with --filename, the latest time in the manifests",
	  .help = "Current time" },
	END,
};
const struct flags_row cluster_args_config[] = {
	{ "config", AT(TEXT, config), .arg = "FILE", .unset = "Kueue's defaults",
	  .help = "Kueue's configuration file that the scheduler uses" },
	END,
};
const struct flags_row cluster_args_namespace[] = {
	{ "namespace", .letter = 'n', AT(TEXT, namespace_), .arg = "NAME", .def = "default",
	  .help = "Namespace for names given without one" },
	END,
};
const struct flags_row cluster_args_all[] = {
	{ "all-namespaces", .letter = 'A', AT(BOOL, all_namespaces),
	  .help = "List objects of all namespaces" },
	END,
};
const struct flags_row cluster_args_queues[] = {
	{ "clusterqueue", .letter = 'c', AT(TEXT, cluster_queue), .arg = "NAME",
	  .help = "Only objects of this ClusterQueue" },
	{ "localqueue", .letter = 'q', AT(TEXT, local_queue), .arg = "NAME",
	  .help = "Only objects of this LocalQueue" },
	END,
};
const struct flags_row cluster_args_jobs[] = {
	{ "status", FLAGS_SET_AT(struct cluster_args, statuses, statuses), .unset = "all",
	  .help = "Only Workloads in these states" },
	{ "for", FLAGS_CUSTOM_AT(struct cluster_args, set_owner, owner), .arg = "KIND/NAME",
	  .help = "Only the Workload or the pods of this job" },
	{ "active", FLAGS_CUSTOM_AT(struct cluster_args, set_active, active), .arg = "BOOL",
	  .unset = "both", .help = "Only ClusterQueues that are active, or that are not" },
	END,
};
const struct flags_row cluster_args_selectors[] = {
	{ "selector", .letter = 'l', AT(TEXT, labels), .arg = "LIST",
	  .help = "Only objects with these labels: a=b,c!=d,e in (f,g),!h" },
	{ "field-selector", AT(TEXT, fields), .arg = "LIST",
	  .help = "Only objects with these fields: metadata.name, metadata.namespace" },
	END,
};
const struct flags_row cluster_args_page[] = {
	{ "offset", AT(INT, offset), .help = "Skip the first N Workloads of each queue" },
	/* The default is that of Kueue's visibility API. */
	{ "limit", AT(INT, limit), .max = CLUSTER_ARGS_LIMIT_MAX, .def = "1000",
	  .help = "Show at most N Workloads of each queue" },
	END,
};
const struct flags_row cluster_args_keep[] = {
	{ "keep-already-running", AT(BOOL, keep_running),
	  .help = "Admit no further Workloads, but let admitted ones run to completion" },
	END,
};
const struct flags_row cluster_args_dry_run[] = {
	{ "dry-run", FLAGS_CHOICE_AT(struct cluster_args, dry_runs, dry), .def = "none",
	  .help = "Only print what would change (client), or have the API server check it "
		  "(server)" },
	END,
};
const struct flags_row cluster_args_output[] = {
	{ "output", .letter = 'o', FLAGS_CHOICE_AT(struct cluster_args, verb_outputs, output),
	  .def = "table", .help = "Output format" },
	END,
};
const struct flags_row cluster_args_objects[] = {
	{ "output", .letter = 'o',
	  FLAGS_CHOICE_AT(struct cluster_args, verb_object_outputs, output), .def = "table",
	  .help = "Output format" },
	END,
};
const struct flags_row cluster_args_instance[] = {
	{ "instance", FLAGS_CUSTOM_AT(struct cluster_args, set_instance, instance), .arg = "NAME",
	  .unset = "all of Headgate's",
	  .help = "Only webhook registrations of the Helm release of this name" },
	END,
};
const struct flags_row cluster_args_yes[] = {
	{ "yes", .letter = 'y', AT(BOOL, yes),
	  .help = "Make the changes; without it they are only printed" },
	END,
};

static int set_owner(void *member, const char *value, struct err *err)
{
	if (strchr(value, '/') == NULL) {
		return err_set(err, ERR_INVALID, "expected KIND/NAME");
	}
	*(const char **)member = value;
	return 0;
}

static int set_active(void *member, const char *value, struct err *err)
{
	bool on;

	if (!flags_parse_bool(str_of(value), &on)) {
		return err_set(err, ERR_INVALID, "neither true nor false");
	}
	*(enum cluster_args_active *)member = on ? CLUSTER_ARGS_ACTIVE : CLUSTER_ARGS_INACTIVE;
	return 0;
}

static int set_instance(void *member, const char *value, struct err *err)
{
	size_t n =
		strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	if (n == 0 || n > 63 || value[n] != '\0') {
		return err_set(err, ERR_INVALID, "is not the name of a Helm release");
	}
	*(const char **)member = value;
	return 0;
}

bool cluster_args_parse(const struct verb *verb, int argc, char **argv, struct cluster_args *ret,
			int *ret_code)
{
	struct flags_parsed parsed;

	*ret = (struct cluster_args){ .kubeconfig = NULL };
	if (!verb_parse(&verb->flags, argc, argv, ret, &parsed, ret_code)) {
		return false;
	}
	ret->has_now = flags_is_given(&verb->flags, &parsed, "now");
	ret->rest = argv + 1;
	ret->nrest = parsed.nargs;
	return true;
}

int cluster_args_connect(const struct cluster_args *a, struct transport **ret, struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *kube = NULL;
	int r = kubeconfig_load(a->kubeconfig, a->context, a->server, &kube, err);

	return r < 0 ? r : transport_http_create(kube, "headgatectl", ret, err);
}

char *cluster_args_key(const struct cluster_args *a, const char *name)
{
	return strchr(name, '/') != NULL ? xmalloc_dup(name)
					 : xmalloc_printf("%s/%s", a->namespace_, name);
}
