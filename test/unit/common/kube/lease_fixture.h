/* test/unit/common/kube/lease_fixture.h: a lease elector "me" on a fake transport and clock; its
 * callbacks are written into a log: "+" held, "-" lost, "r" released. Owner: the test's thread. */
#ifndef TEST_UNIT_COMMON_KUBE_LEASE_FIXTURE_H
#define TEST_UNIT_COMMON_KUBE_LEASE_FIXTURE_H

#include "base/clock.h"
#include "base/strbuf.h"
#include "kube/lease.h"
#include "lib/net/fake_transport.h"

#define LEASE_ITEM "/apis/coordination.k8s.io/v1/namespaces/sys/leases/main"
#define LEASE_LIST "/apis/coordination.k8s.io/v1/namespaces/sys/leases"

struct lease_fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct lease *lease;
	struct strbuf log; /* "+" held, "-" lost, "r" released */
	int version;       /* of the Lease in answers */
};

/* Creates and starts: the first GET is under way. */
void lease_fixture_begin(struct lease_fixture *f);
/* Creates the Lease and holds it. */
void lease_fixture_begin_held(struct lease_fixture *f);
void lease_fixture_end(struct lease_fixture *f);
/* The log must read like this; it is emptied. */
void lease_fixture_expect_log(struct lease_fixture *f, const char *text);
uint64_t lease_fixture_expect(struct lease_fixture *f, const char *line); /* the next request */
/* A Lease held by `holder`; what `renewed` says distinguishes one renewal from the next. */
void lease_fixture_answer_lease(struct lease_fixture *f, uint64_t id, const char *holder,
				const char *renewed);
/* The write must name these values; answers as the server does, with the object as written. */
void lease_fixture_accept_write(struct lease_fixture *f, uint64_t id, const char *holder,
				int transitions);
/* The next request is a GET, or an update of the Lease: both as above. */
void lease_fixture_get(struct lease_fixture *f, const char *holder, const char *renewed);
void lease_fixture_put(struct lease_fixture *f, const char *holder, int transitions);
void lease_fixture_advance(struct lease_fixture *f, int64_t ns);
void lease_fixture_renew(struct lease_fixture *f); /* two seconds and a renewal that works */
/* GETs that show the same record of another until it is taken; returns the write. */
uint64_t lease_fixture_wait_for_steal(struct lease_fixture *f);
bool lease_fixture_may_send(struct lease_fixture *f);
void lease_fixture_on_released(void *ctx); /* for lease_release; ctx is the fixture */

#endif
