/* Any sequence of requests is answered with well-formed JSON and leaves a server that can be
 * destroyed. Input: requests separated by NUL bytes, each "Mtarget\nbody" where M is a digit that
 * picks method and content type. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/apiserver.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

#define NOW (INT64_C(1767225600) * CLOCK_NS_PER_S)
#define MAX_FRAMES 50

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	enum http_method method;
	const char *type;
} kinds[] = {
	{ HTTP_GET, NULL },
	{ HTTP_POST, "application/json" },
	{ HTTP_PUT, "application/json" },
	{ HTTP_PATCH, "application/merge-patch+json" },
	{ HTTP_PATCH, "application/json-patch+json" },
	{ HTTP_PATCH, "application/strategic-merge-patch+json" },
	{ HTTP_PATCH, "application/apply-patch+yaml" },
	{ HTTP_DELETE, "application/json" },
	{ HTTP_POST, "application/yaml" },
	{ HTTP_GET, NULL },
};

static const char objects[] =
	"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,\n"
	" metadata: {name: things.x.io}, spec: {group: x.io, scope: Cluster,\n"
	" names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: "
	"true,\n"
	" subresources: {status: {}, scale: {specReplicasPath: .spec.n, statusReplicasPath: "
	".status.n}}, schema: {openAPIV3Schema: {type: object, properties: {\n"
	" spec: {type: object, properties: {n: {type: integer, default: 1},\n"
	" l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k],\n"
	"   items: {type: object, required: [k], properties: {k: {type: string}}}}}},\n"
	" status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}\n"
	"---\n"
	"{apiVersion: x.io/v1, kind: Thing, metadata: {name: t}, spec: {l: [{k: a}]}}\n"
	"---\n"
	"{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}}, spec: {\n"
	" schedulingGates: [{name: x/y}], containers: [{name: c, image: i}]}}\n";

static void read_watch(struct apiserver_watch *w)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	int r = 1;

	for (int i = 0; i < MAX_FRAMES && r > 0; i++) {
		strbuf_reset(&out);
		r = apiserver_watch_next(w, NOW, &out);
		if (r > 0) {
			CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

			assert(jdoc_parse(strbuf_str(&out), &d, NULL) == 0);
			assert(jdoc_path_str(d, "type") != NULL);
		}
	}
	apiserver_watch_close(w);
}

static void check(struct apiserver_response *resp)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	if (resp->watch != NULL) {
		read_watch(take_ptr(&resp->watch));
		return;
	}
	assert(resp->status >= 200 && resp->status < 600);
	if (resp->content_type == NULL) {
		assert(jdoc_parse(strbuf_str(&resp->body), &d, NULL) == 0);
		assert(jdoc_kind(d) == JDOC_OBJECT);
	}
}

static void run(struct apiserver *s, struct str text)
{
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;
	size_t kind = text.len == 0 ? 0 : (size_t)(unsigned char)text.p[0] % ARRAY_LEN(kinds);
	struct str rest = text.len == 0 ? text : (struct str){ text.p + 1, text.len - 1 };
	struct str query = str_next(&rest, '\n');
	struct str path = str_next(&query, '?');
	const struct http_request req = {
		.method = kinds[kind].method,
		.content_type = str_of(kinds[kind].type),
		.path = path,
		.query = query,
		.body = rest,
		.accept = kind == 9 ? STR_LIT("application/json;as=Table;v=v1;g=meta.k8s.io")
				    : STR_LIT("application/json"),
		.user_agent = STR_LIT("fuzz/1"),
	};

	apiserver_handle(s, &req, NOW, &resp);
	check(&resp);
	apiserver_response_finish(&resp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct apiserver_options opt = { .seed = 1, .now = NOW, .watch_ring = 20 };
	struct apiserver *s = apiserver_create(&opt);
	struct str rest = { (const char *)data, size };
	int r = apiserver_load(s, str_of(objects), NOW, NULL);

	assert(r == 0);
	while (rest.p != NULL) {
		run(s, str_next(&rest, '\0'));
	}
	apiserver_destroy(s);
	return 0;
}
