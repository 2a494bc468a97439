/* test/sim/sim_webhook.h: the admission webhook in one process with the server: the real handler
 * that gates pods, called where the server would send a review. */
#ifndef TEST_SIM_SIM_WEBHOOK_H
#define TEST_SIM_SIM_WEBHOOK_H

#include "apiserver/apiserver.h"

/* An apiserver_review_fn; ctx is not used. */
int sim_webhook_review(void *ctx, const struct apiserver_review *review, struct strbuf *out,
		       struct err *err);
/* The registration to be loaded into the server. */
struct str sim_webhook_registration(void);

#endif
