/* test/play/kube_fixture.h: the embedded API server behind TLS, a client transport to it (directly
 * or through nghttpx, which speaks HTTP/2), and a mirror of the server's config maps kept by a
 * reflector. Waits give up by aborting after five minutes. Owner: the test's thread. */
#ifndef TEST_PLAY_KUBE_FIXTURE_H
#define TEST_PLAY_KUBE_FIXTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "apiserver/front.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "certs/pair.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"

struct kube_fixture {
	struct pair ca, leaf;
	struct front *front;
	char dir[64]; /* a folder of the test's own */
	struct kubeconfig *config;
	struct transport *transport;
	pid_t proxy;        /* nghttpx, 0: none */
	struct strbuf text; /* the kubeconfig */
};

/* token NULL: every client may do everything. http2: through nghttpx. */
void kube_fixture_start(struct kube_fixture *f, const char *token, bool http2);
void kube_fixture_stop(struct kube_fixture *f);
/* Whether nghttpx can be started here. */
bool kube_fixture_has_proxy(void);
/* True when every request that passed the proxy came by HTTP/2 and there was one. */
bool kube_fixture_was_http2(struct kube_fixture *f);
/* Writes a file into the fixture's folder; the caller frees the path. */
char *kube_fixture_write(struct kube_fixture *f, const char *name, const char *text);
void kube_fixture_faults(struct kube_fixture *f, const char *script);
uint64_t kube_fixture_struck(struct kube_fixture *f, const char *kind);
/* Puts config map default/name with data.n = value, bypassing faults and network. */
void kube_fixture_put(struct kube_fixture *f, const char *name, int value);
void kube_fixture_delete(struct kube_fixture *f, const char *name);

/* A connection of the caller's own; no time limit but those of the calls. */
struct transport *kube_fixture_transport(const struct kubeconfig *config);
/* pthread_cond_wait that aborts after five minutes without a signal. */
void kube_fixture_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock);

#endif
