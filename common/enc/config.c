#include "enc/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"

struct place {
	size_t len; /* of the path */
	struct str word;
};

static struct place enter(struct config_reader *r, const char *name)
{
	struct place back = { r->path.len, r->word };

	strbuf_printf(&r->path, "%s%s", r->path.len > 0 ? "." : "", name);
	r->word = str_of(name);
	return back;
}

static struct place enter_item(struct config_reader *r, size_t i)
{
	struct place back = { r->path.len, r->word };

	strbuf_printf(&r->path, "[%zu]", i);
	return back;
}

/* Not after an error: what remains says where it is. */
static void leave(struct config_reader *r, struct place back)
{
	strbuf_truncate(&r->path, back.len);
	r->word = back.word;
}

void config_finish(struct config_reader *r)
{
	strbuf_finish(&r->path);
}

static void add_message(const struct config_reader *r, const char *field, const char *fmt,
			va_list ap, struct strbuf *out)
{
	char text[ERR_TEXT_MAX];

	vsnprintf(text, sizeof(text), fmt, ap);
	strbuf_add_c(out, r->path.p);
	if (field != NULL) {
		strbuf_printf(out, "%s%s", out->len > 0 ? "." : "", field);
	}
	strbuf_printf(out, "%s%s", out->len > 0 ? ": " : "", text);
}

int config_fail(struct config_reader *r, const char *field, struct err *err, const char *fmt, ...)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	add_message(r, field, fmt, ap, &out);
	va_end(ap);
	return err_set(err, ERR_INVALID, "%s", out.p);
}

void config_warn(struct config_reader *r, const char *field, const char *fmt, ...)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	add_message(r, field, fmt, ap, &out);
	va_end(ap);
	if (r->warn != NULL) {
		r->warn(r->warn_ctx, out.p);
	}
}

static const char *const kind_names[] = {
	[JDOC_NULL] = "null",       [JDOC_BOOL] = "a boolean", [JDOC_NUMBER] = "a number",
	[JDOC_STRING] = "a string", [JDOC_ARRAY] = "a list",   [JDOC_OBJECT] = "an object",
};

int config_expect(struct config_reader *r, const struct jdoc *d, enum jdoc_kind kind,
		  struct err *err)
{
	return jdoc_kind(d) == kind ? 0
				    : config_fail(r, NULL, err, "must be %s, not %s",
						  kind_names[kind], kind_names[jdoc_kind(d)]);
}

int config_read_text(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	if (config_expect(r, d, JDOC_STRING, err) < 0) {
		return -ERR_INVALID;
	}
	*(const char **)at = arena_dup(r->arena, jdoc_str(d));
	return 0;
}

static int read_count(struct config_reader *r, const struct config_row *row, const struct jdoc *d,
		      void *at, struct err *err)
{
	int64_t n = jdoc_int(d, -1), max = row->max > 0 ? row->max : INT32_MAX;

	if (n < 0 || n > max) {
		return config_fail(r, NULL, err, "must be a whole number from 0 to %lld",
				   (long long)max);
	}
	if (row->type == CONFIG_SECONDS) {
		*(int64_t *)at = n * CLOCK_NS_PER_S;
	} else {
		*(int32_t *)at = (int32_t)n;
	}
	return 0;
}

static int read_duration(struct config_reader *r, const struct jdoc *d, void *at, struct err *err)
{
	if (clock_parse_duration(str_of(jdoc_str_or(d, "?")), at) < 0) {
		return config_fail(r, NULL, err, "not a duration like 5m");
	}
	return 0;
}

static void store(void *at, size_t size, unsigned value)
{
	if (size == sizeof(bool)) {
		*(bool *)at = value != 0;
	} else if (size > 0) {
		memcpy(at, &value, size);
	}
}

static int read_choice(struct config_reader *r, const struct config_row *row, const struct jdoc *d,
		       void *at, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf known = STRBUF_INIT;

	for (const struct config_choice *c = row->choices; c->name != NULL; c++) {
		if (jdoc_is_str(d, c->name)) {
			store(at, row->size, c->value);
			return 0;
		}
		strbuf_printf(&known, "%s%s",
			      known.len == 0      ? ""
			      : c[1].name == NULL ? " or "
						  : ", ",
			      c->name);
	}
	return config_fail(r, NULL, err, "must be %s, not %s", known.p,
			   jdoc_str_or(d, kind_names[jdoc_kind(d)]));
}

static int read_items(struct config_reader *r, const struct config_row *row, const struct jdoc *d,
		      void *at, struct err *err)
{
	struct field_list none = { 0 }, *out = row->size > 0 ? at : &none;
	size_t count = jdoc_count(d), max = row->max > 0 ? (size_t)row->max : CONFIG_MAX_ITEMS;
	bool is_list = row->type == CONFIG_LIST;
	size_t i = 0;

	if (config_expect(r, d, is_list ? JDOC_ARRAY : JDOC_OBJECT, err) < 0) {
		return -ERR_INVALID;
	}
	if (count > max) {
		return config_fail(r, NULL, err, "more than %zu items", max);
	}
	out->v = row->size > 0 ? arena_zero(r->arena, count + 1, row->size) : NULL;
	out->n = 0;
	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m), i++) {
		void *item = row->size > 0 ? (char *)out->v + out->n * row->size : at;
		struct place back = is_list ? enter_item(r, i) : enter(r, jdoc_key(m));
		int code = 0;

		if (row->rows != NULL) {
			code = config_expect(r, m, JDOC_OBJECT, err);
			code = code < 0 ? code : config_read(r, row->rows, m, item, err);
		}
		if (code == 0 && row->read != NULL) {
			code = row->read(r, m, item, err);
		}
		if (code < 0) {
			return code;
		}
		/* The place of an item that is left out is used again. */
		out->n += code == 0;
		leave(r, back);
	}
	return 0;
}

static int read_value(struct config_reader *r, const struct config_row *row, const struct jdoc *d,
		      void *at, struct err *err)
{
	switch (row->type) {
	case CONFIG_BOOL:
		*(bool *)at = jdoc_bool(d, false);
		return config_expect(r, d, JDOC_BOOL, err);
	case CONFIG_COUNT:
	case CONFIG_SECONDS:
		return read_count(r, row, d, at, err);
	case CONFIG_DURATION:
		return read_duration(r, d, at, err);
	case CONFIG_CHOICE:
		return read_choice(r, row, d, at, err);
	case CONFIG_TEXT:
		return jdoc_is_str(d, "") ? 0 : config_read_text(r, d, at, err);
	case CONFIG_LIST:
	case CONFIG_MAP:
		return read_items(r, row, d, at, err);
	case CONFIG_CUSTOM:
		return config_expect(r, d, row->kind, err) < 0 ? -ERR_INVALID
							       : row->read(r, d, at, err);
	case CONFIG_END:
	case CONFIG_IGNORED:
	case CONFIG_OBJECT:
		break;
	}
	return 0;
}

static void set_default(const struct config_row *row, void *at)
{
	if (row->type == CONFIG_BOOL) {
		*(bool *)at = row->def != 0;
	} else if (row->type == CONFIG_COUNT) {
		*(int32_t *)at = (int32_t)row->def;
	} else if (row->type == CONFIG_SECONDS || row->type == CONFIG_DURATION) {
		*(int64_t *)at = row->def;
	} else if (row->type == CONFIG_CHOICE) {
		store(at, row->size, (unsigned)row->def);
	}
}

static int read_rows(struct config_reader *r, const struct config_row *rows, const struct jdoc *d,
		     char *obj, struct err *err);

static int read_row(struct config_reader *r, const struct config_row *row, const struct jdoc *d,
		    char *obj, struct err *err)
{
	const struct jdoc *value = row->name == NULL ? NULL : jdoc_get(d, row->name);
	bool is_there = jdoc_kind(value) != JDOC_NULL;
	struct place back;
	int code = 0;

	if (row->name == NULL) {
		return read_rows(r, row->rows, d, obj + row->offset, err);
	}
	if (row->required && (!is_there || (row->type == CONFIG_TEXT && jdoc_is_str(value, "")))) {
		r->word = value == NULL ? r->word : str_of(row->name);
		return config_fail(r, row->name, err, "missing");
	}
	back = enter(r, row->name);
	/* An object that is absent is read as well, so that its members get their defaults. */
	if (row->type == CONFIG_OBJECT) {
		code = config_read(r, row->rows, value, obj + row->offset, err);
	} else if (is_there) {
		code = read_value(r, row, value, obj + row->offset, err);
	}
	if (code < 0) {
		return code;
	}
	/* CONFIG_FLAG counts offsets from 1, so that 0 means no flag. */
	if (row->present > 0) {
		*(bool *)(obj + row->present - 1) = is_there;
	}
	if (row->absent > 0 && !is_there) {
		*(bool *)(obj + row->absent - 1) = true;
	}
	leave(r, back);
	return 0;
}

static int read_rows(struct config_reader *r, const struct config_row *rows, const struct jdoc *d,
		     char *obj, struct err *err)
{
	int code = 0;

	for (const struct config_row *row = rows; row->type != CONFIG_END; row++) {
		set_default(row, obj + row->offset);
	}
	for (const struct config_row *row = rows; code == 0 && row->type != CONFIG_END; row++) {
		code = read_row(r, row, d, obj, err);
	}
	return code;
}

static bool has_row(const struct config_row *rows, const char *name)
{
	for (; rows->type != CONFIG_END; rows++) {
		if (rows->name == NULL ? has_row(rows->rows, name) : str_streq(rows->name, name)) {
			return true;
		}
	}
	return false;
}

/* Before the values, so that a misspelt name is reported also where a value is wrong. */
static int check_names(struct config_reader *r, const struct config_row *rows, const struct jdoc *d,
		       struct err *err)
{
	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
		struct place back;

		if (!has_row(rows, jdoc_key(m))) {
			back = enter(r, jdoc_key(m));
			if (r->unknown(r, rows, jdoc_key(m), err) < 0) {
				return -ERR_INVALID;
			}
			leave(r, back);
		}
	}
	return 0;
}

int config_read(struct config_reader *r, const struct config_row *rows, const struct jdoc *d,
		void *obj, struct err *err)
{
	if (jdoc_kind(d) != JDOC_NULL && config_expect(r, d, JDOC_OBJECT, err) < 0) {
		return -ERR_INVALID;
	}
	if (r->unknown != NULL && check_names(r, rows, d, err) < 0) {
		return -ERR_INVALID;
	}
	return read_rows(r, rows, d, obj, err);
}
