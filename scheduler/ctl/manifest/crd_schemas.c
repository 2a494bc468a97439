#include "scheduler/ctl/manifest/crd_schemas.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "scheduler/ctl/manifest/chart_file.h"

#define CRD_FILE(name, path) CHART_FILE(crd_schemas_##name, "crds/" path)

CRD_FILE(podgroups, "podgroups.yaml");
CRD_FILE(queues, "queues.yaml");
CRD_FILE(admissionchecks, "quota/admissionchecks.yaml");
CRD_FILE(clusterqueues, "quota/clusterqueues.yaml");
CRD_FILE(cohorts, "quota/cohorts.yaml");
CRD_FILE(localqueues, "quota/localqueues.yaml");
CRD_FILE(resourceflavors, "quota/resourceflavors.yaml");
CRD_FILE(workloadpriorityclasses, "quota/workloadpriorityclasses.yaml");
CRD_FILE(workloads, "quota/workloads.yaml");

#define ROW(name)                                                                                  \
	{                                                                                          \
		crd_schemas_##name, crd_schemas_##name##_end                                       \
	}
static const struct {
	const char *from, *to;
} files[] = {
	ROW(podgroups), ROW(queues),      ROW(admissionchecks), ROW(clusterqueues),
	ROW(cohorts),   ROW(localqueues), ROW(resourceflavors), ROW(workloadpriorityclasses),
	ROW(workloads),
};

struct crd_schemas {
	struct jdoc *crds[ARRAY_LEN(files)];
};

struct crd_schemas *crd_schemas_create(void)
{
	struct crd_schemas *s = xmalloc_zero(1, sizeof(*s));

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct str text = { files[i].from, (size_t)(files[i].to - files[i].from) };
		int r = yaml_parse(text, &s->crds[i], NULL);

		/* Our own files, which are part of the program. */
		assert(r == 0);
		(void)r;
	}
	return s;
}

void crd_schemas_destroy(struct crd_schemas *s)
{
	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(s->crds); i++) {
		jdoc_destroy(s->crds[i]);
	}
	free(s);
}

const struct jdoc *crd_schemas_find(const struct crd_schemas *s, const char *group,
				    const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(s->crds); i++) {
		if (str_streq(jdoc_path_str(s->crds[i], "spec.group"), group) &&
		    str_streq(jdoc_path_str(s->crds[i], "spec.names.kind"), kind)) {
			return s->crds[i];
		}
	}
	return NULL;
}

static const struct jdoc *first_version(const struct jdoc *crd)
{
	return jdoc_first(jdoc_path(crd, "spec.versions"));
}

const struct jdoc *crd_schemas_version(const struct jdoc *crd, struct str version)
{
	for (const struct jdoc *v = first_version(crd); v != NULL; v = jdoc_next(v)) {
		/* A version that is stored but not served cannot be written. */
		if (jdoc_bool(jdoc_get(v, "served"), false) &&
		    str_eq_c(version, jdoc_str_or(jdoc_get(v, "name"), ""))) {
			return jdoc_path(v, "schema.openAPIV3Schema");
		}
	}
	return NULL;
}

void crd_schemas_versions(const struct jdoc *crd, struct strbuf *out)
{
	bool any = false;

	for (const struct jdoc *v = first_version(crd); v != NULL; v = jdoc_next(v)) {
		if (jdoc_bool(jdoc_get(v, "served"), false)) {
			strbuf_printf(out, "%s%s", any ? ", " : "",
				      jdoc_str_or(jdoc_get(v, "name"), ""));
			any = true;
		}
	}
}
