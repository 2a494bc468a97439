/* test/apiserver/verbs/apply.h: server-side apply and field ownership. Ownership is kept in
 * managedFields from an object's first apply on; what was there before belongs to
 * "before-first-apply". Objects that were never applied carry no managedFields. */
#ifndef TEST_APISERVER_VERBS_APPLY_H
#define TEST_APISERVER_VERBS_APPLY_H

struct call;
struct jdoc;

/* PATCH with application/apply-patch+yaml. */
int apply_run(struct call *c);
/* Any other write: what it changed now belongs to its manager. new's managedFields become ours. */
void apply_note_update(struct call *c, const struct jdoc *old, struct jdoc *new);

#endif
