/* test/apiserver/rules/validate.h: validation before anything is stored: metadata of every kind,
 * schemas of custom ones, the rules of built-in ones that matter here. */
#ifndef TEST_APISERVER_RULES_VALIDATE_H
#define TEST_APISERVER_RULES_VALIDATE_H

struct call;
struct jdoc;

/* old NULL: a creation. 422 with all causes in c->resp on failure. */
int validate_object(struct call *c, const struct jdoc *doc, const struct jdoc *old);

#endif
