#include "apiserver/reqinfo.h"

#include <string.h>

void reqinfo_init(struct reqinfo *i)
{
	memset(i, 0, sizeof(*i));
	strbuf_init(&i->path);
	strbuf_init(&i->label_selector);
	strbuf_init(&i->field_selector);
	strbuf_init(&i->rv);
	strbuf_init(&i->rv_match);
	strbuf_init(&i->continue_token);
	strbuf_init(&i->field_manager);
	strbuf_init(&i->field_validation);
	strbuf_init(&i->bad_dry_run);
	strbuf_init(&i->bad_number);
}

void reqinfo_finish(struct reqinfo *i)
{
	strbuf_finish(&i->path);
	strbuf_finish(&i->label_selector);
	strbuf_finish(&i->field_selector);
	strbuf_finish(&i->rv);
	strbuf_finish(&i->rv_match);
	strbuf_finish(&i->continue_token);
	strbuf_finish(&i->field_manager);
	strbuf_finish(&i->field_validation);
	strbuf_finish(&i->bad_dry_run);
	strbuf_finish(&i->bad_number);
}

/* /api/v1/[namespaces/NS/]plural[/name[/sub]] and the same under /apis/group/version. The core
 * resource "namespaces" itself has the one ambiguous form: /namespaces/NS and
 * /namespaces/NS/(status|finalize). */
static void parse_path(struct reqinfo *i)
{
	struct str rest = strbuf_str(&i->path);
	struct str parts[8];
	size_t n = 0, at = 0;

	while (rest.p != NULL && n < 8) {
		struct str part = str_next(&rest, '/');

		if (part.len > 0) {
			parts[n++] = part;
		}
	}
	if (rest.p != NULL || n < 3) {
		return;
	}
	if (str_eq_c(parts[0], "api")) {
		i->group = STR_LIT("");
		at = 1;
	} else if (str_eq_c(parts[0], "apis") && n >= 4) {
		i->group = parts[1];
		at = 2;
	} else {
		return;
	}
	i->version = parts[at++];
	if (str_eq_c(parts[at], "namespaces") && n - at >= 3 &&
	    !(i->group.len == 0 && n - at == 3 &&
	      (str_eq_c(parts[at + 2], "status") || str_eq_c(parts[at + 2], "finalize")))) {
		i->ns = parts[at + 1];
		at += 2;
	}
	if (n - at > 3) {
		return;
	}
	i->plural = parts[at];
	i->name = n - at > 1 ? parts[at + 1] : STR_LIT("");
	i->sub = n - at > 2 ? parts[at + 2] : STR_LIT("");
	i->is_resource = true;
}

static bool get_bool(struct str query, const char *name, struct strbuf *scratch)
{
	return http_query_get(query, name, scratch) &&
	       (str_eq_c(strbuf_str(scratch), "true") || str_eq_c(strbuf_str(scratch), "1") ||
		scratch->len == 0);
}

static int64_t get_int(struct reqinfo *i, struct str query, const char *name,
		       struct strbuf *scratch)
{
	int64_t n = 0;

	if (!http_query_get(query, name, scratch) || scratch->len == 0) {
		return 0;
	}
	if (!str_to_i64(strbuf_str(scratch), &n)) {
		strbuf_reset(&i->bad_number);
		strbuf_add_str(&i->bad_number, strbuf_str(scratch));
	}
	return n < 0 ? 0 : n;
}

void reqinfo_parse(struct reqinfo *i, const struct http_request *req)
{
	struct strbuf scratch = STRBUF_INIT;

	http_path_unescape(req->path, &i->path);
	parse_path(i);
	if (req->query.len == 0) {
		return;
	}
	i->watch = get_bool(req->query, "watch", &scratch);
	i->bookmarks = get_bool(req->query, "allowWatchBookmarks", &scratch);
	i->send_initial = get_bool(req->query, "sendInitialEvents", &scratch);
	i->force = get_bool(req->query, "force", &scratch);
	i->limit = get_int(i, req->query, "limit", &scratch);
	i->timeout_s = get_int(i, req->query, "timeoutSeconds", &scratch);
	if (http_query_get(req->query, "dryRun", &scratch) && scratch.len > 0) {
		i->dry_run = str_eq_c(strbuf_str(&scratch), "All");
		if (!i->dry_run) {
			strbuf_add_str(&i->bad_dry_run, strbuf_str(&scratch));
		}
	}
	i->no_objects = http_query_get(req->query, "includeObject", &scratch) &&
			str_eq_c(strbuf_str(&scratch), "None");
	(void)http_query_get(req->query, "labelSelector", &i->label_selector);
	(void)http_query_get(req->query, "fieldSelector", &i->field_selector);
	i->has_rv = http_query_get(req->query, "resourceVersion", &i->rv) && i->rv.len > 0;
	(void)http_query_get(req->query, "resourceVersionMatch", &i->rv_match);
	(void)http_query_get(req->query, "continue", &i->continue_token);
	(void)http_query_get(req->query, "fieldManager", &i->field_manager);
	(void)http_query_get(req->query, "fieldValidation", &i->field_validation);
	strbuf_finish(&scratch);
}
