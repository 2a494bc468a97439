/* scheduler/base/engine_state.h: the state, for health checks, of the engine that the sched thread
 * drives. Atomics: that thread writes, any thread reads. */
#ifndef SCHEDULER_BASE_ENGINE_STATE_H
#define SCHEDULER_BASE_ENGINE_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct engine_state {
	_Atomic int64_t heartbeat; /* monotonic ns of the last step */
	_Atomic int64_t
		cycle_since; /* monotonic ns at which the running cycle started, 0: none runs */
	_Atomic bool synced, leading, has_quota_plugin;
};

#endif
