#include "scheduler/ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/manifest/ignored_kinds.h"
#include "scheduler/ctl/manifest/strict_input.h"
#include "scheduler/ctl/sim/sim_files.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/ctl/sim/sim_report.h"
#include "scheduler/ctl/sim/simulation.h"
#include "scheduler/ctl/sim/workload_simulation.h"

#define MAX_CYCLES 1000
#define MAX_ADVANCE_NS (24 * 60 * 60 * CLOCK_NS_PER_S)

struct deletion {
	unsigned cycle;
	enum sched_resource kind;
	const char *key; /* in argv */
	const char *text;
};

struct update {
	unsigned cycle;
	size_t place;            /* among the flags */
	const char *path, *text; /* in argv */
	struct sim_input *objects;
};

enum show { /* bits */
	    SHOW_SHARES = 1,
	    SHOW_CAPACITY = 2,
	    SHOW_WORKLOADS = 4,
	    SHOW_EVENTS = 8,
};

enum fail_on { /* bits */
	       FAIL_ON_PENDING = 1,
	       FAIL_ON_PREEMPT = 2,
};

struct arguments {
	struct VEC(const char *) files; /* both the arguments and those of --filename */
	struct VEC(struct deletion) deletions;
	struct VEC(struct update) updates;
	struct flags_list named_files, ignored, gate_schedulers;
	const char *config, *scheduler_conf;
	enum verb_output output;
	unsigned show;    /* enum show */
	unsigned fail_on; /* enum fail_on */
	bool has_now, as_is, until_stable, victims_stop;
	int64_t now, cycles, advance;
};

static int add_deletion(void *arguments, const char *value, struct err *err);
static int add_update(void *arguments, const char *value, struct err *err);

#define AT(kind, member) FLAGS_AT(struct arguments, kind, member)

static const struct flags_choice sections[] = {
	{ "shares", SHOW_SHARES },
	{ "capacity", SHOW_CAPACITY },
	{ "workloads", SHOW_WORKLOADS },
	{ "events", SHOW_EVENTS },
	{ "all", SHOW_SHARES | SHOW_CAPACITY | SHOW_WORKLOADS | SHOW_EVENTS },
	{ NULL, 0 },
};

static const struct flags_choice answers[] = {
	{ "pending", FAIL_ON_PENDING },
	{ "preempt", FAIL_ON_PREEMPT },
	{ NULL, 0 },
};

static const struct flags_row rows[] = {
	{ "output", .letter = 'o', FLAGS_CHOICE_AT(struct arguments, verb_outputs, output),
	  .def = "table", .help = "Output format" },
	{ "filename", .letter = 'f', AT(LIST, named_files), .max = FLAGS_LIST_MAX, .arg = "FILE",
	  .help = "The same as the argument FILE; may be repeated" },
	{ "config", AT(TEXT, config), .arg = "FILE", .unset = "Kueue's defaults",
	  .help = "Kueue's configuration file, for the Workload engine" },
	{ "scheduler-conf", .letter = 'C', AT(TEXT, scheduler_conf), .arg = "FILE",
	  .unset = "built in", .help = "Configuration file of the scheduler" },
	{ "gate-schedulers", AT(LIST, gate_schedulers), .arg = "NAME", .def = "default-scheduler",
	  .may_be_empty = true,
	  .help = "Name in spec.schedulerName of pods that are gated and that another scheduler "
		  "places; may be repeated; empty: none" },
	{ "now", AT(TIME, now), .unset = "the latest time in the files",
	  .help = "Current time, in the first cycle" },
	{ "advance", AT(DURATION, advance), .min = 0, .max = MAX_ADVANCE_NS, .def = "0s",
	  .help = "Time that passes between cycles" },
	{ "as-is", AT(BOOL, as_is),
	  .help = "Take the objects as they are: no validation, no admission, one cycle unless "
		  "--cycles or --until-stable is given. For recorded cases and comparisons" },
	{ "cycles", AT(INT, cycles), .min = 1, .max = MAX_CYCLES, .unset = "until stable",
	  .help = "Number of cycles to run" },
	{ "until-stable", AT(BOOL, until_stable),
	  .help = "Run cycles until one makes no decision, at most 1000. The default without "
		  "--as-is" },
	{ "victims-stop", AT(BOOL, victims_stop),
	  .help = "Stop preempted Workloads after each cycle, so that they wait again" },
	{ "delete-after", .type = FLAGS_CUSTOM, .set = add_deletion, .arg = "N:KIND/NAMESPACE/NAME",
	  .help = "Delete this object after cycle N; may be repeated" },
	{ "apply-after", .type = FLAGS_CUSTOM, .set = add_update, .arg = "N:FILE",
	  .help = "Create or update the objects of FILE after cycle N; may be repeated. Of a "
		  "Workload's status only what FILE names changes" },
	{ "ignore", AT(LIST, ignored), .max = FLAGS_LIST_MAX, .arg = "KIND",
	  .help = "Do not warn about objects of this kind, which play no part: KIND or KIND.GROUP; "
		  "may "
		  "be repeated" },
	{ "fail-on", FLAGS_SET_AT(struct arguments, answers, fail_on),
	  .help = "End with exit code 3 if something waits at the end, or was preempted or "
		  "evicted" },
	{ "show", FLAGS_SET_AT(struct arguments, sections, show),
	  .help = "Additional sections to print" },
	{ .type = FLAGS_END },
};

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
static int add_deletion(void *arguments, const char *value, struct err *err)
{
	struct arguments *a = arguments;
	struct str rest = str_of(value), number = str_next(&rest, ':');
	struct str kind = str_next(&rest, '/');
	struct deletion d = { .text = value };
	char name[64];
	bool namespaced;

	if (rest.p == NULL || rest.len == 0 || !parse_count(number, &d.cycle)) {
		return err_set(err, ERR_INVALID, "expected N:KIND/NAMESPACE/NAME");
	}
	snprintf(name, sizeof(name), STR_FMT, STR_ARG(kind));
	if (!sim_input_kind(name, &d.kind)) {
		return err_set(err, ERR_INVALID, "kind is not simulated");
	}
	namespaced = sched_kinds_names(d.kind)->namespaced;
	if (namespaced && strchr(rest.p, '/') == NULL) {
		return err_set(err, ERR_INVALID, "the namespace is missing");
	}
	d.key = !namespaced && rest.p[0] == '/' ? rest.p + 1 : rest.p;
	vec_push(&a->deletions, d);
	return 0;
}

static void warn(void *ctx UNUSED, const char *text)
{
	verb_print_line("warning: ", text);
}

static void problem(void *ctx UNUSED, const char *text)
{
	verb_print_line("", text);
}

/* N:FILE */
static int add_update(void *arguments, const char *value, struct err *err)
{
	struct arguments *a = arguments;
	struct str rest = str_of(value), number = str_next(&rest, ':');
	struct update u = { .text = value };

	if (rest.p == NULL || rest.len == 0 || !parse_count(number, &u.cycle)) {
		return err_set(err, ERR_INVALID, "expected N:FILE");
	}
	u.path = rest.p;
	u.place = a->updates.n;
	vec_push(&a->updates, u);
	return 0;
}

static bool parse_arguments(int argc, char **argv, struct arguments *a, int *ret_code)
{
	const struct flags *f = &ctl_simulate_verb.flags;
	struct flags_parsed parsed;

	if (!verb_parse(f, argc, argv, a, &parsed, ret_code)) {
		return false;
	}
	for (size_t i = 0; i < parsed.nargs; i++) {
		vec_push(&a->files, argv[1 + i]);
	}
	for (size_t i = 0; i < a->named_files.n; i++) {
		vec_push(&a->files, a->named_files.v[i]);
	}
	a->has_now = flags_is_given(f, &parsed, "now");
	*ret_code = VERB_USAGE;
	if (a->files.n == 0) {
		fprintf(stderr, "headgatectl: simulate requires a FILE\n");
		return false;
	}
	if (a->until_stable && flags_is_given(f, &parsed, "cycles")) {
		fprintf(stderr, "headgatectl: --cycles and --until-stable cannot both be given\n");
		return false;
	}
	if (a->as_is && a->ignored.n > 0) {
		fprintf(stderr, "headgatectl: --ignore has no effect with --as-is\n");
		return false;
	}
	if (!flags_is_given(f, &parsed, "cycles")) {
		a->until_stable |= !a->as_is;
		a->cycles = 1;
	}
	return true;
}

/* Input that cannot be used. */
static int refuse(const struct arguments *a, const struct err *err)
{
	problem(NULL, err->text);
	/* With --as-is the exit codes are those that comparisons with other engines expect. */
	return a->as_is ? VERB_FAILED : VERB_USAGE;
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

/* --- updates -----------------------------------------------------------------------------------*/

static int check_simulated(const struct update *u, struct err *err)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(u->objects, &n);

	for (size_t i = 0; i < n; i++) {
		const struct sim_object *o = objects[i];

		if (!o->before && (sched_kinds_get(o->kind)->wings & SCHED_WING_WORKLOADS) == 0) {
			return err_set(err, ERR_INVALID, "%s: updates of a %s are not simulated",
				       o->where, sim_input_kind_name(o->kind));
		}
	}
	return 0;
}

struct update_reading {
	const struct arguments *args;
	struct ignored_kinds *ignored;
	struct strict_input *strict; /* of the files before; NULL: as they are */
	const struct jdoc *config;
	int64_t now;
};

/* 1: there were problems, which were reported. */
static int read_update(struct update *u, const struct update_reading *how, struct sim_input *base,
		       struct err *err)
{
	const struct strict_input_options opt = { .ignored = how->ignored,
						  .gate_schedulers = how->args->gate_schedulers.v,
						  .config_path = how->args->config,
						  .problem = problem,
						  .warn = strict_input_warn,
						  .ctx = how->strict,
						  .base = base };
	CLEANUP(strict_input_destroyp) struct strict_input *own = NULL;
	int r;

	u->objects = sim_input_create(warn, NULL);
	if (how->strict != NULL) {
		own = strict_input_create(&opt, u->objects);
	}
	r = sim_files_read(&u->path, 1, u->objects, err);
	if (r == 0 && own != NULL) {
		r = strict_input_finish(own, how->config, how->now, err);
	}
	return r == 0 ? check_simulated(u, err) : r;
}

/* Those of one cycle in the order of the flags. */
static int by_cycle(const void *a, const void *b)
{
	const struct update *x = a, *y = b;

	return x->cycle != y->cycle ? (x->cycle < y->cycle ? -1 : 1)
				    : (x->place < y->place ? -1 : 1);
}

/* Each changes the objects that are there after those before it. in: the objects of the files,
 * complete. */
static int read_updates(struct arguments *a, const struct update_reading *how, struct sim_input *in,
			struct err *err)
{
	CLEANUP(sim_input_destroyp) struct sim_input *there = sim_input_create(NULL, NULL);
	struct sim_input *last = in;
	int r = 0;

	if (a->updates.n > 0) {
		qsort(a->updates.v, a->updates.n, sizeof(a->updates.v[0]), by_cycle);
	}
	for (size_t i = 0; i < a->updates.n && r == 0; i++) {
		size_t n;
		struct sim_object *const *objects = sim_input_objects(last, &n);

		for (size_t k = 0; k < n; k++) {
			sim_input_add_copy(there, objects[k]);
		}
		r = read_update(&a->updates.v[i], how, there, err);
		last = a->updates.v[i].objects;
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

/* Removes the objects that are due. True: one was removed or is still due: there may be more to
 * decide. */
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

/* A Job counts by its Workload, which is an object of the update. */
static bool is_applied(const struct sim_object *o)
{
	return !o->before && o->kind != SCHED_JOBS;
}

/* The same for updates. Returns an error where the scheduler cannot use an object. */
static int apply_updates(const struct arguments *a, const struct parts *p, bool *more,
			 struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < a->updates.n && r == 0; i++) {
		const struct update *u = &a->updates.v[i];
		struct sim_object *const *objects;
		size_t n;

		*more |= u->cycle >= simulation_cycles(p->pods);
		objects = sim_input_objects(u->objects, &n);
		if (u->cycle != simulation_cycles(p->pods)) {
			continue;
		}
		for (size_t k = 0; k < n && r == 0; k++) {
			r = is_applied(objects[k])
				    ? workload_simulation_apply(p->quota, objects[k], err)
				    : 0;
		}
	}
	return r;
}

/* Without this warning a cycle number that is too high would look as if the object made no
 * difference. */
static void warn_of_late_changes(const struct arguments *a, const struct parts *p)
{
	for (size_t i = 0; i < a->deletions.n; i++) {
		if (a->deletions.v[i].cycle > simulation_cycles(p->pods)) {
			fprintf(stderr,
				"headgatectl: warning: --delete-after %s: not deleted, the run "
				"ended after cycle %u\n",
				a->deletions.v[i].text, simulation_cycles(p->pods));
		}
	}
	for (size_t i = 0; i < a->updates.n; i++) {
		if (a->updates.v[i].cycle > simulation_cycles(p->pods)) {
			fprintf(stderr,
				"headgatectl: warning: --apply-after %s: not applied, the run "
				"ended after cycle %u\n",
				a->updates.v[i].text, simulation_cycles(p->pods));
		}
	}
}

/* One cycle, and what happens before the next one:
 * 1. The engine of Workloads decides first, then that of pods.
 * 2. Deletions and updates that are due after this cycle, then the jobs of victims stop: so the
 *    next cycle sees all of it.
 * 3. With --until-stable the run ends with a cycle that decided nothing, unless something is
 *    still due, or Workloads have not been looked at yet.
 * 4. Time passes only if there is another cycle: the report is about the time of the last one. */
static int run_cycles(const struct arguments *a, const struct parts *p, struct err *err)
{
	unsigned limit = a->until_stable ? MAX_CYCLES : (unsigned)a->cycles;

	while (simulation_cycles(p->pods) < limit) {
		bool decided = workload_simulation_run_cycle(p->quota), more;

		decided |= simulation_run_cycle(p->pods);
		more = remove_objects(a, p);
		if (apply_updates(a, p, &more, err) < 0) {
			return -ERR_INVALID;
		}
		more |= a->victims_stop && workload_simulation_stop_victims(p->quota);
		/* The others have their turn, so that the reason why each waits is known. */
		more |= !a->as_is && workload_simulation_looked_at_new(p->quota);
		if (a->until_stable && !decided && !more) {
			return 0;
		}
		if (simulation_cycles(p->pods) < limit) {
			workload_simulation_advance(p->quota, a->advance);
		}
	}
	if (a->until_stable) {
		fprintf(stderr, "headgatectl: warning: not stable after %d cycles\n", MAX_CYCLES);
	}
	return 0;
}

static void print(const struct arguments *a, const struct parts *p,
		  const struct sim_report_input *input)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct sim_report_parts parts = { p->pods, p->quota, input };
	struct sim_report_show show = { .shares = (a->show & SHOW_SHARES) != 0,
					.capacity = (a->show & SHOW_CAPACITY) != 0,
					.workloads = (a->show & SHOW_WORKLOADS) != 0,
					.events = (a->show & SHOW_EVENTS) != 0 };

	if (a->output == VERB_TABLE) {
		sim_report_table(&parts, &show, stdout);
		return;
	}
	sim_report_json(&parts, &show, &text);
	printf("%s\n", text.p);
}

static int exit_code(const struct arguments *a, const struct parts *p,
		     const struct sim_report_input *input)
{
	const struct sim_report_parts parts = { p->pods, p->quota, input };
	bool failed = ((a->fail_on & FAIL_ON_PENDING) != 0 && sim_report_has_waiting(&parts)) ||
		      ((a->fail_on & FAIL_ON_PREEMPT) != 0 && sim_report_has_preempted(&parts));

	return failed ? VERB_ANSWER : VERB_OK;
}

/* Why each stage stands where it does:
 * 1. All files are read before anything is checked: objects refer to each other in any order,
 *    and the current time is the latest of any of them.
 * 2. The configuration is read before the checks are finished, since it decides which Jobs and
 *    pods queue.
 * 3. Updates of later cycles are read and checked before the first cycle: input that cannot be
 *    used is refused as a whole, and nothing is run. Each is checked against the objects that
 *    the updates before it leave.
 * 4. Only then the engines are made. The engine of Workloads keeps whole objects if updates will
 *    come.
 * 5. The cycles run.
 * 6. The report comes last. Its warnings are complete by then. */
static int run(struct arguments *a, struct sim_input *in, struct ignored_kinds *ignored,
	       struct strict_input *strict)
{
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	CLEANUP(simulation_destroyp) struct simulation *pods = NULL;
	CLEANUP(workload_simulation_destroyp) struct workload_simulation *quota = NULL;
	struct simulation_options opt = { .conf_path = a->scheduler_conf,
					  .gate_schedulers = a->gate_schedulers.v,
					  .warn = warn };
	struct workload_simulation_options quota_opt = { .warn = warn };
	const struct sim_report_input *input;
	struct parts parts;
	struct err err = ERR_INIT;
	int r = read_files(a, in, &config, &err);

	opt.now = quota_opt.now = a->has_now ? a->now : sim_input_youngest(in);
	if (strict != NULL) {
		opt.warn = quota_opt.warn = strict_input_warn;
		opt.ctx = quota_opt.ctx = strict;
	}
	if (r == 0 && strict != NULL) {
		r = strict_input_finish(strict, config, opt.now, &err);
	}
	if (r == 0) {
		r = read_updates(a, &(struct update_reading){ a, ignored, strict, config, opt.now },
				 in, &err);
	}
	/* Now that all objects are read. */
	if (r > 0 || (r == 0 && ignored_kinds_report(ignored, problem, NULL) > 0)) {
		return VERB_USAGE;
	}
	quota_opt.config = config;
	quota_opt.config_path = a->config;
	quota_opt.updates = a->updates.n > 0;
	if (r < 0 || workload_simulation_create(in, &quota_opt, &quota, &err) < 0 ||
	    simulation_create(in, &opt, &pods, &err) < 0) {
		return refuse(a, &err);
	}
	parts = (struct parts){ pods, quota };
	if (run_cycles(a, &parts, &err) < 0) {
		return verb_fail(&err);
	}
	warn_of_late_changes(a, &parts);
	input = strict == NULL ? NULL : strict_input_report(strict);
	print(a, &parts, input);
	return exit_code(a, &parts, input);
}

static int simulate(struct arguments *a)
{
	CLEANUP(ignored_kinds_destroyp)
	struct ignored_kinds *ignored = ignored_kinds_create(a->ignored.v, a->ignored.n);
	const struct strict_input_options opt = {
		.ignored = ignored,
		.gate_schedulers = a->gate_schedulers.v,
		.config_path = a->config,
		.problem = problem,
		.warn = warn,
	};
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(warn, NULL);
	CLEANUP(strict_input_destroyp)
	struct strict_input *strict = a->as_is ? NULL : strict_input_create(&opt, in);

	return run(a, in, ignored, strict);
}

static int run_verb(int argc, char **argv)
{
	struct arguments a = { .deletions = VEC_INIT, .updates = VEC_INIT };
	int code;

	if (parse_arguments(argc, argv, &a, &code)) {
		code = simulate(&a);
	}
	vec_finish(&a.files);
	vec_finish(&a.deletions);
	for (size_t i = 0; i < a.updates.n; i++) {
		sim_input_destroyp(&a.updates.v[i].objects);
	}
	vec_finish(&a.updates);
	return code;
}

static const struct flags_row *const tables[] = { rows, flags_help, NULL };

const struct verb ctl_simulate_verb = {
	VERB("simulate"),
	.help = "run the scheduler on manifests, without a cluster",
	.flags.args = "FILE...",
	.flags.doc =
		"Run the scheduler on manifests, without a cluster, and print what it decides. "
		"FILE may be a folder of .yaml, .yml and .json files; - is standard input. "
		"Manifests "
		"are read as a cluster would read them: what its API or Headgate's webhook would "
		"refuse is refused, pods that opt in get their gate, Jobs that queue become "
		"Workloads. Other Jobs, Deployments, ReplicaSets and StatefulSets make their pods "
		"if the gate or the scheduler is to decide about them. With --as-is, objects are "
		"taken as they are.",
	.flags.notes =
		"Exit codes: 0, the run took place; 1, it failed; 2, the command line or the "
		"input cannot be used; 3, --fail-on applies.",
	.flags.tables = tables,
	.run = run_verb,
};
