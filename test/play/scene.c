#include "lib/unit.h"

#include "play/scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/transport.h"
#include "lib/wait.h"
#include "play/kubelet.h"
#include "play/probe.h"

#define WAIT_NS (120 * CLOCK_NS_PER_S)
#define HTTP_MS 60000
#define START_DELAY_NS (10 * CLOCK_NS_PER_MS)
#define GATE "scheduling.volcano.sh/queue-allocation-gate"

static const char node_1[] =
	"apiVersion: v1\n"
	"kind: Node\n"
	"metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1}}\n"
	"status:\n"
	"  capacity: {cpu: '4', memory: 8Gi, pods: '110'}\n"
	"  allocatable: {cpu: '4', memory: 8Gi, pods: '110'}\n"
	"  conditions: [{type: Ready, status: 'True', reason: KubeletReady}]\n";

static const char *const state_names[SCENE_STATE_COUNT_] = {
	[SCENE_GATED] = "gated",         [SCENE_UNGATED] = "ungated",
	[SCENE_PUBLISHED] = "published", [SCENE_WITHDRAWN] = "withdrawn",
	[SCENE_RUNNING] = "running",     [SCENE_SUCCEEDED] = "succeeded",
	[SCENE_GONE] = "gone",
};

void scene_fail(struct scene *s, const char *fmt, ...)
{
	char text[2000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->failed = true;
	fail_msg("%s (logs in %s)", text, s->stack == NULL ? "-" : stack_dir(s->stack));
	abort();
}

static bool has_started(void *ctx UNUSED, const struct mirror *m)
{
	const struct jdoc *node = mirror_get(m, MIRROR_NODES, "node-1");

	return mirror_is_synced(m) && node != NULL && jdoc_path(node, "spec.taints") == NULL;
}

static bool has_own_queues(void *ctx UNUSED, const struct mirror *m)
{
	return mirror_get(m, MIRROR_QUEUES, "root") != NULL &&
	       mirror_get(m, MIRROR_QUEUES, "default") != NULL;
}

void scene_start(struct scene *s, const struct scene_options *opt)
{
	struct autoscaler_options ao = { .groups = opt->groups,
					 .ngroups = opt->ngroups,
					 .scan_interval_ns = 50 * CLOCK_NS_PER_MS,
					 .provision_ns = 200 * CLOCK_NS_PER_MS };
	struct stack_options so = opt->stack;
	struct err err = ERR_INIT;

	/* The scheduler is started when the nodes exist, since kinds reach it in any order. */
	so.no_scheduler = true;
	*s = (struct scene){ 0 };
	if (stack_start(&so, &s->stack, &err) < 0 ||
	    stack_transport(s->stack, &s->transport, &err) < 0) {
		scene_fail(s, "not started: %s", err.text);
	}
	s->mirror = mirror_create(s->transport, clock_real(), true);
	s->kubelet = kubelet_create(s->mirror, START_DELAY_NS);
	if (opt->ngroups > 0) {
		s->autoscaler = autoscaler_create(s->mirror, &ao);
	}
	mirror_start(s->mirror);
	if (s->autoscaler != NULL) {
		autoscaler_start(s->autoscaler);
	}
	scene_apply(s, node_1);
	if (opt->nodes != NULL) {
		scene_apply(s, opt->nodes);
	}
	scene_wait_for(s, "the mirror is complete", has_started, NULL);
	if (!opt->stack.no_scheduler) {
		if (stack_start_program(s->stack, STACK_SCHEDULER, &err) < 0) {
			scene_fail(s, "not started: %s", err.text);
		}
		scene_wait_for(s, "the scheduler has made its queues", has_own_queues, NULL);
	}
}

static void judge_foreign(struct scene *s)
{
	static const enum stack_program schedulers[] = { STACK_SCHEDULER, STACK_STANDBY };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const char *at;

	for (size_t i = 0; i < ARRAY_LEN(schedulers) && !s->has_foreign; i++) {
		if (!stack_is_running(s->stack, schedulers[i]) ||
		    scene_http(s, schedulers[i], "/readyz?verbose", &body) == 0) {
			continue;
		}
		at = strstr(body.p, "foreign ok: ");
		if (at != NULL) {
			scene_fail(s, "no other scheduler runs, but readyz says: %s", at);
		}
	}
}

void scene_judge(struct scene *s)
{
	struct history h;
	struct err err = ERR_INIT;

	history_examine(s->mirror, &h, &err);
	if (h.breach) {
		scene_fail(s, "the oracle was broken: %s", err.text);
	}
	if (h.gated_bound > 0) {
		scene_fail(s, "a gated pod had a node");
	}
	if (h.changes == 0) {
		scene_fail(s, "nothing was seen");
	}
	judge_foreign(s);
}

static bool has_no_pods(void *ctx UNUSED, const struct mirror *m)
{
	return mirror_count(m, MIRROR_PODS) == 0;
}

void scene_clear(struct scene *s)
{
	scene_faults(s, NULL);
	scene_judge(s);
	scene_call(s, "DELETE", "/api/v1/namespaces/default/pods", NULL, NULL);
	scene_call(s, "DELETE", "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups",
		   NULL, NULL);
	scene_wait_for(s, "all pods are gone", has_no_pods, NULL);
}

void scene_restart_scheduler(struct scene *s, const char *conf, const char *const *args)
{
	struct err err = ERR_INIT;
	int code = stack_stop_program(s->stack, STACK_SCHEDULER, SIGTERM);

	if (code > 0) {
		scene_fail(s, "the scheduler ended with exit code %d", code);
	}
	if (stack_set_scheduler(s->stack, conf, args, &err) < 0 ||
	    stack_start_program(s->stack, STACK_SCHEDULER, &err) < 0) {
		scene_fail(s, "%s", err.text);
	}
}

void scene_stop(struct scene *s)
{
	int codes[STACK_PROGRAM_COUNT_] = { 0 };

	if (s->stack == NULL) {
		return;
	}
	for (unsigned p = STACK_PROGRAM_COUNT_; p-- > 0;) {
		codes[p] = stack_stop_program(s->stack, (enum stack_program)p, SIGTERM);
		s->failed |= codes[p] > 0;
	}
	transport_destroy(s->transport);
	autoscaler_destroy(s->autoscaler);
	kubelet_destroy(s->kubelet);
	mirror_destroy(s->mirror);
	stack_stop(s->stack, s->failed);
	for (unsigned p = 0; p < STACK_PROGRAM_COUNT_; p++) {
		if (codes[p] > 0) {
			fail_msg("program %u ended with exit code %d", p, codes[p]);
		}
	}
}

void scene_apply(struct scene *s, const char *yaml)
{
	struct err err = ERR_INIT;

	if (stack_apply(s->stack, str_of(yaml), &err) < 0) {
		scene_fail(s, "apply: %s", err.text);
	}
}

static void full_key(const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s%s", strchr(name, '/') == NULL ? "default/" : "", name);
}

/* The path of an object "ns/name" or "name" of a namespaced core resource. */
static char *pod_path(const char *name)
{
	char key[256];
	struct str rest, space;

	full_key(name, key, sizeof(key));
	rest = str_of(key);
	space = str_next(&rest, '/');
	return xmalloc_printf("/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT, STR_ARG(space),
			      STR_ARG(rest));
}

static void add_annotation(struct strbuf *b, const char *key, const char *value)
{
	if (value != NULL) {
		strbuf_printf(b, "%s\"%s\":\"%s\"", b->len > 0 ? "," : "", key, value);
	}
}

static void format_pod(const struct scene_pod *p, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf notes = STRBUF_INIT, wants = STRBUF_INIT;

	add_annotation(&notes, GATE, p->not_opted_in ? NULL : "true");
	add_annotation(&notes, "scheduling.volcano.sh/queue-name", p->queue);
	add_annotation(&notes, "scheduling.k8s.io/group-name", p->group);
	add_annotation(&notes, "demo.headgate.io/runs-for", p->runs_for);
	if (p->annotations != NULL) {
		strbuf_printf(&notes, "%s%s", notes.len > 0 ? "," : "", p->annotations);
	}
	add_annotation(&wants, "cpu", p->cpu);
	add_annotation(&wants, "memory", p->memory);
	strbuf_printf(out,
		      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
		      "\"annotations\":{%s}},\"spec\":{\"schedulerName\":\"%s\","
		      "\"restartPolicy\":\"Never\",",
		      p->name, notes.len > 0 ? notes.p : "",
		      p->scheduler == NULL ? "volcano" : p->scheduler);
	if (p->pool != NULL) {
		strbuf_printf(out, "\"nodeSelector\":{\"pool\":\"%s\"},", p->pool);
	}
	if (p->gates != NULL) {
		strbuf_printf(out, "\"schedulingGates\":%s,", p->gates);
	}
	strbuf_printf(out,
		      "\"containers\":[{\"name\":\"main\",\"image\":\"registry.k8s.io/pause:3.10\","
		      "\"resources\":{\"requests\":{%s}}}]}}",
		      wants.len > 0 ? wants.p : "");
}

int scene_try_pod(struct scene *s, const struct scene_pod *p, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("/api/v1/namespaces/%s/pods",
				    p->namespace_ == NULL ? "default" : p->namespace_);

	format_pod(p, &body);
	return stack_call(s->stack, "POST", path, strbuf_str(&body), NULL, err);
}

void scene_add_pod(struct scene *s, const struct scene_pod *p)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	struct err err = ERR_INIT;
	int r;

	do {
		r = scene_try_pod(s, p, &err);
	} while (r < 0 && stack_may_try_again(&err, deadline));
	if (r < 0) {
		scene_fail(s, "pod %s: %s", p->name, err.text);
	}
}

void scene_add_queue(struct scene *s, const char *name, const char *parent, const char *cpu,
		     const char *memory)
{
	CLEANUP(strbuf_finish) struct strbuf spec = STRBUF_INIT, amounts = STRBUF_INIT;

	add_annotation(&amounts, "cpu", cpu);
	add_annotation(&amounts, "memory", memory);
	strbuf_printf(&spec,
		      "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","
		      "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"weight\":1%s%s%s%s%s%s}}",
		      name, parent == NULL ? "" : ",\"parent\":\"", parent == NULL ? "" : parent,
		      parent == NULL ? "" : "\"", amounts.len > 0 ? ",\"capability\":{" : "",
		      amounts.len > 0 ? amounts.p : "", amounts.len > 0 ? "}" : "");
	scene_apply(s, spec.p);
}

void scene_add_group(struct scene *s, const char *name, const char *queue, unsigned min_member)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf(
		"{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\","
		"\"metadata\":{\"name\":\"%s\"},\"spec\":{\"queue\":\"%s\",\"minMember\":%u}}",
		name, queue, min_member);

	scene_apply(s, text);
}

void scene_call(struct scene *s, const char *method, const char *path, const char *body,
		struct jdoc **ret)
{
	struct err err = ERR_INIT;

	if (stack_call(s->stack, method, path, str_of(body), ret, &err) < 0) {
		scene_fail(s, "%s %s: %s", method, path, err.text);
	}
}

void scene_patch_pod(struct scene *s, const char *name, const char *merge)
{
	CLEANUP(xmalloc_freep) char *path = pod_path(name);

	scene_call(s, "PATCH", path, merge, NULL);
}

int scene_try_patch_pod(struct scene *s, const char *name, const char *merge, struct err *err)
{
	CLEANUP(xmalloc_freep) char *path = pod_path(name);

	return stack_call(s->stack, "PATCH", path, str_of(merge), NULL, err);
}

void scene_patch_queue(struct scene *s, const char *name, const char *merge)
{
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("/apis/scheduling.volcano.sh/v1beta1/queues/%s", name);

	scene_call(s, "PATCH", path, merge, NULL);
}

void scene_delete_pod(struct scene *s, const char *name)
{
	CLEANUP(xmalloc_freep) char *path = pod_path(name);

	scene_call(s, "DELETE", path, NULL, NULL);
}

static bool is_in_state(const struct jdoc *pod, enum scene_state state)
{
	const struct jdoc *c = mirror_pod_condition(pod, "PodScheduled");
	bool has_node = jdoc_path(pod, "spec.nodeName") != NULL;

	switch (state) {
	case SCENE_GATED:
		return mirror_pod_is_gated(pod);
	case SCENE_UNGATED:
		return pod != NULL && !mirror_pod_is_gated(pod);
	case SCENE_PUBLISHED:
		return !mirror_pod_is_gated(pod) && mirror_pod_triggers_scale_up(pod);
	case SCENE_WITHDRAWN:
		return pod != NULL && !mirror_pod_is_gated(pod) && !has_node &&
		       jdoc_is_str(jdoc_get(c, "status"), "False") &&
		       jdoc_is_str(jdoc_get(c, "reason"), "NotReadyForScheduling");
	case SCENE_RUNNING:
		return jdoc_is_str(jdoc_path(pod, "status.phase"), "Running");
	case SCENE_SUCCEEDED:
		return jdoc_is_str(jdoc_path(pod, "status.phase"), "Succeeded");
	case SCENE_GONE:
		return pod == NULL;
	case SCENE_STATE_COUNT_:
		break;
	}
	return false;
}

struct look {
	char key[256];
	enum scene_state state;
	bool held;  /* as noted */
	char *text; /* of the pod as last seen */
};

static bool look_at(void *ctx, const struct mirror *m)
{
	const struct look *l = ctx;

	return is_in_state(mirror_get(m, MIRROR_PODS, l->key), l->state);
}

static bool take_text(void *ctx, const struct mirror *m)
{
	static const char *const paths[] = { "metadata.annotations", "metadata.deletionTimestamp",
					     "spec.schedulingGates", "spec.nodeName", "status" };
	struct look *l = ctx;
	const struct jdoc *pod = mirror_get(m, MIRROR_PODS, l->key);
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(paths) && l->text == NULL; i++) {
		if (jdoc_path(pod, paths[i]) != NULL) {
			strbuf_printf(&text, "\n  %s: ", paths[i]);
			jdoc_format(jdoc_path(pod, paths[i]), &text);
		}
	}
	if (l->text == NULL) {
		strbuf_add_c(&text, pod == NULL ? "absent" : "\n");
		l->text = strbuf_steal(&text, NULL);
	}
	return true;
}

void scene_wait_within(struct scene *s, const char *pod, enum scene_state state, int64_t timeout_ns)
{
	struct look l = { .state = state };

	full_key(pod, l.key, sizeof(l.key));
	if (mirror_wait(s->mirror, look_at, &l, timeout_ns)) {
		return;
	}
	(void)mirror_wait(s->mirror, take_text, &l, WAIT_NS / 10);
	scene_fail(s, "pod %s did not get %s: %s", pod, state_names[state],
		   l.text == NULL ? "unknown" : l.text);
}

void scene_wait(struct scene *s, const char *pod, enum scene_state state)
{
	scene_wait_within(s, pod, state, WAIT_NS);
}

static bool note_state(void *ctx, const struct mirror *m)
{
	struct look *l = ctx;

	l->held = look_at(l, m);
	return true;
}

bool scene_is(struct scene *s, const char *pod, enum scene_state state)
{
	struct look l = { .state = state };

	full_key(pod, l.key, sizeof(l.key));
	scene_wait_for(s, "the mirror answers", note_state, &l);
	return l.held;
}

void scene_wait_for(struct scene *s, const char *what, mirror_cond_fn cond, void *ctx)
{
	if (!mirror_wait(s->mirror, cond, ctx, WAIT_NS)) {
		scene_fail(s, "waited in vain until %s", what);
	}
}

void scene_settle(struct scene *s)
{
	for (unsigned i = 0; i < 2; i++) {
		char name[32];
		struct scene_pod p = { .name = name, .not_opted_in = true };

		snprintf(name, sizeof(name), "fence-%u", ++s->fences);
		scene_add_pod(s, &p);
		scene_wait(s, name, SCENE_RUNNING);
		scene_delete_pod(s, name);
	}
}

bool scene_saw(struct scene *s, const char *pod, enum scene_state state)
{
	char key[256];
	size_t n;
	const struct mirror_record *r = mirror_history(s->mirror, &n);

	full_key(pod, key, sizeof(key));
	for (size_t i = 0; i < n; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;

		if (r[i].resource != MIRROR_PODS || strcmp(r[i].key, key) != 0 ||
		    (r[i].text != NULL && jdoc_parse(str_of(r[i].text), &object, NULL) < 0)) {
			continue;
		}
		if (is_in_state(object, state)) {
			return true;
		}
	}
	return false;
}

static bool has_event(const struct jdoc *events, const char *reason, const char *name)
{
	const struct jdoc *e = jdoc_first(jdoc_get(events, "items"));

	for (; e != NULL; e = jdoc_next(e)) {
		const char *about = jdoc_path_str(e, "involvedObject.name");

		if (about == NULL) {
			about = jdoc_path_str(e, "regarding.name");
		}
		if (jdoc_is_str(jdoc_get(e, "reason"), reason) && str_streq(about, name)) {
			return true;
		}
	}
	return false;
}

void scene_wait_event(struct scene *s, const char *reason, const char *name)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *events = NULL;

		scene_call(s, "GET", "/api/v1/events", NULL, &events);
		if (has_event(events, reason, name)) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "no event %s about %s", reason, name);
}

int scene_http(struct scene *s, enum stack_program p, const char *path, struct strbuf *out)
{
	return probe_get(stack_metrics_port(s->stack, p), path, out, HTTP_MS);
}

void scene_wait_metric(struct scene *s, enum stack_program p, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *whole = xmalloc_printf("\n%s\n", line);
	int64_t deadline = wait_deadline(WAIT_NS);

	do {
		if (scene_http(s, p, "/metrics", &body) == 200 && strstr(body.p, whole) != NULL) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "no metric %s", line);
}

double scene_metric(struct scene *s, enum stack_program p, const char *sample)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *begin = xmalloc_printf("\n%s ", sample);
	int64_t deadline = wait_deadline(WAIT_NS);
	const char *at;

	while (scene_http(s, p, "/metrics", &body) != 200) {
		if (!wait_until(deadline)) {
			scene_fail(s, "no metrics");
		}
	}
	at = strstr(body.p, begin);
	return at == NULL ? 0 : strtod(at + strlen(begin), NULL);
}

void scene_wait_metric_above(struct scene *s, enum stack_program p, const char *sample,
			     double value)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	while (scene_metric(s, p, sample) <= value) {
		if (!wait_until(deadline)) {
			scene_fail(s, "%s stays at %g", sample, value);
		}
	}
}

void scene_faults(struct scene *s, const char *script)
{
	if (stack_is_external()) {
		if (script != NULL) {
			print_message("skipped: faults are for the embedded API server alone\n");
			skip();
		}
		return;
	}
	scene_call(s, "PUT", "/debug/faults", script == NULL ? "[]" : script, NULL);
}

unsigned scene_faults_struck(struct scene *s, const char *kind)
{
	CLEANUP(jdoc_destroyp) struct jdoc *answer = NULL;
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("/debug/faults?kind=%s", kind);

	scene_call(s, "GET", path, NULL, &answer);
	return (unsigned)jdoc_int(jdoc_get(answer, "struck"), 0);
}

void scene_compact(struct scene *s)
{
	if (stack_is_external()) {
		print_message("skipped: only the embedded API server can be made to forget its "
			      "history\n");
		skip();
	}
	scene_call(s, "POST", "/debug/compact", "{}", NULL);
}
