/* Objects of the quota kinds decode alike from text and from a tree, survive encoding and may be
 * asked what they mean. The first byte chooses the kind. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "api/core/batch.h"
#include "api/core/limit_range.h"
#include "api/core/runtime_class.h"
#include "api/core/secret.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union object {
	struct api_workload workload;
	struct api_cluster_queue cluster_queue;
	struct api_cohort cohort;
	struct api_local_queue local_queue;
	struct api_resource_flavor flavor;
	struct api_workload_priority_class priority_class;
	struct api_admission_check check;
	struct api_topology topology;
	struct api_job job;
	struct api_limit_range limit_range;
	struct api_runtime_class runtime_class;
	struct api_multikueue_config config;
	struct api_multikueue_cluster cluster;
	struct api_secret secret;
};

static const struct field_table *const tables[] = {
	&kueue_workload_fields,
	&kueue_cluster_queue_fields,
	&kueue_cohort_fields,
	&kueue_local_queue_fields,
	&batch_job_fields,
	&kueue_resource_flavor_fields,
	&kueue_topology_fields,
	&kueue_workload_priority_class_fields,
	&kueue_admission_check_fields,
	&limit_range_fields,
	&runtime_class_fields,
	&multikueue_config_fields,
	&multikueue_cluster_fields,
	&secret_fields,
};

static void ask(const struct field_table *t, const union object *o)
{
	if (t == &kueue_workload_fields) {
		(void)kueue_workload_stage(&o->workload);
	} else if (t == &batch_job_fields) {
		assert(batch_pod_count(&o->job) <= batch_parallelism(&o->job));
		(void)batch_finished(&o->job);
	}
}

/* Encoding what was decoded from an encoding changes nothing more. */
static void check_stable(const struct field_table *t, union object *o, struct arena *arena)
{
	struct strbuf first CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct strbuf second CLEANUP(strbuf_finish) = STRBUF_INIT;
	union object again;

	ask(t, o);
	encode_text(t, o, &first);
	assert(decode_text(t, strbuf_str(&first), &again, arena, NULL) == 0);
	encode_text(t, &again, &second);
	assert(str_eq(strbuf_str(&first), strbuf_str(&second)));
}

static void check_tree(const struct field_table *t, struct str text, struct arena *arena)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL;
	struct strbuf plain CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct err ea = ERR_INIT, eb = ERR_INIT;
	union object a, b;

	if (jdoc_parse(text, &d, NULL) != 0) {
		return;
	}
	jdoc_format(d, &plain);
	assert(decode_text(t, strbuf_str(&plain), &a, arena, &ea) ==
	       decode_jdoc(t, d, &b, arena, &eb));
	assert(strcmp(ea.text, eb.text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const struct field_table *t;
	union object o;
	struct str text;

	if (size == 0) {
		return 0;
	}
	t = tables[data[0] % ARRAY_LEN(tables)];
	text = (struct str){ (const char *)data + 1, size - 1 };
	if (decode_text(t, text, &o, arena, NULL) == 0) {
		check_stable(t, &o, arena);
	}
	check_tree(t, text, arena);
	return 0;
}
