#include "scheduler/pods/session/hooks_fallback.h"

#include <string.h>

#include "base/str.h"
#include "scheduler/pods/model/cluster.h"

static int compare_time(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}

static int compare_queues(const struct queue *a, const struct queue *b)
{
	int r = compare_time(a->created, b->created);

	if (r == 0) {
		r = compare_text(a->uid, b->uid);
	}
	return r != 0 ? r : compare_text(a->name, b->name);
}

static const struct queue *climb(const struct cluster *c, const struct queue *q, uint32_t depth)
{
	while (q->depth > depth) {
		q = queue_at(c, q->parent);
	}
	return q;
}

int hooks_fallback_queue(const struct cluster *c, const struct queue *a, const struct queue *b)
{
	uint32_t depth = a->depth < b->depth ? a->depth : b->depth;
	const struct queue *x = climb(c, a, depth), *y = climb(c, b, depth);

	if (x == y) {
		return (a->depth > b->depth) - (a->depth < b->depth);
	}
	while (x->parent != y->parent) {
		x = queue_at(c, x->parent);
		y = queue_at(c, y->parent);
	}
	return compare_queues(x, y);
}

int hooks_fallback_podgroup(const struct podgroup *a, const struct podgroup *b)
{
	int r = compare_time(a->created, b->created);

	if (r == 0) {
		r = compare_text(a->uid, b->uid);
	}
	if (r == 0) {
		r = compare_text(a->namespace_, b->namespace_);
	}
	return r != 0 ? r : compare_text(a->name, b->name);
}

/* "<job>-<role>-<number>": false when the name has fewer than three parts or ends otherwise. */
static bool parse_index(const char *name, uint64_t *ret)
{
	const char *last = strrchr(name, '-');

	if (last == NULL || memchr(name, '-', (size_t)(last - name)) == NULL) {
		return false;
	}
	return str_to_u64(str_of(last + 1), ret);
}

int hooks_fallback_task(const struct task *a, const struct task *b)
{
	uint64_t x, y;
	int r;

	/* As Volcano orders the pods of one job. */
	if (parse_index(a->name, &x) && parse_index(b->name, &y) && x != y) {
		return x < y ? -1 : 1;
	}
	r = compare_time(a->created, b->created);
	if (r == 0) {
		r = compare_text(a->uid, b->uid);
	}
	if (r == 0) {
		r = compare_text(a->namespace_, b->namespace_);
	}
	return r != 0 ? r : compare_text(a->name, b->name);
}
