#include "scheduler/multikueue/fleet/fleet_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "kube/recorder.h"
#include "obs/metric.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/fleet/fleet_holders.h"
#include "scheduler/multikueue/fleet/fleet_prices.h"
#include "scheduler/multikueue/fleet/fleet_view.h"
#include "scheduler/multikueue/records/fleet_workload.h"

#define GAUGES_INTERVAL_NS (10 * CLOCK_NS_PER_S)
#define MAX_LISTED 10 /* costs, or victims, in one event */
/* The number is read from an annotation that the owner of the Workload may write. */
#define MAX_VICTIMS 10000 /* that one attempt adds to metrics */

struct fleet_report {
	struct recorder *recorder;
	const struct orchestrate_options *options;
	struct metric_family *grants, *ends, *closed, *reopened, *held, *requests;
	struct metric_family *victims, *expected, *expected_cost;
	struct metric_cell *avoided, *waiting, *oldest, *to_grant, *to_admission, *each;
	int64_t gauges_at; /* wall ns */
};

static void register_victims(struct fleet_report *t, struct metric_registry *counters)
{
	static const char *const cluster[] = { "cluster", NULL };
	static const double numbers[] = { 0, 1, 2, 5, 10, 20, 50, 100, 1000 };

	t->victims = metric_register(counters, "headgate_preemption_victims_total",
				     "Workloads evicted during grants that have ended, as the "
				     "worker cluster reported",
				     METRIC_COUNTER, cluster);
	t->each =
		metric_cell(metric_register_histogram(counters, "headgate_preemption_grant_victims",
						      "Workloads that were evicted under one grant",
						      NULL, numbers, ARRAY_LEN(numbers)),
			    NULL);
	t->expected = metric_register(counters, "headgate_preemption_expected_victims_total",
				      "Victims predicted for grants of which the cost was computed",
				      METRIC_COUNTER, cluster);
	t->expected_cost =
		metric_register(counters, "headgate_preemption_expected_cost_pod_seconds_total",
				"Predicted cost on the chosen clusters, in pod-seconds, for grants "
				"of which the cost was computed",
				METRIC_COUNTER, cluster);
}

struct fleet_report *fleet_report_create(struct metric_registry *counters,
					 struct recorder *recorder,
					 const struct orchestrate_options *options)
{
	static const char *const cluster[] = { "cluster", NULL };
	static const char *const outcome[] = { "cluster", "outcome", NULL };
	static const char *const request[] = { "request", "outcome", NULL };
	static const double seconds[] = { 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1200, 3600 };
	struct fleet_report *t = xmalloc_zero(1, sizeof(*t));

	t->recorder = recorder;
	t->options = options;
	t->grants = metric_register(counters, "headgate_preemption_grants_total",
				    "Workloads that were allowed to preempt on a worker cluster",
				    METRIC_COUNTER, cluster);
	t->ends = metric_register(counters, "headgate_preemption_grants_ended_total",
				  "Grants that have ended, by outcome", METRIC_COUNTER, outcome);
	t->closed = metric_register(counters, "headgate_preemption_gates_closed_total",
				    "Preemption gates that were closed on a worker cluster",
				    METRIC_COUNTER, cluster);
	t->reopened = metric_register(
		counters, "headgate_preemption_gates_reopened_total",
		"Preemption gates opened again because something had closed them during the grant",
		METRIC_COUNTER, cluster);
	t->held = metric_register(counters, "headgate_preemption_grants",
				  "Workloads that may preempt on a worker cluster now",
				  METRIC_GAUGE, cluster);
	t->requests = metric_register(counters, "headgate_requests_total",
				      "Writes to the API server by how they ended", METRIC_COUNTER,
				      request);
	t->avoided = metric_cell(
		metric_register(counters, "headgate_preemptions_avoided_total",
				"Workloads that a cluster asked to preempt for, and that another "
				"cluster admitted without preemption",
				METRIC_COUNTER, NULL),
		NULL);
	t->waiting = metric_cell(metric_register(counters, "headgate_preemption_waiting_workloads",
						 "Workloads that wait to be allowed to preempt",
						 METRIC_GAUGE, NULL),
				 NULL);
	t->oldest = metric_cell(
		metric_register(counters, "headgate_preemption_oldest_wait_seconds",
				"How long the one that waits longest has waited to be allowed to "
				"preempt",
				METRIC_GAUGE, NULL),
		NULL);
	t->to_grant = metric_cell(
		metric_register_histogram(
			counters, "headgate_preemption_grant_wait_seconds",
			"Time from the first request of a cluster to preempt to the grant", NULL,
			seconds, ARRAY_LEN(seconds)),
		NULL);
	t->to_admission = metric_cell(
		metric_register_histogram(counters, "headgate_preemption_admission_wait_seconds",
					  "Time from the grant to the admission on that cluster",
					  NULL, seconds, ARRAY_LEN(seconds)),
		NULL);
	register_victims(t, counters);
	return t;
}

void fleet_report_destroy(struct fleet_report *t)
{
	free(t);
}

static void event(const struct fleet_report *t, const struct fleet_workload *w, bool warning,
		  const char *reason, const char *message)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct recorder_object about = { .api_version = KUEUE_API_VERSION,
					       .kind = "Workload",
					       .name = local->meta.name,
					       .namespace_ = local->meta.namespace_,
					       .uid = local->meta.uid };

	recorder_event(t->recorder, &about, warning, reason, message);
	log_info("preemption over clusters", LOG_STR("workload", w->key), LOG_STR("reason", reason),
		 LOG_STR("message", message));
}

static void add(struct metric_family *f, const char *cluster)
{
	const char *const values[] = { cluster };

	metric_cell_add(metric_cell(f, values), 1);
}

/* --- the token ---------------------------------------------------------------------------------*/

struct fleet_report_before fleet_report_before(const struct fleet_workload *w)
{
	const struct token *t = &w->token;
	const struct token_attempt *last = t->n == 0 ? NULL : &t->attempts[t->n - 1];

	return (struct fleet_report_before){
		.known = w->local != NULL,
		.epoch = t->epoch,
		.last_began = last == NULL ? REPLICA_NOT_SEEN : last->began,
		.last_ended = last == NULL ? REPLICA_NOT_SEEN : last->ended,
	};
}

/* The first attempt after the one that was the last. Their times are not in order where a clock was
 * set back. */
static size_t find_new(const struct token *t, const struct fleet_report_before *before)
{
	size_t i = t->n;

	while (i > 0 && (t->attempts[i - 1].began != before->last_began ||
			 t->attempts[i - 1].ended != before->last_ended)) {
		i--;
	}
	return i;
}

static const struct {
	bool warning;
	const char *why;
} ends[TOKEN_OUTCOME_COUNT_] = {
	[TOKEN_ADMITTED] = { false, "it was admitted there" },
	[TOKEN_TIMEOUT] = { true, "it was not admitted there in time" },
	[TOKEN_NO_REACTION] = { true, "the worker did not react to the open gate" },
	[TOKEN_CANNOT] = { true, "with the gate open it did not fit there after all" },
	[TOKEN_EVICTED] = { true, "the worker evicted it" },
	[TOKEN_GONE] = { true, "its replica there is gone" },
	[TOKEN_UNREACHABLE] = { true, "the cluster could not be reached until the time was over" },
	[TOKEN_REFUSED] = { true, "the API server there refused to open the gate" },
	[TOKEN_NEEDLESS] = { false, "it is not needed any more" },
};

static void tell_end(struct fleet_report *t, const struct fleet_workload *w,
		     const struct token_attempt *a)
{
	const char *const values[] = { a->cluster, token_outcome_name(a->outcome) };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int64_t lasted = clock_later(a->ended - a->began, 0);
	uint32_t victims = a->victims < MAX_VICTIMS ? a->victims : MAX_VICTIMS;

	metric_cell_add(metric_cell(t->ends, values), 1);
	metric_cell_add(metric_cell(t->victims, values), victims);
	metric_cell_observe(t->each, victims);
	if (a->outcome == TOKEN_ADMITTED) {
		metric_cell_observe(t->to_admission, (double)lasted / (double)CLOCK_NS_PER_S);
	}
	strbuf_printf(&text, "worker cluster %s may preempt for it no longer, after %lld s: %s",
		      a->cluster, (long long)(lasted / CLOCK_NS_PER_S), ends[a->outcome].why);
	if (a->victims > 0) {
		strbuf_printf(&text, "; %" PRIu32 " Workload%s evicted for it there", a->victims,
			      a->victims == 1 ? " was" : "s were");
	}
	event(t, w, ends[a->outcome].warning, "PreemptionGrantEnded", text.p);
}

static void report_expected(struct fleet_report *t, struct fleet_workload *w, struct strbuf *out)
{
	const char *const values[] = { w->token.holder };

	if (w->grant_cost != REPLICA_COST_UNKNOWN) {
		metric_cell_add(metric_cell(t->expected, values), (double)w->promised.n);
		metric_cell_add(metric_cell(t->expected_cost, values), (double)w->grant_cost);
	}
	w->grant_cost = REPLICA_COST_UNKNOWN;
	for (size_t i = 0; i < w->promised.n && i < MAX_LISTED; i++) {
		strbuf_printf(out, "%s%s", i == 0 ? "; expected victims: " : ", ",
			      w->promised.v[i]);
	}
	if (w->promised.n > MAX_LISTED) {
		strbuf_printf(out, " and %zu more", w->promised.n - MAX_LISTED);
	}
}

static void tell_grant(struct fleet_report *t, struct fleet_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	add(t->grants, w->token.holder);
	if (w->signal_at != REPLICA_NOT_SEEN) {
		metric_cell_observe(t->to_grant,
				    (double)clock_later(w->token.granted_at - w->signal_at, 0) /
					    (double)CLOCK_NS_PER_S);
	}
	strbuf_printf(&text, "worker cluster %s may preempt for it, for %lld s: %s",
		      w->token.holder, (long long)(t->options->timeout_ns / CLOCK_NS_PER_S),
		      w->grant_reason == NULL ? "its gate was open already" : w->grant_reason);
	report_expected(t, w, &text);
	event(t, w, false, "PreemptionGranted", text.p);
	free(w->grant_reason);
	w->grant_reason = NULL;
	w->signal_at = REPLICA_NOT_SEEN;
}

void fleet_report_change(struct fleet_report *t, struct fleet_workload *w,
			 const struct fleet_report_before *before)
{
	if (!before->known || w->local == NULL) {
		return;
	}
	for (size_t i = find_new(&w->token, before); i < w->token.n; i++) {
		tell_end(t, w, &w->token.attempts[i]);
	}
	if (w->token.epoch > before->epoch && w->token.phase == TOKEN_GRANTED) {
		tell_grant(t, w);
	}
}

void fleet_report_lost(struct fleet_report *t, const struct fleet_workload *w, const char *error)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "metadata.annotations[" TOKEN_ANNOTATION "]: %s; no cluster that can be "
		      "reached may preempt until the gates of all were seen",
		      error);
	event(t, w, true, "InvalidPreemptionToken", text.p);
}

void fleet_report_token_refused(struct fleet_report *t, const struct fleet_workload *w,
				const char *error)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (w->local != NULL) {
		strbuf_printf(&text, "metadata.annotations[" TOKEN_ANNOTATION "] not written: %s",
			      error);
		event(t, w, true, "PreemptionTokenRefused", text.p);
	}
}

/* --- the reason of a grant ---------------------------------------------------------------------*/

static void list_costs(const struct fleet_view *view, const struct fleet_prices *prices,
		       struct strbuf *out)
{
	size_t listed = 0;

	for (size_t i = 0; i < view->replicas.n && listed < MAX_LISTED; i++) {
		const struct replica *r = &view->replicas.v[i];
		const char *error = fleet_prices_error(prices, r->cluster);

		if (replica_class(r) != REPLICA_CANDIDATE) {
			continue;
		}
		strbuf_printf(out, "%s%s: ", listed++ == 0 ? " (" : ", ", r->cluster);
		if (r->cost == REPLICA_COST_CANNOT) {
			strbuf_add_c(out, "nothing to preempt");
		} else if (r->cost != REPLICA_COST_UNKNOWN) {
			strbuf_printf(out, "%lld", (long long)r->cost);
		} else {
			strbuf_printf(out, "not known%s%s", error == NULL ? "" : ", ",
				      error == NULL ? "" : error);
		}
	}
	strbuf_add_c(out, listed > 0 ? ")" : "");
}

static const struct replica *find_replica(const struct fleet_view *view, const char *cluster)
{
	for (size_t i = 0; i < view->replicas.n; i++) {
		if (str_streq(view->replicas.v[i].cluster, cluster)) {
			return &view->replicas.v[i];
		}
	}
	return NULL;
}

void fleet_report_grant(struct fleet_report *t, struct fleet_workload *w,
			const struct fleet_view *view, const struct fleet_prices *prices,
			const char *cluster)
{
	static const char *const why[] = {
		[ORCHESTRATE_COMPAT] = "it asked first",
		[ORCHESTRATE_ORDER] = "it is the first in the order of the MultiKueueConfig",
		[ORCHESTRATE_COST] = "preemption costs least there",
	};
	const struct replica *chosen = find_replica(view, cluster);
	bool costs = t->options->mode == ORCHESTRATE_COST, known;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	size_t candidates = 0;

	for (size_t i = 0; i < view->replicas.n; i++) {
		candidates += replica_class(&view->replicas.v[i]) == REPLICA_CANDIDATE;
	}
	free(w->grant_reason);
	w->grant_reason = NULL;
	w->grant_cost = REPLICA_COST_UNKNOWN;
	if (candidates == 0) {
		return;
	}
	known = chosen != NULL && chosen->cost != REPLICA_COST_UNKNOWN;
	w->grant_cost =
		known && chosen->cost != REPLICA_COST_CANNOT ? chosen->cost : REPLICA_COST_UNKNOWN;
	if (candidates == 1) {
		strbuf_printf(&text, "no other one of %zu asks for it", view->replicas.n);
	} else {
		strbuf_printf(&text, "of %zu that ask for it, %s", candidates,
			      why[costs && !known ? ORCHESTRATE_ORDER : t->options->mode]);
	}
	if (costs && candidates > 1) {
		list_costs(view, prices, &text);
	}
	w->grant_reason = strbuf_steal(&text, NULL);
}

/* --- gates -------------------------------------------------------------------------------------*/

/* The token says that this cluster may preempt, or that it might once. */
static bool was_granted(const struct token *t, const char *cluster)
{
	bool granted = str_streq(t->holder, cluster);

	for (size_t i = 0; i < t->n; i++) {
		granted |= str_streq(t->attempts[i].cluster, cluster);
	}
	return granted;
}

static void report_stray(struct fleet_report *t, const struct fleet_workload *w,
			 const struct fleet_replica *r)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (w->local != NULL && !was_granted(&w->token, r->cluster)) {
		strbuf_printf(&text,
			      "its preemption gate on worker cluster %s is open without a grant, "
			      "and is closed",
			      r->cluster);
		event(t, w, true, "PreemptionGateNotGranted", text.p);
	}
}

void fleet_report_gate_sent(struct fleet_report *t, const struct fleet_workload *w,
			    struct fleet_replica *r, bool open)
{
	if (!open) {
		report_stray(t, w, r);
		add(t->closed, r->cluster);
	} else if (r->opened_epoch == w->token.epoch) {
		add(t->reopened, r->cluster);
	} else {
		r->opened_epoch = w->token.epoch;
	}
	log_v(1, open ? "opens a preemption gate" : "closes a preemption gate",
	      LOG_STR("workload", w->key), LOG_STR("cluster", r->cluster));
}

void fleet_report_gate(struct fleet_report *t, const struct fleet_workload *w,
		       const struct fleet_replica *r, const struct sched_msg *m)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (m->outcome == SCHED_REJECTED && w->local != NULL) {
		strbuf_printf(&text, "its preemption gate on worker cluster %s was not %s: %s",
			      r->cluster, r->opens ? "opened" : "closed", m->text);
		event(t, w, true, "PreemptionGateRefused", text.p);
	}
}

void fleet_report_no_gates(struct fleet_report *t, const struct api_multikueue_cluster *object,
			   const char *cluster)
{
	static const char text[] =
		"the CustomResourceDefinition of Workloads on this cluster has no "
		"status.preemptionGates: its scheduler preempts without being asked";
	const struct recorder_object about = { .api_version = KUEUE_API_VERSION,
					       .kind = "MultiKueueCluster",
					       .name = cluster,
					       .uid = object == NULL ? NULL : object->meta.uid };

	recorder_event(t->recorder, &about, true, "PreemptionGatesNotServed", text);
	log_warn("worker cluster without preemption gates", LOG_STR("cluster", cluster),
		 LOG_STR("error", text));
}

void fleet_report_request(struct fleet_report *t, const struct sched_msg *m)
{
	const char *const values[] = { message_request_name(m->request),
				       message_outcome_name(m->outcome) };

	metric_cell_add(metric_cell(t->requests, values), 1);
}

/* --- waiting -----------------------------------------------------------------------------------*/

static void report_held_back(struct fleet_report *t, const struct fleet_workload *w,
			     struct fleet_replica *r)
{
	const char *gate = r->target == NULL ? NULL : r->target->other_gate;
	bool held_back = gate != NULL && replica_class(&r->seen.replica) == REPLICA_HELD_BACK;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (held_back && !r->held_back) {
		strbuf_printf(&text,
			      "on worker cluster %s it would preempt, but its preemption gate %s "
			      "is closed, which the orchestrator does not open",
			      r->cluster, gate);
		event(t, w, true, "PreemptionHeldBack", text.p);
	}
	r->held_back = held_back;
}

/* A preemption is avoided when a cluster asked for one, no grant followed, and the Workload runs
 * all the same. */
void fleet_report_view(struct fleet_report *t, struct fleet_workload *w,
		       const struct fleet_view *view, int64_t now)
{
	bool asks = false, admitted = false;

	for (size_t i = 0; i < view->replicas.n; i++) {
		enum replica_class c = replica_class(&view->replicas.v[i]);

		asks |= c == REPLICA_CANDIDATE;
		admitted |= c == REPLICA_ADMITTED;
	}
	for (size_t i = 0; i < view->of.n; i++) {
		report_held_back(t, w, view->of.v[i]);
	}
	if (admitted && w->signal_at != REPLICA_NOT_SEEN) {
		metric_cell_add(t->avoided, 1);
		w->signal_at = REPLICA_NOT_SEEN;
	} else if (!view->view.wanted || w->token.phase != TOKEN_FREE) {
		w->signal_at = REPLICA_NOT_SEEN;
	} else if (asks && !admitted && w->signal_at == REPLICA_NOT_SEEN) {
		w->signal_at = now;
	}
}

struct sums {
	int64_t now, oldest;
	size_t waiting;
};

static bool sum(struct str key UNUSED, void *value, void *ctx)
{
	const struct fleet_workload *w = value;
	struct sums *s = ctx;

	if (w->signal_at != REPLICA_NOT_SEEN) {
		s->waiting++;
		s->oldest = clock_later(s->oldest, s->now - w->signal_at);
	}
	return true;
}

static void count_holders(struct fleet_report *t, const struct fleet_holders *h)
{
	metric_begin(t->held);
	for (size_t i = 0; i < h->n; i++) {
		const char *const values[] = { h->v[i]->holding };
		size_t same = 0;

		for (size_t j = 0; j < h->n; j++) {
			same += h->v[j]->holding == h->v[i]->holding;
		}
		metric_cell_set(metric_cell(t->held, values), (double)same);
	}
	metric_end(t->held);
}

void fleet_report_gauges(struct fleet_report *t, const struct strmap *workloads,
			 const struct fleet_holders *holders, int64_t now)
{
	struct sums s = { now, 0, 0 };

	if (now >= t->gauges_at && now < t->gauges_at + GAUGES_INTERVAL_NS) {
		return;
	}
	t->gauges_at = now;
	count_holders(t, holders);
	strmap_each(workloads, sum, &s);
	metric_cell_set(t->waiting, (double)s.waiting);
	metric_cell_set(t->oldest, (double)s.oldest / (double)CLOCK_NS_PER_S);
}
