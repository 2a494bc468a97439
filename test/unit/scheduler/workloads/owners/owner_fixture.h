/* test/unit/scheduler/workloads/owners/owner_fixture.h: the controller of owners at the embedded
 * API server, in virtual time, for unit tests. There is no Job controller, no kubelet and no quota
 * engine: the test writes in their place. Owner: the test. */
#ifndef TEST_UNIT_SCHEDULER_WORKLOADS_OWNERS_OWNER_FIXTURE_H
#define TEST_UNIT_SCHEDULER_WORKLOADS_OWNERS_OWNER_FIXTURE_H

#include "base/clock.h"
#include "base/strbuf.h"
#include "scheduler/base/message.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"
#include "scheduler/workloads/controller/owner_controller.h"
#include "unit/apiserver/apiserver_fixture.h"

#define OWNER_FIXTURE_WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define OWNER_FIXTURE_SEEN_MAX 24
#define OWNER_FIXTURE_CONDITION(status, type, reason)                                              \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason                    \
	"\",\"message\":\"m\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"

struct mem_transport;
struct recorder;

struct owner_fixture_seen { /* an object that the controller has seen */
	enum sched_resource r;
	char key[100], version[24];
	bool present;
};

struct owner_fixture {
	struct apiserver_fixture api;
	struct clock_fake clock;
	struct mem_transport *net;
	struct recorder *recorder;
	struct owner_controller *o;
	struct arena *arena;
	struct kueue_conf_owners which;
	struct owner_fixture_seen seen[OWNER_FIXTURE_SEEN_MAX];
	size_t n;
	unsigned losses;   /* answers that are still to be lost */
	unsigned notified; /* calls of the watch */
	char workload[300];
	/* The measurements, a line each: "created KIND QUEUE SECONDS"; "ungated CLUSTERQUEUE
	 * pod|group SECONDS" of APISERVER_FIXTURE_NOW at which the Workload was admitted. */
	struct strbuf measured;
};

/* conf: text of Kueue's configuration. Flavor "spot" (label type=spot, one toleration) is there. */
void owner_fixture_begin(struct owner_fixture *f, const char *conf);
void owner_fixture_end(struct owner_fixture *f);
/* The controller gets one object, which need not be at the API server. */
void owner_fixture_see(struct owner_fixture *f, enum sched_resource r, struct str key,
		       struct str text);
/* The controller sees what has changed; nothing is sent yet. */
void owner_fixture_look(struct owner_fixture *f);
/* Runs controller and writes until neither has work; retries become due. */
void owner_fixture_settle(struct owner_fixture *f);

/* It must succeed; f->api.doc is the answer. */
void owner_fixture_call(struct owner_fixture *f, enum http_method method, const char *url,
			const char *type, const char *body);
/* The Workload that was reported last. */
void owner_fixture_get_workload(struct owner_fixture *f);
/* Write statuses as the quota engine does; podsets: "name:count ...", NULL: without admission. */
void owner_fixture_workload_status(struct owner_fixture *f, const char *conditions,
				   const char *podsets);
void owner_fixture_admit(struct owner_fixture *f, const char *podsets);
void owner_fixture_evict(struct owner_fixture *f, const char *podsets); /* still holds quota */

/* The text at a path of the latest answer, as JSON if it is no string; "" when absent. */
void owner_fixture_expect(struct owner_fixture *f, const char *path, const char *want);
void owner_fixture_expect_condition(struct owner_fixture *f, const char *type, const char *status,
				    const char *reason);
bool owner_fixture_has_event(struct owner_fixture *f, const char *reason);
/* Of the Workload that was reported last. */
enum owner_controller_activity owner_fixture_activity(struct owner_fixture *f);

#endif
