/* test/lib/pods/core_fixture.h: an open session over a cluster made by hand, all queues are due.
 * Change the cluster between init and open only. Owner: the test. */
#ifndef TEST_LIB_PODS_CORE_FIXTURE_H
#define TEST_LIB_PODS_CORE_FIXTURE_H

#include "lib/pods/cycle_fixture.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/statement.h"

struct core_fixture {
	struct cycle_fixture f;
	struct hooks *hooks;
	struct session *s; /* after core_fixture_open */
};

void core_fixture_init(struct core_fixture *sf, const char *conf_text);
void core_fixture_open(struct core_fixture *sf);
void core_fixture_finish(struct core_fixture *sf);
/* FNV over the session's view of tasks, PodGroups, nodes and queues, without versions of nodes. */
uint64_t core_fixture_checksum(const struct session *s);
/* The session's decisions so far, as in cycle_fixture_run; valid until the next call. */
const char *core_fixture_decisions(struct core_fixture *sf);

#endif
