#include "kube/wakeup.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "kube/transport.h"

struct wakeup {
	struct transport *transport;
	const struct clock *clock;
	void (*fn)(void *ctx);
	void *ctx;
	int64_t at;             /* wanted */
	struct list_node calls; /* of struct call: scheduled */
};

/* One scheduled transport_call; it outlives the wakeup. */
struct call {
	struct list_node node;
	struct wakeup *wakeup; /* NULL: destroyed */
	int64_t at;
};

struct wakeup *wakeup_create(struct transport *t, const struct clock *clock, void (*fn)(void *ctx),
			     void *ctx)
{
	struct wakeup *w = xmalloc_zero(1, sizeof(*w));

	w->transport = t;
	w->clock = clock;
	w->fn = fn;
	w->ctx = ctx;
	w->at = CLOCK_NEVER;
	list_init(&w->calls);
	return w;
}

void wakeup_destroy(struct wakeup *w)
{
	if (w == NULL) {
		return;
	}
	LIST_FOR_EACH (node, &w->calls) {
		struct call *c = LIST_ENTRY(node, struct call, node);

		list_remove(&c->node);
		c->wakeup = NULL;
	}
	free(w);
}

static void on_call(void *ctx);

/* A call cannot be taken back, so there may be several. A timer that is moved again and again to a
 * later time, as that of a watch with each piece of data, needs one call at a time. */
static void ask(struct wakeup *w)
{
	int64_t now = clock_mono(w->clock);
	struct call *c;

	LIST_FOR_EACH (node, &w->calls) {
		/* A call that fires earlier schedules another one. */
		if (LIST_ENTRY(node, struct call, node)->at <= w->at) {
			return;
		}
	}
	c = xmalloc_zero(1, sizeof(*c));
	c->wakeup = w;
	c->at = w->at;
	list_append(&w->calls, &c->node);
	transport_call(w->transport, w->at > now ? w->at - now : 0, on_call, c);
}

static void on_call(void *ctx)
{
	struct call *c = ctx;
	struct wakeup *w = c->wakeup;

	if (w != NULL) {
		list_remove(&c->node);
	}
	free(c);
	/* The transport runs what still waits when it stops: too early, and nothing may be
	 * submitted. */
	if (w == NULL || w->at == CLOCK_NEVER || atomic_load(&w->transport->stopping)) {
		return;
	}
	if (w->at > clock_mono(w->clock)) {
		ask(w);
		return;
	}
	w->at = CLOCK_NEVER;
	/* Last, because fn may destroy w. */
	w->fn(w->ctx);
}

void wakeup_set(struct wakeup *w, int64_t at_mono_ns)
{
	w->at = at_mono_ns;
	if (at_mono_ns != CLOCK_NEVER) {
		ask(w);
	}
}
