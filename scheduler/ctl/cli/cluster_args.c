#include "scheduler/ctl/cli/cluster_args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig.h"
#include "kube/transport.h"

enum {
	KEY_CONTEXT = 256,
	KEY_CONFIG,
	KEY_NOW,
	KEY_STATUS,
	KEY_FOR,
	KEY_ACTIVE,
	KEY_FIELDS,
	KEY_OFFSET,
	KEY_LIMIT,
	KEY_DRY_RUN,
	KEY_KEEP,
	KEY_INSTANCE,
};

static const struct row {
	char group; /* 0: every verb takes it */
	struct argp_option option;
} rows[] = {
	{ 0,
	  { "kubeconfig", 'k', "FILE", 0,
	    "how to reach the cluster (default: $KUBECONFIG, in-cluster, ~/.kube/config)", 0 } },
	{ 0, { "context", KEY_CONTEXT, "NAME", 0, "context of the kubeconfig", 0 } },
	{ 0, { "server", 's', "URL", 0, "address of the API server", 0 } },
	{ 'd',
	  { "dump", 'D', "FILE", 0, "look at this dump of a scheduler instead of a cluster", 0 } },
	{ 'd',
	  { "scheduler-conf", 'C', "FILE", 0, "the scheduler's configuration (default: built in)",
	    0 } },
	{ 'f',
	  { "filename", 'f', "FILE", 0,
	    "look at these manifests instead of a cluster: a file, a folder, - for standard "
	    "input; may be repeated",
	    0 } },
	{ 'f',
	  { "config", KEY_CONFIG, "FILE", 0,
	    "Kueue's configuration file, as the scheduler has it (default: its defaults)", 0 } },
	{ 'f',
	  { "now", KEY_NOW, "TIME", 0,
	    "the time (default: that of this machine; of manifests: the youngest in them)", 0 } },
	{ 'n', { "namespace", 'n', "NAME", 0, "namespace of names that have none", 0 } },
	{ 'a', { "all-namespaces", 'A', NULL, 0, "of all namespaces", 0 } },
	{ 'q', { "clusterqueue", 'c', "NAME", 0, "only of this ClusterQueue", 0 } },
	{ 'q', { "localqueue", 'q', "NAME", 0, "only of this LocalQueue", 0 } },
	{ 's',
	  { "status", KEY_STATUS, "LIST", 0,
	    "only Workloads that are pending, quotareserved, admitted, finished; all (default)",
	    0 } },
	{ 's',
	  { "for", KEY_FOR, "KIND/NAME", 0, "only the Workload, or the pods, of this job", 0 } },
	{ 's',
	  { "active", KEY_ACTIVE, "true|false", 0, "only ClusterQueues that are (not) active",
	    0 } },
	{ 'l',
	  { "selector", 'l', "LIST", 0, "only objects with these labels: a=b,c!=d,e in (f,g),!h",
	    0 } },
	{ 'l',
	  { "field-selector", KEY_FIELDS, "LIST", 0,
	    "only objects with these fields: metadata.name, metadata.namespace", 0 } },
	{ 'p', { "offset", KEY_OFFSET, "N", 0, "leave out the first N of each queue", 0 } },
	{ 'p', { "limit", KEY_LIMIT, "N", 0, "at most N of each queue (default: 1000)", 0 } },
	{ 'k',
	  { "keep-already-running", KEY_KEEP, NULL, 0,
	    "admit nobody, but let run who is admitted (default: they are stopped)", 0 } },
	{ 'r',
	  { "dry-run", KEY_DRY_RUN, "none|client|server", 0,
	    "client: only look; server: have it checked, not done", 0 } },
	{ 'o', { "output", 'o', "json|table", 0, "how to print", 0 } },
	{ 'O', { "output", 'o', "json|yaml|name|table", 0, "how to print", 0 } },
	{ 'i',
	  { "instance", KEY_INSTANCE, "NAME", 0,
	    "only registrations of the Helm release of this name (all that are ours)", 0 } },
	{ 'y', { "yes", 'y', NULL, 0, "do it; without it only what would be done is printed", 0 } },
};

static bool is_label_value(const char *text)
{
	size_t n =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	return n > 0 && n <= 63 && text[n] == '\0';
}

static int refuse(const char *option, const char *value, const char *why)
{
	fprintf(stderr, "headgatectl: %s %s: %s\n", option, value, why);
	return EINVAL;
}

static int parse_statuses(struct cluster_args *a, const char *arg)
{
	static const struct {
		const char *name;
		unsigned bits;
	} names[] = {
		{ "all", CLUSTER_ARGS_PENDING | CLUSTER_ARGS_RESERVED | CLUSTER_ARGS_ADMITTED |
				 CLUSTER_ARGS_FINISHED },
		{ "pending", CLUSTER_ARGS_PENDING },
		{ "quotareserved", CLUSTER_ARGS_RESERVED },
		{ "admitted", CLUSTER_ARGS_ADMITTED },
		{ "finished", CLUSTER_ARGS_FINISHED },
	};
	struct str rest = str_of(arg);

	while (rest.p != NULL) {
		struct str one = str_next(&rest, ',');
		unsigned bits = 0;

		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			bool is = one.len == strlen(names[i].name) &&
				  strncasecmp(one.p, names[i].name, one.len) == 0;

			bits |= is ? names[i].bits : 0;
		}
		if (bits == 0) {
			return refuse("--status", arg,
				      "known are all, pending, quotareserved, admitted, finished");
		}
		a->statuses |= bits;
	}
	return 0;
}

static int parse_count(const char *option, const char *arg, uint64_t most, size_t *ret)
{
	uint64_t n;

	if (!str_to_u64(str_of(arg), &n) || n > most) {
		return refuse(option, arg, "not a number, or too large");
	}
	*ret = (size_t)n;
	return 0;
}

static int parse_dry(struct cluster_args *a, const char *arg)
{
	static const char *const names[] = { [CLUSTER_ARGS_DO] = "none",
					     [CLUSTER_ARGS_DRY_CLIENT] = "client",
					     [CLUSTER_ARGS_DRY_SERVER] = "server" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_streq(arg, names[i])) {
			a->dry = (enum cluster_args_dry)i;
			return 0;
		}
	}
	return refuse("--dry-run", arg, "known are none, client, server");
}

/* Options of verbs about queues and Workloads. */
static error_t on_quota_option(struct cluster_args *a, int key, char *arg)
{
	switch (key) {
	case 'f':
		if (a->nfiles == CLUSTER_ARGS_FILES_MAX) {
			return refuse("-f", arg, "too many files: name a folder");
		}
		a->files[a->nfiles++] = arg;
		return 0;
	case KEY_CONFIG:
		a->config = arg;
		return 0;
	case KEY_NOW:
		a->has_now = true;
		return clock_parse_time(str_of(arg), &a->now) == 0
			       ? 0
			       : refuse("--now", arg, "not a time like 2026-01-02T15:04:05Z");
	case 'A':
		a->all_namespaces = true;
		return 0;
	case 'c':
		a->cluster_queue = arg;
		return 0;
	case 'q':
		a->local_queue = arg;
		return 0;
	case KEY_STATUS:
		return parse_statuses(a, arg);
	case KEY_FOR:
		a->owner = arg;
		return strchr(arg, '/') != NULL ? 0 : refuse("--for", arg, "not KIND/NAME");
	case 'l':
		a->labels = arg;
		return 0;
	case KEY_FIELDS:
		a->fields = arg;
		return 0;
	case KEY_ACTIVE:
		a->active = arg;
		return str_streq(arg, "true") || str_streq(arg, "false")
			       ? 0
			       : refuse("--active", arg, "neither true nor false");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t on_common_option(struct cluster_args *a, int key, char *arg)
{
	switch (key) {
	case 'k':
		a->kubeconfig = arg;
		return 0;
	case KEY_CONTEXT:
		a->context = arg;
		return 0;
	case 's':
		a->server = arg;
		return 0;
	case 'D':
		a->dump = arg;
		return 0;
	case 'C':
		a->conf = arg;
		return 0;
	case 'n':
		a->namespace_ = arg;
		a->has_namespace = true;
		return 0;
	case 'o':
		return ctl_parse_output(arg, a->prints_objects ? CTL_NAME : CTL_JSON, &a->output)
			       ? 0
			       : EINVAL;
	case 'y':
		a->yes = true;
		return 0;
	case KEY_INSTANCE:
		if (!is_label_value(arg)) {
			return refuse("--instance", arg, "is not a name of a release");
		}
		a->instance = arg;
		return 0;
	case KEY_KEEP:
		a->keep_running = true;
		return 0;
	case KEY_DRY_RUN:
		return parse_dry(a, arg);
	case KEY_OFFSET:
		return parse_count("--offset", arg, UINT32_MAX, &a->offset);
	case KEY_LIMIT:
		return parse_count("--limit", arg, CLUSTER_ARGS_LIMIT_MAX, &a->limit);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t on_option(int key, char *arg, struct argp_state *s)
{
	struct cluster_args *a = s->input;
	error_t r;

	if (key == ARGP_KEY_ARG) {
		if (a->nrest == CLUSTER_ARGS_MAX) {
			fprintf(stderr, "headgatectl: unexpected argument \"%s\"\n", arg);
			return EINVAL;
		}
		a->rest[a->nrest++] = arg;
		return 0;
	}
	r = on_common_option(a, key, arg);
	return r == ARGP_ERR_UNKNOWN ? on_quota_option(a, key, arg) : r;
}

bool cluster_args_parse(const struct cluster_args_usage *usage, int argc, char **argv,
			struct cluster_args *ret, int *ret_code)
{
	struct argp_option options[ARRAY_LEN(rows) + 1] = { 0 };
	const struct argp argp = { options, on_option, usage->args, usage->doc, NULL, NULL, NULL };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].group == 0 || strchr(usage->takes, rows[i].group) != NULL) {
			options[n++] = rows[i].option;
		}
	}
	*ret = (struct cluster_args){ .namespace_ = "default",
				      .limit = CLUSTER_ARGS_LIMIT,
				      .prints_objects = strchr(usage->takes, 'O') != NULL };
	if (!ctl_parse(&argp, argc, argv, ret, ret_code)) {
		return false;
	}
	if (usage->args == NULL && ret->nrest > 0) {
		fprintf(stderr, "headgatectl: unexpected argument \"%s\"\n", ret->rest[0]);
		*ret_code = CTL_USAGE;
		return false;
	}
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
