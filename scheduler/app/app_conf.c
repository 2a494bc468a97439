#include "scheduler/app/app_conf.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "process/file.h"
#include "process/log.h"
#include "scheduler/app/options.h"
#include "scheduler/multikueue/fleet/fleet.h"
#include "scheduler/orchestrate/orchestrate_conf.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/workloads/conf/kueue_conf.h"

static void warn_conf(void *ctx UNUSED, const char *text)
{
	log_warn(text);
}

int app_conf_load(const struct sched_options *o, struct sched_conf **ret, struct err *err)
{
	struct known_names names;
	struct conf_options co = { .warn = warn_conf };
	bool built_in = o->scheduler_conf == NULL;
	int r;

	known_names_init(&names,
			 &(struct known_names_source){ plugin_registry, plugin_registry_count,
						       action_registry, action_registry_count });
	co.known = known_names_conf(&names);
	r = built_in ? conf_parse(str_of(conf_default_text()), "built-in configuration", &co, ret,
				  err)
		     : conf_load_file(o->scheduler_conf, &co, ret, err);
	known_names_finish(&names);
	if (r == 0) {
		/* Volcano's file has no words for these: flags decide them. */
		(*ret)->gates_admission = o->daemon.gates.queue_admission;
		(*ret)->gate_sticky = o->gate_sticky;
		(*ret)->reservation_timeout_ns = o->reservation_timeout;
		(*ret)->reservation_attempts = (uint32_t)o->reservation_attempts;
		(*ret)->overdue_deletes = o->on_reservation_timeout != 0;
		free((*ret)->default_queue);
		(*ret)->default_queue = xmalloc_dup(o->default_queue);
	}
	return r;
}

int app_conf_quota(const char *path, struct kueue_conf **ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int r = 0;

	if (path == NULL || path[0] == '\0') {
		return kueue_conf_read(NULL, warn_conf, NULL, ret, err);
	}
	r = file_read_all(path, CONF_MAX_BYTES, &text, err);
	r = r < 0 ? r : yaml_parse(strbuf_str(&text), &doc, err);
	r = r < 0 ? r : kueue_conf_read_strict(doc, warn_conf, NULL, ret, err);
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}

/* Any other name is that of a program which writes the nominations. */
static enum manager_dispatcher dispatcher_of(const char *name)
{
	if (name == NULL || str_streq(name, KUEUE_DISPATCHER_ALL_AT_ONCE)) {
		return MANAGER_ALL_AT_ONCE;
	}
	return str_streq(name, KUEUE_DISPATCHER_INCREMENTAL) ? MANAGER_INCREMENTAL
							     : MANAGER_EXTERNAL;
}

void app_conf_fleet(const struct kueue_conf *c, struct fleet_options *ret)
{
	const struct kueue_conf_multikueue *m = &c->multikueue;

	orchestrate_conf_options(m, &ret->orchestrate);
	/* Without the manager the orchestrator is all that there is. */
	ret->orchestrates = !ret->manages || c->options.preemption_gates;
	ret->carries_pods = ret->manages && c->owners.pods;
	if (ret->manages) {
		ret->customs = m->frameworks;
	}
	manager_defaults(&ret->manager);
	ret->manager.gated = c->options.preemption_gates;
	ret->manager.worker_lost_ns = m->worker_lost_ns;
	ret->manager.step_size = (size_t)m->step_size;
	ret->manager.dispatcher = dispatcher_of(m->dispatcher);
	ret->gc_ns = m->gc_ns;
	ret->conf = c;
	ret->origin = m->origin == NULL ? "multikueue" : m->origin;
	ret->max_open = (unsigned)m->per_queue;
}
