#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[ERR_COUNT_] = {
	[ERR_NONE] = "None",           [ERR_INVALID] = "Invalid",
	[ERR_NOT_FOUND] = "NotFound",  [ERR_CONFLICT] = "Conflict",
	[ERR_GONE] = "Gone",           [ERR_FORBIDDEN] = "Forbidden",
	[ERR_TIMEOUT] = "Timeout",     [ERR_UNAVAILABLE] = "Unavailable",
	[ERR_CANCELLED] = "Cancelled", [ERR_IO] = "IO",
	[ERR_INTERNAL] = "Internal",
};

int(err_set)(struct err *err, enum err_code code, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX];
	va_list ap;

	if (err == NULL) {
		return -(int)code;
	}
	/* Formatted into a copy: the arguments may point into err->text. */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(err->text, text, sizeof(text));
	err->code = code;
	return -(int)code;
}

static int PRINTF_LIKE(3, 0) prepend(struct err *err, const char *sep, const char *fmt, va_list ap)
{
	char text[ERR_TEXT_MAX];
	size_t n, tail;
	int r;

	if (err == NULL) {
		return -ERR_INTERNAL;
	}
	if (err->code == ERR_NONE) {
		/* Wrapping nothing must not turn a failure into success. */
		err->code = ERR_INTERNAL;
	}
	/* The context goes first; where the text becomes too long, its end is cut. */
	r = vsnprintf(text, sizeof(text), fmt, ap);
	n = r < 0 ? 0 : (size_t)r;
	n = n >= sizeof(text) ? sizeof(text) - 1 : n;
	tail = strlen(sep);
	if (tail > sizeof(text) - 1 - n) {
		tail = sizeof(text) - 1 - n;
	}
	memcpy(text + n, sep, tail);
	n += tail;
	tail = strlen(err->text);
	if (tail > sizeof(text) - 1 - n) {
		tail = sizeof(text) - 1 - n;
	}
	memcpy(text + n, err->text, tail);
	text[n + tail] = '\0';
	memcpy(err->text, text, n + tail + 1);
	return -(int)err->code;
}

int(err_wrap)(struct err *err, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = prepend(err, ": ", fmt, ap);
	va_end(ap);
	return r;
}

int(err_path)(struct err *err, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = prepend(err, "", fmt, ap);
	va_end(ap);
	return r;
}

const char *err_name(enum err_code code)
{
	return (unsigned)code < ERR_COUNT_ ? names[code] : "Unknown";
}
