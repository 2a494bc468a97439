/* common/enc/config.h: a configuration file as a table. A row has the name of a field, its type,
 * its bounds, its default, and the member of the struct that gets its value.
 *   static const struct config_row rows[] = {
 *           { "timeout", CONFIG_AT(struct conf, DURATION, timeout_ns), .def = 1000 },
 *           { "multiKueue", .type = CONFIG_IGNORED },
 *           { .type = CONFIG_END },
 *   };
 * Fields are read in the order of the rows; null counts as absent. A field may have several rows.
 * Errors and warnings name the path: "resources.transformations[1].input: missing". Owner: one
 * thread; tables are constant. Limits: CONFIG_MAX_ITEMS items in a list or map, unless the row has
 * a limit of its own; the depth is that of the tables. */
#ifndef COMMON_ENC_CONFIG_H
#define COMMON_ENC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/field.h"
#include "enc/json/jdoc.h"

#define CONFIG_MAX_ITEMS 256

struct arena;
struct err;

enum config_type {
	CONFIG_END,      /* ends a table */
	CONFIG_IGNORED,  /* known, without effect; what is below it is not checked */
	CONFIG_OBJECT,   /* an object by `rows`; without a name: more rows of the same object */
	CONFIG_BOOL,     /* bool */
	CONFIG_COUNT,    /* int32_t, 0 to max */
	CONFIG_SECONDS,  /* the same, stored as int64_t in ns */
	CONFIG_DURATION, /* int64_t in ns: 30s, 1h30m */
	CONFIG_CHOICE,   /* bool or enum: the value of one of `choices` */
	CONFIG_TEXT,     /* const char *; an empty text counts as absent: NULL */
	CONFIG_LIST,     /* items of `size` bytes, each by `rows`, by `read` or by both */
	CONFIG_MAP,      /* the same for the members of an object */
	CONFIG_CUSTOM,   /* `read` reads the value, which is of `kind` */
};

struct config_choice {
	const char *name; /* NULL ends the array */
	unsigned value;
};

struct config_reader;
struct config_row;
/* For a field that rows do not have; the path ends in its key. */
typedef int (*config_unknown_fn)(struct config_reader *r, const struct config_row *rows,
				 const char *key, struct err *err);

struct config_reader {
	struct arena *arena;                            /* of texts and lists */
	void *ctx;                                      /* of the functions of rows */
	void (*warn)(void *warn_ctx, const char *text); /* NULL: no warnings */
	void *warn_ctx;
	config_unknown_fn unknown; /* NULL: fields without a row are ignored */
	struct strbuf path;        /* of the value being read; empty: the document */
	struct str word; /* the last name on it, or what a message is about: it is in the file */
};

/* at: the member, the item of a list or map, or the struct itself when the row has no member. 0; 1:
 * the item is left out; or the result of config_fail. */
typedef int (*config_read_fn)(struct config_reader *r, const struct jdoc *d, void *at,
			      struct err *err);
struct config_row {
	const char *name;
	enum config_type type;
	bool required;       /* "missing" is an error */
	enum jdoc_kind kind; /* of a CUSTOM value */
	size_t offset;       /* of the member */
	size_t size;         /* of the member of a CHOICE; of an item, 0: items are not stored */
	int64_t def;         /* of types that are numbers */
	int64_t max;         /* of a number, of items; 0: the largest */
	const struct config_choice *choices;
	const struct config_row *rows; /* of an OBJECT, of the items of a LIST */
	config_read_fn read;           /* of an item: after its rows */
	/* CONFIG_FLAG of a bool that says whether the field is there, and of one that becomes true
	 * when it is not. */
	size_t present, absent;
};

/* The columns of a row that stores its value in a member of a struct; a compile error when the
 * member has another type. */
#define CONFIG_AT(type_, kind_, member)                                                            \
	.type = CONFIG_##kind_,                                                                    \
	.offset = offsetof(type_, member) + FIELD_IS(type_, member, CONFIG_TYPE_OF_##kind_##_)
#define CONFIG_CHOICE_AT(type_, names, member)                                                     \
	.type = CONFIG_CHOICE, .choices = (names), .size = sizeof(((type_ *)0)->member),           \
	.offset = offsetof(type_, member) +                                                        \
		  FIELD_CHECK(sizeof(((type_ *)0)->member) == sizeof(bool) ||                      \
			      sizeof(((type_ *)0)->member) == sizeof(unsigned))
/* list and count: a pointer to items and, behind it, their number (size_t). */
#define CONFIG_ITEMS_AT(type_, kind_, list, count)                                                 \
	.type = CONFIG_##kind_, .size = sizeof(*((type_ *)0)->list),                               \
	.offset = offsetof(type_, list) + FIELD_IS(type_, count, size_t) +                         \
		  FIELD_CHECK(offsetof(type_, count) == offsetof(type_, list) + sizeof(void *))
#define CONFIG_CUSTOM_AT(type_, kind_, function, member)                                           \
	.type = CONFIG_CUSTOM, .kind = (kind_), .read = (function),                                \
	.offset = offsetof(type_, member)
#define CONFIG_OBJECT_AT(type_, table, member)                                                     \
	.type = CONFIG_OBJECT, .rows = (table), .offset = offsetof(type_, member)
#define CONFIG_FLAG(type_, member) (offsetof(type_, member) + FIELD_IS(type_, member, bool) + 1)
#define CONFIG_TYPE_OF_BOOL_ bool
#define CONFIG_TYPE_OF_COUNT_ int32_t
#define CONFIG_TYPE_OF_SECONDS_ int64_t
#define CONFIG_TYPE_OF_DURATION_ int64_t
#define CONFIG_TYPE_OF_TEXT_ const char *

/* Fills obj with the defaults of rows and with the fields of d, an object, null or NULL. Members
 * of rows without a default are set only when their field is there. After an error obj is half
 * filled, and path and word of r are those of the error. */
int config_read(struct config_reader *r, const struct config_row *rows, const struct jdoc *d,
		void *obj, struct err *err);
void config_finish(struct config_reader *r); /* the path; for CLEANUP */

/* "path.field: text"; field: below the current value, or NULL. */
int config_fail(struct config_reader *r, const char *field, struct err *err, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
void config_warn(struct config_reader *r, const char *field, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
int config_expect(struct config_reader *r, const struct jdoc *d, enum jdoc_kind kind,
		  struct err *err); /* fails unless d is of the kind */
/* The `read` of items that are const char *. */
int config_read_text(struct config_reader *r, const struct jdoc *d, void *at, struct err *err);

#endif
