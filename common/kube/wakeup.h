/* common/kube/wakeup.h: one timer on a transport's thread that can be moved and cancelled, unlike
 * transport_call: a call that fires early is scheduled again, one that fires after a cancel is
 * ignored. Owner: the transport's thread. fn may set the timer again or destroy it. */
#ifndef COMMON_KUBE_WAKEUP_H
#define COMMON_KUBE_WAKEUP_H

#include <stdint.h>

struct clock;
struct transport;
struct wakeup;

struct wakeup *wakeup_create(struct transport *t, const struct clock *clock, void (*fn)(void *ctx),
			     void *ctx);
/* NULL is fine; also after the transport was destroyed. fn does not run any more. */
void wakeup_destroy(struct wakeup *w);
void wakeup_set(struct wakeup *w, int64_t at_mono_ns); /* replaces; CLOCK_NEVER: not at all */

#endif
