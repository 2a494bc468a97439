#include "sim/world/sim_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "lib/pods/configurations.h"
#include "process/file.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_webhook.h"

#define START (INT64_C(1767225600) * CLOCK_NS_PER_S)
#define MAX_MANIFEST (1u << 20)
#define RENEW_NS (10 * CLOCK_NS_PER_S) /* the renew deadline of leader election */

static void load(struct sim_world *w, const char *path)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *at = NULL;
	const char *source = getenv("HEADGATE_SRC");
	struct err err = ERR_INIT;

	at = xmalloc_printf("%s/%s", source == NULL ? "." : source, path);
	if (file_read_all(at, MAX_MANIFEST, &text, &err) < 0 ||
	    apiserver_load(w->api, strbuf_str(&text), clock_wall(&w->clock.base), &err) < 0) {
		sim_world_fail(w, "%s: %s", at, err.text);
	}
}

static void register_webhooks(struct sim_world *w)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;

	if (sim_webhook_registration(w->quota, &text, &err) < 0 ||
	    apiserver_load(w->api, strbuf_str(&text), START, &err) < 0) {
		sim_world_fail(w, "webhook: %s", err.text);
	}
}

static int64_t machine_mono(const struct clock *c)
{
	const struct sim_machine *m = (const void *)c;

	return clock_mono(&m->world->clock.base) + m->ahead_ns;
}

static int64_t machine_wall(const struct clock *c)
{
	const struct sim_machine *m = (const void *)c;

	return clock_wall(&m->world->clock.base) + m->step_ns;
}

static bool is_contended(const struct sim_world_options *opt)
{
	return !opt->plain && !opt->quota && opt->seed % 3 == 2 && opt->seed % 5 != 3;
}

/* Likewise. */
static bool is_mixed(const struct sim_world_options *opt)
{
	return is_contended(opt) && opt->seed / 15 % 3 != 0;
}

/* The worlds that are listed since they failed before there were others are as they were. */
static uint8_t plugins_of(const struct sim_world_options *opt)
{
	if (opt->quota || opt->plain || opt->seed % 2 == 0 ||
	    (is_contended(opt) && opt->seed / 9 % 4 != 3)) {
		return CONFIGURATIONS_BUILT_IN;
	}
	return opt->seed % 4 == 1 ? CONFIGURATIONS_PROPORTION : CONFIGURATIONS_DRF;
}

static uint8_t evicts_of(const struct sim_world_options *opt)
{
	if (is_contended(opt)) {
		static const uint8_t often[] = { CONFIGURATIONS_EVICT_PODS,
						 CONFIGURATIONS_EVICT_GANGS,
						 CONFIGURATIONS_EVICT_PODS,
						 CONFIGURATIONS_EVICT_BOTH };

		return often[opt->seed / 3 % ARRAY_LEN(often)];
	}
	if (opt->plain || opt->quota || opt->seed % 3 != 1) {
		return CONFIGURATIONS_EVICT_NONE;
	}
	/* Likewise. */
	switch (opt->seed / 12 % 3) {
	case 0:
		return CONFIGURATIONS_EVICT_PODS;
	case 1:
		return CONFIGURATIONS_EVICT_GANGS;
	default:
		return CONFIGURATIONS_EVICT_BOTH;
	}
}

void sim_world_init(struct sim_world *w, const struct sim_world_options *opt)
{
	static const char *const kinds[] = {
		"admissionchecks", "clusterqueues",           "cohorts",   "localqueues",
		"resourceflavors", "workloadpriorityclasses", "workloads",
	};
	struct apiserver_options ao = {
		.seed = opt->seed, .now = START, .keeps_trees = true, .review = sim_webhook_review
	};

	*w = (struct sim_world){ .seed = opt->seed,
				 .verbose = opt->verbose,
				 .quota = opt->quota,
				 .plain = opt->plain,
				 .contended = is_contended(opt),
				 .mixed = is_mixed(opt),
				 .evicts = evicts_of(opt),
				 .deletes_overdue = !opt->plain && opt->seed % 5 < 2,
				 .budgets = !opt->plain && !opt->quota && opt->seed % 6 == 1,
				 .volumes = !opt->plain && !opt->quota && opt->seed % 5 == 3,
				 .kube_groups = !opt->plain && !opt->quota && opt->seed % 7 < 2,
				 .sticky = opt->seed % 2 == 0,
				 .plugins = plugins_of(opt) };
	w->trace = xmalloc_zero(SIM_TRACE_LINES, sizeof(w->trace[0]));
	rng_init(&w->rng, opt->seed);
	clock_fake_init(&w->clock, START);
	w->machine.base = (struct clock){ .mono = machine_mono, .wall = machine_wall };
	w->machine.world = w;
	list_init(&w->orphans);
	w->faults.rng = &w->rng;
	w->webhook = sim_webhook_create(w->quota);
	ao.review_ctx = w->webhook;
	w->api = apiserver_create(&ao);
	load(w, "charts/headgate/files/crds/queues.yaml");
	load(w, "charts/headgate/files/crds/podgroups.yaml");
	load(w, "test/play/kube-podgroups.yaml");
	for (size_t i = 0; w->quota && i < ARRAY_LEN(kinds); i++) {
		CLEANUP(xmalloc_freep)
		char *path = xmalloc_printf("charts/headgate/files/crds/quota/%s.yaml", kinds[i]);

		load(w, path);
	}
	register_webhooks(w);
	w->view = sim_view_create(w);
}

void sim_world_finish(struct sim_world *w)
{
	sim_world_forget_orphans(w);
	sim_view_destroy(w->view);
	apiserver_destroy(w->api);
	sim_webhook_destroy(w->webhook);
	free(w->trace);
}

void sim_world_message_finish(struct sim_message *m)
{
	free(m->url);
	free(m->content_type);
	free(m->accept);
	strbuf_finish(&m->body);
}

void sim_world_check_sender(struct sim_world *w, const struct sim_message *m)
{
	if (m->actor == SIM_SCHEDULER && m->method != HTTP_GET &&
	    strstr(m->url, "/leases") == NULL && strstr(m->url, "/events") == NULL &&
	    w->leader_elect && w->clock.mono_ns - w->renewed_at > RENEW_NS) {
		sim_world_fail(w, "%s %s is sent %lld s after the lease was renewed last",
			       http_method_name(m->method), m->url,
			       (long long)((w->clock.mono_ns - w->renewed_at) / CLOCK_NS_PER_S));
	}
}

void sim_world_handle(struct sim_world *w, const struct sim_message *m,
		      struct apiserver_response *resp)
{
	const char *query = strchr(m->url, '?');
	struct http_request req = {
		.method = m->method,
		.path = { m->url, query == NULL ? strlen(m->url) : (size_t)(query - m->url) },
		.query = str_of(query == NULL ? NULL : query + 1),
		.content_type = str_of(m->content_type),
		.accept = str_of(m->accept),
		.body = strbuf_str(&m->body),
		.user_agent = STR_LIT("sim/1"),
	};

	if (m->actor == SIM_SCHEDULER && m->method != HTTP_GET &&
	    strstr(m->url, "/leases") == NULL) {
		w->wrote_at = w->clock.mono_ns;
	}
	sim_webhook_set_time(w->webhook, w->clock.mono_ns);
	apiserver_handle(w->api, &req, clock_wall(&w->clock.base), resp);
	if (m->actor == SIM_SCHEDULER && m->method != HTTP_GET && resp->status < 300 &&
	    strstr(m->url, "/leases") != NULL) {
		w->renewed_at = w->clock.mono_ns;
		w->lease_edited = false;
	}
	sim_view_follow(w->view, m->actor);
}

int sim_world_act(struct sim_world *w, const struct sim_call *call)
{
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;
	struct sim_message m = { .method = call->method, .actor = call->actor };
	const char *actor = call->actor == SIM_USER ? "user" : "node";
	int status;

	m.url = xmalloc_dup(call->url);
	m.content_type = call->content_type == NULL ? NULL : xmalloc_dup(call->content_type);
	strbuf_init(&m.body);
	strbuf_add_str(&m.body, str_of(call->body));
	sim_world_handle(w, &m, &resp);
	status = resp.status;
	sim_world_trace(w, "%s %s %s -> %d", actor, http_method_name(call->method), call->url,
			status);
	if (status >= 400 && status != 404 && status != 409) {
		sim_world_trace(w, "%s got %.*s", actor, (int)resp.body.len, resp.body.p);
	}
	apiserver_response_finish(&resp);
	sim_world_message_finish(&m);
	return status;
}

int sim_world_call(struct sim_world *w, enum http_method method, const char *url,
		   const char *content_type, struct str body)
{
	return sim_world_act(w, &(struct sim_call){ SIM_USER, method, url, content_type, body.p });
}

bool sim_world_outrun(struct sim_world *w, const struct sim_message *m)
{
	struct str rest = str_of(m->url), path = str_next(&rest, '?');
	CLEANUP(xmalloc_freep) char *url = NULL;
	char body[80];

	if (!w->quota || m->body.len == 0 || strstr(m->body.p, "\"resourceVersion\"") == NULL) {
		return false;
	}
	if (str_has_suffix(path, "/status")) {
		path.len -= strlen("/status");
	}
	url = xmalloc_dup_n(path.p, path.len);
	snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"faster\":\"%llu\"}}}",
		 (unsigned long long)w->steps);
	sim_world_call(w, HTTP_PATCH, url, "application/merge-patch+json", str_of(body));
	return true;
}

void sim_world_orphan(struct sim_world *w, struct sim_message *m)
{
	struct sim_message *o = xmalloc_zero(1, sizeof(*o));

	*o = *m;
	*m = (struct sim_message){ .method = HTTP_GET };
	strbuf_init(&m->body);
	list_init(&m->node);
	list_append(&w->orphans, &o->node);
}

static void drop_orphan(struct sim_message *m)
{
	list_remove(&m->node);
	sim_world_message_finish(m);
	free(m);
}

void sim_world_forget_orphans(struct sim_world *w)
{
	LIST_FOR_EACH (node, &w->orphans) {
		drop_orphan(LIST_ENTRY(node, struct sim_message, node));
	}
}

static void arrive(void *owner, void *arg)
{
	struct sim_world *w = owner;
	struct sim_message *m = arg;
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;

	if (m->expires > w->clock.mono_ns) {
		sim_world_handle(w, m, &resp);
		sim_world_trace(w, "late %s %s -> %d", http_method_name(m->method), m->url,
				resp.status);
		apiserver_watch_close(resp.watch);
	}
	apiserver_response_finish(&resp);
	drop_orphan(m);
}

void sim_world_offer(struct sim_world *w, struct sim_choices *out)
{
	LIST_FOR_EACH (node, &w->orphans) {
		sim_world_choice(
			out, &(struct sim_choice){ arrive, w,
						   LIST_ENTRY(node, struct sim_message, node), 1 });
	}
}

void sim_world_choice(struct sim_choices *out, const struct sim_choice *c)
{
	vec_push(&out->list, *c);
	out->weight += c->weight;
}

void sim_world_wake(struct sim_choices *out, int64_t at_mono_ns)
{
	if (at_mono_ns < out->wake_at) {
		out->wake_at = at_mono_ns;
	}
}

uint64_t sim_world_below(struct sim_world *w, uint64_t bound)
{
	return rng_below(&w->rng, bound);
}

size_t sim_world_weighted(struct sim_world *w, const unsigned *weights, size_t n)
{
	uint64_t sum = 0, at;
	size_t i = 0;

	for (size_t k = 0; k < n; k++) {
		sum += weights[k];
	}
	at = sim_world_below(w, sum);
	while (at >= weights[i]) {
		at -= weights[i++];
	}
	return i;
}

bool sim_world_chance(struct sim_world *w, unsigned per_mille)
{
	return rng_below(&w->rng, 1000) < per_mille;
}

void sim_world_strike(struct sim_world *w, enum sim_fault f)
{
	sim_faults_strike(&w->faults, f, w->clock.mono_ns);
	sim_world_trace(w, "fault %s", sim_faults_name(f));
}

void sim_world_fail(struct sim_world *w, const char *fmt, ...)
{
	va_list ap;

	if (sim_world_failed(w)) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(w->failure, sizeof(w->failure), fmt, ap);
	va_end(ap);
	sim_world_trace(w, "FAILED: %s", w->failure);
}

bool sim_world_failed(const struct sim_world *w)
{
	return w->failure[0] != '\0';
}

void sim_world_trace(struct sim_world *w, const char *fmt, ...)
{
	char *line = w->trace[w->trace_n++ % SIM_TRACE_LINES];
	int64_t ms = w->clock.mono_ns / CLOCK_NS_PER_MS;
	int n = snprintf(line, SIM_TRACE_WIDTH, "%6llu %8lld.%03d ", (unsigned long long)w->steps,
			 (long long)(ms / 1000), (int)(ms % 1000));
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + n, (size_t)(SIM_TRACE_WIDTH - n), fmt, ap);
	va_end(ap);
	w->trace_digest = (w->trace_digest ^ str_hash(str_of(line))) * UINT64_C(0x100000001b3);
	if (w->verbose) {
		printf("# %s\n", line);
	}
}

void sim_world_print_trace(const struct sim_world *w)
{
	size_t from = w->trace_n < SIM_TRACE_LINES ? 0 : w->trace_n - SIM_TRACE_LINES;

	for (size_t i = from; i < w->trace_n; i++) {
		printf("# %s\n", w->trace[i % SIM_TRACE_LINES]);
	}
}
