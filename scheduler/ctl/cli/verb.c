#include "scheduler/ctl/cli/verb.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/quote.h"
#include "base/strbuf.h"

const struct flags_choice verb_outputs[] = {
	{ "table", VERB_TABLE },
	{ "json", VERB_JSON },
	{ NULL, 0 },
};

const struct flags_choice verb_object_outputs[] = {
	{ "table", VERB_TABLE }, { "json", VERB_JSON }, { "yaml", VERB_YAML },
	{ "name", VERB_NAME },   { NULL, 0 },
};

bool verb_parse(const struct flags *f, int argc, char **argv, void *options,
		struct flags_parsed *ret, int *ret_code)
{
	struct err err = ERR_INIT;
	int r = flags_parse(f, argc, argv, options, ret, &err);

	if (r < 0) {
		(void)verb_fail(&err);
	}
	*ret_code = r < 0 ? VERB_USAGE : VERB_OK;
	return r == 0;
}

void verb_print_line(const char *what, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;

	quote_plain(&line, str_of(text));
	fprintf(stderr, "headgatectl: %s%s\n", what, line.p);
}

int verb_fail(const struct err *err)
{
	fprintf(stderr, "headgatectl: %s\n", err->text);
	return VERB_FAILED;
}
