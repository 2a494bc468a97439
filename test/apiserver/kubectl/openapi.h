/* test/apiserver/kubectl/openapi.h: as much of OpenAPI as kubectl needs: that PATCH takes
 * fieldValidation and dryRun (then it leaves validation to the server), and the schemas of custom
 * kinds for `explain`. The version 2 document is an empty one, in JSON or protobuf. */
#ifndef TEST_APISERVER_KUBECTL_OPENAPI_H
#define TEST_APISERVER_KUBECTL_OPENAPI_H

#include "base/str.h"

struct call;

/* path is below /openapi; 404 in c->resp when unknown. */
int openapi_handle(struct call *c, struct str path);

#endif
