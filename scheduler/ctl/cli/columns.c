#include "scheduler/ctl/cli/columns.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"

#define CELL_MAX 512 /* a longer cell is cut */

struct columns {
	const char *const *heads;
	size_t n;
	struct VEC(char *) cells;
};

struct columns *columns_create(const char *const *heads)
{
	struct columns *c = xmalloc_zero(1, sizeof(*c));

	c->heads = heads;
	while (c->n < COLUMNS_MAX && heads[c->n] != NULL) {
		c->n++;
	}
	assert(c->n > 0);
	return c;
}

void columns_destroyp(struct columns **pc)
{
	struct columns *c = *pc;

	if (c != NULL) {
		for (size_t i = 0; i < c->cells.n; i++) {
			free(c->cells.v[i]);
		}
		vec_finish(&c->cells);
		free(c);
		*pc = NULL;
	}
}

void columns_add(struct columns *c, const char *fmt, ...)
{
	CLEANUP(strbuf_finish) struct strbuf shown = STRBUF_INIT;
	char text[CELL_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Names and messages were written by tenants: what would move the cursor or change
	 * colours is shown as an escape. */
	quote_plain(&shown, str_of(text));
	vec_push(&c->cells, xmalloc_dup(shown.len > 0 ? shown.p : ""));
}

/* Prints a row without trailing blanks. */
static void print_row(const char *const *cells, const size_t *width, size_t n, FILE *to)
{
	while (n > 1 && cells[n - 1][0] == '\0') {
		n--;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		fprintf(to, "%-*s   ", (int)width[i], cells[i]);
	}
	fprintf(to, "%s\n", cells[n - 1]);
}

void columns_print(const struct columns *c, FILE *to)
{
	size_t width[COLUMNS_MAX] = { 0 };

	assert(c->n > 0);
	for (size_t i = 0; i < c->n; i++) {
		width[i] = strlen(c->heads[i]);
	}
	for (size_t i = 0; i < c->cells.n; i++) {
		size_t len = strlen(c->cells.v[i]);

		width[i % c->n] = len > width[i % c->n] ? len : width[i % c->n];
	}
	for (size_t i = 0; i < c->n + c->cells.n; i += c->n) {
		print_row(i < c->n ? c->heads : (const char *const *)&c->cells.v[i - c->n], width,
			  c->n, to);
	}
}
