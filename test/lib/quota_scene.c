#include "lib/quota_scene.h"

#include <stdio.h>

#include "lib/scene.h"

#define KINDS 7

const char *const quota_scene_args[] = { "--controllers=*,workload", NULL };

void quota_scene_start(struct scene *s, const char *manifests)
{
	static const char *const kinds[KINDS] = {
		"admissionchecks", "clusterqueues",           "cohorts",   "localqueues",
		"resourceflavors", "workloadpriorityclasses", "workloads",
	};
	static char loads[KINDS][512];
	static const char *args[KINDS + 1];
	struct scene_options opt = { .stack = { .no_webhook = true,
						.scheduler_args = quota_scene_args,
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
