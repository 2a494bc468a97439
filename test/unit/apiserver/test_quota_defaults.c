/* The defaults of the chart's CRDs and those of kueue_defaults are the same. */
#include "lib/unit.h"

#include <string.h>

#include "api/kueue.h"
#include "api/kueue_defaults.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "lib/apiserver_fixture.h"

#define KUEUE "/apis/kueue.x-k8s.io/v1beta2"
#define CRDS "charts/headgate/files/crds/quota/"

union object {
	struct api_cluster_queue cluster_queue;
	struct api_cohort cohort;
	struct api_local_queue local_queue;
	struct api_workload workload;
};

static void cluster_queue(union object *o)
{
	kueue_defaults_cluster_queue(&o->cluster_queue);
}

static void cohort(union object *o)
{
	kueue_defaults_cohort(&o->cohort);
}

static void local_queue(union object *o)
{
	kueue_defaults_local_queue(&o->local_queue);
}

static void workload(union object *o)
{
	kueue_defaults_workload(&o->workload);
}

/* Without a fairSharing there is nowhere for the API server to write a weight, and it does not
 * default a priority. */
static const struct {
	const char *crd, *kind, *url, *body;
	const struct field_table *fields;
	void (*apply)(union object *o);
} rows[] = {
	{ CRDS "clusterqueues.yaml", "ClusterQueue", KUEUE "/clusterqueues",
	  "{\"spec\":{\"fairSharing\":{}}}", &kueue_cluster_queue_fields, cluster_queue },
	{ CRDS "cohorts.yaml", "Cohort", KUEUE "/cohorts", "{\"spec\":{\"fairSharing\":{}}}",
	  &kueue_cohort_fields, cohort },
	{ CRDS "localqueues.yaml", "LocalQueue", KUEUE "/namespaces/default/localqueues",
	  "{\"spec\":{\"fairSharing\":{}}}", &kueue_local_queue_fields, local_queue },
	{ CRDS "workloads.yaml", "Workload", KUEUE "/namespaces/default/workloads",
	  "{\"spec\":{\"priority\":0,\"podSets\":[{\"template\":{}}]}}", &kueue_workload_fields,
	  workload },
};

/* Every kind begins with these. */
struct head {
	const char *api_version, *kind;
	struct api_meta meta;
};

static void decode(const struct field_table *t, struct str text, union object *o,
		   struct arena *arena)
{
	struct err err = ERR_INIT;

	if (decode_text(t, text, o, arena, &err) < 0) {
		fail_msg("%s", err.text);
	}
}

static void test_same(void **state)
{
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct strbuf body CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct strbuf a CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct strbuf b CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct apiserver_fixture f;
		union object ours, theirs;

		apiserver_fixture_start(&f, NULL, NULL);
		apiserver_fixture_load(&f, rows[i].crd);
		strbuf_printf(&body,
			      "{\"apiVersion\":\"" KUEUE_API_VERSION "\",\"kind\":\"%s\","
			      "\"metadata\":{\"name\":\"x\"},%s",
			      rows[i].kind, rows[i].body + 1);
		assert_int_equal(apiserver_fixture_do(&f, HTTP_POST, rows[i].url,
						      APISERVER_FIXTURE_JSON, body.p),
				 201);
		decode(rows[i].fields, str_of(rows[i].body), &ours, arena);
		rows[i].apply(&ours);
		decode(rows[i].fields, strbuf_str(&f.resp.body), &theirs, arena);
		memcpy(&theirs, &ours, sizeof(struct head));
		encode_text(rows[i].fields, &ours, &a);
		encode_text(rows[i].fields, &theirs, &b);
		assert_string_equal(a.p, b.p);
		apiserver_fixture_stop(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
	};

	return cmocka_run_group_tests_name("quota_defaults", tests, NULL, NULL);
}
