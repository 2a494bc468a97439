#include "scheduler/ctl/ctl.h"

#include <stdio.h>

#include "api/kueue/custom_kinds.h"
#include "base/attrs.h"
#include "base/err.h"
#include "scheduler/ctl/multikueue/fleet_check.h"
#include "scheduler/ctl/multikueue/multikueue_args.h"
#include "scheduler/ctl/multikueue/worker_kubeconfig.h"

static const struct flags_choice levels[] = {
	{ "orchestrator", WORKER_ROLE_ORCHESTRATOR },
	{ "manager", WORKER_ROLE_MANAGER },
	{ "manager-pods", WORKER_ROLE_MANAGER_PODS },
	{ NULL, 0 },
};

#define AT(kind, member) FLAGS_AT(struct multikueue_args, kind, member)

static const struct flags_row rows[] = {
	{ "name", AT(TEXT, name), .min = 1, .arg = "CLUSTER",
	  .help = "For kubeconfig: name of the MultiKueueCluster" },
	{ "for", FLAGS_CHOICE_AT(struct multikueue_args, levels, level), .def = "orchestrator",
	  .help = "The rights of a manager that opens gates, of one that makes replicas and Jobs "
		  "as well, or pods besides" },
	{ "external-framework", AT(LIST, frameworks), .max = CUSTOM_KINDS_MAX,
	  .arg = "KIND.VERSION.GROUP",
	  .help = "One of multiKueue.externalFrameworks of the manager; may be given several "
		  "times" },
	{ "address", AT(TEXT, address), .min = 1, .arg = "URL",
	  .unset = "that of the worker's kubeconfig",
	  .help = "For kubeconfig: address of the worker's API server as the manager reaches it" },
	{ "account-namespace", AT(TEXT, account), .min = 1, .arg = "NAME", .def = "headgate-system",
	  .help = "For kubeconfig: namespace of the account on the worker" },
	{ "namespace", .letter = 'n', AT(TEXT, cluster.secrets_namespace), .min = 1, .arg = "NAME",
	  .def = "kueue-system",
	  .help = "Namespace of the Secrets with kubeconfigs, on the manager" },
	{ "origin", AT(TEXT, origin), .min = 1, .arg = "TEXT", .def = "multikueue",
	  .help = "For check: value of the label kueue.x-k8s.io/multikueue-origin of replicas" },
	{ "dry-run", AT(BOOL, dry_run),
	  .help = "For kubeconfig: only print the objects that would be applied to the worker" },
	{ .type = FLAGS_END },
};

static int run_verb(int argc, char **argv)
{
	struct multikueue_args a = { .name = NULL };
	struct err err = ERR_INIT;
	bool good = false;
	int code;

	if (!cluster_args_parse(&ctl_multikueue_verb, argc, argv, &a.cluster, &code)) {
		return code;
	}
	if (a.cluster.nrest == 1 && str_streq(a.cluster.rest[0], "kubeconfig")) {
		return worker_kubeconfig_run(&a, &err) < 0 ? verb_fail(&err) : VERB_OK;
	}
	if (a.cluster.nrest >= 1 && str_streq(a.cluster.rest[0], "check")) {
		if (fleet_check_run(&a, &good, &err) < 0) {
			return verb_fail(&err);
		}
		return good ? VERB_OK : VERB_FAILED;
	}
	fprintf(stderr, "headgatectl: expected: multikueue kubeconfig --name CLUSTER, or "
			"multikueue check [CLUSTER...]\n");
	return VERB_USAGE;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach, rows, cluster_args_output, flags_help, NULL,
};

const struct verb ctl_multikueue_verb = {
	VERB("multikueue"),
	.help = "make the account of a manager on a worker cluster; check workers",
	.flags.args = "kubeconfig --name CLUSTER\ncheck [CLUSTER...]",
	.flags.doc =
		"kubeconfig, with the kubeconfig of the worker's administrator: applies an account "
		"with the rights that the manager needs there, and prints a Secret with its "
		"kubeconfig and a MultiKueueCluster, for kubectl apply on the manager. check, on "
		"the manager: connects to each MultiKueueCluster as the manager does, and reports "
		"what is right and what is missing; the exit code is 1 if anything is missing.",
	.flags.tables = tables,
	.run = run_verb,
};
