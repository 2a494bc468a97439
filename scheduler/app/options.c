#include "scheduler/app/options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"

enum option_type {
	OPT_TEXT,
	OPT_BOOL,
	OPT_INT,
	OPT_DOUBLE,
	OPT_DURATION,
	OPT_NAMES,
	OPT_IGNORED,
	OPT_IGNORED_BOOL
};

#define KEY_BASE 1000
#define NO_MEMBER 0
#define AT(member) offsetof(struct sched_options, member)

static const struct option_row {
	const char *name;
	enum option_type type;
	size_t offset;
	const char *def; /* as if given first; NULL: zero */
	const char *arg, *help;
	int64_t min, max; /* OPT_INT */
} rows[] = {
	{ "master", OPT_TEXT, AT(master), NULL, "URL", "API server, overrides the kubeconfig", 0,
	  0 },
	{ "kubeconfig", OPT_TEXT, AT(kubeconfig), NULL, "FILE",
	  "Default: $KUBECONFIG, in-cluster, ~/.kube/config", 0, 0 },
	{ "scheduler-name", OPT_NAMES, NO_MEMBER, NULL, "NAME",
	  "Pods of this schedulerName are ours; repeatable (volcano)", 0, 0 },
	{ "scheduler-conf", OPT_TEXT, AT(scheduler_conf), NULL, "FILE",
	  "Actions and tiers; reloaded when it changes (built-in)", 0, 0 },
	{ "schedule-period", OPT_DURATION, AT(schedule_period), "1s", "DURATION",
	  "Longest pause between looks for work (1s)", 0, 0 },
	{ "resource-sync-timeout", OPT_DURATION, AT(sync_timeout), "60s", "DURATION",
	  "Give up when the first lists make no progress for this long (60s)", 0, 0 },
	{ "default-queue", OPT_TEXT, AT(default_queue), "default", "NAME",
	  "Queue of PodGroups that name none (default)", 0, 0 },
	{ "kube-api-qps", OPT_DOUBLE, AT(kube_api_qps), "2000", "N",
	  "Requests per second to the API server, 0: no limit (2000)", 0, 0 },
	{ "kube-api-burst", OPT_INT, AT(kube_api_burst), "2000", "N",
	  "Requests at once above that rate (2000)", 0, 1000000 },
	{ "gate-removal-worker-num", OPT_INT, AT(gate_workers), "5", "N",
	  "Threads that take gates off (5)", 1, 64 },
	{ "reservation-timeout", OPT_DURATION, AT(reservation_timeout), "30m", "DURATION",
	  "Quota of a published pod that found no node is released after this, 0: never (30m)", 0,
	  0 },
	{ "reservation-attempts", OPT_INT, AT(reservation_attempts), "0", "N",
	  "A gang that found no node in so many reservations waits for nodes of another shape, 0: "
	  "it "
	  "is tried again for ever (0)",
	  0, 1000000 },
	{ "controllers", OPT_TEXT, AT(controllers), "*", "LIST",
	  "Comma list of podgroup, queue (both are *, the default), workload and preemption-cost "
	  "(which needs workload); -NAME switches off",
	  0, 0 },
	{ "metrics-token-file", OPT_TEXT, AT(metrics_token), NULL, "FILE",
	  "/metrics asks for the bearer token in this file; read again for each request", 0, 0 },
	{ "quota-conf", OPT_TEXT, AT(kueue_conf), NULL, "FILE",
	  "Kueue's Configuration for the Workload engine, read at the start (built-in)", 0, 0 },
	{ "feature-gates", OPT_TEXT, AT(feature_gates), "", "LIST",
	  "SchedulingGatesQueueAdmission=true|false (true)", 0, 0 },
	{ "gate-sticky", OPT_BOOL, AT(gate_sticky), "true", NULL,
	  "A pod that has had our gate stays under quota when its annotation is taken off (true)",
	  0, 0 },
	{ "leader-elect", OPT_BOOL, AT(leader_elect), "true", NULL,
	  "Run only while holding the Lease (true)", 0, 0 },
	{ "leader-elect-lease-duration", OPT_DURATION, AT(lease_duration), "15s", "DURATION",
	  "A Lease that is not renewed is lost after this (15s)", 0, 0 },
	{ "leader-elect-renew-deadline", OPT_DURATION, AT(lease_renew), "10s", "DURATION",
	  "Stop writing when not renewed for this long (10s)", 0, 0 },
	{ "leader-elect-retry-period", OPT_DURATION, AT(lease_retry), "2s", "DURATION",
	  "Pause between tries (2s)", 0, 0 },
	{ "leader-elect-resource-name", OPT_TEXT, AT(lease_name), NULL, "NAME",
	  "Name of the Lease (first scheduler name)", 0, 0 },
	{ "leader-elect-resource-namespace", OPT_TEXT, AT(lease_namespace), NULL, "NAME",
	  "Its namespace (own namespace)", 0, 0 },
	{ "lock-object-namespace", OPT_TEXT, AT(lease_namespace), NULL, "NAME",
	  "Older name of the flag above", 0, 0 },
	{ "listen-address", OPT_TEXT, AT(listen_address), ":8080", "ADDR:PORT",
	  "Where /metrics is served (:8080)", 0, 0 },
	{ "healthz-address", OPT_TEXT, AT(healthz_address), ":11251", "ADDR:PORT",
	  "Where /healthz, /livez and /readyz are served (:11251)", 0, 0 },
	{ "enable-metrics", OPT_BOOL, AT(enable_metrics), "true", NULL, "Serve metrics (true)", 0,
	  0 },
	{ "enable-healthz", OPT_BOOL, AT(enable_healthz), "true", NULL, "Serve health (true)", 0,
	  0 },
	{ "cache-dumper", OPT_BOOL, AT(cache_dumper), "true", NULL,
	  "Dump the cluster as JSON on SIGUSR1 (true)", 0, 0 },
	{ "cache-dump-dir", OPT_TEXT, AT(cache_dump_dir), "/tmp", "DIR", "Where dumps go (/tmp)", 0,
	  0 },
	{ "logging-format", OPT_TEXT, AT(log_format), "text", "text|json",
	  "Lines on standard error (text)", 0, 0 },
	{ "v", OPT_INT, AT(verbosity), "0", "N", "Verbosity of messages, 0 to 6 (0)", 0, 10 },
	{ "version", OPT_BOOL, AT(version), "false", NULL, "Print the version", 0, 0 },
	/* Volcano's flags without meaning here. */
	{ "disable-default-scheduler-config", OPT_IGNORED_BOOL, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "resync-period", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "priority-class", OPT_IGNORED_BOOL, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "enable-pprof", OPT_IGNORED_BOOL, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "ca-cert-file", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "tls-cert-file", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "tls-private-key-file", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "minimum-feasible-nodes", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "minimum-percentage-nodes-to-find", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "percentage-nodes-to-find", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "node-worker-threads", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "ignored-provisioners", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "csi-storage", OPT_IGNORED_BOOL, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "plugins-dir", OPT_IGNORED, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
	{ "logtostderr", OPT_IGNORED_BOOL, NO_MEMBER, NULL, NULL, NULL, 0, 0 },
};

struct parse {
	struct sched_options *o;
	struct err *err;
	bool failed, help;
};

static void *member(struct sched_options *o, const struct option_row *row)
{
	return (char *)o + row->offset;
}

static int set_bool(const struct option_row *row, const char *value, bool *ret, struct err *err)
{
	if (value == NULL || str_streq(value, "true") || str_streq(value, "1")) {
		*ret = true;
	} else if (str_streq(value, "false") || str_streq(value, "0")) {
		*ret = false;
	} else {
		return err_set(err, ERR_INVALID, "--%s: \"%s\" is neither true nor false",
			       row->name, value);
	}
	return 0;
}

static int set_int(const struct option_row *row, const char *value, int64_t *ret, struct err *err)
{
	int64_t n;

	if (!str_to_i64(str_of(value), &n) || n < row->min || n > row->max) {
		return err_set(err, ERR_INVALID, "--%s: \"%s\" is not a number from %lld to %lld",
			       row->name, value, (long long)row->min, (long long)row->max);
	}
	*ret = n;
	return 0;
}

static int add_name(struct sched_options *o, const char *value, struct err *err)
{
	if (value[0] == '\0' || o->scheduler_name_count == OPTIONS_MAX_NAMES) {
		return err_set(err, ERR_INVALID, "--scheduler-name: empty, or more than %d names",
			       OPTIONS_MAX_NAMES);
	}
	o->scheduler_names[o->scheduler_name_count++] = xmalloc_dup(value);
	return 0;
}

static int set_option(struct sched_options *o, const struct option_row *row, const char *value,
		      struct err *err)
{
	char **text;

	switch (row->type) {
	case OPT_TEXT:
		text = member(o, row);
		free(*text);
		*text = xmalloc_dup(value);
		return 0;
	case OPT_BOOL:
		return set_bool(row, value, member(o, row), err);
	case OPT_INT:
		return set_int(row, value, member(o, row), err);
	case OPT_DOUBLE:
		if (!str_to_double(str_of(value), member(o, row)) ||
		    *(double *)member(o, row) < 0) {
			return err_set(err, ERR_INVALID, "--%s: \"%s\" is not a number >= 0",
				       row->name, value);
		}
		return 0;
	case OPT_DURATION:
		if (clock_parse_duration(str_of(value), member(o, row)) < 0) {
			return err_set(err, ERR_INVALID,
				       "--%s: \"%s\" is not a duration such as 30s or 1h30m",
				       row->name, value);
		}
		return 0;
	case OPT_NAMES:
		return add_name(o, value, err);
	case OPT_IGNORED:
	case OPT_IGNORED_BOOL:
		if (o->ignored_count < ARRAY_LEN(o->ignored)) {
			o->ignored[o->ignored_count++] = xmalloc_dup(row->name);
		}
		return 0;
	}
	return 0;
}

static error_t on_option(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	if (key == 'h') {
		argp_state_help(state, stdout, ARGP_HELP_LONG | ARGP_HELP_USAGE);
		p->help = true;
		return 0;
	}
	if (key == ARGP_KEY_ARG) {
		p->failed = true;
		err_set(p->err, ERR_INVALID, "unexpected argument \"%s\"", arg);
		return EINVAL;
	}
	if (key == 'v') {
		key = KEY_BASE;
		while (!str_streq(rows[key - KEY_BASE].name, "v")) {
			key++;
		}
		arg += arg[0] == '='; /* -v=4 as Go programs take it */
	}
	if (key < KEY_BASE || key >= KEY_BASE + (int)ARRAY_LEN(rows)) {
		return ARGP_ERR_UNKNOWN;
	}
	if (!p->failed && set_option(p->o, &rows[key - KEY_BASE], arg, p->err) < 0) {
		p->failed = true;
		return EINVAL;
	}
	return 0;
}

static void fill_argp(struct argp_option *out)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool is_bool = rows[i].type == OPT_BOOL || rows[i].type == OPT_IGNORED_BOOL;

		out[n++] = (struct argp_option){
			.name = rows[i].name,
			.key = KEY_BASE + (int)i,
			.arg = rows[i].arg == NULL ? "BOOL" : rows[i].arg,
			.flags = (is_bool ? OPTION_ARG_OPTIONAL : 0) |
				 (rows[i].help == NULL ? OPTION_HIDDEN : 0),
			.doc = rows[i].help,
		};
	}
	out[n++] = (struct argp_option){ .key = 'v', .arg = "N", .flags = OPTION_HIDDEN };
	out[n++] = (struct argp_option){ .name = "help", .key = 'h', .doc = "This text" };
	out[n] = (struct argp_option){ 0 };
}

/* "a=true,b=false" */
static int parse_gates(struct sched_options *o, struct err *err)
{
	struct str rest = str_of(o->feature_gates);

	o->gates_admission = true;
	while (rest.p != NULL) {
		struct str one = str_trim(str_next(&rest, ','));
		struct str value = one, name = str_next(&value, '=');

		if (one.len == 0) {
			continue;
		}
		if (!str_eq_c(value, "true") && !str_eq_c(value, "false")) {
			return err_set(err, ERR_INVALID,
				       "--feature-gates: \"" STR_FMT
				       "\": expected NAME=true or NAME=false",
				       STR_ARG(one));
		}
		if (str_eq_c(name, "SchedulingGatesQueueAdmission")) {
			o->gates_admission = str_eq_c(value, "true");
		} else if (!str_eq_c(name, "AllAlpha") && !str_eq_c(name, "AllBeta")) {
			return err_set(err, ERR_INVALID,
				       "--feature-gates: unknown gate \"" STR_FMT "\"",
				       STR_ARG(name));
		}
	}
	return 0;
}

static int parse_controllers(struct sched_options *o, struct err *err)
{
	struct str rest = str_of(o->controllers);

	while (rest.p != NULL) {
		struct str one = str_trim(str_next(&rest, ','));
		bool on = one.len == 0 || one.p[0] != '-';

		if (!on) {
			one = (struct str){ one.p + 1, one.len - 1 };
		}
		if (str_eq_c(one, "*")) {
			o->controller_podgroup = o->controller_queue = on;
		} else if (str_eq_c(one, "podgroup")) {
			o->controller_podgroup = on;
		} else if (str_eq_c(one, "queue")) {
			o->controller_queue = on;
		} else if (str_eq_c(one, "workload")) {
			o->controller_workload = on;
		} else if (str_eq_c(one, "preemption-cost")) {
			o->controller_cost = on;
		} else if (one.len > 0) {
			return err_set(err, ERR_INVALID,
				       "--controllers: unknown controller \"" STR_FMT "\"",
				       STR_ARG(one));
		}
	}
	if (o->controller_cost && !o->controller_workload) {
		return err_set(err, ERR_INVALID, "--controllers: preemption-cost needs workload");
	}
	return 0;
}

static int derive(struct sched_options *o, struct err *err)
{
	int r = parse_gates(o, err);

	if (r == 0) {
		r = parse_controllers(o, err);
	}
	if (r < 0) {
		return r;
	}
	if (!str_streq(o->log_format, "text") && !str_streq(o->log_format, "json")) {
		return err_set(err, ERR_INVALID,
			       "--logging-format: \"%s\" is neither text nor json", o->log_format);
	}
	if (o->lease_renew >= o->lease_duration || o->lease_retry >= o->lease_renew) {
		return err_set(
			err, ERR_INVALID,
			"leader election needs retry period < renew deadline < lease duration");
	}
	if (o->leader_elect && o->lease_duration - o->lease_renew < CLOCK_NS_PER_S) {
		return err_set(err, ERR_INVALID,
			       "--leader-elect-renew-deadline must be 1 s or more below "
			       "--leader-elect-lease-duration: the last write of a leader ends in "
			       "between");
	}
	if (o->scheduler_name_count == 0) {
		o->scheduler_names[o->scheduler_name_count++] = xmalloc_dup("volcano");
	}
	return 0;
}

int options_parse(int argc, char **argv, struct sched_options *ret, struct err *err)
{
	struct argp_option options[ARRAY_LEN(rows) + 3];
	const struct argp argp = { .options = options,
				   .parser = on_option,
				   .doc = "Headgate scheduler" };
	struct sched_options o = { 0 };
	struct parse p = { .o = &o, .err = err };
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows) && r == 0; i++) {
		r = rows[i].def == NULL ? 0 : set_option(&o, &rows[i], rows[i].def, err);
	}
	fill_argp(options);
	if (r == 0 && argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER,
				 NULL, &p) != 0) {
		r = p.failed ? -ERR_INVALID
			     : err_set(err, ERR_INVALID, "unknown flag; --help lists them");
	}
	if (r == 0 && !p.help) {
		r = derive(&o, err);
	}
	if (r < 0 || p.help) {
		options_finish(&o);
		return r < 0 ? r : 1;
	}
	*ret = o;
	return 0;
}

void options_finish(struct sched_options *o)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].type == OPT_TEXT) {
			char **text = member(o, &rows[i]);

			free(*text);
			*text = NULL;
		}
	}
	for (size_t i = 0; i < o->scheduler_name_count; i++) {
		free(o->scheduler_names[i]);
	}
	for (size_t i = 0; i < o->ignored_count; i++) {
		free(o->ignored[i]);
	}
	o->scheduler_name_count = o->ignored_count = 0;
}
