/* scheduler/pods/conf/conf_args.h: the arguments of a plugin or an action as a table. A row has the
 * name of an argument and the member of a struct that gets its value: what is read, and what a
 * configuration is warned about, is the same table.
 *   static const struct conf_args_row rows[] = {
 *           { "binpack.weight", CONF_ARGS_AT(struct weights, NUMBER, plugin), .def = 1 },
 *           { "binpack.mode", .kind = CONF_ARGS_NO_EFFECT },
 *           { .name = NULL },
 *   };
 * Any thread; tables are constant. */
#ifndef SCHEDULER_PODS_CONF_CONF_ARGS_H
#define SCHEDULER_PODS_CONF_CONF_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "enc/field.h"

struct err;

struct conf_arg {
	const char *key, *value; /* scalars as text */
};

enum conf_args_kind {
	CONF_ARGS_NUMBER,    /* double */
	CONF_ARGS_SWITCH,    /* bool; def 0 or 1 */
	CONF_ARGS_TEXT,      /* const char *, borrowed from the argument; absent: NULL */
	CONF_ARGS_PREFIX,    /* all names that begin so, which conf_args_number reads */
	CONF_ARGS_NO_EFFECT, /* Volcano has it, Headgate does not */
};

struct conf_args_row {
	const char *name; /* NULL ends a table */
	enum conf_args_kind kind;
	size_t offset; /* of the member */
	double def;    /* of an argument that is not given */
};

/* The columns of a row that stores its value; a compile error when the member has another type. */
#define CONF_ARGS_AT(type_, kind_, member)                                                         \
	.kind = CONF_ARGS_##kind_,                                                                 \
	.offset = offsetof(type_, member) + FIELD_IS(type_, member, CONF_ARGS_TYPE_OF_##kind_##_)
#define CONF_ARGS_TYPE_OF_NUMBER_ double
#define CONF_ARGS_TYPE_OF_SWITCH_ bool
#define CONF_ARGS_TYPE_OF_TEXT_ const char *

/* Sets the members of obj for all rows. Of several arguments with one name the first counts.
 * -ERR_INVALID names an argument that is not what its row says. */
int conf_args_read(const struct conf_args_row *rows, const struct conf_arg *args, size_t n,
		   void *obj, struct err *err);
/* One argument by its name: for those of a PREFIX. */
int conf_args_number(const struct conf_arg *args, size_t n, const char *name, double def,
		     double *ret, struct err *err);
/* The row that reads the argument; NULL: none does. rows may be NULL: there are none. */
const struct conf_args_row *conf_args_find(const struct conf_args_row *rows, const char *name);

#endif
