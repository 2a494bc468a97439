#include "scheduler/ctl/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "enc/jdoc.h"
#include "scheduler/ctl/sim/sim_files.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/ctl/sim/sim_report.h"
#include "scheduler/ctl/sim/simulation.h"
#include "scheduler/ctl/sim/workload_simulation.h"

#define MAX_CYCLES 1000

struct deletion {
	unsigned cycle;
	enum sim_kind kind;
	const char *key; /* in argv */
	const char *text;
};

struct arguments {
	struct VEC(const char *) files;
	struct VEC(struct deletion) deletions;
	const char *config, *scheduler_conf;
	enum ctl_output output;
	struct sim_report_show show;
	bool has_now, has_cycles, until_stable, victims_stop;
	int64_t now;
	unsigned cycles;
};

enum {
	KEY_CONFIG = 256,
	KEY_NOW,
	KEY_CYCLES,
	KEY_UNTIL_STABLE,
	KEY_VICTIMS_STOP,
	KEY_DELETE,
	KEY_SHOW
};

static int refuse(const char *option, const char *value, const char *why)
{
	fprintf(stderr, "headgatectl: %s %s: %s\n", option, value, why);
	return EINVAL;
}

static bool parse_count(struct str text, unsigned *ret)
{
	uint64_t n;

	if (!str_to_u64(text, &n) || n == 0 || n > MAX_CYCLES) {
		return false;
	}
	*ret = (unsigned)n;
	return true;
}

/* N:KIND/NAMESPACE/NAME, and N:KIND/NAME for kinds without a namespace. */
static int parse_deletion(struct arguments *a, char *arg)
{
	struct str rest = str_of(arg), number = str_next(&rest, ':');
	struct str kind = str_next(&rest, '/');
	struct deletion d = { .text = arg };
	char name[64];
	bool namespaced;

	if (rest.p == NULL || rest.len == 0 || !parse_count(number, &d.cycle)) {
		return refuse("--delete-after", arg, "not N:KIND/NAMESPACE/NAME");
	}
	snprintf(name, sizeof(name), STR_FMT, STR_ARG(kind));
	if (!sim_input_kind(name, &d.kind, &namespaced)) {
		return refuse("--delete-after", arg, "not a kind that is simulated");
	}
	if (namespaced && strchr(rest.p, '/') == NULL) {
		return refuse("--delete-after", arg, "the namespace is missing");
	}
	d.key = !namespaced && rest.p[0] == '/' ? rest.p + 1 : rest.p;
	vec_push(&a->deletions, d);
	return 0;
}

static int parse_show(struct arguments *a, char *arg)
{
	struct {
		const char *name;
		bool *flag;
	} rows[] = {
		{ "shares", &a->show.shares },
		{ "capacity", &a->show.capacity },
		{ "workloads", &a->show.workloads },
		{ "events", &a->show.events },
	};
	struct str rest = str_of(arg);

	while (rest.p != NULL) {
		struct str one = str_next(&rest, ',');
		bool all = str_eq_c(one, "all"), found = all;

		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			if (all || str_eq_c(one, rows[i].name)) {
				*rows[i].flag = found = true;
			}
		}
		if (!found) {
			return refuse("--show", arg,
				      "known are shares, capacity, workloads, events, all");
		}
	}
	return 0;
}

static int parse_numbers(struct arguments *a, int key, char *arg)
{
	if (key == KEY_NOW) {
		a->has_now = true;
		return clock_parse_time(str_of(arg), &a->now) == 0
			       ? 0
			       : refuse("--now", arg, "not a time like 2026-01-02T15:04:05Z");
	}
	a->has_cycles = true;
	return parse_count(str_of(arg), &a->cycles) ? 0 : refuse("--cycles", arg, "not in 1..1000");
}

static error_t on_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o':
		return ctl_parse_output(arg, CTL_JSON, &a->output) ? 0 : EINVAL;
	case 'C':
		a->scheduler_conf = arg;
		return 0;
	case KEY_CONFIG:
		a->config = arg;
		return 0;
	case KEY_NOW:
	case KEY_CYCLES:
		return parse_numbers(a, key, arg);
	case KEY_UNTIL_STABLE:
		a->until_stable = true;
		return 0;
	case KEY_VICTIMS_STOP:
		a->victims_stop = true;
		return 0;
	case KEY_DELETE:
		return parse_deletion(a, arg);
	case KEY_SHOW:
		return parse_show(a, arg);
	case ARGP_KEY_ARG:
		vec_push(&a->files, (const char *)arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool parse_arguments(int argc, char **argv, struct arguments *a, int *ret_code)
{
	static const struct argp_option rows[] = {
		{ "output", 'o', "json|table", 0, "how to print", 0 },
		{ "config", KEY_CONFIG, "FILE", 0,
		  "Kueue's configuration file, for the quota part (default: its defaults)", 0 },
		{ "scheduler-conf", 'C', "FILE", 0,
		  "the scheduler's configuration (default: built in)", 0 },
		{ "now", KEY_NOW, "TIME", 0,
		  "the time, which stands still (default: the youngest one in the files)", 0 },
		{ "cycles", KEY_CYCLES, "N", 0, "run N cycles (default: 1)", 0 },
		{ "until-stable", KEY_UNTIL_STABLE, NULL, 0,
		  "run cycles until one decides nothing, at most 1000", 0 },
		{ "victims-stop", KEY_VICTIMS_STOP, NULL, 0,
		  "Workloads that are preempted stop after the cycle, and wait again", 0 },
		{ "delete-after", KEY_DELETE, "N:KIND/NAMESPACE/NAME", 0,
		  "remove that object after cycle N; may be repeated", 0 },
		{ "show", KEY_SHOW, "LIST", 0,
		  "more sections: shares, capacity, workloads, events, all", 0 },
		{ 0, 0, 0, 0, 0, 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = on_option,
		.args_doc = "FILE...",
		.doc = "Run the scheduler on manifests, without a cluster, and print what it "
		       "decides. FILE may be a folder of .yaml, .yml and .json files; - is "
		       "standard input."
	};

	if (!ctl_parse(&argp, argc, argv, a, ret_code)) {
		return false;
	}
	*ret_code = CTL_USAGE;
	if (a->files.n == 0) {
		fprintf(stderr, "headgatectl: simulate needs a FILE\n");
		return false;
	}
	if (a->has_cycles && a->until_stable) {
		fprintf(stderr, "headgatectl: --cycles and --until-stable exclude each other\n");
		return false;
	}
	return true;
}

static void warn(void *ctx UNUSED, const char *text)
{
	fprintf(stderr, "headgatectl: warning: %s\n", text);
}

static int read_files(const struct arguments *a, struct sim_input *in, struct jdoc **ret_config,
		      struct err *err)
{
	int r = sim_files_read(a->files.v, a->files.n, in, err);

	if (r == 0 && a->config != NULL) {
		r = sim_files_read_document(a->config, ret_config, err);
	}
	return r;
}

struct parts {
	struct simulation *pods;
	struct workload_simulation *quota;
};

static bool remove_object(const struct parts *p, const struct deletion *d)
{
	bool pods = simulation_delete(p->pods, d->kind, str_of(d->key));
	bool quota = workload_simulation_delete(p->quota, d->kind, str_of(d->key));

	return pods || quota;
}

/* True when a removal took place or is still to come: there may be more to decide. */
static bool remove_objects(const struct arguments *a, const struct parts *p)
{
	bool more = false;

	for (size_t i = 0; i < a->deletions.n; i++) {
		const struct deletion *d = &a->deletions.v[i];

		more |= d->cycle >= simulation_cycles(p->pods);
		if (d->cycle == simulation_cycles(p->pods) && !remove_object(p, d)) {
			fprintf(stderr, "headgatectl: warning: --delete-after %s: no such object\n",
				d->text);
		}
	}
	return more;
}

/* A number that is too high would look as if the object made no difference. */
static void warn_of_late_removals(const struct arguments *a, const struct parts *p)
{
	for (size_t i = 0; i < a->deletions.n; i++) {
		if (a->deletions.v[i].cycle > simulation_cycles(p->pods)) {
			fprintf(stderr,
				"headgatectl: warning: --delete-after %s: not removed, the run "
				"ended after cycle %u\n",
				a->deletions.v[i].text, simulation_cycles(p->pods));
		}
	}
}

static void run_cycles(const struct arguments *a, const struct parts *p)
{
	unsigned limit = a->until_stable ? MAX_CYCLES : a->has_cycles ? a->cycles : 1;

	while (simulation_cycles(p->pods) < limit) {
		bool decided = workload_simulation_run_cycle(p->quota), more;

		decided |= simulation_run_cycle(p->pods);
		more = remove_objects(a, p);
		more |= a->victims_stop && workload_simulation_stop_victims(p->quota);
		if (a->until_stable && !decided && !more) {
			return;
		}
	}
}

static void print(const struct arguments *a, const struct parts *p)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct sim_report_parts parts = { p->pods, p->quota };

	if (a->output == CTL_TABLE) {
		sim_report_table(&parts, &a->show, stdout);
		return;
	}
	sim_report_json(&parts, &a->show, &text);
	printf("%s\n", text.p);
}

static int simulate(const struct arguments *a)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(warn, NULL);
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	CLEANUP(simulation_destroyp) struct simulation *pods = NULL;
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *quota = NULL;
	struct simulation_options opt = { .conf_path = a->scheduler_conf, .warn = warn };
	struct workload_simulation_options quota_opt = { .warn = warn };
	struct parts parts;
	struct err err = ERR_INIT;

	if (read_files(a, in, &config, &err) < 0) {
		return ctl_fail(&err);
	}
	opt.now = quota_opt.now = a->has_now ? a->now : sim_input_youngest(in);
	quota_opt.config = config;
	quota_opt.config_path = a->config;
	if (workload_simulation_create(in, &quota_opt, &quota, &err) < 0 ||
	    simulation_create(in, &opt, &pods, &err) < 0) {
		return ctl_fail(&err);
	}
	parts = (struct parts){ pods, quota };
	run_cycles(a, &parts);
	warn_of_late_removals(a, &parts);
	print(a, &parts);
	return CTL_OK;
}

int ctl_simulate_run(int argc, char **argv)
{
	struct arguments a = { .files = VEC_INIT, .deletions = VEC_INIT };
	int code;

	if (parse_arguments(argc, argv, &a, &code)) {
		code = simulate(&a);
	}
	vec_finish(&a.files);
	vec_finish(&a.deletions);
	return code;
}
