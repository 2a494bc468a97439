#include "scheduler/orchestrate/orchestrate_conf.h"

#include "base/clock.h"
#include "scheduler/orchestrate/orchestrate.h"
#include "scheduler/workloads/conf/kueue_conf.h"

void orchestrate_conf_options(const struct kueue_conf_multikueue *m,
			      struct orchestrate_options *ret)
{
	static const enum orchestrate_mode modes[] = {
		[KUEUE_CONF_FIRST_SIGNAL] = ORCHESTRATE_COMPAT,
		[KUEUE_CONF_CONFIG_ORDER] = ORCHESTRATE_ORDER,
		[KUEUE_CONF_COST] = ORCHESTRATE_COST,
	};

	orchestrate_defaults(ret);
	ret->mode = modes[m->preemption_order];
	ret->window_ns = m->window_ns;
	ret->timeout_ns = m->preemption_timeout_ns;
	ret->progress_ns = clock_later(m->progress_ns, m->preemption_timeout_ns);
	ret->probe_ns = m->probe_ns;
}
