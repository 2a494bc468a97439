/* test/lib/owners_fixture.h: the controller of owners at the embedded API server, in virtual time,
 * for unit tests. There is no Job controller, no kubelet and no quota engine: the test writes what
 * they would. Owner: the test. */
#ifndef TEST_LIB_OWNERS_FIXTURE_H
#define TEST_LIB_OWNERS_FIXTURE_H

#include "base/clock.h"
#include "base/strbuf.h"
#include "conf/quota_owners.h"
#include "controllers/owners.h"
#include "lib/apiserver_fixture.h"

#define OWNERS_FIXTURE_WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define OWNERS_FIXTURE_SEEN_MAX 24
#define OWNERS_FIXTURE_CONDITION(status, type, reason)                                             \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason                    \
	"\",\"message\":\"m\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"

struct mem_transport;
struct recorder;

struct owners_fixture_seen { /* an object that the controller was told of */
	char kind, key[100], version[24];
	bool present;
};

struct owners_fixture {
	struct apiserver_fixture api;
	struct clock_fake clock;
	struct mem_transport *net;
	struct recorder *recorder;
	struct owners *o;
	struct arena *arena;
	struct quota_owners which;
	struct owners_fixture_seen seen[OWNERS_FIXTURE_SEEN_MAX];
	size_t n;
	unsigned losses; /* answers that are still to be lost */
	unsigned told;   /* calls of the watch */
	char workload[300];
	/* What was measured, a line each: "created KIND QUEUE SECONDS"; "ungated CLUSTERQUEUE
	 * pod|group SECONDS" of APISERVER_FIXTURE_NOW at which the Workload was admitted. */
	struct strbuf measured;
};

/* conf: text of Kueue's configuration. Flavor "spot" (label type=spot, one toleration) is there. */
void owners_fixture_begin(struct owners_fixture *f, const char *conf);
void owners_fixture_end(struct owners_fixture *f);
/* The controller sees what has changed; nothing is sent yet. */
void owners_fixture_look(struct owners_fixture *f);
/* Until nobody has anything to do; retries become due. */
void owners_fixture_settle(struct owners_fixture *f);

/* It must succeed; f->api.doc is the answer. */
void owners_fixture_call(struct owners_fixture *f, enum http_method method, const char *url,
			 const char *type, const char *body);
/* The Workload that was told of last. */
void owners_fixture_get_workload(struct owners_fixture *f);
/* As the quota engine; podsets: "name:count ...", NULL: without admission. */
void owners_fixture_workload_status(struct owners_fixture *f, const char *conditions,
				    const char *podsets);
void owners_fixture_admit(struct owners_fixture *f, const char *podsets); /* likewise */
void owners_fixture_evict(struct owners_fixture *f, const char *podsets); /* still holds quota */

/* The text at a path of the latest answer, of JSON for what is no text; "" when absent. */
void owners_fixture_expect(struct owners_fixture *f, const char *path, const char *want);
void owners_fixture_expect_condition(struct owners_fixture *f, const char *type, const char *status,
				     const char *reason);
bool owners_fixture_has_event(struct owners_fixture *f, const char *reason);
/* Of the Workload that was told of last. */
enum owners_activity owners_fixture_activity(struct owners_fixture *f);

#endif
