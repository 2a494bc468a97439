/* common/collections/mpsc.h: messages from any thread to one receiving thread. A message embeds
 * struct mpsc_node first and owns its payload. push: any thread. drain: the receiver only; it takes
 * everything at once, oldest first. An eventfd (mpsc_fd) wakes it: readable while messages wait. */
#ifndef COMMON_COLLECTIONS_MPSC_H
#define COMMON_COLLECTIONS_MPSC_H

#include <stdbool.h>
#include <stdint.h>

#include "collections/mpsc_node.h"

struct mpsc;

struct mpsc *mpsc_create(void);
void mpsc_destroy(struct mpsc *q); /* asserts empty: drain first */
void mpsc_push(struct mpsc *q, struct mpsc_node *msg);
struct mpsc_node *mpsc_drain(struct mpsc *q); /* singly linked list or NULL; clears the eventfd */
int mpsc_fd(const struct mpsc *q);
/* Waits until a message is there or timeout_ns has passed (CLOCK_NEVER: without limit). True: a
 * message is there. */
bool mpsc_wait(struct mpsc *q, int64_t timeout_ns);

#endif
