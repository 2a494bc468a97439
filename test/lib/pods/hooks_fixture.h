/* test/lib/pods/hooks_fixture.h: a session over a cluster built by hand, with the plugins of a
 * configuration text. Owner: the test. */
#ifndef TEST_LIB_PODS_HOOKS_FIXTURE_H
#define TEST_LIB_PODS_HOOKS_FIXTURE_H

#include "lib/pods/cluster_fixture.h"
#include "scheduler/pods/session/session.h"

struct hooks_fixture {
	struct cluster *cluster;
	struct sched_conf *conf;
	struct hooks *hooks;
	struct session *s;
	bool is_open;
};

/* tiers: the text under `tiers:`, "- plugins:\n  - name: gang\n". Rows: the registry that it is
 * compiled from. Fails the test when the text does not parse. */
void hooks_fixture_init(struct hooks_fixture *f, const char *tiers, const struct plugin_row *rows,
			size_t nrows);
/* Opens the session over the cluster as it is now, closing the one before. */
void hooks_fixture_open(struct hooks_fixture *f);
void hooks_fixture_finish(struct hooks_fixture *f);

#endif
