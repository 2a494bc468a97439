#include "sim/users/sim_quota_manifest.h"

#include "api/kueue/kueue_keys.h"
#include "base/strbuf.h"
#include "sim/controllers/sim_jobs.h"

static const char *default_to(const char *text, const char *other)
{
	return text == NULL ? other : text;
}

static void add_resource(const struct sim_quota_manifest_queue *q, const char *name,
			 const char *unit, unsigned n, struct strbuf *out)
{
	strbuf_printf(out, "{\"name\":\"%s\",\"nominalQuota\":\"%u%s\"", name, n, unit);
	if (q->borrow >= 0 && q->cohort != NULL) {
		strbuf_printf(out, ",\"borrowingLimit\":\"%d%s\"", q->borrow, unit);
	}
	if (q->lend >= 0 && q->cohort != NULL) {
		strbuf_printf(out, ",\"lendingLimit\":\"%d%s\"",
			      (unsigned)q->lend < n ? q->lend : (int)n, unit);
	}
	strbuf_add_c(out, "}");
}

void sim_quota_manifest_groups(const struct sim_quota_manifest_queue *q, struct strbuf *out)
{
	strbuf_add_c(out, "[{\"coveredResources\":[\"cpu\",\"memory\"],\"flavors\":[");
	for (unsigned i = 0; i < q->nflavors; i++) {
		strbuf_printf(out, "%s{\"name\":\"%s\",\"resources\":[", i == 0 ? "" : ",",
			      sim_tree_flavors[i]);
		add_resource(q, "cpu", "", q->cpu[i], out);
		strbuf_add_c(out, ",");
		add_resource(q, "memory", "Gi", q->cpu[i], out);
		strbuf_add_c(out, "]}");
	}
	strbuf_add_c(out, "]}]");
}

void sim_quota_manifest_queue(const struct sim_quota_manifest_queue *q, struct strbuf *out)
{
	strbuf_printf(out,
		      "{\"apiVersion\":\"" KUEUE_API_VERSION
		      "\",\"kind\":\"ClusterQueue\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
		      "\"namespaceSelector\":{},\"queueingStrategy\":\"%s\"",
		      q->name, q->strict ? KUEUE_STRICT_FIFO : KUEUE_BEST_EFFORT_FIFO);
	if (q->cohort != NULL) {
		strbuf_printf(out, ",\"cohortName\":\"%s\"", q->cohort);
	}
	strbuf_printf(out,
		      ",\"preemption\":{\"withinClusterQueue\":\"%s\",\"reclaimWithinCohort\":"
		      "\"%s\",\"borrowWithinCohort\":{\"policy\":\"%s\"}}",
		      default_to(q->within, KUEUE_NEVER), default_to(q->reclaim, KUEUE_NEVER),
		      default_to(q->borrow_within, KUEUE_NEVER));
	strbuf_printf(out,
		      ",\"flavorFungibility\":{\"whenCanBorrow\":\"%s\",\"whenCanPreempt\":\"%s\"}",
		      default_to(q->when_borrow, KUEUE_MAY_STOP_SEARCH),
		      default_to(q->when_preempt, KUEUE_TRY_NEXT_FLAVOR));
	if (q->checked) {
		strbuf_add_c(out, ",\"admissionChecksStrategy\":{\"admissionChecks\":[{\"name\":"
				  "\"provision\"}]}");
	}
	strbuf_add_c(out, ",\"resourceGroups\":");
	sim_quota_manifest_groups(q, out);
	strbuf_add_c(out, "}}");
}

static void add_meta(const struct sim_quota_manifest_job *j, struct strbuf *out)
{
	strbuf_printf(out,
		      "\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"labels\":{"
		      "\"" KUEUE_QUEUE_NAME "\":\"%s\"",
		      j->name, j->queue);
	if (j->class_ != NULL) {
		strbuf_printf(out, ",\"" KUEUE_PRIORITY_CLASS "\":\"%s\"", j->class_);
	}
	if (j->max_seconds > 0) {
		strbuf_printf(out, ",\"" KUEUE_MAX_EXEC_TIME "\":\"%u\"", j->max_seconds);
	}
	strbuf_add_c(out, "},\"annotations\":{\"sim.example.com/job\":\"\"");
	if (j->min_parallelism > 0) {
		strbuf_printf(out, ",\"" KUEUE_JOB_MIN_PARALLELISM "\":\"%u\"", j->min_parallelism);
	}
	if (j->fails) {
		strbuf_add_c(out, ",\"" SIM_JOBS_FAILS "\":\"true\"");
	}
	strbuf_add_c(out, "}}");
}

static void add_pod_spec(const struct sim_quota_manifest_job *j, struct strbuf *out)
{
	strbuf_printf(out,
		      "\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"main\","
		      "\"image\":\"registry.example.com/pause\",\"resources\":{\"requests\":{"
		      "\"cpu\":\"%um\"",
		      j->milli_cpu);
	if (j->mib > 0) {
		strbuf_printf(out, ",\"memory\":\"%uMi\"", j->mib);
	}
	strbuf_add_c(out, "}}}]");
	if (j->flavor != NULL) {
		strbuf_printf(out, ",\"nodeSelector\":{\"type\":\"%s\"}", j->flavor);
	}
	if (j->scheduler != NULL) {
		strbuf_printf(out, ",\"schedulerName\":\"%s\"", j->scheduler);
	}
	strbuf_add_c(out, "}");
}

void sim_quota_manifest_job(const struct sim_quota_manifest_job *j, struct strbuf *out)
{
	strbuf_add_c(out, "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",");
	add_meta(j, out);
	strbuf_printf(out, ",\"spec\":{\"parallelism\":%u,\"completions\":%u,\"template\":{",
		      j->parallelism, j->completions);
	strbuf_add_c(out, "\"metadata\":{\"annotations\":{\"sim.example.com/pod\":\"\"");
	if (j->runs_for != NULL) {
		strbuf_printf(out, ",\"demo.headgate.io/runs-for\":\"%s\"", j->runs_for);
	}
	strbuf_add_c(out, "}},");
	add_pod_spec(j, out);
	strbuf_add_c(out, "}}}");
}
