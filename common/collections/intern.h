/* common/collections/intern.h: names to small dense ids and back.
 * Owner: one thread. Names are copied and stay valid (NUL-terminated), with their ids, until they
 * are swept or the table is destroyed. Ids start at 0; those of swept names are used again. Limit:
 * INTERN_MAX names, then intern_id returns INTERN_NONE.
 *
 * A table of names from users' objects grows without bound unless it is swept. intern_wants_sweep
 * is true when a walk over all holders of names pays off; then the caller marks every name in use,
 * and intern_sweep removes the others. */
#ifndef COMMON_COLLECTIONS_INTERN_H
#define COMMON_COLLECTIONS_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define INTERN_NONE UINT32_MAX
#define INTERN_MAX (1u << 24)

struct intern;

struct intern *intern_create(void);
struct intern *intern_create_max(uint32_t max);                /* a smaller limit, 1..INTERN_MAX */
void intern_destroy(struct intern *t);                         /* NULL is fine */
uint32_t intern_id(struct intern *t, struct str name);         /* adds when new */
uint32_t intern_find(const struct intern *t, struct str name); /* INTERN_NONE: unknown */
const char *intern_name(const struct intern *t, uint32_t id);  /* asserts that the id is in use */
struct str intern_str(const struct intern *t, uint32_t id);    /* absent: swept */
uint32_t intern_count(const struct intern *t);                 /* every id is below */
uint32_t intern_live(const struct intern *t);                  /* number of names in the table */

/* Whether the names take more than twice the memory that the last sweep left, plus 1 MiB. */
bool intern_wants_sweep(const struct intern *t);
void intern_mark(struct intern *t, uint32_t id);           /* INTERN_NONE is fine */
void intern_mark_name(struct intern *t, const char *name); /* of this table, or NULL */
void intern_keep(struct intern *t, uint32_t id);           /* marked for every sweep */
/* Removes names that are neither marked nor kept, and clears the marks. */
void intern_sweep(struct intern *t);

#endif
