/* scheduler/ctl/sim/sim_input.h: objects for `headgatectl simulate` and for the verbs about
 * Workloads: manifests in YAML or JSON, many documents, lists expanded, or objects one by one from
 * a cluster. Each is completed with the API server's defaults and kept once by kind, namespace and
 * name (the later one wins). Limits: those of enc/yaml.h per file, of enc/json/jdoc.h per item of a
 * list. One thread. */
#ifndef SCHEDULER_CTL_SIM_SIM_INPUT_H
#define SCHEDULER_CTL_SIM_SIM_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "scheduler/base/sched_kinds.h"

struct err;
struct jdoc;
struct sim_input;

struct sim_object {
	enum sched_resource kind;
	char *key;         /* "namespace/name" or "name" */
	char *where;       /* "pods.yaml: document 2", for messages */
	struct jdoc *json; /* may be changed until the simulation has read it */
	bool has_pods;     /* a Job that is in the input together with its pods */
	/* With sim_input_set_base: */
	bool before;            /* it is of the base alone */
	const struct jdoc *old; /* the object of the base that this one replaces; NULL: none */
};

typedef void (*sim_input_warn_fn)(void *ctx, const char *text);

/* Looks at an object before it is taken, and may complete it. 0: it is of kind *ret_kind; 1: it is
 * left out. */
typedef int (*sim_input_check_fn)(void *ctx, struct jdoc *object, const char *where,
				  enum sched_resource *ret_kind);

/* warn is called once for each ignored kind; may be NULL. */
struct sim_input *sim_input_create(sim_input_warn_fn warn, void *ctx);
void sim_input_destroyp(struct sim_input **pi); /* for CLEANUP */
/* From now on the check decides about each object that is added, and warn is called for objects
 * that are given twice. */
void sim_input_set_check(struct sim_input *in, sim_input_check_fn check, void *check_ctx,
			 sim_input_warn_fn warn, void *warn_ctx);
/* Adds the objects of one file's text. -ERR_INVALID names file, document (empty ones between two
 * lines "---" are counted) and cause; what came before it stays. */
int sim_input_add(struct sim_input *in, const char *file, struct str text, struct err *err);
/* The same for a v1 List as JSON text, of any size, item by item: the output of `kubectl get -o
 * json`, or a scheduler's dump. */
int sim_input_add_list(struct sim_input *in, const char *file, struct str text, struct err *err);
/* Adds one object of a known kind, completed in the same way; takes it, also on failure. where is
 * for messages. -ERR_INVALID: it has no name. */
int sim_input_take(struct sim_input *in, enum sched_resource kind, struct jdoc *object,
		   const char *where, struct err *err);
/* Makes the objects of in changes to base, which outlives it: finds for each the one that it
 * replaces, and adds copies of those that stay. */
void sim_input_set_base(struct sim_input *in, struct sim_input *base);
/* Adds a copy of an object of another input. */
void sim_input_add_copy(struct sim_input *in, const struct sim_object *o);
/* Whether the API server would admit it now: it has no uid yet, is not of the base alone, and is no
 * pod that has got beyond the phase Pending. */
bool sim_input_is_new(const struct sim_object *o);
/* Finds an object by "namespace/name" or "name"; NULL: there is none. */
const struct sim_object *sim_input_find(const struct sim_input *in, enum sched_resource kind,
					const char *key);
/* Objects ordered by kind, then key, whatever the order of the files. Valid until the next
 * sim_input_add. */
struct sim_object *const *sim_input_objects(struct sim_input *in, size_t *ret_n);
/* The latest time in any object, wall ns, at most CLOCK_LATEST_NOW; 0: none. */
int64_t sim_input_youngest(const struct sim_input *in);
/* "Pod" -> SCHED_PODS; false: the kind is not simulated. */
bool sim_input_kind(const char *kind, enum sched_resource *ret);
/* For messages and tables: "Pod". */
const char *sim_input_kind_name(enum sched_resource kind);

#endif
