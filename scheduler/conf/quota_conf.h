/* scheduler/conf/quota_conf.h: Kueue's configuration file (config.kueue.x-k8s.io/v1beta2,
 * Configuration) as far as it decides anything for the Workload engine; everything else in it is
 * accepted and ignored. Immutable after loading. Errors name the field. Any thread. */
#ifndef SCHEDULER_CONF_QUOTA_CONF_H
#define SCHEDULER_CONF_QUOTA_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "conf/quota_conf_metrics.h"
#include "conf/quota_owners.h"
#include "conf/quota_resources.h"
#include "model/quota_model.h"

#define QUOTA_CONF_MAX_ITEMS 256 /* in each list and map */

struct arena;
struct err;
struct jdoc;

struct quota_conf {
	struct arena *arena;          /* holds all below */
	struct quota_options options; /* defaults where the file says nothing */
	struct quota_resources resources;
	struct quota_times times;
	struct quota_owners owners;
	struct quota_conf_metrics metrics;
};

typedef void (*quota_conf_warn_fn)(void *ctx, const char *text);

/* d NULL: defaults. warn is told of feature gates that are not known; may be NULL. */
int quota_conf_read(const struct jdoc *d, quota_conf_warn_fn warn, void *ctx,
		    struct quota_conf **ret, struct err *err);
void quota_conf_destroy(struct quota_conf *c); /* NULL is fine */
void quota_conf_destroyp(struct quota_conf **pc);

#endif
