/* scheduler/ctl/explain/offer_text.h: prints the explanation of an offer to worker clusters. */
#ifndef SCHEDULER_CTL_EXPLAIN_OFFER_TEXT_H
#define SCHEDULER_CTL_EXPLAIN_OFFER_TEXT_H

#include <stdio.h>

struct json_out;
struct offer;

/* Nothing, when there is no offer. */
void offer_text_print(const struct offer *o, FILE *to);
/* As the member "multiKueue" of the object that is open. */
void offer_text_write_json(const struct offer *o, struct json_out *out);

#endif
