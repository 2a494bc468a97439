/* common/base/nearest.h: of the names that exist, the one that is spelled nearest to a name
 * that does not: what was probably meant. One thread. */
#ifndef COMMON_BASE_NEAREST_H
#define COMMON_BASE_NEAREST_H

#include <stddef.h>

#include "base/str.h"

struct strbuf;

#define NEAREST_NAME_MAX 256 /* longer names are no candidates */

struct nearest {
	struct str wanted;           /* borrowed */
	char name[NEAREST_NAME_MAX]; /* the nearest so far; "": none is near */
	size_t distance;             /* letters that differ */
};

/* The number of letters to insert, remove or replace, and of neighbours to exchange, that makes b
 * of a; letters of either case are equal. SIZE_MAX: one of them is too long. */
size_t nearest_distance(struct str a, struct str b);
void nearest_init(struct nearest *n, struct str wanted);
/* Copies the candidate where it is nearer than those before; of equally near ones the first in
 * alphabetical order is kept. A third of the letters may differ, and one in short names. */
void nearest_offer(struct nearest *n, struct str candidate);
/* Appends "; did you mean NAME?" where a name is near. */
void nearest_add_hint(const struct nearest *n, struct strbuf *out);

#endif
