/* test/docs/values_table.c: prints the reference of the chart's values as Markdown, from the schema
 * (names, kinds, what they mean) and the values file (defaults).
 * Usage: values_table values.schema.json values.yaml */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "process/file.h"

#define FILE_MAX_BYTES (1u << 20)
#define REFERENCE "#/$defs/"

struct table {
	const struct jdoc *schema; /* root, for references */
	struct strbuf path;
	unsigned undescribed;
};

static const struct jdoc *resolve(const struct table *t, const struct jdoc *s)
{
	const char *ref = jdoc_str(jdoc_get(s, "$ref"));

	if (ref == NULL || strncmp(ref, REFERENCE, strlen(REFERENCE)) != 0) {
		return s;
	}
	return jdoc_get(jdoc_get(t->schema, "$defs"), ref + strlen(REFERENCE));
}

/* Adds the values that are allowed, the bounds or the type. */
static void add_kind(const struct jdoc *s, struct strbuf *out)
{
	const struct jdoc *values = jdoc_get(s, "enum");
	const struct jdoc *least = jdoc_get(s, "minimum"), *most = jdoc_get(s, "maximum");
	const struct jdoc *types = jdoc_get(s, "type");
	const char *type = jdoc_str_or(types, "");

	if (values != NULL) {
		for (const struct jdoc *v = jdoc_first(values); v != NULL; v = jdoc_next(v)) {
			strbuf_printf(out, "%s`%s`", v == jdoc_first(values) ? "" : ", ",
				      jdoc_str_or(v, ""));
		}
		return;
	}
	strbuf_add_c(out, strcmp(type, "array") == 0 ? "list" : type);
	for (const struct jdoc *one = jdoc_first(types); one != NULL; one = jdoc_next(one)) {
		strbuf_printf(out, "%s%s", one == jdoc_first(types) ? "" : " or ",
			      jdoc_str_or(one, ""));
	}
	if (least != NULL && most != NULL) {
		strbuf_printf(out, ", %g to %.0f", jdoc_num(least, 0), jdoc_num(most, 0));
	} else if (least != NULL) {
		strbuf_printf(out, ", from %g", jdoc_num(least, 0));
	}
}

static void add_default(const struct jdoc *value, struct strbuf *out)
{
	if (value == NULL) {
		return;
	}
	strbuf_add_c(out, "`");
	jdoc_format(value, out);
	strbuf_add_c(out, "`");
}

static void print_row(struct table *t, const struct jdoc *s, const struct jdoc *kind,
		      const struct jdoc *value)
{
	CLEANUP(strbuf_finish) struct strbuf row = STRBUF_INIT;
	const char *meaning = jdoc_str(jdoc_get(s, "description"));

	if (meaning == NULL) {
		t->undescribed++;
		fprintf(stderr, "values_table: %s has no description\n", t->path.p);
		return;
	}
	strbuf_printf(&row, "| `%s` | ", t->path.p);
	add_kind(kind, &row);
	strbuf_add_c(&row, " | ");
	add_default(value, &row);
	printf("%s | %s |\n", row.p, meaning);
}

static void walk(struct table *t, const struct jdoc *properties, const struct jdoc *values)
{
	size_t len = t->path.len;

	for (const struct jdoc *s = jdoc_first(properties); s != NULL; s = jdoc_next(s)) {
		const struct jdoc *kind = resolve(t, s), *value = jdoc_get(values, jdoc_key(s));
		const struct jdoc *inner = jdoc_get(kind, "properties");

		strbuf_printf(&t->path, "%s%s", len > 0 ? "." : "", jdoc_key(s));
		if (inner != NULL && jdoc_get(s, "description") == NULL) {
			walk(t, inner, value);
		} else {
			print_row(t, s, kind, value);
		}
		strbuf_truncate(&t->path, len);
	}
}

static void fail(const char *file, const struct err *err)
{
	fprintf(stderr, "values_table: %s: %s\n", file, err->text);
	exit(1);
}

int main(int argc, char **argv)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *schema = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *values = NULL;
	struct table t = { .path = STRBUF_INIT };
	struct err err = ERR_INIT;

	if (argc != 3) {
		fprintf(stderr, "usage: values_table values.schema.json values.yaml\n");
		return 2;
	}
	if (file_read_all(argv[1], FILE_MAX_BYTES, &text, &err) < 0 ||
	    jdoc_parse(strbuf_str(&text), &schema, &err) < 0) {
		fail(argv[1], &err);
	}
	strbuf_reset(&text);
	if (file_read_all(argv[2], FILE_MAX_BYTES, &text, &err) < 0 ||
	    yaml_parse(strbuf_str(&text), &values, &err) < 0) {
		fail(argv[2], &err);
	}
	t.schema = schema;
	printf("# Values of the chart\n\n`make docs` writes this page from the chart's schema and "
	       "its "
	       "values file. A value that is not listed,\nor of the wrong kind, is refused by its "
	       "name.\n\n| value | kind | default | meaning |\n|---|---|---|---|\n");
	walk(&t, jdoc_get(schema, "properties"), values);
	strbuf_finish(&t.path);
	return t.undescribed > 0;
}
