/* test/sim/world/sim_webhook.h: the admission webhook in one process with the server: the real
 * router and its handlers, called where the server would send a review. Owner: the run. */
#ifndef TEST_SIM_WORLD_SIM_WEBHOOK_H
#define TEST_SIM_WORLD_SIM_WEBHOOK_H

#include "apiserver/apiserver.h"

struct sim_webhook;

/* quota: Jobs and the kinds of the Workload engine, too. */
struct sim_webhook *sim_webhook_create(bool quota);
void sim_webhook_destroy(struct sim_webhook *h);
/* An apiserver_review_fn; ctx is the webhook. */
int sim_webhook_review(void *ctx, const struct apiserver_review *review, struct strbuf *out,
		       struct err *err);
/* Appends the registrations to be loaded into the server: of pods, and (quota) those of the chart.
 */
int sim_webhook_registration(bool quota, struct strbuf *out, struct err *err);

/* Reviews fail until this monotonic time, as when no replica answers. */
void sim_webhook_stop(struct sim_webhook *h, int64_t until_ns);
int64_t sim_webhook_back_at(const struct sim_webhook *h); /* monotonic ns */
void sim_webhook_set_time(struct sim_webhook *h, int64_t now_ns);

#endif
