#include "webhook/admit/volcano/queue_tree.h"

#include "api/volcano/keys.h"

const char *queue_tree_parent(const struct api_queue *queue)
{
	const char *parent = queue->spec.parent;

	if (str_streq(queue->meta.name, KEYS_ROOT_QUEUE)) {
		return NULL;
	}
	return parent != NULL && parent[0] != '\0' ? parent : KEYS_ROOT_QUEUE;
}

bool queue_tree_has_children(const struct admit_view *v, const char *name)
{
	for (size_t i = 0; i < v->queue_count; i++) {
		if (str_streq(queue_tree_parent(v->queues[i]), name)) {
			return true;
		}
	}
	return false;
}

bool queue_tree_has_pods(const struct api_queue *queue)
{
	const struct quantity *pods = field_resources_get(&queue->status.allocated, "pods");

	return pods != NULL && !quantity_is_zero(*pods);
}

/* Levels below the root queue; 0: the chain of parents contains `below` or does not end. */
static unsigned depth_of(const struct admit_view *v, const struct api_queue *queue,
			 const char *below)
{
	const char *parent = queue_tree_parent(queue);
	unsigned depth = 1;

	/* A parent that is not in the view ends the chain. */
	while (parent != NULL && !str_streq(parent, KEYS_ROOT_QUEUE)) {
		const struct api_queue *up = admit_find_queue(v, parent);

		if (str_streq(parent, below) || ++depth > QUEUE_TREE_MAX_WALK) {
			return 0;
		}
		parent = up != NULL ? queue_tree_parent(up) : NULL;
	}
	return depth;
}

/* Whether `queue` is below `name`; *ret_levels: by how many levels. */
/* Walks up from the other queue: parents are named, children are not. A chain that leaves the
 * view, or does not end, is below nothing. */
static bool is_below(const struct admit_view *v, const struct api_queue *queue, const char *name,
		     unsigned *ret_levels)
{
	const char *parent = queue_tree_parent(queue);

	for (unsigned levels = 1; parent != NULL && levels < QUEUE_TREE_MAX_WALK; levels++) {
		const struct api_queue *up;

		if (str_streq(parent, name)) {
			*ret_levels = levels;
			return true;
		}
		up = admit_find_queue(v, parent);
		parent = up != NULL ? queue_tree_parent(up) : NULL;
	}
	return false;
}

/* O(queues * depth), at writes of Queues alone, which are rare. */
static unsigned height_of(const struct admit_view *v, const char *name)
{
	unsigned height = 0, levels = 0;

	for (size_t i = 0; i < v->queue_count; i++) {
		if (is_below(v, v->queues[i], name, &levels) && levels > height) {
			height = levels;
		}
	}
	return height;
}

static void check_depth(const struct admit_request *q, const struct api_queue *queue,
			struct admit_answer *a)
{
	const char *name = queue->meta.name;
	unsigned depth = depth_of(q->view, queue, name);
	unsigned below;

	if (depth == 0) {
		admit_deny_invalid(a, q->arena,
				   "spec.parent: queue \"%s\" is a descendant of \"%s\"",
				   queue_tree_parent(queue), name);
		return;
	}
	/* The whole subtree moves along. */
	below = height_of(q->view, name);
	if (depth + below > q->options->max_queue_depth) {
		admit_deny_invalid(a, q->arena,
				   "spec.parent: the tree would be %u levels deep, at most %u are "
				   "allowed",
				   depth + below, q->options->max_queue_depth);
	}
}

void queue_tree_check_place(const struct admit_request *q, const struct api_queue *queue,
			    struct admit_answer *ret)
{
	const char *parent = queue_tree_parent(queue), *name = queue->meta.name;
	const struct api_queue *up;

	if (parent == NULL) {
		return;
	}
	if (str_streq(parent, name)) {
		admit_deny_invalid(ret, q->arena, "spec.parent: a queue cannot be its own parent");
		return;
	}
	if (!str_streq(parent, KEYS_ROOT_QUEUE)) {
		up = admit_find_queue(q->view, parent);
		if (up == NULL) {
			/* The view may lag behind: the router reads this queue and asks again. */
			ret->unconfirmed_queue = parent;
			admit_deny_invalid(ret, q->arena,
					   "spec.parent: queue \"%s\" does not exist", parent);
			return;
		}
		/* Volcano places pods in leaves only. A parent that has both already is left as it
		 * is. */
		if (!queue_tree_has_children(q->view, parent) && queue_tree_has_pods(up)) {
			admit_deny_invalid(ret, q->arena,
					   "spec.parent: queue \"%s\" has pods, so it cannot have "
					   "children",
					   parent);
			return;
		}
	}
	check_depth(q, queue, ret);
}

/* The limit of the nearest ancestor with a capability for the resource. */
static const struct quantity *limit_above(const struct admit_view *v, const struct api_queue *queue,
					  const char *resource, const char **ret_name)
{
	const char *parent = queue_tree_parent(queue);

	for (unsigned i = 0; parent != NULL && i < QUEUE_TREE_MAX_WALK; i++) {
		const struct api_queue *up = admit_find_queue(v, parent);
		const struct quantity *limit;

		if (up == NULL) {
			return NULL;
		}
		limit = field_resources_get(&up->spec.capability, resource);
		if (limit != NULL) {
			*ret_name = up->meta.name;
			return limit;
		}
		parent = queue_tree_parent(up);
	}
	return NULL;
}

static void check_capability(const struct admit_request *q, const struct api_queue *queue,
			     struct admit_answer *a)
{
	char own[QUANTITY_TEXT_MAX], other[QUANTITY_TEXT_MAX];

	for (size_t i = 0; i < queue->spec.capability.n; i++) {
		const struct field_resource *c = &queue->spec.capability.v[i];
		const char *name = NULL;
		const struct quantity *limit = limit_above(q->view, queue, c->name, &name);

		if (limit != NULL && quantity_cmp(c->amount, *limit) > 0) {
			quantity_format(c->amount, own);
			quantity_format(*limit, other);
			admit_deny_invalid(
				a, q->arena,
				"spec.capability.%s: %s is more than ancestor queue \"%s\" "
				"has (%s)",
				c->name, own, name, other);
		}
	}
}

/* The new capability against one descendant: until now another queue limited it. */
static void check_descendant(const struct admit_request *q, const struct api_queue *queue,
			     const struct api_queue *below, struct admit_answer *a)
{
	char own[QUANTITY_TEXT_MAX], other[QUANTITY_TEXT_MAX];

	for (size_t i = 0; i < queue->spec.capability.n; i++) {
		const struct field_resource *c = &queue->spec.capability.v[i];
		const struct quantity *theirs =
			field_resources_get(&below->spec.capability, c->name);

		if (theirs != NULL && quantity_cmp(*theirs, c->amount) > 0) {
			quantity_format(c->amount, own);
			quantity_format(*theirs, other);
			admit_deny_invalid(
				a, q->arena,
				"spec.capability.%s: %s is less than descendant queue \"%s\" "
				"has (%s)",
				c->name, own, below->meta.name, other);
		}
	}
}

typedef const struct field_resources *(*list_fn)(const struct api_queue *queue);

static const struct field_resources *guarantee_of(const struct api_queue *queue)
{
	return &queue->spec.guarantee.resource;
}

static const struct field_resources *deserved_of(const struct api_queue *queue)
{
	return &queue->spec.deserved;
}

/* Sum of one resource over the children of parent; `self` replaces its stored form. */
static struct quantity sum_children(const struct admit_view *v, const char *parent,
				    const char *resource, const struct api_queue *self, list_fn get)
{
	struct quantity sum = { 0 };
	const struct quantity *own = NULL;

	if (str_streq(queue_tree_parent(self), parent)) {
		own = field_resources_get(get(self), resource);
	}
	if (own != NULL) {
		sum = *own;
	}
	for (size_t i = 0; i < v->queue_count; i++) {
		const struct quantity *more;

		if (!str_streq(queue_tree_parent(v->queues[i]), parent) ||
		    str_streq(v->queues[i]->meta.name, self->meta.name)) {
			continue;
		}
		more = field_resources_get(get(v->queues[i]), resource);
		if (more != NULL) {
			sum = quantity_add(sum, *more);
		}
	}
	return sum;
}

/* Only resources that the parent names: where it names none there is nothing to divide. */
static void check_sums(const struct admit_request *q, const struct api_queue *parent,
		       const struct api_queue *self, const char *path, list_fn get,
		       struct admit_answer *a)
{
	const struct field_resources *list = get(parent);
	char have[QUANTITY_TEXT_MAX], want[QUANTITY_TEXT_MAX];

	for (size_t i = 0; i < list->n; i++) {
		struct quantity sum =
			sum_children(q->view, parent->meta.name, list->v[i].name, self, get);

		if (quantity_cmp(sum, list->v[i].amount) > 0) {
			quantity_format(list->v[i].amount, have);
			quantity_format(sum, want);
			admit_deny_invalid(a, q->arena,
					   "%s.%s: the sum of the children of queue \"%s\" is %s, "
					   "more than its "
					   "%s",
					   path, list->v[i].name, parent->meta.name, want, have);
		}
	}
}

static void check_family(const struct admit_request *q, const struct api_queue *parent,
			 const struct api_queue *self, struct admit_answer *a)
{
	check_sums(q, parent, self, "spec.guarantee.resource", guarantee_of, a);
	check_sums(q, parent, self, "spec.deserved", deserved_of, a);
}

void queue_tree_check_amounts(const struct admit_request *q, const struct api_queue *queue,
			      struct admit_answer *ret)
{
	const char *parent = queue_tree_parent(queue);
	const struct api_queue *up = parent != NULL ? admit_find_queue(q->view, parent) : NULL;
	unsigned levels = 0;

	/* Limits above it and limits below it, since either may be edited. */
	check_capability(q, queue, ret);
	for (size_t i = 0; i < q->view->queue_count; i++) {
		if (is_below(q->view, q->view->queues[i], queue->meta.name, &levels)) {
			check_descendant(q, queue, q->view->queues[i], ret);
		}
	}
	if (up != NULL) {
		check_family(q, up, queue, ret);
	}
	/* Its own children, against the new amounts. */
	check_family(q, queue, queue, ret);
}
