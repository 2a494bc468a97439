/* scheduler/ctl/cli/verb.h: a verb of headgatectl: its flags, its exit codes, and the values of -o.
 * Results go to standard output, everything else to standard error. Owner: main thread. */
#ifndef SCHEDULER_CTL_CLI_VERB_H
#define SCHEDULER_CTL_CLI_VERB_H

#include <stdbool.h>

#include "process/flags.h"

struct err;

enum verb_exit {
	VERB_OK = 0,
	VERB_FAILED = 1,
	VERB_USAGE = 2,
	VERB_ANSWER =
		3, /* it took place, and the answer is the one that the caller asked to fail on */
};

enum verb_output { VERB_TABLE, VERB_JSON, VERB_YAML, VERB_NAME };

struct verb {
	const char *name;
	const char *help;   /* one line */
	struct flags flags; /* flags after the verb; program: "headgatectl VERB" */
	int (*run)(int argc, char **argv);
};

#define VERB(verb) .name = (verb), .flags.program = "headgatectl " verb

extern const struct flags_choice verb_outputs[];        /* of -o: table, json */
extern const struct flags_choice verb_object_outputs[]; /* yaml and name as well */

/* flags_parse() with our exit codes: true: run the verb; false: return *ret_code (0 after --help, 2
 * after a usage error, which was printed). */
bool verb_parse(const struct flags *f, int argc, char **argv, void *options,
		struct flags_parsed *ret, int *ret_code);
/* Prints "headgatectl: <what><text>" to standard error; control characters of text are escaped. */
void verb_print_line(const char *what, const char *text);
/* Prints "headgatectl: <error>" and returns VERB_FAILED. */
int verb_fail(const struct err *err);

#endif
