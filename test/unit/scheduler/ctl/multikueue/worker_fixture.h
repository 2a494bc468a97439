/* test/unit/scheduler/ctl/multikueue/worker_fixture.h: a worker cluster for headgatectl: the
 * embedded API server behind HTTPS, which has a token controller, answers access reviews by a list
 * of missing rights, and can be silent. Owner: the test's thread. An error fails the running test.
 */
#ifndef TEST_UNIT_SCHEDULER_CTL_MULTIKUEUE_WORKER_FIXTURE_H
#define TEST_UNIT_SCHEDULER_CTL_MULTIKUEUE_WORKER_FIXTURE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "lib/net/https_fixture.h"

#define WORKER_FIXTURE_TOKEN "worker-token" /* made by the token controller */

struct apiserver;

/* All zero: every right, a token controller, an answer for everybody. */
struct worker_behaviour {
	const char *const *missing; /* rights, as worker_role_describe says them; ends with NULL */
	bool no_tokens;             /* there is no token controller */
	bool silent;                /* requests are not answered */
	const char *token;          /* only this one may come in; NULL: any */
};

struct worker_fixture {
	struct https_fixture https;
	pthread_mutex_t lock; /* of what follows, which the server's threads use */
	struct apiserver *core;
	struct worker_behaviour how;
};

/* kueue: the custom resources of Kueue are served. */
void worker_fixture_start(struct worker_fixture *f, bool kueue);
void worker_fixture_stop(struct worker_fixture *f);
/* Sets how requests are answered from now on. The strings outlive the fixture. */
void worker_fixture_behave(struct worker_fixture *f, struct worker_behaviour how);
/* Creates or replaces objects from YAML. */
void worker_fixture_load(struct worker_fixture *f, const char *yaml);
/* Rules of apiserver_set_faults, as YAML. */
void worker_fixture_set_faults(struct worker_fixture *f, const char *yaml);
/* Appends a kubeconfig with this token (NULL: none). */
void worker_fixture_kubeconfig(const struct worker_fixture *f, const char *token,
			       struct strbuf *out);
/* Appends the Secret kueue-system/NAME-kubeconfig with that text and the MultiKueueCluster NAME
 * for the manager, as YAML documents. */
void worker_fixture_manifests(const struct worker_fixture *f, const char *name, struct strbuf *out);
/* Whether the object has this text. ns: NULL without a namespace. */
bool worker_fixture_has(struct worker_fixture *f, const char *group, const char *plural,
			const char *ns, const char *name, const char *text);
/* Appends the UID of a Workload, which exists. */
void worker_fixture_uid(struct worker_fixture *f, const char *ns, const char *name,
			struct strbuf *out);

#endif
