/* scheduler/model/resources.h: amounts of resources as dense int64 vectors.
 * Dimension 0 is cpu in milli-CPU; all others are whole units (memory and storage in bytes, pods
 * and extended resources in pieces). Requests are rounded up, limits and capacities down, so that
 * integer arithmetic never admits more than the exact quantities would. All arithmetic saturates.
 * RES_UNLIMITED in a limit means "not limited in this dimension". Plain values: any thread. */
#ifndef SCHEDULER_MODEL_RESOURCES_H
#define SCHEDULER_MODEL_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define RES_MAX                                                                                    \
	32 /* resources of nodes and Queues that are counted; more names are left out, see         \
	      res_names_add */
#define RES_UNLIMITED INT64_MAX

enum { RES_CPU, RES_MEMORY, RES_PODS, RES_EPHEMERAL, RES_FIRST_NAMED };

struct res {
	int64_t v[RES_MAX]; /* dimensions at or above res_names_count() are 0 */
};

struct res_names;

/* Names of dimensions; the four above are always there. Owner: the owner of the cluster. */
struct res_names *res_names_create(void);
void res_names_destroy(struct res_names *n);
unsigned res_names_count(const struct res_names *n);
const char *res_names_get(const struct res_names *n, unsigned dim);
int res_names_find(const struct res_names *n, struct str name); /* -1: unknown */
/* Adds when new. -1 when all RES_MAX are taken: the name is left out, which means that no node has
 * it and no Queue limits it; nothing else of the object is touched. */
int res_names_add(struct res_names *n, struct str name);
size_t res_names_left_out(const struct res_names *n); /* how many names are */

void res_add(struct res *a, const struct res *b);       /* saturating; RES_UNLIMITED stays */
void res_sub(struct res *a, const struct res *b);       /* saturating, may go negative */
void res_sub_floor(struct res *a, const struct res *b); /* not below 0; RES_UNLIMITED stays */
void res_max(struct res *a, const struct res *b);
void res_min(struct res *a, const struct res *b);
void res_fill(struct res *a, int64_t value);
bool res_eq(const struct res *a, const struct res *b);
bool res_is_zero(const struct res *a);
/* Bit d set: a.v[d] > 0. RES_MAX is 32 so that this fits. */
uint32_t res_mask(const struct res *a);
/* Dimensions of mask in which used + req > limit; 0: fits. RES_UNLIMITED never fails. */
uint32_t res_over(const struct res *used, const struct res *req, const struct res *limit,
		  uint32_t mask);
/* max over dimensions of mask of used/total; x/0 counts as 1 for x > 0 and as 0 for 0. */
double res_share(const struct res *used, const struct res *total, uint32_t mask);

#endif
