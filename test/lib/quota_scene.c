#include "lib/quota_scene.h"

#include <poll.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "enc/jdoc.h"
#include "lib/scene.h"

#define KINDS 7

const char *const quota_scene_args[] = { "--controllers=*,workload", NULL };

void quota_scene_start(struct scene *s, const char *manifests)
{
	quota_scene_start_with(s, quota_scene_args, manifests);
}

void quota_scene_start_with(struct scene *s, const char *const *scheduler_args,
			    const char *manifests)
{
	static const char *const kinds[KINDS] = {
		"admissionchecks", "clusterqueues",           "cohorts",   "localqueues",
		"resourceflavors", "workloadpriorityclasses", "workloads",
	};
	static char loads[KINDS][512];
	static const char *args[KINDS + 1];
	struct scene_options opt = { .stack = { .no_webhook = true,
						.scheduler_args = scheduler_args,
						.apiserver_args = args } };

	for (size_t i = 0; i < KINDS; i++) {
		snprintf(loads[i], sizeof(loads[i]),
			 "--load=%s/charts/headgate/files/crds/quota/%s.yaml", stack_source(),
			 kinds[i]);
		args[i] = loads[i];
	}
	scene_start(s, &opt);
	scene_apply(s, manifests);
}

const struct jdoc *quota_scene_condition(const struct jdoc *object, const char *type)
{
	const struct jdoc *list = jdoc_path(object, "status.conditions");

	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return c;
		}
	}
	return NULL;
}

void quota_scene_wait(struct scene *s, const char *path, const char *type, const char *status,
		      const char *reason)
{
	int64_t deadline = clock_mono(clock_real()) + QUOTA_SCENE_WAIT_NS;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
		const struct jdoc *c;

		scene_call(s, "GET", path, NULL, &object);
		c = quota_scene_condition(object, type);
		if (c != NULL && jdoc_is_str(jdoc_get(c, "status"), status) &&
		    jdoc_is_str(jdoc_get(c, "reason"), reason)) {
			return;
		}
		strbuf_reset(&text);
		jdoc_format(jdoc_path(object, "status"), &text);
		poll(NULL, 0, 20);
	} while (clock_mono(clock_real()) < deadline);
	scene_fail(s, "%s: no %s=%s/%s, but %s", path, type, status, reason, text.p);
}
