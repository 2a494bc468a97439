#include "scheduler/pods/session/plugin.h"

#include "base/err.h"

const char *plugin_args_get(const struct plugin_args *a, const char *key)
{
	for (size_t i = 0; i < a->n; i++) {
		if (str_streq(a->v[i].key, key)) {
			return a->v[i].value;
		}
	}
	return NULL;
}

int plugin_args_double(const struct plugin_args *a, const char *key, double def, double *ret,
		       struct err *err)
{
	const char *text = plugin_args_get(a, key);

	if (text == NULL) {
		*ret = def;
		return 0;
	}
	if (!str_to_double(str_of(text), ret)) {
		return err_set(err, ERR_INVALID, "%s: \"%s\" is not a number", key, text);
	}
	return 0;
}

int plugin_args_bool(const struct plugin_args *a, const char *key, bool def, bool *ret,
		     struct err *err)
{
	/* The texts of Go's ParseBool, with which Volcano reads these arguments. */
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False" };
	const char *text = plugin_args_get(a, key);

	if (text == NULL) {
		*ret = def;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_streq(text, yes[i]) || str_streq(text, no[i])) {
			*ret = str_streq(text, yes[i]);
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "%s: \"%s\" is not true or false", key, text);
}
