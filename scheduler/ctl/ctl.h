/* scheduler/ctl/ctl.h: the frame of headgatectl: a sorted table of verbs, one file per verb.
 * Each verb parses its own arguments with argp (argv[0] is "headgatectl VERB") and returns an exit
 * code. Results go to standard output, everything else to standard error. Owner: main thread. */
#ifndef SCHEDULER_CTL_CTL_H
#define SCHEDULER_CTL_CTL_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum ctl_exit {
	CTL_OK = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
};

enum ctl_output { CTL_TABLE, CTL_JSON, CTL_YAML, CTL_NAME };

struct ctl_verb {
	const char *name;
	const char *help; /* one line */
	int (*run)(int argc, char **argv);
};

struct err;

/* NULL: no such verb. */
const struct ctl_verb *ctl_find_verb(const char *name);
/* The whole program behind main(). */
int ctl_run(int argc, char **argv);
/* argp_parse with our exit codes: true when the verb should go on, else *ret_code is what to return
 * (0 after --help, 2 after a usage error). */
bool ctl_parse(const struct argp *argp, int argc, char **argv, void *input, int *ret_code);
/* For -o: false (with a message) unless it is one up to `last`: table, json, yaml, name. */
bool ctl_parse_output(const char *text, enum ctl_output last, enum ctl_output *ret);
/* Prints "headgatectl: what" and returns CTL_FAILED. */
int ctl_fail(const struct err *err);

/* The verbs, each in ctl_<verb>.c. */
int ctl_certs_run(int argc, char **argv);
int ctl_close_run(int argc, char **argv);
int ctl_doctor_run(int argc, char **argv);
int ctl_drain_run(int argc, char **argv);
int ctl_explain_run(int argc, char **argv);
int ctl_list_run(int argc, char **argv);
int ctl_open_run(int argc, char **argv);
int ctl_pending_run(int argc, char **argv);
int ctl_queues_run(int argc, char **argv);
int ctl_resume_run(int argc, char **argv);
int ctl_simulate_run(int argc, char **argv);
int ctl_stop_run(int argc, char **argv);
int ctl_version_run(int argc, char **argv);

#endif
