/* test/apiserver/verbs/body.h: request bodies as trees. */
#ifndef TEST_APISERVER_VERBS_BODY_H
#define TEST_APISERVER_VERBS_BODY_H

#include <stdbool.h>

struct call;
struct jdoc;

/* JSON, or YAML where the content type says so. 400, 413 or 415 in c->resp on failure. */
int body_parse(struct call *c, struct jdoc **ret);
/* As body_parse, and checks the object: its apiVersion and kind fit the resource (filled in when
 * absent), its namespace and name fit the path (namespace filled in). */
int body_parse_object(struct call *c, struct jdoc **ret);
/* The same checks for a tree that came from elsewhere (a patch, a manifest). */
int body_check_object(struct call *c, struct jdoc *doc);
/* DeleteOptions: an empty body gives an empty object. */
/* Refuses members that the schema does not have, when the request wants that. */
int body_check_strict(struct call *c, const struct jdoc *doc);
int body_parse_options(struct call *c, struct jdoc **ret);

#endif
