#include "kube/rest.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "api/meta/status.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/cut.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/page_size.h"
#include "kube/transport.h"

#define STATUS_MAX_BYTES (1u << 20)

static void add_segment(struct strbuf *out, const char *text)
{
	strbuf_add_ch(out, '/');
	for (; *text != '\0'; text++) {
		unsigned char b = (unsigned char)*text;

		/* RFC 3986 allows these in a path segment (RBAC names contain colons). */
		if (isalnum(b) || strchr("-._~:@", b) != NULL) {
			strbuf_add_ch(out, (char)b);
		} else {
			strbuf_printf(out, "%%%02X", b);
		}
	}
}

void rest_path(struct strbuf *out, const char *group, const char *version, const char *namespace_,
	       const char *resource, const char *name, const char *sub)
{
	if (group == NULL || group[0] == '\0') {
		strbuf_add_c(out, "/api");
	} else {
		strbuf_add_c(out, "/apis");
		add_segment(out, group);
	}
	add_segment(out, version);
	if (namespace_ != NULL) {
		strbuf_add_c(out, "/namespaces");
		add_segment(out, namespace_);
	}
	add_segment(out, resource);
	if (name != NULL) {
		add_segment(out, name);
	}
	if (sub != NULL) {
		add_segment(out, sub);
	}
}

void rest_fill(struct http_call *call, const struct strbuf *scratch, size_t body,
	       enum http_method method, const char *content_type)
{
	call->method = method;
	call->content_type = content_type;
	call->url = scratch->p;
	call->body = (struct str){ scratch->p + body, scratch->len - body };
}

void rest_delete_options(const char *uid, const char *version, struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "DeleteOptions");
	json_out_key(&o, "preconditions");
	json_out_object(&o);
	json_out_kv(&o, "uid", uid);
	if (version != NULL) {
		json_out_kv(&o, "resourceVersion", version);
	}
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}

/* The text is the message of the metav1.Status, where the answer has one: proxies and load
 * balancers answer with pages of their own. Without err the body is not parsed. */
int rest_result(const struct http_result *result, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	enum err_code code;
	const char *message = NULL;

	if (status_is_success(result->status) && result->error == 0) {
		return 0;
	}
	if (result->status == 0 || result->error != 0) {
		code = result->error == 0 ? ERR_IO : (enum err_code)result->error;
		return err_set(err, code, "%s", result->error_text);
	}
	code = status_to_err(result->status);
	if (err != NULL && result->body.len > 0 && result->body.len <= STATUS_MAX_BYTES &&
	    jdoc_parse(result->body, &doc, NULL) == 0) {
		message = jdoc_path_str(doc, "message");
	}
	if (message != NULL && message[0] != '\0') {
		return err_set(err, code, "%s", message);
	}
	return err_set(err, code, "HTTP status %d %s", result->status,
		       http_status_text(result->status));
}

bool rest_is_refused(int code, const struct http_result *result)
{
	return code == -ERR_INVALID ||
	       (code == -ERR_FORBIDDEN && result->status == STATUS_FORBIDDEN);
}

bool rest_is_transient(int status)
{
	return status < STATUS_OK || status == STATUS_UNAUTHORIZED ||
	       status == STATUS_REQUEST_TIMEOUT || status == STATUS_TOO_MANY_REQUESTS ||
	       status >= STATUS_SERVER_ERRORS;
}

bool rest_is_unanswered(const struct http_result *result)
{
	return result->may_have_been_sent &&
	       (result->status < STATUS_OK || result->status == STATUS_REQUEST_TIMEOUT ||
		result->status >= STATUS_SERVER_ERRORS);
}

int64_t rest_version(const struct http_result *result)
{
	struct cut_meta meta;
	int64_t version;

	/* Every write returns the whole object; only its version is read. */
	if (!cut_meta(result->body, &meta) || !cut_int(meta.resource_version, &version)) {
		return 0;
	}
	return version;
}

/* The API server has no status or reason of its own for what the functions from here on recognise,
 * so they go by its messages. test/apiserver/conformance holds such answers of a real one. */
bool rest_is_version_ahead(const struct http_result *result)
{
	static const char text[] = "Too large resource version";

	return result->status == STATUS_TIMEOUT && result->body.len > 0 &&
	       memmem(result->body.p, result->body.len, text, sizeof(text) - 1) != NULL;
}

bool rest_is_other_uid(int code, const struct err *err)
{
	return (code == -ERR_CONFLICT || code == -ERR_INVALID) &&
	       (strstr(err->text, "UID in precondition") != NULL ||
		strstr(err->text, "UID in the precondition") != NULL || /* of a DELETE */
		strstr(err->text, "metadata.uid") != NULL);
}

bool rest_is_other_manager(int code, const struct err *err)
{
	return code == -ERR_CONFLICT && strstr(err->text, "Apply failed with") != NULL;
}

bool rest_is_failed_test(int code, const struct err *err)
{
	return code == -ERR_INVALID && strstr(err->text, "rejected our request") != NULL;
}

/* A call with a thread that blocks until it is done. */
struct blocking {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done, too_large;
	int code, status;
	int64_t date;
	struct err err;
	struct jdoc *doc; /* when wanted and there */
	bool want_doc;
	struct strbuf *body; /* when not NULL: takes the answer's */
};

static void on_done(void *ctx, const struct http_result *result)
{
	struct blocking *b = ctx;
	struct err err = ERR_INIT;
	struct jdoc *doc = NULL;
	int r = rest_result(result, &err);

	if (r == 0 && b->want_doc) {
		/* Here, since the body is valid only during the callback. */
		r = jdoc_parse(result->body, &doc, &err);
	}
	if (r == 0 && b->body != NULL) {
		strbuf_reset(b->body);
		strbuf_add_str(b->body, result->body);
	}
	pthread_mutex_lock(&b->lock);
	b->code = r;
	b->too_large = result->too_large;
	b->status = result->status;
	b->date = result->date;
	b->err = err;
	b->doc = doc;
	b->done = true;
	/* With the lock held: the waiting thread destroys both once it sees `done`. */
	pthread_cond_signal(&b->cond);
	pthread_mutex_unlock(&b->lock);
}

static void call_once(struct transport *t, struct http_call *call, struct blocking *b)
{
	b->done = false;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->cond, NULL);
	call->on_done = on_done;
	call->ctx = b;
	transport_submit(t, call);
	pthread_mutex_lock(&b->lock);
	/* Without a limit of its own: the call has one, and ends in any case. */
	while (!b->done) {
		pthread_cond_wait(&b->cond, &b->lock);
	}
	pthread_mutex_unlock(&b->lock);
	pthread_cond_destroy(&b->cond);
	pthread_mutex_destroy(&b->lock);
}

/* With credentials that have not expired; once more with new ones if the server rejects them. */
static void call_and_wait(struct transport *t, struct http_call *call, struct blocking *b)
{
	int r = transport_renew(t, false, &b->err);

	if (r >= 0) {
		call_once(t, call, b);
		r = b->status == STATUS_UNAUTHORIZED ? transport_renew(t, true, &b->err) : 0;
		if (r > 0) {
			call_once(t, call, b);
		}
	}
	if (r < 0) {
		b->code = r;
	}
}

int rest_call(struct transport *t, enum http_method method, const char *path,
	      const char *content_type, struct str body, int64_t timeout_ns, struct jdoc **ret,
	      struct err *err)
{
	struct blocking b = { .want_doc = ret != NULL };
	struct http_call call = { .method = method,
				  .url = path,
				  .content_type = content_type,
				  .body = body,
				  .timeout_ns = timeout_ns };

	call_and_wait(t, &call, &b);
	if (b.code < 0) {
		return err_set(err, b.err.code, "%s", b.err.text);
	}
	if (ret != NULL) {
		*ret = b.doc;
	}
	return 0;
}

int rest_get_dated(struct transport *t, const char *path, int64_t timeout_ns, struct jdoc **ret,
		   int64_t *ret_date, struct err *err)
{
	struct blocking b = { .want_doc = true };
	struct http_call call = { .method = HTTP_GET, .url = path, .timeout_ns = timeout_ns };

	call_and_wait(t, &call, &b);
	if (b.code < 0) {
		return err_set(err, b.err.code, "%s", b.err.text);
	}
	*ret = b.doc;
	*ret_date = b.date;
	return 0;
}

static void add_param(struct strbuf *out, const char *name, const char *value)
{
	if (value != NULL && value[0] != '\0') {
		strbuf_printf(out, "&%s=", name);
		http_query_escape(str_of(value), out);
	}
}

static char separator(const char *path)
{
	return strchr(path, '?') == NULL ? '?' : '&';
}

/* A continue token does not hold the selectors: each page is requested with the same ones. */
void rest_list_query(struct strbuf *out, const struct rest_what *what, unsigned limit,
		     struct str continue_)
{
	strbuf_printf(out, "%s%climit=%u", what->path, separator(what->path), limit);
	if (continue_.len > 0) {
		strbuf_add_c(out, "&continue=");
		http_query_escape(continue_, out);
	}
	add_param(out, "labelSelector", what->label_selector);
	add_param(out, "fieldSelector", what->field_selector);
}

/* Bookmarks move the position on while no selected object changes, so that a watch can be resumed
 * there, and show that the stream is alive. */
void rest_watch_query(struct strbuf *out, const struct rest_what *what, struct str version,
		      int64_t timeout_s)
{
	strbuf_printf(out, "%s%cwatch=1&allowWatchBookmarks=true&resourceVersion=", what->path,
		      separator(what->path));
	http_query_escape(version, out);
	strbuf_printf(out, "&timeoutSeconds=%" PRId64, timeout_s);
	add_param(out, "labelSelector", what->label_selector);
	add_param(out, "fieldSelector", what->field_selector);
}

/* One page into *body; a smaller one when the answer is too large. */
static int get_page(struct transport *t, const struct rest_what *what, struct page_size *size,
		    struct str next, int64_t timeout_ns, struct blocking *b)
{
	CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;
	struct strbuf *body = b->body;

	do {
		struct http_call call = { .method = HTTP_GET,
					  .timeout_ns = timeout_ns,
					  .max_body = page_size_budget(size) };

		*b = (struct blocking){ .body = body };
		strbuf_reset(&url);
		rest_list_query(&url, what, size->limit, next);
		call.url = url.p;
		call_and_wait(t, &call, b);
	} while (b->too_large && page_size_shrink(size));
	page_size_answered(size, body->len);
	return b->code;
}

int rest_list_cut(struct transport *t, const char *path, int64_t timeout_ns, list_page_fn each,
		  void *ctx, struct err *err)
{
	const struct rest_what what = { .path = path };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, next = STRBUF_INIT;
	struct page_size size;

	/* Without resourceVersion the first page is consistent, and the continue token keeps the
	 * pages after it at the same version. */
	page_size_init(&size, 0);
	do {
		struct blocking b = { .body = &body };
		struct list_page page;
		struct err why = ERR_INIT;

		if (get_page(t, &what, &size, strbuf_str(&next), timeout_ns, &b) < 0) {
			return err_set(err, b.err.code, "%s: %s", path, b.err.text);
		}
		if (list_page_cut(strbuf_str(&body), each, ctx, &page, &why) < 0) {
			return err_set(err, ERR_INVALID, "%s: %s", path, why.text);
		}
		strbuf_reset(&next);
		if (!cut_unescape(page.continue_, &next)) {
			return err_set(err, ERR_INVALID, "%s: metadata.continue: broken", path);
		}
	} while (next.len > 0);
	return 0;
}

struct tree_list {
	void (*each)(void *ctx, const struct jdoc *item);
	void *ctx;
	struct err err;
};

static void on_tree_item(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct tree_list *l = ctx;
	CLEANUP(jdoc_destroyp) struct jdoc *item = NULL;
	struct err why = ERR_INIT;

	if (jdoc_parse(object, &item, &why) == 0) {
		l->each(l->ctx, item);
	} else if (l->err.text[0] == '\0') {
		(void)err_set(&l->err, ERR_INVALID, STR_FMT ": %s", STR_ARG(meta->name), why.text);
	}
}

int rest_list(struct transport *t, const char *path, int64_t timeout_ns,
	      void (*each)(void *ctx, const struct jdoc *item), void *ctx, struct err *err)
{
	struct tree_list l = { each, ctx, ERR_INIT };
	int r = rest_list_cut(t, path, timeout_ns, on_tree_item, &l, err);

	if (r == 0 && l.err.text[0] != '\0') {
		return err_set(err, ERR_INVALID, "%s: %s", path, l.err.text);
	}
	return r;
}
