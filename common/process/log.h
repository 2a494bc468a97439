/* common/process/log.h: one line per message with key/value pairs, klog text or JSON, on stderr.
 *   log_info("bound pod", LOG_STR("pod", name), LOG_INT("node", id));
 * Any thread; each line is one write(2). Only the daemons' shells log; libraries and the core do
 * not. */
#ifndef COMMON_PROCESS_LOG_H
#define COMMON_PROCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_V2,
	LOG_V3,
	LOG_V4,
	LOG_V5,
	LOG_V6,
	LOG_COUNT_
};
enum log_format { LOG_TEXT, LOG_JSON };
enum log_kind { LOG_KIND_STR, LOG_KIND_INT };

struct log_field {
	const char *key; /* NULL ends the list */
	enum log_kind kind;
	struct str s;
	int64_t i;
};

#define LOG_STR(k, text) ((struct log_field){ .key = (k), .kind = LOG_KIND_STR, .s = str_of(text) })
#define LOG_SLICE(k, slice) ((struct log_field){ .key = (k), .kind = LOG_KIND_STR, .s = (slice) })
#define LOG_INT(k, n) ((struct log_field){ .key = (k), .kind = LOG_KIND_INT, .i = (n) })

typedef void (*log_sink_fn)(struct str line, void *ctx);

void log_set_level(enum log_level level); /* default LOG_INFO */
void log_set_format(enum log_format format);
void log_set_sink(log_sink_fn sink,
		  void *ctx); /* NULL: stderr; for tests, set before threads start */
bool log_enabled(enum log_level level);

/* The last row of fields has no key (NULL). Callers use the macros below. */
void log_write(enum log_level level, const char *file, int line, const char *msg,
	       const struct log_field *fields);

#define LOG_AT_(level, msg, ...)                                                                   \
	do {                                                                                       \
		if (log_enabled(level)) {                                                          \
			const struct log_field log_fields_[] = { __VA_ARGS__ };                    \
			log_write((level), __FILE__, __LINE__, (msg), log_fields_);                \
		}                                                                                  \
	} while (0)
/* Takes msg, then the fields; the macro adds the row that ends the list. */
#define LOG_AT(level, ...) LOG_AT_(level, __VA_ARGS__, (struct log_field){ 0 })
#define log_error(...) LOG_AT(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) LOG_AT(LOG_WARN, __VA_ARGS__)
#define log_info(...) LOG_AT(LOG_INFO, __VA_ARGS__)
#define log_v(n, ...) LOG_AT((enum log_level)(LOG_INFO + (n)-1), __VA_ARGS__)

#endif
