#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "process/version.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"

struct arguments {
	enum verb_output output;
};

static const struct flags_row rows[] = {
	{ "output", .letter = 'o', FLAGS_CHOICE_AT(struct arguments, verb_outputs, output),
	  .def = "table", .help = "Output format" },
	{ .type = FLAGS_END },
};

static int run_verb(int argc, char **argv)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct arguments a = { VERB_TABLE };
	struct flags_parsed parsed;
	struct json_out o;
	int code;

	if (!verb_parse(&ctl_version_verb.flags, argc, argv, &a, &parsed, &code)) {
		return code;
	}
	if (a.output == VERB_TABLE) {
		printf("headgatectl %s\n", HEADGATE_VERSION);
		return VERB_OK;
	}
	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_kv(&o, "version", HEADGATE_VERSION);
	json_out_object_end(&o);
	json_out_end(&o);
	printf("%s\n", text.p);
	return VERB_OK;
}

static const struct flags_row *const tables[] = { rows, flags_help, NULL };

const struct verb ctl_version_verb = {
	VERB("version"),
	.help = "print the version",
	.flags.doc = "Print the version of this program.",
	.flags.tables = tables,
	.run = run_verb,
};
