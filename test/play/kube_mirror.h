/* test/play/kube_mirror.h: a copy of the server's config maps, kept by a reflector, that can be
 * compared with the server. Owner: the test's thread. */
#ifndef TEST_PLAY_KUBE_MIRROR_H
#define TEST_PLAY_KUBE_MIRROR_H

#include <pthread.h>

#include "kube/reflector/reflector.h"
#include "play/kube_fixture.h"

struct strmap;

struct kube_mirror {
	struct kube_fixture *f;
	struct reflector *reflector;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct strmap *versions; /* key -> resourceVersion as text */
	unsigned synced, relisted, upserts, deletes;
};

void kube_mirror_start(struct kube_mirror *m, struct kube_fixture *f);
/* Waits until the mirror shows what the server has. */
void kube_mirror_wait(struct kube_mirror *m);
/* Stops the fixture's transport, then the mirror. */
void kube_mirror_stop(struct kube_mirror *m);

#endif
