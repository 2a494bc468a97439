/* common/base/err.h: one error enum and one fixed-size error text on the caller's stack.
 * Functions return 0 or -ERR_X and take `struct err *err` last (NULL: text not wanted).
 * Set once where detected, wrapped on the way up: "queue a: spec.capability.cpu: invalid ...".
 * Any thread; an err is owned by its stack frame. Text is cut at ERR_TEXT_MAX - 1 bytes. */
#ifndef COMMON_BASE_ERR_H
#define COMMON_BASE_ERR_H

#include "base/attrs.h"

#define ERR_TEXT_MAX 512

enum err_code {
	ERR_NONE = 0,
	ERR_INVALID, /* the input is wrong, a retry cannot help */
	ERR_NOT_FOUND,
	ERR_CONFLICT,  /* 409: exists already, other version, other UID */
	ERR_GONE,      /* 410: resource version too old */
	ERR_FORBIDDEN, /* 401, 403 */
	ERR_TIMEOUT,
	ERR_UNAVAILABLE, /* try again later: 429, 5xx, refused connection */
	ERR_CANCELLED,
	ERR_IO,
	ERR_INTERNAL,
	ERR_COUNT_
};

struct err {
	enum err_code code;
	char text[ERR_TEXT_MAX];
};

#define ERR_INIT                                                                                   \
	{                                                                                          \
		.code = ERR_NONE, .text = ""                                                       \
	}

/* Sets code and text, returns -code: `return err_set(err, ERR_INVALID, "...")`. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Puts "fmt: " before the text; returns -err->code (-ERR_INTERNAL if err is NULL). */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Puts a path element before the text without ": " between elements: err_path(err, "spec.")
 * turns "cpu: bad" into "spec.cpu: bad". Returns -err->code. */
int err_path(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The macros let compilers and analyzers see that the result is negative, so that outputs are not
 * read after a failure. */
#define err_set(err, code, ...)                                                                    \
	({                                                                                         \
		enum err_code err_code_ = (code);                                                  \
		(void)(err_set)((err), err_code_, __VA_ARGS__);                                    \
		-(int)err_code_;                                                                   \
	})
#define err_negative_(call)                                                                        \
	({                                                                                         \
		int err_result_ = (call);                                                          \
		if (err_result_ >= 0) {                                                            \
			__builtin_unreachable();                                                   \
		}                                                                                  \
		err_result_;                                                                       \
	})
#define err_wrap(err, ...) err_negative_((err_wrap)((err), __VA_ARGS__))
#define err_path(err, ...) err_negative_((err_path)((err), __VA_ARGS__))

/* "Invalid", "NotFound", ...; never NULL. Takes the positive code. */
const char *err_name(enum err_code code);

#endif
