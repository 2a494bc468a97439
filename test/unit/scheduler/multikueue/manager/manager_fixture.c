#include "unit/scheduler/multikueue/manager/manager_fixture.h"

#include "lib/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"

#define TEXT_MAX 8192

static int64_t seconds(const char *text)
{
	int64_t n = 0;

	assert_true(text[0] == '\0' || strcmp(text, "none") == 0 || str_to_i64(str_of(text), &n));
	return n * CLOCK_NS_PER_S;
}

/* --- JSON from words ---------------------------------------------------------------------------*/

/* The parts of an object that words add to. */
struct parts {
	char meta[512], spec[512], conditions[1024], checks[1024], status[1024], podset[64];
	char job_meta[256], job_spec[256], job_conditions[512], job_status[256];
	char topology[256];
};

/* Appends to one of the parts. */
#define ADD(part, ...)                                                                             \
	do {                                                                                       \
		size_t used_ = strlen(part);                                                       \
		int r_ = snprintf((part) + used_, sizeof(part) - used_, __VA_ARGS__);              \
		assert_true(r_ >= 0 && (size_t)r_ < sizeof(part) - used_);                         \
	} while (false)

static void condition(struct parts *p, const char *type, const char *status, const char *reason)
{
	ADD(p->conditions, "%s{'type':'%s','status':'%s','reason':'%s','message':'m'}",
	    p->conditions[0] == '\0' ? "" : ",", type, status, reason);
}

/* QuotaReserved of the local Workload; ago: seconds, or "none". */
static void quota(struct parts *p, const char *ago)
{
	char time[CLOCK_RFC3339_MAX];

	clock_format_time(MANAGER_FIXTURE_NOW - seconds(ago), time);
	condition(p, "QuotaReserved", "True", "QuotaReserved");
	if (strcmp(ago, "none") != 0) {
		p->conditions[strlen(p->conditions) - 1] = '\0';
		ADD(p->conditions, ",'lastTransitionTime':'%s'}", time);
	}
}

static void job_condition(struct parts *p, const char *type)
{
	ADD(p->job_conditions,
	    "%s{'type':'%s','status':'True','lastTransitionTime':'2026-01-01T00:00:00Z'}",
	    p->job_conditions[0] == '\0' ? "" : ",", type);
}

static void check(struct parts *p, const char *name, const char *state, const char *message,
		  const char *rest)
{
	ADD(p->checks, "%s{'name':'%s','state':'%s','message':'%s'%s}",
	    p->checks[0] == '\0' ? "" : ",", name, state, message, rest);
}

static void make_workload(const struct parts *p, bool with_checks, struct api_workload *ret)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text),
		 "{'metadata':{'name':'wl','namespace':'ns','uid':'u'%s},"
		 "'spec':{'queueName':'q','podSets':[{'name':'%s','count':1}]%s},"
		 "'status':{'conditions':[%s],'admission':{'clusterQueue':'cq',"
		 "'podSetAssignments':[{'name':'main'%s}]}%s%s%s%s}}",
		 p->meta, p->podset[0] == '\0' ? "main" : p->podset, p->spec, p->conditions,
		 p->topology, with_checks ? ",'admissionChecks':[" : "",
		 with_checks ? p->checks : "", with_checks ? "]" : "", p->status);
	decode_fixture(&kueue_workload_fields, text, ret);
}

static void job_label(struct parts *p, const char *class)
{
	ADD(p->job_meta, ",'labels':{'kueue.x-k8s.io/priority-class':'%s'}", class);
}

static void make_job(const struct parts *p, const char *managed_by, const char *meta,
		     struct api_job *ret)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text),
		 "{'metadata':{'name':'job','namespace':'ns',%s%s},'spec':{'parallelism':1%s%s},"
		 "'status':{'conditions':[%s]%s}}",
		 meta, p->job_meta, p->job_spec, managed_by, p->job_conditions, p->job_status);
	decode_fixture(&batch_job_fields, text, ret);
}

/* --- words -------------------------------------------------------------------------------------*/

/* One word: "name" or "name=value". */
struct word {
	char name[32], value[160];
};

static bool next_word(const char **rest, struct word *ret)
{
	size_t n = strcspn(*rest, " ");
	const char *equals = memchr(*rest, '=', n);
	size_t name = equals == NULL ? n : (size_t)(equals - *rest);

	if (n == 0) {
		return false;
	}
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)name, *rest);
	snprintf(ret->value, sizeof(ret->value), "%.*s", equals == NULL ? 0 : (int)(n - name - 1),
		 equals == NULL ? "" : equals + 1);
	*rest += n;
	*rest += strspn(*rest, " ");
	return true;
}

static bool is(const struct word *w, const char *name)
{
	return strcmp(w->name, name) == 0;
}

static void unknown(const struct word *w)
{
	print_error("unknown word: %s\n", w->name);
	fail();
}

/* Words of either side about the Workload. */
static bool common_word(const struct word *w, struct parts *p)
{
	if (is(w, "finished")) {
		condition(p, "Finished", "True", w->value[0] == '\0' ? "Succeeded" : w->value);
	} else if (is(w, "evicted")) {
		condition(p, "Evicted", "True", "Preempted");
	} else if (is(w, "inactive")) {
		ADD(p->spec, ",'active':false");
	} else if (is(w, "deleting")) {
		ADD(p->meta, ",'deletionTimestamp':'2026-01-01T00:00:00Z'");
	} else if (is(w, "podset")) {
		ADD(p->podset, "%s", w->value);
	} else if (is(w, "priority")) {
		ADD(p->spec, ",'priority':%s", w->value);
	} else if (is(w, "class")) {
		ADD(p->spec, ",'priorityClassRef':{'name':'%s'}", w->value);
	} else if (is(w, "gate")) {
		ADD(p->spec, ",'preemptionGates':[{'name':'g'}]");
	} else {
		return false;
	}
	return true;
}

struct local_words { /* those that need others */
	struct parts p;
	char state[32], message[160], check_rest[96], owner[160], notes[256];
	bool nojob, otherjob, unmanaged, gone;
};

static void list_of(const char *names, struct parts *p)
{
	ADD(p->status, ",'nominatedClusterNames':['");
	for (; *names != '\0'; names++) {
		if (*names == ',') {
			ADD(p->status, "','");
		} else {
			ADD(p->status, "%c", *names);
		}
	}
	ADD(p->status, "']");
}

static void check_since(const struct word *w, struct local_words *l)
{
	char time[CLOCK_RFC3339_MAX];

	if (w->value[0] != '\0') {
		clock_format_time(MANAGER_FIXTURE_NOW - seconds(w->value), time);
		ADD(l->check_rest, ",'lastTransitionTime':'%s'", time);
	}
}

static bool check_word(const struct word *w, struct local_words *l)
{
	static const char *const states[][2] = { { "pending", "Pending" },
						 { "ready", "Ready" },
						 { "retry", "Retry" },
						 { "rejected", "Rejected" } };

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		if (is(w, states[i][0])) {
			ADD(l->state, "%s", states[i][1]);
			check_since(w, l);
			return true;
		}
	}
	if (is(w, "message")) {
		for (const char *c = w->value; *c != '\0'; c++) {
			ADD(l->message, "%c", *c == '_' ? ' ' : *c);
		}
	} else if (is(w, "retries")) {
		ADD(l->check_rest, ",'retryCount':%s", w->value);
	} else if (is(w, "other")) {
		check(&l->p, "other", w->value, "", "");
	} else if (is(w, "cluster")) {
		ADD(l->p.status, ",'clusterName':'%s'", w->value);
	} else if (is(w, "nominated")) {
		list_of(w->value, &l->p);
	} else {
		return false;
	}
	return true;
}

static bool owner_word(const struct word *w, struct local_words *l)
{
	if (is(w, "owner")) {
		ADD(l->owner, "%s", w->value);
	} else if (is(w, "nojob")) {
		l->nojob = true;
	} else if (is(w, "otherjob")) {
		l->otherjob = true;
	} else if (is(w, "unmanaged")) {
		l->unmanaged = true;
	} else if (is(w, "suspended")) {
		ADD(l->p.job_spec, ",'suspend':true");
	} else if (is(w, "active")) {
		ADD(l->p.job_status, ",'active':%s", w->value);
	} else if (is(w, "done")) {
		job_condition(&l->p, "Complete");
	} else if (is(w, "sure")) {
		job_condition(&l->p, "SuccessCriteriaMet");
	} else if (is(w, "label")) {
		job_label(&l->p, w->value);
	} else {
		return false;
	}
	return true;
}

static void local_word(const struct word *w, struct local_words *l)
{
	if (common_word(w, &l->p) || check_word(w, l) || owner_word(w, l)) {
		return;
	}
	if (is(w, "gone")) {
		l->gone = true;
	} else if (is(w, "quota")) {
		quota(&l->p, w->value);
	} else if (is(w, "delayed")) {
		ADD(l->p.topology, ",'delayedTopologyRequest':'Pending'");
	} else if (is(w, "elastic")) {
		ADD(l->notes, "%s'kueue.x-k8s.io/elastic-job':'true'",
		    l->notes[0] == '\0' ? "" : ",");
	} else if (is(w, "replaces")) {
		ADD(l->notes, "%s'kueue.x-k8s.io/workload-slice-replacement-for':'old'",
		    l->notes[0] == '\0' ? "" : ",");
	} else {
		unknown(w);
	}
}

/* owner: "Kind" of batch/v1, "version/Kind", or "none"; "secondary:" before it: no controller. */
static void add_owner(struct local_words *l)
{
	const char *owner = l->owner[0] == '\0' ? "Job" : l->owner;
	bool secondary = strncmp(owner, "secondary:", 10) == 0;
	const char *kind = secondary ? owner + 10 : owner;

	if (strcmp(owner, "none") == 0) {
		return;
	}
	ADD(l->p.meta,
	    ",'ownerReferences':[{'apiVersion':'%s','kind':'%s','name':'job','uid':'j'%s}]",
	    strcmp(kind, "Pod") == 0 ? "v1" : "batch/v1", kind,
	    secondary ? "" : ",'controller':true");
}

static void make_local(struct manager_fixture *f, const char *words)
{
	struct local_words l = { 0 };
	struct word w;

	while (next_word(&words, &w)) {
		local_word(&w, &l);
	}
	add_owner(&l);
	if (l.notes[0] != '\0') {
		ADD(l.p.meta, ",'annotations':{%s}", l.notes);
	}
	if (l.state[0] != '\0') {
		check(&l.p, "mk", l.state, l.message, l.check_rest);
	}
	make_workload(&l.p, true, &f->local);
	make_job(&l.p, l.unmanaged ? "" : ",'managedBy':'kueue.x-k8s.io/multikueue'",
		 l.otherjob ? "'uid':'j2'" : "'uid':'j'", &f->job);
	f->view.local = l.gone ? NULL : &f->local;
	f->local_job = (struct carried_object){ .object = &f->job, .meta = &f->job.meta };
	f->view.jobs = &f->local_job;
	f->view.njobs = l.nojob || l.gone ? 0 : 1;
	f->view.kind = f->local.meta.owners.n > 0 && str_streq(f->local.meta.owners.v->kind, "Job")
			       ? carried_row(CARRIED_JOBS)
			       : NULL;
	f->view.check = l.state[0] == '\0' ? NULL : "mk";
}

/* --- clusters ----------------------------------------------------------------------------------*/

struct cluster_words {
	struct parts p;
	bool replica, job, job_deleting;
};

static bool replica_word(const struct word *w, struct parts *p)
{
	static const char *const reasons[][2] = { { "gated", "AdmissionGated" },
						  { "declined", "WaitingForQuota" },
						  { "preempting",
						    "WaitingForPreemptedWorkloads" } };

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		if (is(w, reasons[i][0])) {
			condition(p, "QuotaReserved", "False", reasons[i][1]);
			return true;
		}
	}
	if (is(w, "reserved")) {
		condition(p, "QuotaReserved", "True", "QuotaReserved");
	} else if (is(w, "admitted")) {
		condition(p, "QuotaReserved", "True", "QuotaReserved");
		condition(p, "Admitted", "True", "Admitted");
	} else if (is(w, "deactivated")) {
		condition(p, "DeactivationTarget", "True", "EvictedOnManagerCluster");
	} else if (is(w, "finalizer")) {
		ADD(p->meta, ",'finalizers':['" KUEUE_FINALIZER "']");
	} else if (is(w, "topology")) {
		ADD(p->topology, ",'topologyAssignment':{'levels':[]}");
	} else {
		return common_word(w, p) || is(w, "replica");
	}
	return true;
}

static bool job_word(const struct word *w, struct cluster_words *c)
{
	if (is(w, "jobsuspended")) {
		ADD(c->p.job_spec, ",'suspend':true");
	} else if (is(w, "jobactive")) {
		ADD(c->p.job_status, ",'active':%s", w->value);
	} else if (is(w, "jobdone")) {
		job_condition(&c->p, "Complete");
	} else if (is(w, "jobdeleting")) {
		c->job_deleting = true;
	} else if (is(w, "joblabel")) {
		job_label(&c->p, w->value);
	} else if (!is(w, "job")) {
		return false;
	}
	c->job = true;
	return true;
}

static void cluster_word(const struct word *w, struct manager_cluster *c,
			 struct carried_object *job, struct cluster_words *cw)
{
	if (is(w, "lost")) {
		c->link = MANAGER_LOST;
		c->lost_at = MANAGER_FIXTURE_NOW - seconds(w->value);
	} else if (is(w, "never")) {
		c->link = MANAGER_NEVER;
		c->lost_at = w->value[0] == '\0' ? MANAGER_NOT_KNOWN
						 : MANAGER_FIXTURE_NOW - seconds(w->value);
	} else if (is(w, "unconfigured")) {
		c->configured = false;
	} else if (is(w, "taken")) {
		c->replica_taken = true;
	} else if (is(w, "jobtaken")) {
		job->taken = true;
	} else if (is(w, "jobsent")) {
		job->sent = true;
	} else if (job_word(w, cw)) {
		return;
	} else if (replica_word(w, &cw->p)) {
		cw->replica = true;
	} else {
		unknown(w);
	}
}

static void make_cluster(struct manager_fixture *f, size_t i, const char *words)
{
	static const char *const names[] = { "w1", "w2", "w3", "w4", "w5" };
	struct manager_cluster *c = &f->clusters[i];
	struct carried_object *job = &f->objects[i];
	struct cluster_words cw = { 0 };
	struct word w;

	*c = (struct manager_cluster){ .name = names[i],
				       .configured = true,
				       .link = MANAGER_UP,
				       .lost_at = MANAGER_NOT_KNOWN,
				       .jobs = job,
				       .njobs = 1 };
	while (next_word(&words, &w)) {
		cluster_word(&w, c, job, &cw);
	}
	make_workload(&cw.p, false, &f->replicas[i]);
	make_job(&cw.p, "",
		 cw.job_deleting ? "'uid':'r','deletionTimestamp':'2026-01-01T00:00:00Z'"
				 : "'uid':'r'",
		 &f->jobs[i]);
	c->replica = cw.replica ? &f->replicas[i] : NULL;
	job->object = cw.job ? &f->jobs[i] : NULL;
	job->meta = cw.job ? &f->jobs[i].meta : NULL;
}

void manager_fixture_make(struct manager_fixture *f, const char *local, const char *const *clusters)
{
	*f = (struct manager_fixture){ .view = { .has_config = true } };
	manager_defaults(&f->opt);
	f->opt.worker_lost_ns = 300 * CLOCK_NS_PER_S;
	f->view.opt = &f->opt;
	f->view.clusters = f->clusters;
	f->view.now = MANAGER_FIXTURE_NOW;
	f->view.began = MANAGER_FIXTURE_NOW - 60 * CLOCK_NS_PER_S;
	f->view.round_at = MANAGER_NOT_KNOWN;
	make_local(f, local);
	while (f->view.n < MANAGER_FIXTURE_CLUSTERS && clusters[f->view.n] != NULL) {
		make_cluster(f, f->view.n, clusters[f->view.n]);
		f->view.n++;
	}
}

/* --- the step ----------------------------------------------------------------------------------*/

static void add_action(const struct manager_fixture *f, const struct manager_action *a,
		       struct strbuf *out)
{
	strbuf_printf(out, "%s%s", out->len == 0 ? "" : "; ", manager_act_name(a->act));
	if (a->cluster != SIZE_MAX) {
		strbuf_printf(out, " %s", f->clusters[a->cluster].name);
	}
	for (size_t i = 0; i < a->names.n; i++) {
		strbuf_printf(out, " %s", a->names.v[i]);
	}
	if (a->act == MANAGER_SET_CHECK) {
		strbuf_printf(out, " %s '%s'", a->state, a->message);
	}
	if (a->act == MANAGER_FINISH) {
		strbuf_printf(out, " %s '%s'", a->reason, a->message);
	}
	if (a->requeue_after > 0) {
		strbuf_printf(out, " after %" PRId32, a->requeue_after);
	}
	if (a->event != NULL) {
		strbuf_add_c(out, a->warning ? " (Warning)" : " (Normal)");
	}
}

void manager_fixture_compare(const struct api_workload *local, struct manager_cluster *c, size_t n)
{
	CLEANUP(strbuf_finish) struct strbuf spec = STRBUF_INIT;

	spec_sync_text(local, &spec);
	for (size_t i = 0; i < n; i++) {
		if (c[i].replica != NULL) {
			c[i].sync = spec_sync_of(local, &spec, c[i].replica);
		}
	}
}

void manager_fixture_step(const struct manager_fixture *f, struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct manager_cluster clusters[MANAGER_FIXTURE_CLUSTERS];
	struct manager_view view = f->view;
	struct manager_step step;

	memcpy(clusters, f->clusters, sizeof(clusters));
	manager_fixture_compare(&f->local, clusters, view.n);
	view.clusters = clusters;
	manager_next(&view, arena, &step);
	for (size_t i = 0; i < step.n; i++) {
		add_action(f, &step.v[i], out);
	}
	if (step.at != CLOCK_NEVER) {
		strbuf_printf(out, "%sat +%" PRId64, out->len == 0 ? "" : "; ",
			      (step.at - f->view.now) / CLOCK_NS_PER_S);
	}
}

void manager_fixture_expect(const struct manager_fixture *f, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	manager_fixture_step(f, &text);
	assert_string_equal(text.p, want);
}

void manager_fixture_run(const struct manager_fixture_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct manager_fixture f;

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, rows[i].clusters);
		manager_fixture_expect(&f, rows[i].want);
	}
}
