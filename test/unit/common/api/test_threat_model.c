#include <stdio.h>
#include <string.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "process/file.h"

#define PAGE "docs/threat-model.md"
#define PAGE_MAX (1u << 20)

/* The part of the page below "### <kind>", up to the next heading; .p == NULL: no such heading. */
static struct str section(const char *page, const char *kind)
{
	char heading[64];
	const char *at, *end;

	(void)snprintf(heading, sizeof(heading), "\n### %s\n", kind);
	at = strstr(page, heading);
	if (at == NULL) {
		return (struct str){ NULL, 0 };
	}
	at += strlen(heading);
	end = strstr(at, "\n##");
	return (struct str){ at, end == NULL ? strlen(at) : (size_t)(end - at) };
}

/* True when a row of the section names the path, or a path that holds it, in backticks. */
static bool has_row(struct str text, const char *path)
{
	for (size_t n = strlen(path); n > 0;) {
		char quoted[256];

		(void)snprintf(quoted, sizeof(quoted), "`%.*s`", (int)n, path);
		if (memmem(text.p, text.len, quoted, strlen(quoted)) != NULL) {
			return true;
		}
		do {
			n--;
		} while (n > 0 && path[n] != '.');
	}
	return false;
}

struct check {
	struct str rows, every_object; /* sections of the page */
	struct strbuf missing;
	const char *kind;
};

static void check_table(struct check *c, const struct field_table *t, const char *prefix)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct field *f = &t->rows[i];
		char path[256];

		(void)snprintf(path, sizeof(path), "%s%s%s", prefix, prefix[0] == '\0' ? "" : ".",
			       f->name);
		if (has_row(c->rows, path) || has_row(c->every_object, path)) {
			continue;
		}
		if (f->sub != NULL) {
			check_table(c, f->sub, path);
		} else {
			strbuf_printf(&c->missing, "\n%s: %s", c->kind, path);
		}
	}
}

static void test_every_field_that_is_read_has_a_row(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf page = STRBUF_INIT;
	struct check c = { .missing = STRBUF_INIT };
	struct err err;
	size_t n;
	const struct kinds_row *kinds = kinds_all(&n);

	(void)state;
	assert_int_equal(file_read_all(PAGE, PAGE_MAX, &page, &err), 0);
	c.every_object = section(page.p, "Every object");
	assert_non_null(c.every_object.p);
	for (size_t i = 0; i < n; i++) {
		c.kind = kinds[i].kind;
		c.rows = section(page.p, c.kind);
		if (c.rows.p == NULL) {
			strbuf_printf(&c.missing, "\n%s: no section", c.kind);
		} else {
			check_table(&c, kinds[i].fields, "");
		}
	}
	if (c.missing.len > 0) {
		fail_msg(PAGE " does not say who may write:%s", c.missing.p);
	}
	strbuf_finish(&c.missing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_that_is_read_has_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
