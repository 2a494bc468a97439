/* test/unit/scheduler/ctl/live_fixture.h: headgatectl against an embedded API server in the same
 * program, with the custom resources of Headgate and without its daemons. Owner: the test's thread.
 * Whatever cannot be done fails the running test. */
#ifndef TEST_UNIT_SCHEDULER_CTL_LIVE_FIXTURE_H
#define TEST_UNIT_SCHEDULER_CTL_LIVE_FIXTURE_H

#include <stdint.h>

#include "lib/folder.h"

struct front;
struct jdoc;

struct live_fixture {
	/* Has the kubeconfig, with the contexts x and in-ns, of namespace ns. Each "@NAME" of a
	 * line is a file of it. */
	struct folder folder;
	struct front *front;
	struct strbuf out; /* of the last run: standard error, then standard output */
};

/* Has namespace ns. */
void live_fixture_start(struct live_fixture *f);
void live_fixture_stop(struct live_fixture *f);
/* Creates or replaces objects from YAML, without admission. */
void live_fixture_load(struct live_fixture *f, const char *yaml);
void live_fixture_delete(struct live_fixture *f, const char *path);
/* As apiserver_set_faults; "[]": none. */
void live_fixture_fault(struct live_fixture *f, const char *script);
/* How many requests were answered by a fault of kind "status" since live_fixture_fault. */
uint64_t live_fixture_struck(struct live_fixture *f);
/* Runs headgatectl with the words of this line, and returns its exit code. */
int live_fixture_run(struct live_fixture *f, const char *line);
/* The object at present; NULL: there is none. ns: NULL without a namespace. The caller owns it. */
struct jdoc *live_fixture_get(struct live_fixture *f, const char *group, const char *plural,
			      const char *ns, const char *name);

#endif
