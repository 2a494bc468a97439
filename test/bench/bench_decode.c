/* How fast JSON is read: tree, scanner without tree into structs, and plain skipping. Prints MB/s
 * and the ratios within this run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/admission.h"
#include "api/core/pod.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "bench/pod_5k.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "enc/json/reader.h"

#define MIN_NS (CLOCK_NS_PER_S / 2)

struct input {
	struct str pod, review;
	struct arena *arena;
};

static void die(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static void run_tree(const struct input *in)
{
	struct jdoc *d = NULL;

	if (jdoc_parse(in->pod, &d, NULL) < 0) {
		die("jdoc_parse");
	}
	jdoc_destroy(d);
}

static void run_tree_decode(const struct input *in)
{
	struct jdoc *d = NULL;
	struct api_pod pod;

	if (jdoc_parse(in->pod, &d, NULL) < 0 ||
	    decode_jdoc(&pod_fields, d, &pod, in->arena, NULL) < 0) {
		die("decode_jdoc");
	}
	jdoc_destroy(d);
	arena_reset(in->arena);
}

static void run_decode(const struct input *in)
{
	struct api_pod pod;

	if (decode_text(&pod_fields, in->pod, &pod, in->arena, NULL) < 0) {
		die("decode_text");
	}
	arena_reset(in->arena);
}

static void run_skip(const struct input *in)
{
	struct reader r;

	reader_of_text(&r, in->pod, in->arena);
	reader_skip(&r);
	if (reader_finish(&r, NULL) < 0) {
		die("reader_skip");
	}
}

static void run_review(const struct input *in)
{
	struct api_admission_request req;
	struct api_pod pod;

	if (admission_parse(in->review, in->arena, &req, NULL) < 0 ||
	    decode_text(&pod_admission_fields, req.object, &pod, in->arena, NULL) < 0) {
		die("review");
	}
	arena_reset(in->arena);
}

/* ns per call, over at least MIN_NS. */
static double measure(void (*fn)(const struct input *in), const struct input *in)
{
	const struct clock *c = clock_real();
	int64_t start, spent;
	uint64_t n = 0;

	for (int i = 0; i < 100; i++) {
		fn(in);
	}
	start = clock_mono(c);
	do {
		for (int i = 0; i < 100; i++) {
			fn(in);
		}
		n += 100;
		spent = clock_mono(c) - start;
	} while (spent < MIN_NS);
	return (double)spent / (double)n;
}

static double report(const char *name, void (*fn)(const struct input *in), const struct input *in,
		     size_t bytes, double base)
{
	double ns = measure(fn, in), rate = (double)bytes * 1000 / ns;

	printf("%-28s %8.2f us %8.0f MB/s", name, ns / 1000, rate);
	if (base > 0) {
		printf(" %6.1fx", rate / base);
	}
	printf("\n");
	return rate;
}

int main(void)
{
	struct strbuf pod CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct strbuf review CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct input in;
	double tree;

	pod_5k_add(&pod, 7);
	in = (struct input){ .pod = strbuf_str(&pod), .arena = arena };
	admission_format_request(
		&(struct api_admission_request){ .uid = "1",
						 .kind = { NULL, "v1", "Pod" },
						 .resource = { NULL, "v1", "pods" },
						 .namespace_ = "team-vision",
						 .operation = "CREATE",
						 .object = in.pod },
		&review);
	in.review = strbuf_str(&review);
	printf("pod: %zu bytes\n", in.pod.len);
	tree = report("tree (jdoc_parse)", run_tree, &in, in.pod.len, 0);
	report("tree, then structs", run_tree_decode, &in, in.pod.len, tree);
	report("scanner into structs", run_decode, &in, in.pod.len, tree);
	report("skip", run_skip, &in, in.pod.len, tree);
	report("review: parse + pod gate view", run_review, &in, in.review.len, tree);
	return 0;
}
