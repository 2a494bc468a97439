#include "apiserver/faults.h"

#include <regex.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

struct rule {
	struct fault fault;
	char *method;
	bool has_path;
	regex_t path;
	uint64_t from, count, every;
	uint64_t seen, struck;
};

struct faults {
	struct rule *v;
	size_t n;
};

static const char *const names[FAULT_COUNT_] = {
	[FAULT_STATUS] = "status",
	[FAULT_DROP_BEFORE] = "drop-before",
	[FAULT_DROP_AFTER] = "drop-after",
	[FAULT_STATUS_AFTER] = "status-after",
	[FAULT_DELAY] = "delay",
	[FAULT_STALE] = "stale",
	[FAULT_WATCH_LATE] = "watch-late",
	[FAULT_WATCH_DUPLICATE] = "watch-duplicate",
	[FAULT_WATCH_TRUNCATE] = "watch-truncate",
	[FAULT_WATCH_CLOSE] = "watch-close",
	[FAULT_WATCH_GONE] = "watch-gone",
	[FAULT_COMPACT] = "compact",
};

static int parse_kind(const struct jdoc *d, enum fault_kind *ret, struct err *err)
{
	const char *name = jdoc_str_or(jdoc_get(d, "fault"), "");

	for (int i = 0; i < FAULT_COUNT_; i++) {
		if (str_streq(name, names[i])) {
			*ret = (enum fault_kind)i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "fault: unknown kind \"%s\"", name);
}

static uint64_t number(const struct jdoc *d, const char *key, int64_t def)
{
	int64_t n = jdoc_int(jdoc_get(d, key), def);

	return n < 0 ? 0 : (uint64_t)n;
}

static int check_keys(const struct jdoc *d, struct err *err)
{
	static const char *const known[] = { "fault",   "code",     "retryAfter", "method",
					     "path",    "from",     "count",      "every",
					     "delayMs", "versions", "frame" };

	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
		bool ok = false;

		for (size_t i = 0; i < ARRAY_LEN(known); i++) {
			ok = ok || str_streq(jdoc_key(m), known[i]);
		}
		if (!ok) {
			return err_set(err, ERR_INVALID, "%s: unknown field", jdoc_key(m));
		}
	}
	return 0;
}

static int parse_rule(const struct jdoc *d, struct rule *r, struct err *err)
{
	const char *path = jdoc_str(jdoc_get(d, "path"));
	const char *method = jdoc_str(jdoc_get(d, "method"));
	int ret = check_keys(d, err);

	ret = ret < 0 ? ret : parse_kind(d, &r->fault.kind, err);
	if (ret < 0) {
		return ret;
	}
	r->fault.code = (int)number(d, "code", 500);
	r->fault.retry_after_s = (int)number(d, "retryAfter", 0);
	r->fault.delay_ns = (int64_t)number(d, "delayMs", 0) * CLOCK_NS_PER_MS;
	r->fault.versions = (int64_t)number(d, "versions", 1);
	r->fault.frame = (int64_t)number(d, "frame", 0);
	r->from = number(d, "from", 1);
	r->count = number(d, "count", 1);
	r->every = number(d, "every", 1);
	if (r->fault.code < 100 || r->fault.code > 599 || r->every == 0) {
		return err_set(err, ERR_INVALID, "code or every out of range");
	}
	if (path != NULL) {
		CLEANUP(xmalloc_freep) char *anchored = xmalloc_printf("^(%s)", path);

		if (regcomp(&r->path, anchored, REG_EXTENDED | REG_NOSUB) != 0) {
			return err_set(err, ERR_INVALID, "path: invalid pattern \"%s\"", path);
		}
		r->has_path = true;
	}
	r->method = method == NULL ? NULL : xmalloc_dup(method);
	return 0;
}

int faults_parse(struct str script, struct faults **ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct faults *f;
	int r = yaml_parse(script, &doc, err);

	if (r < 0) {
		return err_wrap(err, "faults");
	}
	if (jdoc_kind(doc) != JDOC_ARRAY && jdoc_kind(doc) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "faults: expected a list of rules");
	}
	if (jdoc_count(doc) > FAULTS_MAX) {
		return err_set(err, ERR_INVALID, "faults: more than %d rules", FAULTS_MAX);
	}
	f = xmalloc_zero(1, sizeof(*f));
	f->v = xmalloc_zero(jdoc_count(doc) + 1, sizeof(*f->v));
	for (const struct jdoc *d = jdoc_first(doc); d != NULL; d = jdoc_next(d)) {
		r = parse_rule(d, &f->v[f->n++], err);
		if (r < 0) {
			(void)err_path(err, "faults[%zu].", f->n - 1);
			faults_destroy(f);
			return r;
		}
	}
	*ret = f;
	return 0;
}

void faults_destroy(struct faults *f)
{
	if (f == NULL) {
		return;
	}
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].method);
		if (f->v[i].has_path) {
			regfree(&f->v[i].path);
		}
	}
	free(f->v);
	free(f);
}

static bool fits(const struct rule *r, const char *method, const char *path)
{
	if (r->method != NULL && !str_streq(r->method, method)) {
		return false;
	}
	return !r->has_path || regexec(&r->path, path, 0, NULL, 0) == 0;
}

static bool is_watch_fault(enum fault_kind kind)
{
	return kind >= FAULT_WATCH_LATE && kind <= FAULT_WATCH_GONE;
}

const struct fault *faults_strike(struct faults *f, enum http_method method, bool is_watch,
				  struct str path)
{
	CLEANUP(xmalloc_freep) char *text = NULL;
	const char *name = is_watch ? "WATCH" : http_method_name(method);

	if (f == NULL || f->n == 0) {
		return NULL;
	}
	text = xmalloc_dup_n(path.len == 0 ? "" : path.p, path.len);
	for (size_t i = 0; i < f->n; i++) {
		struct rule *r = &f->v[i];

		if (!fits(r, name, text) || (is_watch_fault(r->fault.kind) && !is_watch)) {
			continue;
		}
		r->seen++;
		if (r->seen < r->from || (r->seen - r->from) % r->every != 0 ||
		    (r->count > 0 && r->struck >= r->count)) {
			continue;
		}
		r->struck++;
		return &r->fault;
	}
	return NULL;
}

uint64_t faults_struck(const struct faults *f, const char *kind)
{
	uint64_t n = 0;

	for (size_t i = 0; f != NULL && i < f->n; i++) {
		if (str_streq(names[f->v[i].fault.kind], kind)) {
			n += f->v[i].struck;
		}
	}
	return n;
}
