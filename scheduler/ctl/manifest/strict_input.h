/* scheduler/ctl/manifest/strict_input.h: turns manifests into the objects that a cluster would have
 * after `kubectl apply`: checks (manifest_check.h), admission (manifest_admit.h), and the Workloads
 * of Jobs and pods (owner_workloads.h). One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_STRICT_INPUT_H
#define SCHEDULER_CTL_MANIFEST_STRICT_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct ignored_kinds;
struct jdoc;
struct sim_input;
struct sim_report_input;
struct strict_input;

struct strict_input_options {
	struct ignored_kinds *ignored; /* kinds that are left out without a warning; NULL: none */
	const char *const *gate_schedulers; /* of pods that are gated for others, NULL-terminated;
					       NULL: none */
	const char *config_path;            /* of the configuration, for errors; NULL: none */
	/* One text each; a problem means that the API would refuse an object. */
	void (*problem)(void *ctx, const char *text);
	void (*warn)(void *ctx, const char *text);
	void *ctx;
	/* The objects that are there already, after strict_input_finish; NULL: none. Those that are
	 * added change them: changed Jobs and pods are problems. */
	struct sim_input *base;
};

/* Checks the objects that are added to in from now on; in must outlive it. */
struct strict_input *strict_input_create(const struct strict_input_options *opt,
					 struct sim_input *in);
void strict_input_destroyp(struct strict_input **ps); /* for CLEANUP */
/* To be called once, when all objects are added. config: Kueue's configuration, or NULL. 0: the
 * objects are complete; 1: there were problems, which were reported; -ERR_INVALID: an object or the
 * configuration cannot be read. */
int strict_input_finish(struct strict_input *s, const struct jdoc *config, int64_t now,
			struct err *err);
/* Passes a warning on, and keeps it for the report. ctx: a struct strict_input. */
void strict_input_warn(void *ctx, const char *text);
/* The objects that were read, what is not decided about, the warnings so far. Valid until the next
 * call. */
const struct sim_report_input *strict_input_report(struct strict_input *s);

#endif
