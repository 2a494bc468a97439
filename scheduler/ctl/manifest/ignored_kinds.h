/* scheduler/ctl/manifest/ignored_kinds.h: the kinds of --ignore. Each has to be of use: it leaves
 * out an object that was read, or is a kind of Kubernetes that these manifests do not have.
 * Anything else is a mistake, mostly a misspelt name. One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_IGNORED_KINDS_H
#define SCHEDULER_CTL_MANIFEST_IGNORED_KINDS_H

#include <stdbool.h>
#include <stddef.h>

struct ignored_kinds;

/* names: "Kind" or "Kind.group"; they must outlive it. */
struct ignored_kinds *ignored_kinds_create(const char *const *names, size_t n);
void ignored_kinds_destroyp(struct ignored_kinds **pk); /* for CLEANUP */
/* Whether objects of a kind that is not simulated are left out. k may be NULL: none are. */
bool ignored_kinds_has(struct ignored_kinds *k, const char *kind, const char *group);
/* To be called once, when all objects are read. Gives fn a text for each name that is of no use,
 * with the nearest kind that is known or was read; their number. */
size_t ignored_kinds_report(const struct ignored_kinds *k, void (*fn)(void *ctx, const char *text),
			    void *ctx);

#endif
