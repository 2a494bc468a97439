/* scheduler/ctl/ctl.h: the frame of headgatectl: a sorted table of verbs, one file per verb. The
 * verb says what it takes by a table of flags and returns an exit code. Results go to standard
 * output, everything else to standard error. Owner: main thread. */
#ifndef SCHEDULER_CTL_CTL_H
#define SCHEDULER_CTL_CTL_H

#include "base/flags.h"

enum ctl_exit {
	CTL_OK = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
};

enum ctl_output { CTL_TABLE, CTL_JSON, CTL_YAML, CTL_NAME };

struct ctl_verb {
	const char *name;
	const char *help;   /* one line */
	struct flags flags; /* what follows the verb; program: "headgatectl VERB" */
	int (*run)(int argc, char **argv);
};

#define CTL_VERB(verb) .name = (verb), .flags.program = "headgatectl " verb

struct err;

extern const struct flags_choice ctl_outputs[];        /* of -o: table, json */
extern const struct flags_choice ctl_object_outputs[]; /* yaml and name as well */

/* NULL: no such verb. */
const struct ctl_verb *ctl_find_verb(const char *name);
const struct ctl_verb *ctl_verb_at(size_t i); /* by name; NULL behind the last one */
/* The whole program behind main(). */
int ctl_run(int argc, char **argv);
/* flags_parse() with our exit codes: true when the verb should go on, else *ret_code is what to
 * return (0 after --help, 2 after a usage error, which was printed). */
bool ctl_parse(const struct flags *f, int argc, char **argv, void *options,
	       struct flags_parsed *ret, int *ret_code);
/* Prints "headgatectl: what" and returns CTL_FAILED. */
int ctl_fail(const struct err *err);

/* The verbs, each in ctl_<verb>.c. */
extern const struct ctl_verb ctl_certs_verb;
extern const struct ctl_verb ctl_close_verb;
extern const struct ctl_verb ctl_completion_verb;
extern const struct ctl_verb ctl_doctor_verb;
extern const struct ctl_verb ctl_drain_verb;
extern const struct ctl_verb ctl_explain_verb;
extern const struct ctl_verb ctl_list_verb;
extern const struct ctl_verb ctl_open_verb;
extern const struct ctl_verb ctl_pending_verb;
extern const struct ctl_verb ctl_queues_verb;
extern const struct ctl_verb ctl_resume_verb;
extern const struct ctl_verb ctl_simulate_verb;
extern const struct ctl_verb ctl_stop_verb;
extern const struct ctl_verb ctl_version_verb;

#endif
