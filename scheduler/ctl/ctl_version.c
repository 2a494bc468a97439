#include "scheduler/ctl/ctl.h"

#include <errno.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/version.h"
#include "enc/json_out.h"

static error_t on_option(int key, char *arg, struct argp_state *s)
{
	enum ctl_output *output = s->input;

	switch (key) {
	case 'o':
		return ctl_parse_output(arg, CTL_JSON, output) ? 0 : EINVAL;
	case ARGP_KEY_ARG:
		fprintf(stderr, "headgatectl: unexpected argument \"%s\"\n", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int ctl_version_run(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "output", 'o', "table|json", 0, "form of the output", 0 },
		{ 0, 0, 0, 0, 0, 0 },
	};
	static const struct argp argp = { .options = rows, .parser = on_option };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	enum ctl_output output = CTL_TABLE;
	struct json_out o;
	int code;

	if (!ctl_parse(&argp, argc, argv, &output, &code)) {
		return code;
	}
	if (output == CTL_TABLE) {
		printf("headgatectl %s\n", HEADGATE_VERSION);
		return CTL_OK;
	}
	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_kv(&o, "version", HEADGATE_VERSION);
	json_out_object_end(&o);
	json_out_end(&o);
	printf("%s\n", text.p);
	return CTL_OK;
}
