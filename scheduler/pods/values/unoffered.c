#include "scheduler/pods/values/unoffered.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/xmalloc.h"

struct unoffered unoffered_copy(const struct unoffered *u)
{
	struct unoffered copy = { .n = u->n };
	size_t bytes = u->n * sizeof(copy.v[0]);
	char *text;

	if (u->n == 0) {
		return copy;
	}
	for (size_t i = 0; i < u->n; i++) {
		bytes += strlen(u->v[i].name) + 1;
	}
	copy.v = xmalloc(bytes);
	/* The names lie behind the array, in the same allocation. */
	text = (char *)&copy.v[u->n];
	for (size_t i = 0; i < u->n; i++) {
		size_t len = strlen(u->v[i].name) + 1;

		memcpy(text, u->v[i].name, len);
		copy.v[i] = (struct unoffered_amount){ text, u->v[i].amount };
		text += len;
	}
	return copy;
}

void unoffered_finish(struct unoffered *u)
{
	free(u->v);
	*u = (struct unoffered){ .n = 0 };
}

bool unoffered_eq(const struct unoffered *a, const struct unoffered *b)
{
	if (a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i].amount != b->v[i].amount || strcmp(a->v[i].name, b->v[i].name) != 0) {
			return false;
		}
	}
	return true;
}

size_t unoffered_resolve(struct unoffered *u, struct res_names *names, struct res *into)
{
	struct res_edit edit = res_edit_begin(names, into);
	size_t kept = 0, had = u->n;

	for (size_t i = 0; i < had; i++) {
		int dim = res_names_find(names, str_of(u->v[i].name));

		if (dim < 0) {
			u->v[kept++] = u->v[i];
		} else {
			res_edit_set(&edit, (unsigned)dim, u->v[i].amount);
		}
	}
	res_edit_end(&edit);
	u->n = kept;
	return had - kept;
}
