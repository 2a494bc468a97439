/* common/base/intern.h: names to small dense ids and back.
 * Owner: one thread. Ids start at 0 and are never re-used; names are copied and stay valid
 * (NUL-terminated) until the table is destroyed. Limit: INTERN_MAX names, then intern_id returns
 * INTERN_NONE. */
#ifndef COMMON_BASE_INTERN_H
#define COMMON_BASE_INTERN_H

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
const char *intern_name(const struct intern *t, uint32_t id);  /* asserts id < count */
struct str intern_str(const struct intern *t, uint32_t id);
uint32_t intern_count(const struct intern *t);

#endif
