#include "apiserver/verbs/virtual.h"

#include "apiserver/server.h"
#include "apiserver/verbs/body.h"
#include "base/attrs.h"
#include "enc/json/jdoc.h"

int virtual_create(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	struct jdoc *status;
	int r = body_parse_object(c, &doc);

	if (r < 0) {
		return r;
	}
	status = jdoc_set_take(doc, "status", jdoc_new_object());
	if (str_streq(c->res->kind, "SelfSubjectReview")) {
		jdoc_set_str(jdoc_ensure_object(status, "userInfo"), "username", "system:admin");
	} else {
		jdoc_set_bool(status, "allowed", true);
	}
	c->resp->status = 201;
	jdoc_format(doc, &c->resp->body);
	return 0;
}
