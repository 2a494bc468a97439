/* test/apiserver/kubectl/discovery.h: everything that is no resource: /api, /apis and below (also
 * in the aggregated form), /version, /healthz, /livez, /readyz, /openapi. */
#ifndef TEST_APISERVER_KUBECTL_DISCOVERY_H
#define TEST_APISERVER_KUBECTL_DISCOVERY_H

struct call;

/* Answers c or fills 404. */
int discovery_handle(struct call *c);

#endif
