/* test/apiserver/verbs/scale.h: the scale sub-resource (autoscaling/v1 Scale) of built-in kinds and
 * of CRDs that declare one. */
#ifndef TEST_APISERVER_VERBS_SCALE_H
#define TEST_APISERVER_VERBS_SCALE_H

struct call;
struct jdoc;
struct object;

/* Answers with the Scale of o. */
int scale_get(struct call *c, const struct object *o);
/* The object with the replicas of the Scale in the body, or of the present Scale patched by it. */
int scale_make_put(struct call *c, const struct jdoc *old, struct jdoc **ret);
int scale_make_patch(struct call *c, const struct jdoc *old, struct jdoc **ret);

#endif
