/* test/apiserver/kubectl/openapi_proto.h: the OpenAPI version 2 document in the only form that
 * kubectl up to 1.23 accepts, protobuf (gnostic's openapi.v2.Document): for each kind a PATCH that
 * takes dryRun, and no definitions, so that such clients leave validation to the server. */
#ifndef TEST_APISERVER_KUBECTL_OPENAPI_PROTO_H
#define TEST_APISERVER_KUBECTL_OPENAPI_PROTO_H

struct resource_table;
struct strbuf;

/* Appends the document. */
void openapi_proto_format(const struct resource_table *t, struct strbuf *out);

#endif
