#include "scheduler/pods/conf/conf_args.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"

static const char *find_value(const struct conf_arg *args, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (str_streq(args[i].key, name)) {
			return args[i].value;
		}
	}
	return NULL;
}

static int parse_number(const char *name, const char *text, double *ret, struct err *err)
{
	if (!str_to_double(str_of(text), ret)) {
		return err_set(err, ERR_INVALID, "%s: \"%s\" is not a number", name, text);
	}
	return 0;
}

static int parse_switch(const char *name, const char *text, bool *ret, struct err *err)
{
	/* The texts of Go's ParseBool, with which Volcano reads these arguments. */
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_streq(text, yes[i]) || str_streq(text, no[i])) {
			*ret = str_streq(text, yes[i]);
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "%s: \"%s\" is not true or false", name, text);
}

int conf_args_number(const struct conf_arg *args, size_t n, const char *name, double def,
		     double *ret, struct err *err)
{
	const char *text = find_value(args, n, name);

	if (text == NULL) {
		*ret = def;
		return 0;
	}
	return parse_number(name, text, ret, err);
}

/* text NULL: the argument is not given. */
static int read_row(const struct conf_args_row *row, const char *text, void *at, struct err *err)
{
	switch (row->kind) {
	case CONF_ARGS_NUMBER:
		*(double *)at = row->def;
		return text == NULL ? 0 : parse_number(row->name, text, at, err);
	case CONF_ARGS_SWITCH:
		*(bool *)at = row->def != 0;
		return text == NULL ? 0 : parse_switch(row->name, text, at, err);
	case CONF_ARGS_TEXT:
		*(const char **)at = text;
		return 0;
	case CONF_ARGS_PREFIX:
	case CONF_ARGS_NO_EFFECT:
		break;
	}
	return 0;
}

int conf_args_read(const struct conf_args_row *rows, const struct conf_arg *args, size_t n,
		   void *obj, struct err *err)
{
	for (; rows->name != NULL; rows++) {
		int r = read_row(rows, find_value(args, n, rows->name), (char *)obj + rows->offset,
				 err);

		if (r < 0) {
			return r;
		}
	}
	return 0;
}

const struct conf_args_row *conf_args_find(const struct conf_args_row *rows, const char *name)
{
	for (; rows != NULL && rows->name != NULL; rows++) {
		if (rows->kind == CONF_ARGS_PREFIX ? str_has_prefix(str_of(name), rows->name)
						   : str_streq(rows->name, name)) {
			return rows;
		}
	}
	return NULL;
}
