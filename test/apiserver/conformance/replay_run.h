/* test/apiserver/conformance/replay_run.h: plays topics against one API server. Each topic gets a
 * namespace of its own. The name of the namespace ($ns) also marks the objects that the topic makes
 * outside of namespaces.
 * Owner: one thread. */
#ifndef TEST_APISERVER_CONFORMANCE_REPLAY_RUN_H
#define TEST_APISERVER_CONFORMANCE_REPLAY_RUN_H

#include <stddef.h>

struct err;
struct kubeconfig;
struct replay_answer;
struct replay_run;
struct replay_topic;

/* Registers the CRDs of the folder where they are missing. cfg must outlive the run. */
int replay_run_open(const struct kubeconfig *cfg, const char *crds, struct replay_run **ret,
		    struct err *err);
void replay_run_close(struct replay_run *r); /* NULL is fine */
/* Sends all requests of the topic and fills answers, one for each step, which the caller finishes.
 * Fails when a request gets no answer at all. */
int replay_run_topic(struct replay_run *r, const struct replay_topic *t,
		     struct replay_answer *answers, struct err *err);

#endif
