#include "scheduler/pods/conf/conf_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/conf/conf_line.h"

static void format_place(const struct conf_read *r, const char *word, struct strbuf *out)
{
	unsigned line = conf_line_find(r->text, str_of(word));

	strbuf_add_c(out, r->name);
	if (line > 0) {
		strbuf_printf(out, ":%u", line);
	}
	strbuf_add_c(out, ": ");
}

int conf_read_fail(const struct conf_read *r, const char *word, struct err *err, const char *fmt,
		   ...)
{
	CLEANUP(strbuf_finish) struct strbuf place = STRBUF_INIT;
	char text[ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	format_place(r, word, &place);
	return err_set(err, ERR_INVALID, "%s%s", place.p, text);
}

void conf_read_warn(const struct conf_read *r, const char *word, const char *fmt, ...)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	char text[ERR_TEXT_MAX];
	va_list ap;

	if (r->opt->warn == NULL) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	format_place(r, word, &out);
	strbuf_add_c(&out, text);
	r->opt->warn(r->opt->ctx, out.p);
}

bool conf_read_in_list(const char *const *names, struct str name)
{
	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		if (str_eq_c(name, names[i])) {
			return true;
		}
	}
	return false;
}

void conf_read_warn_absent(const struct conf_read *r, const char *kind, const char *name)
{
	if (conf_read_in_list(r->opt->known.absent, str_of(name))) {
		conf_read_warn(r, name, "%s \"%s\" has no implementation here and is left out",
			       kind, name);
	}
}

/* Plugins read their arguments as text, whatever YAML made of them. */
static char *scalar_text(const struct jdoc *d)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	if (jdoc_str(d) != NULL) {
		return xmalloc_dup(jdoc_str(d));
	}
	jdoc_format(d, &out);
	return xmalloc_dup_n(out.p, out.len);
}

int conf_read_args(const struct conf_read *r, const struct jdoc *d, const char *path,
		   struct conf_arg **args, size_t *nargs, struct err *err)
{
	size_t added = jdoc_count(d);

	if (jdoc_kind(d) == JDOC_NULL) {
		return 0;
	}
	if (jdoc_kind(d) != JDOC_OBJECT) {
		return conf_read_fail(r, "arguments", err, "%s: expected a map", path);
	}
	if (*nargs + added > CONF_MAX_ARGS) {
		return conf_read_fail(r, "arguments", err, "%s: more than %d arguments", path,
				      CONF_MAX_ARGS);
	}
	*args = xmalloc_resize(*args, *nargs + added, sizeof(**args));
	for (const struct jdoc *a = jdoc_first(d); a != NULL; a = jdoc_next(a)) {
		if (jdoc_kind(a) != JDOC_NULL) { /* as if it were not written */
			(*args)[(*nargs)++] = (struct conf_arg){ .key = xmalloc_dup(jdoc_key(a)),
								 .value = scalar_text(a) };
		}
	}
	return 0;
}
