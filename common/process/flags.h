/* common/process/flags.h: the command line of a program as a table. A row has a flag's name, the
 * member that stores its value, its default and its bounds; parsing, --help, the reference pages,
 * the man pages and the shell completion all read the same rows.
 *
 * Flags are spelled as in Go programs: --name=value, --name value, -n value, -n=value; a boolean is
 * --name or --name=false; '_' in a name means '-'; "--" ends the flags. One thread; texts are
 * borrowed from argv and from the table. */
#ifndef COMMON_PROCESS_FLAGS_H
#define COMMON_PROCESS_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct err;

#define FLAGS_ROWS_MAX 128 /* in all tables of one program */
#define FLAGS_LIST_MAX 64

enum flags_type {
	FLAGS_END,      /* ends a table */
	FLAGS_HEADING,  /* `name` stands above the rows that follow */
	FLAGS_BOOL,     /* bool */
	FLAGS_INT,      /* int64_t within min and max */
	FLAGS_DOUBLE,   /* double, not below min */
	FLAGS_DURATION, /* int64_t in ns, within min and max: 30s, 1h30m */
	FLAGS_TIME,     /* int64_t, Unix time in ns: RFC 3339 */
	FLAGS_TEXT,     /* const char *, min bytes or more; empty without a default is NULL */
	FLAGS_LIST,     /* struct flags_list: each use adds a value, max of them */
	FLAGS_CHOICE,   /* an enum: the value of one of `choices` */
	FLAGS_SET,      /* unsigned: a comma list that sets bits, -NAME clears them */
	FLAGS_CUSTOM,   /* `set` reads the value */
	FLAGS_IGNORED,  /* accepted without effect */
	FLAGS_IGNORED_BOOL,
	FLAGS_UNSUPPORTED, /* only its default is accepted: ignoring other values would do harm */
	FLAGS_UNSUPPORTED_BOOL,
	FLAGS_HELP,
	FLAGS_VERSION,
};

struct flags_list {
	const char *v[FLAGS_LIST_MAX + 1]; /* NULL behind the last one */
	size_t n;
};

struct flags_choice {
	const char *name; /* NULL ends the array */
	unsigned value;
};

struct flags_row {
	const char *name;
	char letter;       /* 0: none */
	bool may_be_empty; /* of a list: an empty value adds none, so that no default remains */
	enum flags_type type;
	size_t offset;     /* of the member in the struct of the options */
	const char *def;   /* the default, as it would be given; NULL: zeros */
	const char *unset; /* the default in words, when it is not a constant */
	const char *arg;   /* name of the value in --help; NULL: by the type */
	int64_t min, max;  /* max 0: no upper bound */
	const struct flags_choice *choices;
	/* Errors describe the error in the value; flag and value are prefixed. */
	int (*set)(void *member, const char *value, struct err *err);
	const char *help; /* without default and bounds, which are appended */
};

struct flags {
	const char *program; /* as it is called: "headgatectl explain" */
	const char *args;    /* positional arguments, one form a line; NULL: none are taken */
	const char *doc;     /* above the flags */
	const char *notes;   /* below the flags; NULL: none */
	const struct flags_row *const *tables; /* each with FLAGS_END; NULL ends the array */
};

struct flags_parsed {
	uint64_t given[FLAGS_ROWS_MAX / 64];
	struct flags_list ignored; /* given flags that have no effect, each name once */
	size_t nargs;              /* positional arguments, moved to argv[1] and on, flags behind */
};

/* The columns of a row that stores its value in a member of a struct; a compile error when the
 * member has another type: { "port", FLAGS_AT(struct options, INT, port), .def = "8443", ... }. */
#define FLAGS_AT(options, kind, member)                                                            \
	.type = FLAGS_##kind,                                                                      \
	.offset = offsetof(options, member) +                                                      \
		  FLAGS_CHECK_(__builtin_types_compatible_p(__typeof__(((options *)0)->member),    \
							    FLAGS_TYPE_OF_##kind##_))
#define FLAGS_CHOICE_AT(options, names, member)                                                    \
	.type = FLAGS_CHOICE, .choices = (names),                                                  \
	.offset = offsetof(options, member) +                                                      \
		  FLAGS_CHECK_(sizeof(((options *)0)->member) == sizeof(unsigned))
#define FLAGS_SET_AT(options, names, member) FLAGS_AT(options, SET, member), .choices = (names)
#define FLAGS_CUSTOM_AT(options, function, member)                                                 \
	.type = FLAGS_CUSTOM, .set = (function), .offset = offsetof(options, member)
#define FLAGS_TYPE_OF_BOOL_ bool
#define FLAGS_TYPE_OF_INT_ int64_t
#define FLAGS_TYPE_OF_DOUBLE_ double
#define FLAGS_TYPE_OF_DURATION_ int64_t
#define FLAGS_TYPE_OF_TIME_ int64_t
#define FLAGS_TYPE_OF_TEXT_ const char *
#define FLAGS_TYPE_OF_LIST_ struct flags_list
#define FLAGS_TYPE_OF_SET_ unsigned
#define FLAGS_CHECK_(cond)                                                                         \
	(0 * sizeof(struct {                                                                       \
		 _Static_assert(cond, "flag type and member type differ");                         \
		 int unused_;                                                                      \
	 }))

extern const struct flags_row flags_help[];    /* -h, --help */
extern const struct flags_row flags_version[]; /* --version */
extern const struct flags_row flags_klog[];    /* of Kubernetes' logging library, ignored */

/* Fills *options, which is all zeros, with defaults and argv. 0: go on; 1: --help or --version was
 * printed; -ERR_INVALID: err names the flag and the value. */
int flags_parse(const struct flags *f, int argc, char **argv, void *options,
		struct flags_parsed *ret, struct err *err);
bool flags_is_given(const struct flags *f, const struct flags_parsed *p, const char *name);
/* Row i of all tables, headings included; NULL behind the last one. */
const struct flags_row *flags_at(const struct flags *f, size_t i);
bool flags_has_no_effect(const struct flags_row *row);
/* true, 1, t, false, 0, f and their capitals, as Go reads them. */
bool flags_parse_bool(struct str text, bool *ret);

#endif
