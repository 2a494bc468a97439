/* test/play/external.h: tests of the whole system on an API server that is not ours: the one that
 * $HEADGATE_TEST_KUBECONFIG names. It must belong to the tests alone and have no controllers and
 * no scheduler (etcd and kube-apiserver are enough): objects of earlier tests are removed, and
 * kubelets are simulated. Any thread. */
#ifndef TEST_PLAY_EXTERNAL_H
#define TEST_PLAY_EXTERNAL_H

struct err;
struct jdoc;
struct transport;

const char *external_kubeconfig(void); /* NULL: tests start the embedded server */
/* Registers the CRDs of the chart in the source tree and removes the rest. */
int external_prepare(struct transport *t, const char *source, struct err *err);
/* Does the work of controllers for a new object: a namespace gets its service account. */
int external_created(struct transport *t, const struct jdoc *object, struct err *err);
/* Until the registrations of our webhook are in force. */
int external_wait_webhooks(struct transport *t, struct err *err);

#endif
