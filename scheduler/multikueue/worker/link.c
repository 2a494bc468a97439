#include "scheduler/multikueue/worker/link.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/kinds.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/reflector/reflector.h"
#include "kube/reflector/reflector_report.h"
#include "obs/metric.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/connection.h"
#include "scheduler/multikueue/worker/channel.h"
#include "scheduler/multikueue/worker/custom_lists.h"

#define FAILED_REASON "ClientConnectionFailed" /* of the condition Active, as Kueue has it */
/* A connection is lost when its watches go on failing for so long. A watch that is cut is resumed
 * within a second; an API server that restarts behind a load balancer takes a few. With the pauses
 * of the reflector it is the fourth failure, after some six seconds. */
#define LOST_AFTER_NS (4 * CLOCK_NS_PER_S)
/* A watch that is cut so long after the last time was open in between, although nothing came: the
 * first retry follows within a second, and takes ten to connect. */
#define RESUMED_AFTER_NS (20 * CLOCK_NS_PER_S)
/* Connections that are being closed at the same time. */
#define MAX_CLOSING 4
/* How often is looked whether they are. */
#define CLOSING_NS CLOCK_NS_PER_S
#define MAX_TEXT 200 /* kept of the answer of a server, with the NUL */

struct list_state {
	bool synced, refused;
	enum reflector_reason reason; /* of the last failure; NONE: lists and watches work */
	int64_t failing_since;        /* mono ns; CLOCK_NEVER: they work */
	int64_t failed_at;            /* the last time */
	char text[MAX_TEXT];          /* of the last failure */
};

struct link {
	struct link_options opt;
	char *cluster, *origin;
	struct connection connection;
	struct kubeconfig *cfg;  /* NULL: UNCONFIGURED */
	struct channel *channel; /* CONNECTING or UP; else NULL */
	struct list_state lists[CHANNEL_LIST_COUNT_];
	struct custom_lists customs;
	unsigned gate_fields;
	bool has_gate_fields; /* the question was answered */
	bool lacks_gates;     /* and the answer was that it serves none */
	bool was_up;
	struct channel *closing[MAX_CLOSING];
	struct metric_family *connected, *attempts, *losses, *errors;
};

static int64_t mono_of(const struct link *l)
{
	return clock_mono(l->opt.clock);
}

static void count(struct link *l, struct metric_family *f)
{
	const char *values[] = { l->cluster, NULL };

	metric_cell_add(metric_cell(f, values), 1);
}

static void set_connected(struct link *l)
{
	const char *values[] = { l->cluster, NULL };

	metric_cell_set(metric_cell(l->connected, values), link_is_up(l) ? 1 : 0);
}

static bool happen(struct link *l, enum connection_event e, const char *reason, const char *message)
{
	bool r = connection_event(&l->connection, e, reason, message, mono_of(l),
				  clock_wall(l->opt.clock));

	l->was_up |= link_is_up(l);
	set_connected(l);
	return r;
}

/* --- closing -----------------------------------------------------------------------------------*/

/* Frees those that are closed; returns how many are not. */
static unsigned reap(struct link *l)
{
	unsigned n = 0;

	for (int i = 0; i < MAX_CLOSING; i++) {
		if (l->closing[i] != NULL && channel_is_closed(l->closing[i])) {
			channel_destroy(l->closing[i]);
			l->closing[i] = NULL;
		}
		n += l->closing[i] != NULL;
	}
	return n;
}

static void close_channel(struct link *l)
{
	int i = 0;

	if (l->channel == NULL) {
		return;
	}
	/* A connection is begun only when there is a place to close it. */
	while (l->closing[i] != NULL) {
		i++;
		assert(i < MAX_CLOSING);
	}
	l->closing[i] = l->channel;
	l->channel = NULL;
	channel_close(l->closing[i]);
	(void)reap(l);
}

/* FAILED or LOST, by the state. */
static void give_up(struct link *l, const char *message)
{
	bool was_up = link_is_up(l);

	close_channel(l);
	happen(l, was_up ? CONNECTION_LOST : CONNECTION_FAILED, FAILED_REASON, message);
	if (was_up) {
		count(l, l->losses);
	}
	log_warn(was_up ? "worker cluster lost" : "worker cluster not connected",
		 LOG_STR("cluster", l->cluster), LOG_STR("error", message),
		 LOG_INT("attempts", l->connection.failures));
}

/* --- connecting --------------------------------------------------------------------------------*/

static void start(struct link *l)
{
	struct err err = ERR_INIT;

	happen(l, CONNECTION_STARTED, NULL, NULL);
	count(l, l->attempts);
	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		l->lists[i] =
			(struct list_state){ .synced = !channel_has(&l->opt, (enum channel_list)i),
					     .failing_since = CLOCK_NEVER };
	}
	custom_lists_reset(&l->customs);
	l->gate_fields = 0;
	l->has_gate_fields = l->lacks_gates = false;
	if (channel_open(&l->opt, l->cfg, &l->channel, &err) < 0) {
		give_up(l, err.text);
	}
}

/* The limit of an attempt is over. The last failure says more than that it took too long. */
static void run_out(struct link *l)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	for (int i = 0; i < CHANNEL_LIST_COUNT_ && text.len == 0; i++) {
		const struct list_state *s = &l->lists[i];

		if (!s->synced && !s->refused) {
			strbuf_printf(
				&text, "%s: no complete list in time%s%s",
				sched_kinds_names(channel_resource((enum channel_list)i))->plural,
				s->text[0] == '\0' ? "" : ": ", s->text);
		}
	}
	give_up(l, text.len > 0 ? text.p : "the definition of Workloads: no answer in time");
}

int64_t link_step(struct link *l)
{
	unsigned closing = reap(l);
	int64_t at, mono = mono_of(l);

	if (l->connection.state == CONNECTION_CONNECTING && l->connection.limit_at <= mono) {
		run_out(l);
		closing = reap(l);
	}
	/* So many names that are still being resolved, or servers that do not end a connection: one
	 * more attempt would hang as they do. It does not count as failed. */
	if (connection_is_due(&l->connection, mono) && closing < MAX_CLOSING) {
		start(l);
	}
	at = connection_is_due(&l->connection, mono) ? CLOCK_NEVER
						     : connection_wake_at(&l->connection);
	if (l->channel != NULL) {
		at = clock_earlier(at, channel_step(l->channel));
	}
	return reap(l) > 0 ? clock_earlier(at, mono + CLOSING_NS) : at;
}

/* --- messages ----------------------------------------------------------------------------------*/

/* A list that is refused is not waited for: orchestration needs Workloads alone, and of the others
 * a manager may have no right to read. Where one that is needed is refused, the attempt has failed.
 */
static void check_established(struct link *l)
{
	bool complete = l->has_gate_fields && custom_lists_are_settled(&l->customs);

	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		complete = complete && (l->lists[i].synced || l->lists[i].refused);
	}
	if (complete && happen(l, CONNECTION_ESTABLISHED, NULL, NULL)) {
		log_info("worker cluster connected", LOG_STR("cluster", l->cluster));
	}
}

static bool is_needed(const struct link *l, enum channel_list list)
{
	return list == CHANNEL_WORKLOADS || (list == CHANNEL_JOBS && l->opt.needs_jobs) ||
	       (list == CHANNEL_PODS && l->opt.needs_pods);
}

/* A failure of the list or watch that is needed, or of any one by which it shows that the server
 * does not answer.
 *   1. A refused request would be refused again: the connection is given up at once.
 *   2. Without an answer, an attempt has failed: the next one comes by the pauses of connections,
 *      not by those of the reflector. Other failures may pass until the limit of the attempt.
 *   3. A connection that was up is lost after a while, and at once when a stream was silent for the
 *      time of several bookmarks. A version that is gone, or a page that is too large, is followed
 *      by the next request at once, and says nothing about the connection. */
static void on_failure(struct link *l, enum channel_list list, enum reflector_reason reason)
{
	struct list_state *s = &l->lists[list];
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int64_t mono = mono_of(l);
	bool over = reason == REFLECTOR_REASON_REFUSED;

	if (reason == REFLECTOR_REASON_GONE || reason == REFLECTOR_REASON_TOO_LARGE) {
		return;
	}
	if (s->failing_since == CLOCK_NEVER ||
	    (reason == REFLECTOR_REASON_UNREACHABLE && mono - s->failed_at > RESUMED_AFTER_NS)) {
		s->failing_since = mono;
	}
	s->failed_at = mono;
	if (link_is_up(l)) {
		over = over || reason == REFLECTOR_REASON_SILENT ||
		       mono - s->failing_since >= LOST_AFTER_NS;
		over = over && is_needed(l, list);
	} else {
		over = over || reason == REFLECTOR_REASON_UNREACHABLE;
	}
	if (over) {
		strbuf_printf(&text, "%s: %s", sched_kinds_names(channel_resource(list))->plural,
			      s->text);
		give_up(l, text.p);
	}
}

/* Retries fail for the same reason again and again. Failures of an attempt are logged with it. */
static void log_change(const struct link *l, const struct list_state *s, const struct sched_msg *m)
{
	if (m->reason == s->reason || (!link_is_up(l) && m->reason != REFLECTOR_REASON_REFUSED)) {
		return;
	}
	if (m->reason == REFLECTOR_REASON_NONE) {
		log_info("list and watch of a worker cluster work again",
			 LOG_STR("cluster", l->cluster),
			 LOG_STR("resource", sched_kinds_names(m->resource)->plural));
	} else {
		log_warn("list or watch of a worker cluster failed", LOG_STR("cluster", l->cluster),
			 LOG_STR("resource", sched_kinds_names(m->resource)->plural),
			 LOG_STR("reason", reflector_report_reason(m->reason)),
			 LOG_STR("error", m->text));
	}
}

static void on_watch(struct link *l, enum channel_list list, const struct sched_msg *m)
{
	enum reflector_reason reason = (enum reflector_reason)m->reason;
	const char *values[] = { l->cluster, sched_kinds_names(m->resource)->plural,
				 reflector_report_reason(reason), NULL };
	struct list_state *s = &l->lists[list];

	log_change(l, s, m);
	s->reason = reason;
	if (reason == REFLECTOR_REASON_NONE) {
		s->refused = false;
		s->failing_since = CLOCK_NEVER;
		return;
	}
	metric_cell_add(metric_cell(l->errors, values), 1);
	snprintf(s->text, sizeof(s->text), "%s", m->text);
	if (reason == REFLECTOR_REASON_REFUSED && !is_needed(l, list)) {
		s->refused = true;
		check_established(l);
	} else {
		on_failure(l, list, reason);
	}
}

static bool find_list(enum sched_resource r, enum channel_list *ret)
{
	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		if (channel_resource((enum channel_list)i) == r) {
			*ret = (enum channel_list)i;
			return true;
		}
	}
	return false;
}

static void on_custom(struct link *l, const struct sched_msg *m)
{
	channel_note_handled(l->channel);
	custom_lists_handle(&l->customs, m, clock_wall(l->opt.clock));
	check_established(l);
}

bool link_handle(struct link *l, const struct sched_msg *m)
{
	enum channel_list list;

	if (l->channel == NULL || m->source != channel_source(l->channel)) {
		return false;
	}
	if (m->kind == SCHED_MSG_GATE_FIELDS) {
		l->gate_fields = m->gate_fields;
		l->has_gate_fields = true;
		l->lacks_gates = m->known && m->gate_fields == 0;
		channel_drop_gate_fields(l->channel);
		check_established(l);
	} else if (m->kind == SCHED_MSG_REQUEST_DONE || m->kind == SCHED_MSG_SURVEY) {
		return true;
	} else if (m->resource == SCHED_CUSTOM) {
		on_custom(l, m);
	} else if (!find_list(m->resource, &list)) {
		return true;
	} else if (m->kind == SCHED_MSG_WATCH) {
		on_watch(l, list, m);
	} else {
		channel_note_handled(l->channel);
		if (m->kind == SCHED_MSG_SYNCED) {
			l->lists[list].synced = true;
			check_established(l);
		}
	}
	return true;
}

/* --- life --------------------------------------------------------------------------------------*/

static void register_metrics(struct link *l)
{
	static const char *const by_cluster[] = { "cluster", NULL };
	static const char *const by_reason[] = { "cluster", "resource", "reason", NULL };
	struct metric_registry *r = l->opt.counters;

	l->connected = metric_register(r, "headgate_multikueue_cluster_connected",
				       "Whether the manager is connected to a worker cluster",
				       METRIC_GAUGE, by_cluster);
	l->attempts = metric_register(r, "headgate_multikueue_cluster_connection_attempts_total",
				      "Attempts to connect to a worker cluster", METRIC_COUNTER,
				      by_cluster);
	l->losses = metric_register(r, "headgate_multikueue_cluster_connections_lost_total",
				    "Connections to a worker cluster that were lost",
				    METRIC_COUNTER, by_cluster);
	l->errors = metric_register(r, "headgate_multikueue_cluster_watch_errors_total",
				    "Failed lists and watches of a worker cluster by reason",
				    METRIC_COUNTER, by_reason);
}

struct link *link_create(const struct link_options *opt)
{
	struct link *l = xmalloc_zero(1, sizeof(*l));

	l->opt = *opt;
	l->cluster = xmalloc_dup(opt->cluster);
	l->origin = xmalloc_dup(opt->origin);
	l->opt.cluster = l->cluster;
	l->opt.origin = l->origin;
	if (l->opt.max_queued == 0) {
		l->opt.max_queued = LINK_MAX_QUEUED;
	}
	if (l->opt.max_objects == 0) {
		l->opt.max_objects = LINK_MAX_OBJECTS;
	}
	custom_lists_init(&l->customs, opt->customs);
	connection_init(&l->connection, clock_wall(opt->clock));
	register_metrics(l);
	set_connected(l);
	return l;
}

void link_destroy(struct link *l)
{
	const char *values[1];

	if (l == NULL) {
		return;
	}
	close_channel(l);
	for (int i = 0; i < MAX_CLOSING; i++) {
		channel_destroy(l->closing[i]);
	}
	values[0] = l->cluster;
	metric_remove_where(l->connected, values, 1);
	metric_remove_where(l->attempts, values, 1);
	metric_remove_where(l->losses, values, 1);
	metric_remove_where(l->errors, values, 1);
	custom_lists_finish(&l->customs);
	kubeconfig_destroy(l->cfg);
	free(l->cluster);
	free(l->origin);
	free(l);
}

bool link_is_closed(const struct link *l)
{
	for (int i = 0; i < MAX_CLOSING; i++) {
		if (l->closing[i] != NULL && !channel_is_closed(l->closing[i])) {
			return false;
		}
	}
	return l->channel == NULL;
}

void link_configure(struct link *l, struct kubeconfig *cfg_take, const char *reason,
		    const char *message)
{
	if (cfg_take != NULL && l->cfg != NULL && kubeconfig_equal(cfg_take, l->cfg)) {
		kubeconfig_destroy(cfg_take);
		return;
	}
	if (cfg_take == NULL && l->cfg == NULL && str_streq(l->connection.reason, reason) &&
	    str_streq(l->connection.message, message)) {
		return; /* logged before */
	}
	close_channel(l);
	kubeconfig_destroy(l->cfg);
	l->cfg = cfg_take;
	if (cfg_take != NULL) {
		happen(l, CONNECTION_CONFIGURED, NULL, NULL);
	} else {
		happen(l, CONNECTION_BAD_CONFIG, reason, message);
		log_warn("worker cluster has no usable kubeconfig", LOG_STR("cluster", l->cluster),
			 LOG_STR("reason", reason), LOG_STR("error", message));
	}
}

/* --- for others --------------------------------------------------------------------------------*/

bool link_is_up(const struct link *l)
{
	return l->connection.state == CONNECTION_UP;
}

uint64_t link_source(const struct link *l)
{
	return l->channel == NULL ? 0 : channel_source(l->channel);
}

bool link_is_settled(const struct link *l)
{
	const struct connection *c = &l->connection;

	return l->was_up || link_is_up(l) || c->failures > 0 ||
	       (c->state == CONNECTION_UNCONFIGURED && c->message[0] != '\0');
}

int64_t link_lost_at(const struct link *l)
{
	return link_is_up(l) ? CLOCK_NEVER : l->connection.lost_at;
}

unsigned link_gate_fields(const struct link *l)
{
	return l->gate_fields;
}

bool link_lacks_gates(const struct link *l)
{
	return l->lacks_gates;
}

void link_add_refused(const struct link *l, struct strbuf *out)
{
	const char *separator = "";

	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		if (l->lists[i].refused) {
			strbuf_printf(
				out, "%s%s: %s", separator,
				sched_kinds_names(channel_resource((enum channel_list)i))->plural,
				l->lists[i].text);
			separator = "; ";
		}
	}
}

const char *link_condition(const struct link *l, const char **ret_reason, struct strbuf *message)
{
	CLEANUP(strbuf_finish) struct strbuf refused = STRBUF_INIT;
	const char *status = connection_condition(&l->connection, mono_of(l),
						  clock_wall(l->opt.clock), ret_reason, message);

	if (link_is_up(l)) {
		link_add_refused(l, &refused);
	}
	if (refused.len > 0) {
		strbuf_printf(message, ", but cannot read %s", refused.p);
	}
	if (link_is_up(l)) {
		strbuf_reset(&refused);
		custom_lists_add_problems(&l->customs, &refused);
	}
	if (refused.len > 0) {
		strbuf_printf(message, ", but %s", refused.p);
	}
	if (link_is_up(l) && l->opt.needs_gates && l->lacks_gates) {
		strbuf_add_c(message, ", but its Workloads have no preemption gates");
	}
	return status;
}

const struct custom_lists *link_customs(const struct link *l)
{
	return &l->customs;
}

struct pool *link_pool(const struct link *l)
{
	return l->channel == NULL ? NULL : channel_pool(l->channel);
}

struct transport *link_transport(const struct link *l)
{
	return l->channel == NULL ? NULL : channel_transport(l->channel);
}
