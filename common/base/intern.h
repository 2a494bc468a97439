/* common/base/intern.h: names to small dense ids and back.
 * Owner: one thread. Names are copied and stay valid (NUL-terminated), with their ids, until they
 * are swept or the table is destroyed. Ids start at 0; those of swept names are used again. Limit:
 * INTERN_MAX names, then intern_id returns INTERN_NONE.
 *
 * A table whose names come from objects that others write grows with every name that was ever there
 * unless it is swept: intern_wants_sweep says when that is worth the look at all that holds names;
 * then every name in use is marked, and intern_sweep forgets the others. */
#ifndef COMMON_BASE_INTERN_H
#define COMMON_BASE_INTERN_H

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
uint32_t intern_live(const struct intern *t);                  /* names that are there */

/* The names take more than twice what the last sweep left, and 1 MiB more. */
bool intern_wants_sweep(const struct intern *t);
void intern_mark(struct intern *t, uint32_t id);           /* INTERN_NONE is fine */
void intern_mark_name(struct intern *t, const char *name); /* of this table, or NULL */
void intern_keep(struct intern *t, uint32_t id); /* as if it were marked before every sweep */
/* Forgets what is neither marked nor kept, and the marks. */
void intern_sweep(struct intern *t);

#endif
