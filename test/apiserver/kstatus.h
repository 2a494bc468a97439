/* test/apiserver/kstatus.h: metav1.Status answers with the codes, reasons and words of Kubernetes.
 * Every kstatus_* that answers fills *resp (replacing what was there) and returns the negative
 * ERR_X that belongs to it, so that callers write `return kstatus_x(...)`. */
#ifndef TEST_APISERVER_KSTATUS_H
#define TEST_APISERVER_KSTATUS_H

#include <stdint.h>

#include "base/attrs.h"
#include "base/str.h"

struct apiserver_response;
struct jdoc;
struct resource;

int kstatus_fail(struct apiserver_response *resp, int code, const char *reason, const char *fmt,
		 ...) PRINTF_LIKE(4, 5);
int kstatus_bad_request(struct apiserver_response *resp, const char *fmt, ...) PRINTF_LIKE(2, 3);
int kstatus_not_found(struct apiserver_response *resp, const struct resource *res, struct str name);
int kstatus_no_path(struct apiserver_response *resp);  /* unknown resource or sub-resource */
int kstatus_no_route(struct apiserver_response *resp); /* unknown path: plain text */
int kstatus_exists(struct apiserver_response *resp, const struct resource *res, struct str name);
/* sub: NULL or "binding" (then the words are pods/binding). */
int kstatus_conflict(struct apiserver_response *resp, const struct resource *res, const char *sub,
		     struct str name, const char *fmt, ...) PRINTF_LIKE(5, 6);
/* 409 in the words of the storage layer. ns is not looked at outside of namespaces. */
int kstatus_other_uid(struct apiserver_response *resp, const struct resource *res, struct str ns,
		      struct str name, const char *wanted, struct str uid);
int kstatus_forbidden(struct apiserver_response *resp, const struct resource *res, struct str name,
		      const char *fmt, ...) PRINTF_LIKE(4, 5);
/* 429: the eviction is one too many; cause names the budget. */
int kstatus_disruption_budget(struct apiserver_response *resp, const char *cause);
int kstatus_too_large(struct apiserver_response *resp, int64_t wanted, int64_t current);
int kstatus_gone(struct apiserver_response *resp, const char *fmt, ...) PRINTF_LIKE(2, 3);
int kstatus_method(struct apiserver_response *resp);
int kstatus_no_verb(struct apiserver_response *resp, const struct resource *res, const char *verb);
int kstatus_media_type(struct apiserver_response *resp, const char *accepted);
int kstatus_no_patch(struct apiserver_response *resp); /* 415: the type is no patch */
/* 409 of a server-side apply; causes are sorted by manager. */
int kstatus_apply_conflict(struct apiserver_response *resp, const struct jdoc *causes);
int kstatus_rejected(struct apiserver_response *resp); /* 422 without a reason why */
int kstatus_internal(struct apiserver_response *resp, const char *fmt, ...) PRINTF_LIKE(2, 3);

int kstatus_invalid(struct apiserver_response *resp, const struct resource *res, struct str name,
		    const struct jdoc *causes);
/* kind: "CreateOptions", "ListOptions", ... */
int kstatus_invalid_options(struct apiserver_response *resp, const char *kind,
			    const struct jdoc *causes);
int kstatus_invalid_kind(struct apiserver_response *resp, const char *group, const char *kind,
			 struct str name, const struct jdoc *causes);
/* Status "Success" with details of a deleted or bound object (uid may be NULL). */
void kstatus_success(struct apiserver_response *resp, int code, const struct resource *res,
		     struct str name, const char *uid);

#endif
