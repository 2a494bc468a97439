#include "scheduler/ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/str.h"
#include "scheduler/ctl/cli/verb.h"

/* Sorted by name. */
static const struct verb *const verbs[] = {
	&ctl_certs_verb,    &ctl_close_verb,   &ctl_completion_verb, &ctl_doctor_verb,
	&ctl_drain_verb,    &ctl_explain_verb, &ctl_list_verb,       &ctl_multikueue_verb,
	&ctl_open_verb,     &ctl_pending_verb, &ctl_queues_verb,     &ctl_resume_verb,
	&ctl_simulate_verb, &ctl_stop_verb,    &ctl_version_verb,
};

const struct verb *ctl_verb_at(size_t i)
{
	return i < ARRAY_LEN(verbs) ? verbs[i] : NULL;
}

static int cmp_verb(const void *name, const void *verb)
{
	return strcmp(name, (*(const struct verb *const *)verb)->name);
}

const struct verb *ctl_find_verb(const char *name)
{
	const struct verb *const *verb =
		bsearch(name, verbs, ARRAY_LEN(verbs), sizeof(verbs[0]), cmp_verb);

	return verb == NULL ? NULL : *verb;
}

static void print_usage(FILE *to)
{
	fprintf(to, "Usage: headgatectl VERB [FLAG...]\n\nVerbs:\n");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		fprintf(to, "  %-18s %s\n", verbs[i]->name, verbs[i]->help);
	}
	fprintf(to, "\n`headgatectl VERB --help` lists the flags of a verb. "
		    "Exit codes: 0 success, 1 failure, 2 wrong usage.\n");
}

int ctl_run(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 2) {
		print_usage(stderr);
		return VERB_USAGE;
	}
	if (str_streq(argv[1], "--help") || str_streq(argv[1], "-h") ||
	    str_streq(argv[1], "help")) {
		print_usage(stdout);
		return VERB_OK;
	}
	verb = ctl_find_verb(str_streq(argv[1], "--version") ? "version" : argv[1]);
	if (verb == NULL) {
		fprintf(stderr, "headgatectl: unknown verb: %s\n\n", argv[1]);
		print_usage(stderr);
		return VERB_USAGE;
	}
	return verb->run(argc - 1, argv + 1);
}
