/* scheduler/pods/values/resources.h: amounts of resources as dense int64 vectors.
 * Dimension 0 is cpu in milli-CPU; all others are whole units (memory and storage in bytes, pods
 * and extended resources in pieces). Requests are rounded up, limits and capacities down, so that
 * integer arithmetic never admits more than the exact quantities would. All arithmetic saturates.
 * RES_UNLIMITED in a limit means "not limited in this dimension". Plain values: any thread. */
#ifndef SCHEDULER_PODS_VALUES_RESOURCES_H
#define SCHEDULER_PODS_VALUES_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define RES_DENSE 31                           /* dimensions that lie in struct res itself */
#define RES_FURTHER (UINT32_C(1) << RES_DENSE) /* in masks: all the dimensions after those */
#define RES_NAMES_MAX 65535u /* of nodes and Queues; more are left out, see res_names_add */
#define RES_UNLIMITED INT64_MAX

enum { RES_CPU, RES_MEMORY, RES_PODS, RES_EPHEMERAL, RES_FIRST_NAMED };
#define RES_PODS_BIT (UINT32_C(1) << RES_PODS) /* in masks of dimensions */

/* The dimensions from RES_DENSE on, which few clusters have: immutable, so that a struct res may be
 * copied as it is, and owned by the names. Vectors without a holder are swept (res_names_sweep),
 * like interned names. */
struct res_more;
struct res {
	int64_t v[RES_DENSE]; /* dimensions at or above res_names_count() are 0 */
	union {
		struct res_more *more; /* NULL: all 0 */
		int64_t more_word;     /* the same, for the undo log of a session */
	};
};

struct res_names;
struct strbuf;

/* Names of dimensions; the four above are always there. Owner: the owner of the cluster. */
struct res_names *res_names_create(void);
void res_names_destroy(struct res_names *n);
unsigned res_names_count(const struct res_names *n);
const char *res_names_get(const struct res_names *n, unsigned dim);
int res_names_find(const struct res_names *n, struct str name); /* -1: unknown */
/* Adds when new. -1 when all RES_NAMES_MAX are taken: the name is left out, which means that no
 * node has it and no Queue limits it; nothing else of the object is touched. */
int res_names_add(struct res_names *n, struct str name);
size_t res_names_left_out(const struct res_names *n); /* how many names are */

/* Vectors of further dimensions, as collections/intern.h has it for names: when a sweep pays, every
 * struct res that is to stay is marked, then the rest is freed. */
bool res_names_wants_sweep(const struct res_names *n);
void res_names_mark(const struct res *r);
void res_names_sweep(struct res_names *n);

int64_t res_get(const struct res *r, unsigned dim);
/* Sets any number of dimensions of one struct res with one new vector, however many they are.
 * res_edit_end must follow, and r has all that was set from then on. Until then r may be read, and
 * res_get of a further dimension still gives its former amount; r must not be copied, or changed in
 * another way once something was set. names: those of the cluster, needed for further dimensions
 * only. */
struct res_edit {
	struct res *r;
	struct res_names *names;
	struct res_more *more; /* in the making: no other struct res has it */
	uint32_t room;         /* of more */
};
struct res_edit res_edit_begin(struct res_names *names, struct res *r);
void res_edit_set(struct res_edit *e, unsigned dim, int64_t value);
int64_t res_edit_get(const struct res_edit *e, unsigned dim);
void res_edit_end(struct res_edit *e);
unsigned res_width(const struct res *r); /* dimensions from here on are all the same */

void res_add(struct res *a, const struct res *b);       /* saturating; RES_UNLIMITED stays */
void res_sub(struct res *a, const struct res *b);       /* saturating, may go negative */
void res_sub_floor(struct res *a, const struct res *b); /* not below 0; RES_UNLIMITED stays */
void res_max(struct res *a, const struct res *b);
void res_min(struct res *a, const struct res *b);
void res_inherit(struct res *a, const struct res *b); /* b where a is RES_UNLIMITED */
void res_fill(struct res *a, int64_t value);          /* 0, -1 or RES_UNLIMITED */
bool res_eq(const struct res *a, const struct res *b);
bool res_is_zero(const struct res *a);
/* a->more_word after a += sign * b, saturating, not below 0: of the further dimensions alone. */
int64_t res_more_sum(const struct res *a, const struct res *b, int sign);
/* Bit d set: a.v[d] > 0; RES_FURTHER: one of the further dimensions is. */
uint32_t res_mask(const struct res *a);
/* Dimensions of mask in which used + req > limit; 0: fits. RES_UNLIMITED never fails. RES_FURTHER:
 * those that req has, or all when it has none. */
uint32_t res_over(const struct res *used, const struct res *req, const struct res *limit,
		  uint32_t mask);
/* Dimensions of mask in which a > limit; 0: none. */
uint32_t res_exceeds(const struct res *a, const struct res *limit, uint32_t mask);
/* As res_over, of one dimension that req has more than 0 of. */
bool res_is_over(const struct res *used, const struct res *req, const struct res *limit,
		 unsigned dim);
/* Appends "insufficient cpu, memory" for dimensions that res_over returned. */
void res_describe_over(const struct res_names *names, uint32_t over, struct strbuf *out);
/* max over dimensions of mask of used/total; x/0 counts as 1 for x > 0 and as 0 for 0. Rounded to
 * 1e-9, so that shares which differ in the last bit alone are equal. */
double res_share(const struct res *used, const struct res *total, uint32_t mask);

#endif
