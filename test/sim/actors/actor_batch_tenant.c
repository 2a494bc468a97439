/* The attacks of a tenant who may write the Jobs, pods and Workloads of one namespace, but no
 * status. */
#include <stdio.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/actors/actor_lists.h"
#include "sim/users/sim_quota_manifest.h"
#include "sim/world/sim_workload.h"

#define NAMESPACE "eve"
#define KUEUE "/apis/" KUEUE_API_VERSION
#define LOCALS KUEUE "/namespaces/" NAMESPACE "/localqueues"
#define WORKLOADS KUEUE "/namespaces/" NAMESPACE "/workloads"
#define JOBS "/apis/batch/v1/namespaces/" NAMESPACE "/jobs"
#define PODS "/api/v1/namespaces/" NAMESPACE "/pods"
#define JSON "application/json"
#define MOST 5 /* Jobs, or Workloads without one */
#define FINALIZER "evil.example.com/stay"

static const struct {
	enum sim_resource resource;
	const char *url;
} kinds[] = { { SIM_JOBS, JOBS }, { SIM_WORKLOADS, WORKLOADS }, { SIM_PODS, PODS } };

static bool is_own(const struct jdoc *object)
{
	return jdoc_is_str(jdoc_path(object, "metadata.namespace"), NAMESPACE);
}

static size_t count_own(const struct sim_actors *a, enum sim_resource r)
{
	size_t n = 0;

	for (size_t i = 0; i < sim_view_count(a->world->view, r); i++) {
		n += is_own(sim_view_at(a->world->view, r, i));
	}
	return n;
}

/* One of the tenant's, or with `own` false one of the others. NULL: there is none. */
static const struct jdoc *any_of(struct sim_actors *a, enum sim_resource r, bool own)
{
	size_t n = count_own(a, r), all = sim_view_count(a->world->view, r);

	n = own ? n : all - n;
	n = n == 0 ? 0 : 1 + sim_actors_below(a, (unsigned)n);
	for (size_t i = 0; n > 0; i++) {
		const struct jdoc *object = sim_view_at(a->world->view, r, i);

		n -= is_own(object) == own;
		if (n == 0) {
			return object;
		}
	}
	return NULL;
}

static const char *any_queue(struct sim_actors *a)
{
	static const char *const names[] = { "lq-a", "lq-b", "lq-c", "lq-d", "lq-solo" };

	return names[sim_actors_below(a, ARRAY_LEN(names))];
}

static bool patch(struct sim_actors *a, const char *url, const struct jdoc *object,
		  const char *body)
{
	return object != NULL &&
	       sim_actors_patch(a, url, jdoc_path_str(object, "metadata.name"), body);
}

/* The namespace and its LocalQueues, which an administrator made. */
static void settle_in(struct sim_actors *a)
{
	static const char *const queues[] = { "a", "b", "c", "d", "solo" };

	if (sim_view_get(a->world->view, SIM_LOCAL_QUEUES, NAMESPACE "/lq-a") != NULL) {
		return;
	}
	(void)sim_actors_send(a, HTTP_POST, "/api/v1/namespaces", JSON,
			      "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
			      "\"name\":\"" NAMESPACE "\",\"labels\":{\"team\":\"" NAMESPACE
			      "\"}}}");
	for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
		CLEANUP(xmalloc_freep)
		char *body = xmalloc_printf("{\"apiVersion\":\"" KUEUE_API_VERSION
					    "\",\"kind\":\"LocalQueue\",\"metadata\":{\"name\":"
					    "\"lq-%s\"},\"spec\":{\"clusterQueue\":\"%s\"}}",
					    queues[i], queues[i]);

		(void)sim_actors_send(a, HTTP_POST, LOCALS, JSON, body);
	}
}

/* UID of a Job of another tenant; its name in ret_name. */
static const char *others_job(struct sim_actors *a, const char **ret_name)
{
	const struct jdoc *job = any_of(a, SIM_JOBS, false);

	*ret_name = job == NULL ? "none" : jdoc_path_str(job, "metadata.name");
	return job == NULL ? "11111111-2222-3333-4444-555555555555" : sim_workload_uid(job);
}

/* A Job, by the name of another tenant's. */
static bool create_job(struct sim_actors *a)
{
	struct sim_quota_manifest_job j = { .queue = any_queue(a),
					    .class_ = sim_actors_below(a, 2) == 0 ? "high" : NULL,
					    .runs_for = sim_actors_below(a, 2) == 0 ? "5s" : "40s",
					    .milli_cpu = 500u << sim_actors_below(a, 2),
					    .parallelism = 1 + sim_actors_below(a, 2) };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;
	const char *name;

	settle_in(a);
	(void)others_job(a, &name);
	snprintf(j.name, sizeof(j.name), "%s", name);
	j.completions = j.parallelism;
	sim_quota_manifest_job(&j, &body);
	if (count_own(a, SIM_JOBS) >= MOST || jdoc_parse(strbuf_str(&body), &job, NULL) < 0) {
		return false;
	}
	jdoc_set_str(jdoc_ensure_object(job, "metadata"), "namespace", NAMESPACE);
	jdoc_format(job, &text);
	return sim_actors_send(a, HTTP_POST, JOBS, JSON, text.p) < 300;
}

/* A Workload that no Job stands behind, of another tenant's Job by its owner and its label. */
static bool create_workload(struct sim_actors *a)
{
	static const char *const requests[] = { "500m", "1", "1", "100" };
	const char *name, *uid = others_job(a, &name);
	CLEANUP(xmalloc_freep) char *body = NULL;

	settle_in(a);
	if (count_own(a, SIM_WORKLOADS) >= MOST) {
		return false;
	}
	body = xmalloc_printf(
		"{\"apiVersion\":\"" KUEUE_API_VERSION
		"\",\"kind\":\"Workload\",\"metadata\":{\"name\":\"job-%s-forged%u\",\"labels\":{"
		"\"" KUEUE_JOB_UID "\":\"%s\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\","
		"\"kind\":\"Job\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]},\"spec\":{"
		"\"queueName\":\"%s\",\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{"
		"\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\","
		"\"image\":\"x\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}]}}",
		name, a->next++, uid, name, uid, any_queue(a),
		requests[sim_actors_below(a, ARRAY_LEN(requests))]);
	return sim_actors_send(a, HTTP_POST, WORKLOADS, JSON, body) < 300;
}

/* Has another tenant's Job as the owner of a pod or a Workload. */
static bool forge_owner(struct sim_actors *a)
{
	size_t kind = 1 + sim_actors_below(a, 2);
	const char *name, *uid = others_job(a, &name);
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"labels\":{\"" KUEUE_JOB_UID
				    "\":\"%s\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\","
				    "\"kind\":\"Job\",\"name\":\"%s\",\"uid\":\"%s\","
				    "\"controller\":true}]}}",
				    uid, name, uid);

	return patch(a, kinds[kind].url, any_of(a, kinds[kind].resource, true), body);
}

/* An annotation that decoders stumble over, or a large one. */
static bool annotate(struct sim_actors *a)
{
	size_t kind = sim_actors_below(a, ARRAY_LEN(kinds));
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_add_c(&body, "{\"metadata\":{\"annotations\":{\"x\":\"");
	if (sim_actors_below(a, 2) == 0) {
		strbuf_add_c(&body, "\\u0000");
	} else {
		strbuf_printf(&body, "%050000u", 1);
	}
	strbuf_add_c(&body, "\"}}}");
	return patch(a, kinds[kind].url, any_of(a, kinds[kind].resource, true), body.p);
}

/* Labels and annotations that the scheduler has set, or reads. */
static bool edit_labels(struct sim_actors *a)
{
	static const char *const edits[] = {
		"{\"metadata\":{\"labels\":null}}",
		"{\"metadata\":{\"annotations\":null}}",
		"{\"metadata\":{\"labels\":{\"" KUEUE_QUEUE_NAME "\":\"lq-solo\"}}}",
		"{\"metadata\":{\"labels\":{\"" KUEUE_QUEUE_NAME "\":null}}}",
		"{\"metadata\":{\"labels\":{\"" KUEUE_PRIORITY_CLASS "\":\"higher\"}}}",
		"{\"metadata\":{\"labels\":{\"" KUEUE_PODSET "\":\"other\"}}}",
		"{\"metadata\":{\"annotations\":{\"" KUEUE_STOPPING "\":\"\"}}}",
	};
	size_t kind = sim_actors_below(a, ARRAY_LEN(kinds));

	return patch(a, kinds[kind].url, any_of(a, kinds[kind].resource, true),
		     edits[sim_actors_below(a, ARRAY_LEN(edits))]);
}

static bool edit_finalizers(struct sim_actors *a)
{
	size_t kind = 1 + sim_actors_below(a, 2);

	return patch(a, kinds[kind].url, any_of(a, kinds[kind].resource, true),
		     sim_actors_below(a, 2) == 0 ? "{\"metadata\":{\"finalizers\":null}}"
						 : "{\"metadata\":{\"finalizers\":[\"" FINALIZER
						   "\"]}}");
}

static bool edit_workload(struct sim_actors *a)
{
	static const char *const edits[] = {
		"{\"spec\":{\"active\":false}}",
		"{\"spec\":{\"active\":true}}",
		"{\"spec\":{\"priority\":1000000}}",
		"{\"spec\":{\"queueName\":\"lq-d\"}}",
		"{\"spec\":{\"maximumExecutionTimeSeconds\":1}}",
		"{\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":1000,\"template\":{\"spec\":{"
		"\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\",\"image\":\"x\","
		"\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]}}",
		"{\"metadata\":{\"ownerReferences\":null}}",
	};

	return patch(a, WORKLOADS, any_of(a, SIM_WORKLOADS, true),
		     edits[sim_actors_below(a, ARRAY_LEN(edits))]);
}

/* Starts and stops it without asking, or has it run more pods than were admitted. */
static bool edit_job(struct sim_actors *a)
{
	static const char *const edits[] = {
		"{\"spec\":{\"suspend\":true}}",  "{\"spec\":{\"suspend\":false}}",
		"{\"spec\":{\"suspend\":false}}", "{\"spec\":{\"parallelism\":9}}",
		"{\"spec\":{\"parallelism\":0}}",
	};

	return patch(a, JOBS, any_of(a, SIM_JOBS, true),
		     edits[sim_actors_below(a, ARRAY_LEN(edits))]);
}

static bool delete_one(struct sim_actors *a)
{
	size_t kind = sim_actors_below(a, ARRAY_LEN(kinds));
	const struct jdoc *object = any_of(a, kinds[kind].resource, true);

	return object != NULL &&
	       sim_actors_delete(a, kinds[kind].url, jdoc_path_str(object, "metadata.name"));
}

static void delete_own(struct sim_actors *a, enum sim_resource r, const char *url)
{
	struct VEC(char *) names = VEC_INIT;

	for (size_t i = 0; i < sim_view_count(a->world->view, r); i++) {
		const struct jdoc *object = sim_view_at(a->world->view, r, i);

		if (is_own(object)) {
			vec_push(&names, xmalloc_dup(jdoc_path_str(object, "metadata.name")));
		}
	}
	for (size_t i = 0; i < names.n; i++) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf(NAMESPACE "/%s", names.v[i]);

		if (sim_workload_has_finalizer(sim_view_get(a->world->view, r, key), FINALIZER)) {
			(void)sim_actors_patch(a, url, names.v[i],
					       "{\"metadata\":{\"finalizers\":null}}");
		}
		(void)sim_actors_delete(a, url, names.v[i]);
		free(names.v[i]);
	}
	vec_finish(&names);
}

/* The namespace is emptied; what others hold must have stayed right. */
static void leave(struct sim_actors *a)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		delete_own(a, kinds[i].resource, kinds[i].url);
	}
	delete_own(a, SIM_LOCAL_QUEUES, LOCALS);
}

static const struct sim_actors_act acts[] = {
	{ "batch tenant creates a Job", create_job, 6 },
	{ "batch tenant creates a Workload of another's Job", create_workload, 2 },
	{ "batch tenant has another's Job own an object", forge_owner, 2 },
	{ "batch tenant writes an annotation that is hard to read", annotate, 2 },
	{ "batch tenant edits labels and annotations", edit_labels, 3 },
	{ "batch tenant edits finalizers", edit_finalizers, 2 },
	{ "batch tenant edits a Workload", edit_workload, 3 },
	{ "batch tenant starts and stops a Job", edit_job, 3 },
	{ "batch tenant deletes an object", delete_one, 3 },
};

const struct sim_actors_actor actor_batch_tenant = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 25, .quota = true, .end = leave
};
