#include "webhook/admit/volcano/queue_access.h"

#include "api/meta/selector.h"
#include "api/volcano/keys.h"
#include "base/err.h"
#include "webhook/admit/volcano/queue_tree.h"

static const char *selector_of(const struct api_queue *queue)
{
	return field_map_get(&queue->meta.annotations, KEYS_NAMESPACE_SELECTOR);
}

/* A selector that does not parse admits no namespace: an annotation that is misspelt must not
 * open the queue to all. */
static bool admits(const struct admit_request *q, const struct api_queue *queue,
		   const struct admit_namespace *ns)
{
	const char *text = selector_of(queue);
	struct selector selector;

	return text == NULL ||
	       (selector_parse_labels(str_of(text), q->arena, &selector, NULL) == 0 &&
		selector_match(&selector, &ns->labels));
}

const struct api_queue *queue_access_bar(const struct admit_request *q, const char *ns,
					 const struct api_queue *queue)
{
	const struct admit_namespace *known = admit_find_namespace(q->view, ns);

	/* The queues above are asked, too, since what is reserved for a team includes all below
	 * it. */
	for (unsigned i = 0; known != NULL && queue != NULL && i < QUEUE_TREE_MAX_WALK; i++) {
		const char *parent = queue_tree_parent(queue);

		if (!admits(q, queue, known)) {
			return queue;
		}
		queue = parent == NULL ? NULL : admit_find_queue(q->view, parent);
	}
	return NULL;
}

void queue_access_check(const struct admit_request *q, const struct api_queue *queue,
			struct admit_answer *ret)
{
	const char *text = selector_of(queue);
	struct err err = ERR_INIT;
	struct selector selector;

	if (text != NULL && selector_parse_labels(str_of(text), q->arena, &selector, &err) < 0) {
		admit_deny_invalid(ret, q->arena,
				   "metadata.annotations[" KEYS_NAMESPACE_SELECTOR "]: %s",
				   err.text);
	}
}
