/* common/kube/rest.h: helpers for single requests: paths, blocking calls for command-line tools,
 * and the meaning of answers. */
#ifndef COMMON_KUBE_REST_H
#define COMMON_KUBE_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "kube/list_page.h"
#include "net/http_loop.h"

struct err;
struct jdoc;
struct strbuf;
struct transport;

/* "/api/v1/namespaces/ns/pods/name[/sub]"; group "" is the core group; namespace_, name, sub may be
 * NULL. Appends. */
void rest_path(struct strbuf *out, const char *group, const char *version, const char *namespace_,
	       const char *resource, const char *name, const char *sub);
/* A collection, or the objects in it that the selectors select (NULL: all). */
struct rest_what {
	const char *path; /* may already contain a query */
	const char *label_selector, *field_selector;
};

/* Append path and query of one page of a LIST (continue_ empty: the first; no resourceVersion: the
 * answer is consistent) or of a WATCH with bookmarks. */
void rest_list_query(struct strbuf *out, const struct rest_what *what, unsigned limit,
		     struct str continue_);
void rest_watch_query(struct strbuf *out, const struct rest_what *what, struct str version,
		      int64_t timeout_s);
/* 0 for 2xx, else the negative ERR_X of an answer with the text of its metav1.Status
 * (404 NOT_FOUND, 409 CONFLICT, 410 GONE, 401/403 FORBIDDEN, 400/422 INVALID, 408/504 TIMEOUT,
 * 429/5xx UNAVAILABLE; no answer: its error). */
int rest_result(const struct http_result *result, struct err *err);
/* By the code of rest_result: the request succeeds only after a change of the object or of
 * permissions. Excludes 401: the token may have been renewed by the next attempt. */
bool rest_is_refused(int code, const struct http_result *result);
/* The failure is not about the request (0: no answer); retrying it unchanged may succeed. */
bool rest_is_transient(int status);
/* The request may have had its effect, and nothing says whether it had: no answer came after it was
 * sent, or the server failed. */
bool rest_is_unanswered(const struct http_result *result);
/* metadata.resourceVersion of the object in an answer; 0: none, or not a number. */
int64_t rest_version(const struct http_result *result);
/* True for the 504 of a server that is behind the requested resourceVersion (it was restored from a
 * backup, or it lags). */
bool rest_is_version_ahead(const struct http_result *result);
/* The reason why an apply was refused, by code and error of rest_result: the object has another UID
 * than the applied one; or (without force) another field manager has set a field differently. */
bool rest_is_other_uid(int code, const struct err *err);
bool rest_is_other_manager(int code, const struct err *err);
/* A JSON patch does not apply to the current object, by code and error of rest_result: one of its
 * tests failed, or a path does not exist. An invalid result has another error. */
bool rest_is_failed_test(int code, const struct err *err);
/* For requests written into one buffer: path, NUL, and the body from offset `body` on. Call it once
 * the buffer is complete: the call points into it. */
void rest_fill(struct http_call *call, const struct strbuf *scratch, size_t body,
	       enum http_method method, const char *content_type);
/* Appends the body of a DELETE of the object that has this UID: DeleteOptions. */
/* version: the resourceVersion that it must still have; NULL: any. */
void rest_delete_options(const char *uid, const char *version, struct strbuf *out);
/* Blocking, not on the transport's thread. ret may be NULL; the caller owns *ret. */
int rest_call(struct transport *t, enum http_method method, const char *path,
	      const char *content_type, struct str body, int64_t timeout_ns, struct jdoc **ret,
	      struct err *err);
/* A GET, and the time of the server's clock with which it answered: wall ns, in whole seconds; 0:
 * it named none. */
int rest_get_dated(struct transport *t, const char *path, int64_t timeout_ns, struct jdoc **ret,
		   int64_t *ret_date, struct err *err);
/* GETs all pages and calls each on every item, as text that is not validated: the caller reports
 * items that do not decode. Stops at the first page that cannot be read or parsed. */
int rest_list_cut(struct transport *t, const char *path, int64_t timeout_ns, list_page_fn each,
		  void *ctx, struct err *err);
/* The same with items as trees; an item that is not valid JSON ends it with an error. */
int rest_list(struct transport *t, const char *path, int64_t timeout_ns,
	      void (*each)(void *ctx, const struct jdoc *item), void *ctx, struct err *err);

#endif
