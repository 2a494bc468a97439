#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"

void nearest_init(struct nearest *n, struct str wanted)
{
	*n = (struct nearest){ .wanted = wanted };
}

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The number of letters to add, remove, replace or exchange with their neighbour (optimal string
 * alignment). Row i of the usual table; only the last three rows are kept, since an exchange
 * looks two rows back. */
size_t nearest_distance(struct str a, struct str b)
{
	size_t rows[3][NEAREST_NAME_MAX + 1];

	if (a.len >= NEAREST_NAME_MAX || b.len >= NEAREST_NAME_MAX) {
		return SIZE_MAX;
	}
	for (size_t k = 0; k <= b.len; k++) {
		rows[0][k] = k;
	}
	for (size_t i = 1; i <= a.len; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *above_that = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t k = 1; k <= b.len; k++) {
			size_t replaced = above[k - 1] + !is_same(a.p[i - 1], b.p[k - 1]);

			row[k] = least(above[k] + 1, row[k - 1] + 1, replaced);
			if (i > 1 && k > 1 && is_same(a.p[i - 1], b.p[k - 2]) &&
			    is_same(a.p[i - 2], b.p[k - 1])) {
				row[k] = least(row[k], row[k], above_that[k - 2] + 1);
			}
		}
	}
	return rows[a.len % 3][b.len];
}

void nearest_offer(struct nearest *n, struct str candidate)
{
	/* A third of the letters: beyond that, names are different and not misspelt. */
	size_t most = n->wanted.len < 3 ? 1 : n->wanted.len / 3, distance;

	/* Every name of one letter is near to every other. */
	if (n->wanted.len < 2 || n->wanted.len >= NEAREST_NAME_MAX ||
	    candidate.len >= NEAREST_NAME_MAX || candidate.len > n->wanted.len + most ||
	    n->wanted.len > candidate.len + most) {
		return;
	}
	distance = nearest_distance(n->wanted, candidate);
	if (distance == 0 || distance > most ||
	    (n->name[0] != '\0' &&
	     (distance > n->distance ||
	      (distance == n->distance && str_cmp(candidate, str_of(n->name)) >= 0)))) {
		return;
	}
	n->distance = distance;
	memcpy(n->name, candidate.p, candidate.len);
	n->name[candidate.len] = '\0';
}

void nearest_add_hint(const struct nearest *n, struct strbuf *out)
{
	if (n->name[0] != '\0') {
		strbuf_printf(out, "; did you mean %s?", n->name);
	}
}
