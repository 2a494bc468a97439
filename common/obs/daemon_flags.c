#include "obs/daemon_flags.h"

#include <string.h>

#include "base/err.h"

#define AT(kind, member) FLAGS_AT(struct daemon_flags, kind, member)

static const struct flags_choice formats[] = { { "text", LOG_TEXT },
					       { "json", LOG_JSON },
					       { NULL, 0 } };

const struct flags_row daemon_flags_rows[] = {
	{ "General", .type = FLAGS_HEADING },
	{ "master", AT(TEXT, master), .arg = "URL", .unset = "that of the kubeconfig",
	  .help = "Address of the API server" },
	{ "kubeconfig", AT(TEXT, kubeconfig), .arg = "FILE",
	  .unset = "$KUBECONFIG, in-cluster, ~/.kube/config",
	  .help = "Path of the kubeconfig file" },
	{ "scheduler-name", AT(LIST, scheduler_names), .arg = "NAME", .def = "volcano",
	  .max = DAEMON_FLAGS_MAX_NAMES,
	  .help = "Name in spec.schedulerName of the pods to schedule; may be repeated" },
	{ "gate-schedulers", AT(LIST, gate_schedulers), .arg = "NAME", .def = "default-scheduler",
	  .max = DAEMON_FLAGS_MAX_NAMES, .may_be_empty = true,
	  .help = "Name in spec.schedulerName of pods that another scheduler places, to gate until "
		  "their queue has room; may be repeated; empty: none" },
	{ "feature-gates", FLAGS_CUSTOM_AT(struct daemon_flags, feature_gates_set, gates),
	  .arg = "NAME=BOOL,...", .def = FEATURE_GATES_DEFAULT,
	  .help = "Features to switch on or off; SchedulingGatesQueueAdmission=false removes all "
		  "of "
		  "Headgate's scheduling gates" },
	{ "metrics-token-file", AT(TEXT, metrics_token), .arg = "FILE",
	  .unset = "no authentication",
	  .help = "File with the bearer token required for /metrics; read again for each request" },
	{ "v", .letter = 'v', AT(INT, verbosity), .max = 100, .def = "0",
	  .help = "Verbosity of log messages; 6 is the highest level in use" },
	{ "logging-format", FLAGS_CHOICE_AT(struct daemon_flags, formats, log_format),
	  .def = "text", .help = "Format of the log messages on standard error" },
	{ .type = FLAGS_END },
};

/* The name of the flag invites a list; with a comma in it, it would gate no pod at all. */
static int check_names(const struct flags_list *names, struct err *err)
{
	for (size_t i = 0; i < names->n; i++) {
		if (strchr(names->v[i], ',') != NULL) {
			return err_set(err, ERR_INVALID,
				       "--gate-schedulers: \"%s\": one name each; the flag may be "
				       "repeated",
				       names->v[i]);
		}
	}
	return 0;
}

int daemon_flags_parse(const struct flags *f, int argc, char **argv, struct daemon_flags *options,
		       struct err *err)
{
	struct flags_parsed parsed;
	int r = flags_parse(f, argc, argv, options, &parsed, err);

	if (r != 0) {
		return r;
	}
	options->parsed = parsed;
	return check_names(&options->gate_schedulers, err);
}

/* No messages have level 1: it is the same as 0. */
static enum log_level level_of(int64_t verbosity)
{
	return verbosity < 2   ? LOG_INFO
	       : verbosity > 6 ? LOG_V6
			       : (enum log_level)(LOG_V2 + verbosity - 2);
}

void daemon_flags_configure_log(const struct daemon_flags *d)
{
	log_set_level(level_of(d->verbosity));
	log_set_format(d->log_format);
	for (size_t i = 0; i < d->parsed.ignored.n; i++) {
		log_warn("flag accepted for compatibility, without effect",
			 LOG_STR("flag", d->parsed.ignored.v[i]));
	}
	for (size_t i = 0; i < d->gates.ignored.n; i++) {
		log_warn("feature gate accepted for compatibility, without effect",
			 LOG_STR("gate", d->gates.ignored.v[i]));
	}
}
