/* test/apiserver/validate.h: validation before anything is stored: metadata of every kind, schemas
 * of custom ones, the rules of built-in ones that matter here. */
#ifndef TEST_APISERVER_VALIDATE_H
#define TEST_APISERVER_VALIDATE_H

#include <stdbool.h>

#include "base/str.h"

struct call;
struct jdoc;

/* old NULL: a creation. 422 with all causes in c->resp on failure. */
int validate_object(struct call *c, const struct jdoc *doc, const struct jdoc *old);
bool validate_is_dns_subdomain(struct str s); /* RFC 1123, at most 253 bytes */
bool validate_is_dns_label(struct str s);     /* at most 63 bytes */
bool validate_is_label_value(struct str s);
bool validate_is_qualified_name(struct str s); /* [prefix/]name */

#endif
