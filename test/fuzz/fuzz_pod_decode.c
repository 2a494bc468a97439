/* A pod decodes alike from text and from a tree, survives encoding, and its request is computed
 * without overflow. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "api/core/pod.h"
#include "api/core/pod_request.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Encoding what was decoded from an encoding changes nothing more. */
static void check_stable(const struct api_pod *pod, struct arena *arena)
{
	struct strbuf first CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct strbuf second CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct field_resources sum;
	struct api_pod again;

	encode_text(&pod_fields, pod, &first);
	assert(decode_text(&pod_fields, strbuf_str(&first), &again, arena, NULL) == 0);
	encode_text(&pod_fields, &again, &second);
	assert(str_eq(strbuf_str(&first), strbuf_str(&second)));
	pod_request_sum(pod, arena, &sum);
	for (size_t i = 1; i < sum.n; i++) {
		assert(strcmp(sum.v[i - 1].name, sum.v[i].name) < 0);
	}
	(void)pod_request_limits_cpu(pod);
}

static void check_tree(struct str text, struct arena *arena)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
	struct strbuf plain CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct strbuf a CLEANUP(strbuf_finish) = STRBUF_INIT,
			b CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct err ea = ERR_INIT, eb = ERR_INIT;
	struct api_pod pa, pb;
	int ra, rb;

	if (jdoc_parse(text, &d, NULL) != 0) {
		return;
	}
	/* The text as the tree has it: without members named twice. */
	jdoc_format(d, &plain);
	ra = decode_text(&pod_fields, strbuf_str(&plain), &pa, arena, &ea);
	rb = decode_jdoc(&pod_fields, d, &pb, arena, &eb);
	assert(ra == rb && strcmp(ea.text, eb.text) == 0);
	if (ra == 0) {
		encode_text(&pod_fields, &pa, &a);
		encode_text(&pod_fields, &pb, &b);
		assert(str_eq(strbuf_str(&a), strbuf_str(&b)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const struct str text = { (const char *)data, size };
	struct api_pod pod;

	if (decode_text(&pod_fields, text, &pod, arena, NULL) == 0) {
		check_stable(&pod, arena);
	}
	if (decode_text(&pod_admission_fields, text, &pod, arena, NULL) == 0) {
		(void)pod_has_gate(&pod, "g");
	}
	check_tree(text, arena);
	return 0;
}
