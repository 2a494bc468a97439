#include "obs/metrics.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "obs/process.h"

#define MAX_TOKEN 4096

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

/* Without the line end that editors add. */
static int read_token(const char *path, struct strbuf *out, struct err *err)
{
	int r = file_read_all(path, MAX_TOKEN, out, err);

	while (r == 0 && out->len > 0 &&
	       (out->p[out->len - 1] == '\n' || out->p[out->len - 1] == '\r')) {
		strbuf_truncate(out, out->len - 1);
	}
	if (r == 0 && out->len == 0) {
		r = err_set(err, ERR_INVALID, "%s: no token in it", path);
	}
	return r;
}

int metrics_check_token(const char *token_file, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf token = STRBUF_INIT;

	return token_file == NULL ? 0 : read_token(token_file, &token, err);
}

/* In a time that does not depend on where they differ. */
static bool is_same_secret(struct str a, struct str b)
{
	unsigned char differs = a.len != b.len;

	for (size_t i = 0; i < a.len && i < b.len; i++) {
		differs |= (unsigned char)(a.p[i] ^ b.p[i]);
	}
	return differs == 0;
}

static bool is_allowed(const char *token_file, struct str authorization)
{
	CLEANUP(strbuf_finish) struct strbuf token = STRBUF_INIT;
	struct str brought = authorization, scheme = str_next(&brought, ' ');

	return str_eq_c(scheme, "Bearer") && read_token(token_file, &token, NULL) == 0 &&
	       is_same_secret(brought, strbuf_str(&token));
}

bool metrics_handle(struct counter_registry *r, const char *token_file,
		    const struct http_request *req, struct arena *arena, struct http_response *ret)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	if (!str_eq_c(req->path, "/metrics")) {
		return false;
	}
	ret->content_type = "text/plain; version=0.0.4; charset=utf-8";
	if (req->method != HTTP_GET && req->method != HTTP_HEAD) {
		ret->status = 405;
		ret->body = STR_LIT("only GET\n");
		return true;
	}
	if (token_file != NULL && !is_allowed(token_file, req->authorization)) {
		ret->status = 401;
		ret->authenticate = "Bearer";
		ret->body = STR_LIT("a bearer token is needed\n");
		return true;
	}
	counter_render(r, &out);
	add_process(&out);
	ret->status = 200;
	ret->body = arena_str(arena, strbuf_str(&out));
	return true;
}
