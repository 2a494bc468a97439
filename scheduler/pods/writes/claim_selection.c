#include "scheduler/pods/writes/claim_selection.h"

#include "api/storage/storage.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/writes/pod_write.h"

enum { NODE, VERSION }; /* texts */

static void claim_selection_fill(const struct pod_write *w, struct http_call *call,
				 struct strbuf *scratch)
{
	struct json_out o;
	size_t body;

	sched_kinds_path(SCHED_CLAIMS, w->namespace_, w->name, NULL, scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	json_out_init(&o, scratch);
	json_out_object(&o);
	pod_write_put_metadata(w, w->texts[VERSION], STORAGE_SELECTED_NODE, w->texts[NODE], &o);
	json_out_object_end(&o);
	json_out_end(&o);
	rest_fill(call, scratch, body, HTTP_PATCH, "application/merge-patch+json");
}

static enum pod_write_judgement claim_selection_judge(const struct pod_write *w,
						      const struct jdoc *claim)
{
	const struct jdoc *annotations = jdoc_path(claim, "metadata.annotations");

	return pod_write_judge_version(
		claim, jdoc_is_str(jdoc_get(annotations, STORAGE_SELECTED_NODE), w->texts[NODE]),
		w->texts[VERSION]);
}

static const struct pod_write_kind claim_selection_kind = {
	.request = SCHED_REQ_CLAIM,
	.resource = SCHED_CLAIMS,
	.fill = claim_selection_fill,
	.judge = claim_selection_judge,
	/* The patch may be repeated: the version in it makes it a conflict then. */
	.read_after_unknown = false,
};

struct pod_write *claim_selection_new(const struct claim *cl, const char *node)
{
	struct str name = str_of(cl->key), space = str_next(&name, '/');
	struct pod_write *w = pod_write_new_for(&claim_selection_kind, space, name,
						cl->uid == NULL ? "" : cl->uid);

	w->texts[NODE] = xmalloc_dup(node);
	w->texts[VERSION] = xmalloc_printf("%lld", (long long)cl->resource_version);
	return w;
}
