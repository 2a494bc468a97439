/* test/scenario/world.h: the objects of a scenario as an API server would hold them, the cluster
 * that the scheduler sees, and the effects of decisions on both. Writes reach the objects at once
 * and the cluster when they are acknowledged. The oracle watches the objects. Owner: the test. */
#ifndef TEST_SCENARIO_WORLD_H
#define TEST_SCENARIO_WORLD_H

#include "base/strbuf.h"
#include "lib/pods/cycle_fixture.h"

struct jdoc;
struct oracle;
struct strmap;

struct world {
	struct cycle_fixture f;
	struct strmap *objects; /* "Kind namespace/name" or "Kind name" -> struct jdoc */
	struct oracle *oracle;
	struct strbuf events; /* of the last cycle: "Reason name; ..." */
	unsigned count;       /* objects made so far: UIDs and creation times */
};

/* conf NULL: built in. hierarchy: as its capacity plugin has it. */
void world_init(struct world *w, const char *conf, bool hierarchy);
void world_finish(struct world *w);
/* Creates or replaces; missing UID and creation time are made up, in order. Takes the object. */
void world_apply_take(struct world *w, struct jdoc *object);
void world_merge(struct world *w, const char *kind, const char *name, const struct jdoc *patch);
void world_delete(struct world *w, const char *kind, const char *name);
/* Runs one cycle and all checks; returns its decisions as cycle_fixture_run. */
const char *world_run(struct world *w);
/* Applies the changed objects to the cluster. */
void world_acknowledge(struct world *w);
/* Applies an object of w that was changed in place to the cluster. */
void world_see(struct world *w, const struct jdoc *object);
/* Call it after an object of w was changed in place: the oracle looks at it again. */
void world_rewatch(struct world *w, const struct jdoc *object);
/* Names of published pods that opted in, sorted: "p1 p2". */
void world_published(struct world *w, struct strbuf *out);
/* The message of the condition PodScheduled of a pod; NULL: it has none. */
const char *world_message(struct world *w, const char *pod);
/* "Pending", ... of a PodGroup as last written. */
const char *world_phase(struct world *w, const char *group);

#endif
