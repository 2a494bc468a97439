/* AdmissionReviews of any content: the first line names the path. The answer is always a status
 * that we give; a patch applies to the object, and asking again changes nothing. */
#include <stdint.h>
#include <stdlib.h>

#include "api/admission.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "kube/reflector/reflector.h"
#include "obs/metric.h"
#include "webhook/server/lister.h"
#include "webhook/server/router.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A line that names no path chooses one by its first byte, so that most inputs reach a handler. */
static const char *path_of(struct str line)
{
	size_t n = 0;

	while (router_path(n) != NULL) {
		if (str_eq_c(line, router_path(n))) {
			return router_path(n);
		}
		n++;
	}
	return router_path(line.len == 0 ? 0 : (unsigned char)line.p[0] % n);
}

/* Jobs of the namespace "ns" find a default queue, and all a default class. */
static void feed(struct lister *l)
{
	struct reflector_event queue = { .kind = REFLECTOR_UPSERT, .key = STR_LIT("ns/default") };
	struct reflector_event class = { .kind = REFLECTOR_UPSERT, .key = STR_LIT("default") };

	lister_on_default_queue(l, &queue);
	lister_on_default_class(l, &class);
}

static struct router *router(void)
{
	static const char *const names[] = { "volcano" };
	static struct router *r;
	struct router_options opt = { .admit = { .scheduler_names = names,
						 .scheduler_count = 1,
						 .gate_feature = true,
						 .gate_sticky = true,
						 .max_queue_depth = 5 } };

	if (r == NULL) {
		struct strbuf all = STRBUF_INIT;

		for (size_t i = 0; router_path(i) != NULL; i++) {
			/* The paths below it are served with it. */
			if (!str_has_prefix(str_of(router_path(i)), "/pods/mutate/")) {
				strbuf_printf(&all, "%s,", router_path(i));
			}
		}
		opt.enabled = all.p;
		opt.registry = metric_registry_create();
		opt.lister = lister_create(opt.registry);
		feed(opt.lister);
		if (router_create(&opt, &r, NULL) < 0) {
			abort();
		}
		strbuf_finish(&all);
	}
	return r;
}

/* The same review of the patched object: it needs no other patch. */
static void check_again(struct str body, struct jdoc *object_take, struct http_request req,
			struct arena *arena)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *review = NULL;
	struct http_response ret = { 0 };
	struct api_admission_response answer;

	if (jdoc_parse(body, &review, NULL) < 0) {
		jdoc_destroy(object_take);
		return; /* the tree is stricter: fewer levels */
	}
	jdoc_set_take(jdoc_get_mut(review, "request"), "object", object_take);
	jdoc_format(review, &text);
	req.body = strbuf_str(&text);
	router_handle(router(), &req, arena, &ret);
	if (ret.status != 200 || admission_parse_response(ret.body, arena, &answer, NULL) < 0 ||
	    answer.patch.len > 0) {
		abort();
	}
}

static void check_patch(const struct http_request *req, struct str patch_text, struct arena *arena)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = NULL;
	struct api_admission_request q;

	if (admission_parse(req->body, arena, &q, NULL) < 0 ||
	    jdoc_parse(q.object, &object, NULL) < 0) {
		return; /* the tree is stricter: fewer levels */
	}
	if (jdoc_parse(patch_text, &patch, NULL) < 0) {
		abort();
	}
	if (patch_apply_json(&object, patch, NULL) == 0) {
		check_again(req->body, take_ptr(&object), *req, arena);
	} else if (jdoc_kind(jdoc_get(object, "metadata")) == JDOC_OBJECT &&
		   jdoc_kind(jdoc_get(object, "spec")) == JDOC_OBJECT) {
		abort(); /* only an object without metadata cannot take an annotation */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request req = { .method = HTTP_POST,
				    .content_type = STR_LIT("application/json") };
	struct http_response ret = { 0 };
	struct api_admission_response answer;
	struct arena *arena = arena_create(0);
	struct str rest = { (const char *)data, size };

	req.path = str_of(path_of(str_next(&rest, '\n')));
	req.body = rest.p == NULL ? STR_LIT("") : rest;
	router_handle(router(), &req, arena, &ret);
	if (ret.status == 200) {
		if (admission_parse_response(ret.body, arena, &answer, NULL) < 0) {
			abort();
		}
		if (answer.patch.len > 0) {
			check_patch(&req, answer.patch, arena);
		}
	} else if (ret.status != 400) {
		abort();
	}
	arena_destroy(arena);
	return 0;
}
