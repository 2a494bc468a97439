#include "obs/exposition.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "enc/json/json_text.h"
#include "obs/metric.h"
#include "obs/process.h"
#include "process/file.h"

#define MAX_TOKEN 4096

static void add_number(struct strbuf *out, double d)
{
	if (isnan(d)) {
		strbuf_add_c(out, "NaN");
	} else if (isinf(d)) {
		strbuf_add_c(out, d > 0 ? "+Inf" : "-Inf");
	} else {
		json_text_number(out, d);
	}
}

/* Text that is not ASCII stays as it is: readers accept UTF-8. UTF8_NUL is not UTF-8 and would make
 * a reader refuse the whole page. */
static void add_escaped(struct strbuf *out, const char *text, bool quotes)
{
	for (; *text != '\0'; text++) {
		if (utf8_is_nul(text, text + strnlen(text, 2))) {
			strbuf_add_c(out, UTF8_REPLACEMENT);
			text++;
			continue;
		}
		if (*text == '\n') {
			strbuf_add_c(out, "\\n");
			continue;
		}
		if (*text == '\\' || (quotes && *text == '"')) {
			strbuf_add_ch(out, '\\');
		}
		strbuf_add_ch(out, *text);
	}
}

struct sample {
	const struct metric_info *family;
	const char *values; /* of the labels, each ended by NUL */
	const struct metric_cell *cell;
};

/* name suffix {label="value",...,le="bound"}; le may be NULL. */
static void add_sample_head(struct strbuf *out, const struct sample *s, const char *suffix,
			    const double *le)
{
	const struct metric_info *f = s->family;
	const char *value = s->values;

	strbuf_add_c(out, f->name);
	strbuf_add_c(out, suffix);
	if (f->nlabels == 0 && le == NULL) {
		strbuf_add_ch(out, ' ');
		return;
	}
	strbuf_add_ch(out, '{');
	for (size_t i = 0; i < f->nlabels; i++) {
		strbuf_printf(out, "%s%s=\"", i == 0 ? "" : ",", f->labels[i]);
		add_escaped(out, value, true);
		strbuf_add_ch(out, '"');
		value += strlen(value) + 1;
	}
	if (le != NULL) {
		strbuf_add_c(out, f->nlabels == 0 ? "le=\"" : ",le=\"");
		add_number(out, *le);
		strbuf_add_ch(out, '"');
	}
	strbuf_add_c(out, "} ");
}

/* The count is the sum of the buckets read here, so that one rendering is consistent. */
static void add_histogram(struct strbuf *out, const struct sample *s)
{
	const struct metric_cell *c = s->cell;
	const double inf = INFINITY;
	uint64_t total = 0;

	for (size_t i = 0; i <= c->nbounds; i++) {
		total += metric_cell_bucket(c, i);
		add_sample_head(out, s, "_bucket", i < c->nbounds ? &c->bounds[i] : &inf);
		strbuf_printf(out, "%llu\n", (unsigned long long)total);
	}
	add_sample_head(out, s, "_sum", NULL);
	add_number(out, metric_cell_get(c));
	strbuf_add_ch(out, '\n');
	add_sample_head(out, s, "_count", NULL);
	strbuf_printf(out, "%llu\n", (unsigned long long)total);
}

static void on_cell(void *ctx, const struct metric_info *f, const char *values,
		    const struct metric_cell *c)
{
	const struct sample s = { f, values, c };
	struct strbuf *out = ctx;

	switch (f->type) {
	case METRIC_HISTOGRAM:
		add_histogram(out, &s);
		break;
	case METRIC_COUNTER:
	case METRIC_GAUGE:
		add_sample_head(out, &s, "", NULL);
		add_number(out, metric_cell_get(c));
		strbuf_add_ch(out, '\n');
		break;
	}
}

static void on_family(void *ctx, const struct metric_info *f)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	struct strbuf *out = ctx;

	strbuf_printf(out, "# HELP %s ", f->name);
	add_escaped(out, f->help, false);
	strbuf_printf(out, "\n# TYPE %s %s\n", f->name, types[f->type]);
}

void exposition_render(struct metric_registry *r, struct strbuf *out)
{
	const struct metric_visitor visitor = { .ctx = out, .family = on_family, .cell = on_cell };

	metric_visit(r, &visitor);
}

static void add_row(struct strbuf *out, const char *name, const char *type, const char *help,
		    double value)
{
	strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name,
		      value);
}

static void add_process(struct strbuf *out)
{
	struct process_info p;

	if (!process_read(&p)) {
		return;
	}
	add_row(out, "process_cpu_seconds_total", "counter",
		"Total user and system CPU time spent in seconds.", p.cpu_seconds);
	if (p.max_files >= 0) {
		add_row(out, "process_max_fds", "gauge", "Maximum number of open file descriptors.",
			(double)p.max_files);
	}
	add_row(out, "process_open_fds", "gauge", "Number of open file descriptors.",
		(double)p.open_files);
	add_row(out, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
		(double)p.resident_bytes);
	add_row(out, "process_start_time_seconds", "gauge",
		"Start time of the process since unix epoch in seconds.", p.start_seconds);
	add_row(out, "process_threads", "gauge", "Number of threads.", (double)p.threads);
	add_row(out, "process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
		(double)p.virtual_bytes);
}

/* Reads the token without the newline that editors add. */
static int read_token(const char *path, struct strbuf *out, struct err *err)
{
	int r = file_read_all(path, MAX_TOKEN, out, err);

	while (r == 0 && out->len > 0 &&
	       (out->p[out->len - 1] == '\n' || out->p[out->len - 1] == '\r')) {
		strbuf_truncate(out, out->len - 1);
	}
	if (r == 0 && out->len == 0) {
		r = err_set(err, ERR_INVALID, "%s: contains no token", path);
	}
	return r;
}

int exposition_check_token(const char *token_file, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf token = STRBUF_INIT;

	return token_file == NULL ? 0 : read_token(token_file, &token, err);
}

/* Compares in constant time, so that the time does not show where they differ. */
static bool is_same_secret(struct str a, struct str b)
{
	unsigned char differs = a.len != b.len;

	for (size_t i = 0; i < a.len && i < b.len; i++) {
		differs |= (unsigned char)(a.p[i] ^ b.p[i]);
	}
	return differs == 0;
}

/* A file that cannot be read admits no request. */
static bool is_allowed(const char *token_file, struct str authorization)
{
	CLEANUP(strbuf_finish) struct strbuf token = STRBUF_INIT;
	struct str brought = authorization, scheme = str_next(&brought, ' ');

	return str_eq_c(scheme, "Bearer") && read_token(token_file, &token, NULL) == 0 &&
	       is_same_secret(brought, strbuf_str(&token));
}

bool exposition_handle(struct metric_registry *r, const char *token_file,
		       const struct http_request *req, struct arena *arena,
		       struct http_response *ret)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	if (!str_eq_c(req->path, "/metrics")) {
		return false;
	}
	ret->content_type = "text/plain; version=0.0.4; charset=utf-8";
	if (req->method != HTTP_GET && req->method != HTTP_HEAD) {
		ret->status = 405;
		ret->body = STR_LIT("only GET is allowed\n");
		return true;
	}
	if (token_file != NULL && !is_allowed(token_file, req->authorization)) {
		ret->status = 401;
		ret->authenticate = "Bearer";
		ret->body = STR_LIT("a bearer token is required\n");
		return true;
	}
	exposition_render(r, &out);
	add_process(&out);
	ret->status = 200;
	ret->body = arena_str(arena, strbuf_str(&out));
	return true;
}
