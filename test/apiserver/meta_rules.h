/* test/apiserver/meta_rules.h: Kubernetes' validation of metadata, with its messages. Pure. */
#ifndef TEST_APISERVER_META_RULES_H
#define TEST_APISERVER_META_RULES_H

struct jdoc;
struct resource;

/* Adds causes about the name of a new object, labels, annotations, finalizers and owners. old NULL:
 * it is created. */
void meta_rules_check(const struct resource *res, const struct jdoc *doc, const struct jdoc *old,
		      struct jdoc *causes);
/* `Invalid value: "name": why` when it is no label or no qualified name. */
void meta_rules_check_label_name(const char *field, const char *name, struct jdoc *causes);
void meta_rules_check_qualified(const char *field, const char *name, struct jdoc *causes);

#endif
