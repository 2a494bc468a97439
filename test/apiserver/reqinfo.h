/* test/apiserver/reqinfo.h: parses a request's path and query. Pure. */
#ifndef TEST_APISERVER_REQINFO_H
#define TEST_APISERVER_REQINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "net/http.h"

struct reqinfo {
	bool is_resource;                                 /* the path names a resource */
	struct str group, version, plural, ns, name, sub; /* point into path */
	/* query parameters; text "" when absent */
	bool watch, dry_run, bookmarks, send_initial, force, no_objects;
	int64_t limit, timeout_s; /* 0: none */
	struct strbuf path;       /* the unescaped path */
	struct strbuf label_selector, field_selector, rv, rv_match, continue_token, field_manager,
		field_validation;
	bool has_rv;
	struct strbuf bad_dry_run, bad_number; /* a value that is none; "": all is well */
};

/* Empty, without memory. */
void reqinfo_init(struct reqinfo *i);
/* Fills an empty i; a path that is no resource leaves is_resource unset. */
void reqinfo_parse(struct reqinfo *i, const struct http_request *req);
/* Frees; slices into path become invalid. */
void reqinfo_finish(struct reqinfo *i);

#endif
