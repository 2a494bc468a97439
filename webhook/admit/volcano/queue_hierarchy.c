#include "webhook/admit/volcano/queue_hierarchy.h"

#include "api/volcano/keys.h"

/* Walks both texts in step, so that a difference in depth is what is left over of one of them. */
static bool check_weights(const struct admit_request *q, const char *path, const char *weights,
			  struct admit_answer *a)
{
	struct str path_rest = str_of(path), weight_rest = str_of(weights);

	while (path_rest.p != NULL && weight_rest.p != NULL) {
		struct str name = str_next(&path_rest, '/'), weight = str_next(&weight_rest, '/');
		double value = 0;

		if (name.len == 0) {
			admit_deny_invalid(a, q->arena, "annotation %s: \"%s\" has an empty part",
					   KEYS_HIERARCHY, path);
			return false;
		}
		if (!str_to_double(weight, &value) || value <= 0) {
			admit_deny_invalid(a, q->arena,
					   "annotation %s: \"" STR_FMT
					   "\" is not a positive number",
					   KEYS_HIERARCHY_WEIGHTS, STR_ARG(weight));
			return false;
		}
	}
	if (path_rest.p != NULL || weight_rest.p != NULL) {
		admit_deny_invalid(a, q->arena,
				   "annotations %s \"%s\" and %s \"%s\" differ in depth",
				   KEYS_HIERARCHY, path, KEYS_HIERARCHY_WEIGHTS, weights);
		return false;
	}
	return true;
}

/* Whether prefix is path itself or an ancestor of it: "a" of "a/b" and of "a". */
static bool is_at_or_below(const char *path, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(path, prefix, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

void queue_hierarchy_check(const struct admit_request *q, const struct api_queue *queue,
			   struct admit_answer *ret)
{
	const char *path = field_map_get(&queue->meta.annotations, KEYS_HIERARCHY);
	const char *weights = field_map_get(&queue->meta.annotations, KEYS_HIERARCHY_WEIGHTS);

	path = path != NULL ? path : "";
	weights = weights != NULL ? weights : "";
	if ((path[0] == '\0' && weights[0] == '\0') || !check_weights(q, path, weights, ret)) {
		return;
	}
	for (size_t i = 0; i < q->view->queue_count; i++) {
		const struct api_queue *other = q->view->queues[i];
		const char *other_path = field_map_get(&other->meta.annotations, KEYS_HIERARCHY);

		if (other_path == NULL || other_path[0] == '\0' ||
		    str_streq(other->meta.name, queue->meta.name)) {
			continue;
		}
		/* Volcano's rule: a path within the path of another queue would make that one an
		 * inner node, which has no Jobs of its own. */
		if (is_at_or_below(path, other_path) || is_at_or_below(other_path, path)) {
			admit_deny_invalid(
				ret, q->arena,
				"annotation %s: \"%s\" and \"%s\" of queue \"%s\": one path "
				"contains the other",
				KEYS_HIERARCHY, path, other_path, other->meta.name);
			return;
		}
	}
}
