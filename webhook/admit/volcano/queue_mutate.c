#include "webhook/admit/volcano/queue_mutate.h"

#include "api/volcano/keys.h"
#include "base/arena.h"
#include "enc/decode.h"

#define PATH_ANNOTATIONS "/metadata/annotations"

struct shape {
	bool has_spec;
};
static const struct field shape_rows[] = { F_PRESENT(struct shape, has_spec, "spec") };
static const struct field_table shape_fields = FIELD_TABLE(struct shape, shape_rows);

static void add_spec(struct admit_answer *a)
{
	admit_patch_add(a, "/spec", NULL);
	json_out_object(&a->out);
	json_out_object_end(&a->out);
	admit_patch_end(a);
}

static void default_spec(const struct api_queue *queue, bool has_spec, struct admit_answer *a)
{
	bool no_reclaimable = queue->spec.reclaimable == FIELD_TRI_ABSENT;
	/* 0 is not a weight: the CRD allows 1 to 65535. */
	bool no_weight = queue->spec.weight == FIELD_NO_I32 || queue->spec.weight == 0;

	/* JSON Patch adds a member only to an object that exists. */
	if (!has_spec) {
		add_spec(a);
	}
	if (no_reclaimable) {
		admit_patch_add(a, "/spec/reclaimable", NULL);
		json_out_bool(&a->out, true);
		admit_patch_end(a);
	}
	if (no_weight) {
		admit_patch_add(a, "/spec/weight", NULL);
		json_out_int(&a->out, 1);
		admit_patch_end(a);
	}
}

static void set_annotation(struct admit_answer *a, const char *key, const char *value)
{
	admit_patch_add(a, PATH_ANNOTATIONS, key);
	json_out_str(&a->out, value);
	admit_patch_end(a);
}

/* Hierarchy paths start at the root queue, which has weight 1: prepends it where it is missing. */
static void prepend_root(const struct api_queue *queue, struct arena *arena, struct admit_answer *a)
{
	const char *path = field_map_get(&queue->meta.annotations, KEYS_HIERARCHY);
	const char *weights = field_map_get(&queue->meta.annotations, KEYS_HIERARCHY_WEIGHTS);

	if (path == NULL || weights == NULL || path[0] == '\0' || weights[0] == '\0' ||
	    str_streq(path, KEYS_ROOT_QUEUE) || str_has_prefix(str_of(path), KEYS_ROOT_QUEUE "/")) {
		return;
	}
	set_annotation(a, KEYS_HIERARCHY, arena_printf(arena, KEYS_ROOT_QUEUE "/%s", path));
	set_annotation(a, KEYS_HIERARCHY_WEIGHTS, arena_printf(arena, "1/%s", weights));
}

int queue_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct api_queue queue = { 0 };
	struct shape shape = { 0 };
	int r;

	if (!admit_is_operation(q, "CREATE")) {
		return 0;
	}
	r = decode_text(&scheduling_queue_fields, q->review->object, &queue, q->arena, err);
	if (r == 0) {
		r = decode_text(&shape_fields, q->review->object, &shape, q->arena, err);
	}
	if (r < 0) {
		return r;
	}
	default_spec(&queue, shape.has_spec, ret);
	prepend_root(&queue, q->arena, ret);
	admit_patch_close(ret);
	return 0;
}
