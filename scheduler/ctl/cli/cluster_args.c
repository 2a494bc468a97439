#include "scheduler/ctl/cli/cluster_args.h"

#include <stdio.h>
#include <string.h>

#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "process/version.h"
#include "scheduler/ctl/cli/credential_plugin.h"
#include "scheduler/ctl/cli/user_transport.h"

/* Long enough to log on in a browser. */
#define PLUGIN_NS (5 * 60 * CLOCK_NS_PER_S)

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
	{ "cluster", AT(TEXT, cluster), .arg = "NAME", .unset = "that of the context",
	  .help = "Name of the kubeconfig cluster to use" },
	{ "user", AT(TEXT, user), .arg = "NAME", .unset = "that of the context",
	  .help = "Name of the kubeconfig user to use" },
	{ "server", .letter = 's', AT(TEXT, server), .arg = "URL", .unset = "from the kubeconfig",
	  .help = "Address of the API server" },
	{ "insecure-skip-tls-verify", AT(BOOL, insecure),
	  .help = "Do not check the API server's certificate" },
	{ "token", AT(TEXT, token), .min = 1, .arg = "TOKEN", .unset = "from the kubeconfig",
	  .help = "Bearer token, in place of all credentials of the user" },
	{ "as", AT(TEXT, as), .min = 1, .arg = "USER", .unset = "from the kubeconfig",
	  .help = "User to impersonate" },
	{ "as-group", AT(LIST, as_groups), .arg = "GROUP", .unset = "from the kubeconfig",
	  .help = "Group to impersonate; may be repeated" },
	{ "as-uid", AT(TEXT, as_uid), .min = 1, .arg = "UID", .unset = "from the kubeconfig",
	  .help = "UID to impersonate" },
	{ "request-timeout", AT(DURATION, timeout), .arg = "DURATION", .unset = "30s",
	  .help = "Longest time for one request; 0: no limit" },
	END,
};
const struct flags_row cluster_args_dump[] = {
	{ "dump", .letter = 'D', AT(TEXT, dump), .arg = "FILE",
	  .help = "Read this dump of a scheduler instead of a cluster" },
	{ "scheduler-conf", .letter = 'C', AT(TEXT, conf), .arg = "FILE", .unset = "built in",
	  .help = "Configuration file of the scheduler" },
	{ "scheduler-name", AT(LIST, scheduler_names), .arg = "NAME", .def = KEYS_DEFAULT_SCHEDULER,
	  .help = "Name of the scheduler in spec.schedulerName of pods; may be repeated" },
	{ "gate-schedulers", AT(LIST, gate_schedulers), .arg = "NAME", .def = "default-scheduler",
	  .may_be_empty = true,
	  .help = "Name in spec.schedulerName of pods that are gated and that another scheduler "
		  "places; may be repeated; empty: none" },
	END,
};
const struct flags_row cluster_args_files[] = {
	{ "filename", .letter = 'f', AT(LIST, files), .arg = "FILE",
	  .help = "Read these manifests instead of a cluster, as `headgatectl simulate` reads "
		  "them: a file, a folder, or - for standard input; may be repeated" },
	{ "as-is", AT(BOOL, as_is),
	  .help = "With --filename: take the objects as they are, without validation and "
		  "admission" },
	{ "ignore", AT(LIST, ignored), .max = FLAGS_LIST_MAX, .arg = "KIND",
	  .help = "With --filename: do not warn about objects of this kind, which play no part: "
		  "KIND "
		  "or KIND.GROUP; may be repeated" },
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
	{ "namespace", .letter = 'n', AT(TEXT, namespace_), .min = 1, .arg = "NAME",
	  .unset = "that of the context, else default",
	  .help = "Namespace for names given without one" },
	END,
};
const struct flags_row cluster_args_within[] = {
	{ "namespace", .letter = 'n', AT(TEXT, within), .min = 1, .arg = "NAME",
	  .unset = "all namespaces", .help = "Look at objects of this namespace alone" },
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
const struct flags_row cluster_args_workers[] = {
	{ "multikueue-namespace", AT(TEXT, secrets_namespace), .min = 1, .arg = "NAME",
	  .def = "kueue-system",
	  .help = "Namespace of the Secrets with kubeconfigs of worker clusters" },
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

/* The name becomes a part of a label selector in a URL, so it may not contain what either would
 * take for something else. */
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

static struct kubeconfig_options options_of(const struct cluster_args *a)
{
	return (struct kubeconfig_options){ .path = a->kubeconfig,
					    .context = a->context,
					    .cluster = a->cluster,
					    .user = a->user,
					    .server = a->server,
					    .token = a->token,
					    .as = a->as,
					    .as_uid = a->as_uid,
					    .as_groups = a->as_groups.v,
					    .insecure_skip_verify = a->insecure,
					    .runs_plugins = true };
}

/* The namespace of the context, where objects come from a cluster. A kubeconfig that cannot be read
 * is reported when it is needed to connect. */
static void choose_namespace(struct cluster_args *a)
{
	const struct kubeconfig_options opt = options_of(a);
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *kube = NULL;

	if (a->namespace_ != NULL) {
		return;
	}
	if (a->files.n == 0 && a->dump == NULL) {
		(void)kubeconfig_load(&opt, &kube, NULL);
	}
	snprintf(a->context_namespace, sizeof(a->context_namespace), "%s",
		 kube == NULL ? "default" : kube->namespace_);
	a->namespace_ = a->context_namespace;
}

bool cluster_args_parse(const struct verb *verb, int argc, char **argv, struct cluster_args *ret,
			int *ret_code)
{
	struct flags_parsed parsed;

	*ret = (struct cluster_args){ .kubeconfig = NULL };
	if (!verb_parse(&verb->flags, argc, argv, ret, &parsed, ret_code)) {
		return false;
	}
	if (ret->files.n == 0 ? ret->as_is || ret->ignored.n > 0
			      : ret->as_is && ret->ignored.n > 0) {
		fprintf(stderr, "headgatectl: --%s has no effect %s\n",
			ret->ignored.n > 0 ? "ignore" : "as-is",
			ret->files.n > 0 ? "with --as-is" : "without --filename");
		*ret_code = VERB_USAGE;
		return false;
	}
	ret->has_now = flags_is_given(&verb->flags, &parsed, "now");
	ret->has_timeout = flags_is_given(&verb->flags, &parsed, "request-timeout");
	choose_namespace(ret);
	ret->rest = argv + 1;
	ret->nrest = parsed.nargs;
	return true;
}

static int run_plugin(const struct kubeconfig *cfg, struct exec_credential *ret, struct err *err)
{
	return credential_plugin_run(cfg, PLUGIN_NS, ret, err);
}

int cluster_args_kubeconfig(const struct cluster_args *a, struct kubeconfig **ret, struct err *err)
{
	const struct kubeconfig_options from = options_of(a);

	return kubeconfig_load(&from, ret, err);
}

int cluster_args_connect(const struct cluster_args *a, struct transport **ret, struct err *err)
{
	const struct user_transport_options to = { .user_agent = "headgatectl/" HEADGATE_VERSION,
						   .has_timeout = a->has_timeout,
						   .timeout_ns = a->timeout,
						   .run_plugin = run_plugin };
	struct kubeconfig *kube = NULL;
	int r = cluster_args_kubeconfig(a, &kube, err);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < kube->warnings.n; i++) {
		fprintf(stderr, "headgatectl: warning: kubeconfig: %s\n", kube->warnings.v[i]);
	}
	return user_transport_create(kube, &to, ret, err);
}

int cluster_args_fail(const struct cluster_args *a, const struct err *err)
{
	int code = verb_fail(err);

	/* Manifests that a cluster would refuse are input that cannot be used, as with simulate. */
	return a->files.n > 0 && !a->as_is && err->code == ERR_INVALID ? VERB_USAGE : code;
}

char *cluster_args_key(const struct cluster_args *a, const char *name)
{
	return strchr(name, '/') != NULL ? xmalloc_dup(name)
					 : xmalloc_printf("%s/%s", a->namespace_, name);
}
