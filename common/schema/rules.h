/* common/schema/rules.h: the x-kubernetes-validations of a CustomResourceDefinition, for an object
 * that is created: rules about changes (which name oldSelf) do not apply. Any thread. */
#ifndef COMMON_SCHEMA_RULES_H
#define COMMON_SCHEMA_RULES_H

struct jdoc;

/* Appends a cause for each rule that does not hold, in the words of Kubernetes, with the message of
 * the rule. doc has its defaults and passed schema_validate. A rule outside of the subset of cel.h
 * is a cause, too: it is never skipped. */
void rules_check(const struct jdoc *schema, const struct jdoc *doc, struct jdoc *causes);

#endif
