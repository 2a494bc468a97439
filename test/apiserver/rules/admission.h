/* test/apiserver/rules/admission.h: call-outs to admission webhooks as registered in
 * Mutating/ValidatingWebhookConfiguration objects: rules, selectors, match conditions, failure
 * policy, dry run. Webhooks named by service are not reachable here: only by url. */
#ifndef TEST_APISERVER_RULES_ADMISSION_H
#define TEST_APISERVER_RULES_ADMISSION_H

struct call;
struct jdoc;

enum admission_op { ADMISSION_CREATE, ADMISSION_UPDATE, ADMISSION_DELETE };

/* Mutating webhooks in order of configuration name; *doc may be replaced by a patched one (DELETE:
 * doc NULL). A refusal fills c->resp. */
int admission_mutate(struct call *c, enum admission_op op, const struct jdoc *old,
		     struct jdoc **doc);
int admission_validate(struct call *c, enum admission_op op, const struct jdoc *old,
		       const struct jdoc *doc);
/* Causes for refusing a registration: match conditions outside the supported subset, no url. */
void admission_check_registration(const struct jdoc *config, struct jdoc *causes);

#endif
