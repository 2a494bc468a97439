#include "obs/metrics.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/counter.h"
#include "base/strbuf.h"
#include "obs/process.h"

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

bool metrics_handle(struct counter_registry *r, const struct http_request *req, struct arena *arena,
		    struct http_response *ret)
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
	counter_render(r, &out);
	add_process(&out);
	ret->status = 200;
	ret->body = arena_str(arena, strbuf_str(&out));
	return true;
}
