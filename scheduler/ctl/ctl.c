#include "scheduler/ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"

/* Sorted by name. */
static const struct ctl_verb verbs[] = {
	{ "certs", "make a certificate authority and a server certificate", ctl_certs_run },
	{ "close", "close a Queue: it gives no quota and takes reservations back", ctl_close_run },
	{ "doctor", "look for objects that name a queue and do not wait for it", ctl_doctor_run },
	{ "drain", "take our gates off all pods, before uninstalling", ctl_drain_run },
	{ "explain", "say what a pod or a Workload waits for, with the arithmetic",
	  ctl_explain_run },
	{ "list", "list ClusterQueues, LocalQueues, Workloads, ResourceFlavors, Cohorts, pods",
	  ctl_list_run },
	{ "open", "open a Queue that was closed", ctl_open_run },
	{ "pending-workloads", "show who waits in a ClusterQueue or LocalQueue, in order",
	  ctl_pending_run },
	{ "queues", "show the queue tree with what is allocated, reserved, published",
	  ctl_queues_run },
	{ "resume", "resume a ClusterQueue, LocalQueue or Workload", ctl_resume_run },
	{ "simulate", "run the scheduler on manifests, without a cluster", ctl_simulate_run },
	{ "stop", "stop a ClusterQueue, LocalQueue or Workload", ctl_stop_run },
	{ "version", "print the version", ctl_version_run },
};

static int cmp_verb(const void *name, const void *verb)
{
	return strcmp(name, ((const struct ctl_verb *)verb)->name);
}

const struct ctl_verb *ctl_find_verb(const char *name)
{
	return bsearch(name, verbs, ARRAY_LEN(verbs), sizeof(verbs[0]), cmp_verb);
}

static void print_usage(FILE *to)
{
	fprintf(to, "Usage: headgatectl VERB [OPTION...]\n\nVerbs:\n");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		fprintf(to, "  %-18s %s\n", verbs[i].name, verbs[i].help);
	}
	fprintf(to, "\n`headgatectl VERB --help` tells more. "
		    "Exit codes: 0 done, 1 failed, 2 wrong usage.\n");
}

int ctl_run(int argc, char **argv)
{
	const struct ctl_verb *verb;
	char name[64];

	if (argc < 2) {
		print_usage(stderr);
		return CTL_USAGE;
	}
	if (str_streq(argv[1], "--help") || str_streq(argv[1], "-h") ||
	    str_streq(argv[1], "help")) {
		print_usage(stdout);
		return CTL_OK;
	}
	verb = ctl_find_verb(str_streq(argv[1], "--version") ? "version" : argv[1]);
	if (verb == NULL) {
		fprintf(stderr, "headgatectl: no such verb: %s\n\n", argv[1]);
		print_usage(stderr);
		return CTL_USAGE;
	}
	snprintf(name, sizeof(name), "headgatectl %s", verb->name);
	argv[1] = name;
	return verb->run(argc - 1, argv + 1);
}

/* argp ends the process by itself unless told not to; then --help and errors look alike. */
static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (str_streq(argv[i], "--help") || str_streq(argv[i], "-?") ||
		    str_streq(argv[i], "--usage")) {
			return true;
		}
	}
	return false;
}

bool ctl_parse(const struct argp *argp, int argc, char **argv, void *input, int *ret_code)
{
	bool help = asks_for_help(argc, argv);
	error_t r = argp_parse(argp, argc, argv, ARGP_NO_EXIT, NULL, input);

	if (help) {
		*ret_code = CTL_OK;
		return false;
	}
	if (r != 0) {
		*ret_code = CTL_USAGE;
		return false;
	}
	return true;
}

bool ctl_parse_output(const char *text, enum ctl_output last, enum ctl_output *ret)
{
	static const char *const names[] = {
		[CTL_TABLE] = "table", [CTL_JSON] = "json", [CTL_YAML] = "yaml", [CTL_NAME] = "name"
	};

	for (enum ctl_output i = CTL_TABLE; i <= last; i++) {
		if (str_streq(text, names[i])) {
			*ret = i;
			return true;
		}
	}
	fprintf(stderr, "headgatectl: -o %s: known are", text);
	for (enum ctl_output i = CTL_TABLE; i <= last; i++) {
		fprintf(stderr, "%s %s", i == CTL_TABLE ? "" : ",", names[i]);
	}
	fprintf(stderr, "\n");
	return false;
}

int ctl_fail(const struct err *err)
{
	fprintf(stderr, "headgatectl: %s\n", err->text);
	return CTL_FAILED;
}
