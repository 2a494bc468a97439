/* common/collections/list.h: intrusive circular doubly linked list. Owner: one thread.
 * Embed a struct list_node; the head is a struct list_node as well. An unlinked node points to
 * itself after list_init or list_remove, so removing twice is harmless. */
#ifndef COMMON_COLLECTIONS_LIST_H
#define COMMON_COLLECTIONS_LIST_H

#include <stdbool.h>

#include "base/attrs.h"

struct list_node {
	struct list_node *next;
	struct list_node *prev;
};

static inline void list_init(struct list_node *n)
{
	n->next = n;
	n->prev = n;
}

static inline bool list_is_empty(const struct list_node *head)
{
	return head->next == head;
}

static inline void list_insert_before(struct list_node *at, struct list_node *n)
{
	n->next = at;
	n->prev = at->prev;
	at->prev->next = n;
	at->prev = n;
}

static inline void list_append(struct list_node *head, struct list_node *n)
{
	list_insert_before(head, n);
}

static inline void list_prepend(struct list_node *head, struct list_node *n)
{
	list_insert_before(head->next, n);
}

static inline void list_remove(struct list_node *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

/* Walks the list; the current node may be removed and freed in the body. */
#define LIST_FOR_EACH(node, head)                                                                  \
	for (struct list_node *node = (head)->next, *node##_next_ = node->next; node != (head);    \
	     node = node##_next_, node##_next_ = node->next)
#define LIST_ENTRY(node, type, member) CONTAINER_OF(node, type, member)

#endif
