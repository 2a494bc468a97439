/* common/kube/lease.h: leader election on a coordination.k8s.io/v1 Lease, compatible with
 * client-go's LeaderElector (same fields, so kubectl shows the holder). Kubernetes has no fencing
 * tokens, hence: lease_may_send is checked immediately before each write and is false from the
 * renew deadline on, so that a holder's last write has ended when its lease expires (renew deadline
 * + request deadline <= lease duration). A new leader takes the lease only when it was released,
 * has expired or does not exist, so it may write at once, except when it finds its own name in a
 * lease that it did not take: then it waits for a lease duration. Expiry of another's lease is
 * measured by our monotonic clock from the last change that we saw, so clocks need not agree; a
 * candidate reads the lease twice in a retry period and when it expires. Unknown fields of the
 * Lease are kept. Owner: the transport's thread; lease_may_send and lease_is_held: any thread
 * (atomics). */
#ifndef COMMON_KUBE_LEASE_H
#define COMMON_KUBE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct lease;
struct transport;

struct lease_options {
	const char *namespace_, *name, *identity;
	int64_t duration_ns, renew_deadline_ns, retry_ns; /* 0: 15 s, 10 s, 2 s */
	/* Upper bound for the duration of one write, 0: 5 s; together with renew_deadline_ns at
	 * most duration_ns. */
	int64_t request_deadline_ns;
	struct transport *transport;
	const struct clock *clock;
	/* Transport's thread: true when the lease is held (writes may start at lease_writes_from),
	 * false when lost. */
	void (*on_change)(void *ctx, bool held);
	void *ctx;
	uint64_t seed;
};

struct lease *lease_create(const struct lease_options *opt);
void lease_start(struct lease *l); /* any thread */
bool lease_is_held(const struct lease *l);
bool lease_may_send(const struct lease *l);
int64_t lease_writes_from(const struct lease *l); /* monotonic ns; CLOCK_NEVER when not held */
/* Releases the lease (holderIdentity empty) so that the next leader need not wait. lease_may_send
 * is false from then on, on_change is not called, and the lease is not acquired again; on_done (may
 * be NULL) runs when the write was answered or cannot be made. Any thread. */
void lease_release(struct lease *l, void (*on_done)(void *ctx), void *ctx);
/* Call on the transport's thread or after the transport was destroyed. NULL is fine. */
void lease_destroy(struct lease *l);

#endif
