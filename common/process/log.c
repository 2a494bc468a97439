#include "process/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quote.h"
#include "base/strbuf.h"

/* The one global of the process besides the metric registry. */
static atomic_int log_level_now = LOG_INFO;
static atomic_int log_format_now = LOG_TEXT;
static log_sink_fn log_sink;
static void *log_sink_ctx;

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&log_level_now, (int)level, memory_order_relaxed);
}

void log_set_format(enum log_format format)
{
	atomic_store_explicit(&log_format_now, (int)format, memory_order_relaxed);
}

void log_set_sink(log_sink_fn sink, void *ctx)
{
	log_sink = sink;
	log_sink_ctx = ctx;
}

bool log_enabled(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&log_level_now, memory_order_relaxed);
}

static void add_value(struct strbuf *out, const struct log_field *f)
{
	switch (f->kind) {
	case LOG_KIND_STR:
		quote_json(out, f->s);
		break;
	case LOG_KIND_INT:
		strbuf_printf(out, "%lld", (long long)f->i);
		break;
	}
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash == NULL ? file : slash + 1;
}

/* klog: I0102 15:04:05.000000   4711 file.c:12] "message" key="value". Levels V(n) have the letter
 * of info, as in klog. */
static void add_text_head(struct strbuf *out, enum log_level level, const char *file, int line)
{
	char now[CLOCK_RFC3339_MAX];

	clock_format_micro(clock_wall(clock_real()), now);
	strbuf_add_ch(out, level == LOG_ERROR ? 'E' : level == LOG_WARN ? 'W' : 'I');
	strbuf_printf(out, "%.2s%.2s %.15s %7d %s:%d] ", now + 5, now + 8, now + 11, (int)getpid(),
		      base_name(file), line);
}

static void add_json_head(struct strbuf *out, enum log_level level, const char *file, int line)
{
	static const char *const names[] = { "error", "warning", "info" };
	char now[CLOCK_RFC3339_MAX];

	clock_format_micro(clock_wall(clock_real()), now);
	strbuf_printf(out,
		      "{\"ts\":\"%s\",\"level\":\"%s\",\"v\":%d,\"caller\":\"%s:%d\",\"msg\":", now,
		      names[level < LOG_INFO ? level : LOG_INFO],
		      level > LOG_INFO ? (int)level - LOG_INFO + 1 : 0, base_name(file), line);
}

static void to_stderr(struct str line)
{
	ssize_t n;

	/* A full disk or a closed pipe must not stop the program: the line is dropped. */
	do {
		n = write(STDERR_FILENO, line.p, line.len);
	} while (n < 0 && errno == EINTR);
}

void log_write(enum log_level level, const char *file, int line, const char *msg,
	       const struct log_field *fields)
{
	bool json = atomic_load_explicit(&log_format_now, memory_order_relaxed) == LOG_JSON;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	/* Callers log within the handling of an error, which must not change by that. */
	int saved = errno;

	if (json) {
		add_json_head(&out, level, file, line);
	} else {
		add_text_head(&out, level, file, line);
	}
	quote_json(&out, str_of(msg));
	for (const struct log_field *f = fields; f->key != NULL; f++) {
		if (json) {
			strbuf_add_ch(&out, ',');
			quote_json(&out, str_of(f->key));
			strbuf_add_ch(&out, ':');
		} else {
			strbuf_printf(&out, " %s=", f->key);
		}
		add_value(&out, f);
	}
	strbuf_add_c(&out, json ? "}\n" : "\n");
	/* The whole line at once, so that lines of several threads do not mix. */
	if (log_sink != NULL) {
		log_sink(strbuf_str(&out), log_sink_ctx);
	} else {
		to_stderr(strbuf_str(&out));
	}
	errno = saved;
}
