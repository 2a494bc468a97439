#include "apiserver/conformance/replay_run.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/conformance/replay_client.h"
#include "apiserver/conformance/replay_hook.h"
#include "apiserver/conformance/replay_topic.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "lib/wait.h"
#include "process/file.h"

#define UNTIL_NS (300 * CLOCK_NS_PER_S)
#define TRIES 3
#define PAD_MAX ((int64_t)8 << 20)
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct replay_run {
	struct replay_client *client;
	struct replay_hook *hook;
	struct rng rng;
	struct strmap *vars; /* of the present topic */
	struct replay_symbols symbols;
	struct replay_alias aliases[3];
};

static void set_var(struct replay_run *r, const char *name, const char *value)
{
	strmap_set(r->vars, str_of(name), xmalloc_dup(value));
}

/* $name, $pad_N for N bytes, $$ for $. */
static int expand(struct replay_run *r, const char *text, struct strbuf *out, struct err *err)
{
	while (*text != '\0') {
		struct str name = { text + 1, 0 };
		int64_t pad;

		while (*text == '$' &&
		       (isalnum((unsigned char)name.p[name.len]) || name.p[name.len] == '_')) {
			name.len++;
		}
		if (name.len == 0) {
			text += str_has_prefix(str_of(text), "$$");
			strbuf_add_ch(out, *text++);
			continue;
		}
		if (strmap_has(r->vars, name)) {
			strbuf_add_c(out, strmap_get(r->vars, name));
		} else if (str_has_prefix(name, "pad_") &&
			   str_to_i64((struct str){ name.p + 4, name.len - 4 }, &pad) && pad >= 0 &&
			   pad <= PAD_MAX) {
			for (int64_t i = 0; i < pad; i++) {
				strbuf_add_ch(out, 'x');
			}
		} else {
			return err_set(err, ERR_INVALID, "nothing is known of $" STR_FMT,
				       STR_ARG(name));
		}
		text = name.p + name.len;
	}
	return 0;
}

static bool is_text_type(const char *type)
{
	return strstr(type, "json") == NULL;
}

/* Bodies are written as YAML and sent as JSON, unless their type says otherwise. */
static int make_body(struct replay_run *r, const struct replay_step *s, const char *type,
		     struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int ret = expand(r, s->body, &text, err);

	if (ret < 0) {
		return ret;
	}
	if (s->raw || is_text_type(type)) {
		strbuf_add_str(out, strbuf_str(&text));
		return 0;
	}
	ret = yaml_parse(strbuf_str(&text), &doc, err);
	if (ret == 0) {
		jdoc_format(doc, out);
	}
	return ret;
}

static int send_once(struct replay_run *r, const struct replay_step *s, struct replay_reply *reply,
		     struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT, body = STRBUF_INIT;
	const char *type = s->type != NULL ? s->type : "application/json";
	struct replay_request req = {
		.method = s->method, .accept = s->accept, .token = s->token, .frames = s->frames
	};
	int ret = expand(r, s->url, &url, err);

	if (ret == 0 && s->body != NULL) {
		ret = make_body(r, s, type, &body, err);
		req.type = type;
		req.body = strbuf_str(&body);
	}
	req.url = url.p;
	/* A server that refuses a body before it has all of it may cut the connection. */
	for (int i = 0; ret == 0 && i < TRIES; i++) {
		ret = replay_client_do(r->client, &req, reply, err);
		if (ret == 0) {
			return 0;
		}
		ret = i < TRIES - 1 ? 0 : ret;
	}
	return ret;
}

static int send_until(struct replay_run *r, const struct replay_step *s, struct replay_reply *reply,
		      struct err *err)
{
	int64_t deadline = wait_deadline(UNTIL_NS);
	int ret;

	do {
		jdoc_destroy(replay_hook_take(r->hook));
		ret = send_once(r, s, reply, err);
	} while (ret >= 0 && s->until != 0 && reply->status != s->until && wait_until(deadline));
	return ret;
}

static void save(struct replay_run *r, const struct replay_step *s, const struct jdoc *doc)
{
	for (size_t i = 0; i < s->saves.n; i++) {
		const struct jdoc *d = jdoc_path(doc, s->saves.v[i].path);
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		if (jdoc_kind(d) == JDOC_STRING) {
			strbuf_add_c(&text, jdoc_str(d));
		} else if (d != NULL) {
			jdoc_format(d, &text);
		}
		set_var(r, s->saves.v[i].name, text.p);
	}
}

static void add_frames(struct replay_run *r, const struct replay_step *s, struct str text,
		       struct replay_answer *answer)
{
	for (size_t i = 0; text.len > 0; i++) {
		struct str line = str_next(&text, '\n');
		CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
		char prefix[40];

		snprintf(prefix, sizeof(prefix), "frame[%zu]", i);
		if (jdoc_parse(line, &doc, NULL) == 0) {
			replay_answer_add(answer, prefix, doc, &s->view, &r->symbols);
		}
	}
}

static void add_text(struct str text, struct replay_answer *answer)
{
	CLEANUP(strbuf_finish) struct strbuf quoted = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = jdoc_new_str_n(str_trim(text));

	jdoc_format(d, &quoted);
	replay_answer_put(answer, "text", quoted.p);
}

static void read_answer(struct replay_run *r, const struct replay_step *s,
			const struct replay_reply *reply, struct replay_answer *answer)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *reviews = NULL;
	struct str body = strbuf_str(&reply->body);

	answer->code = reply->status;
	if (s->frames != REPLAY_NO_FRAMES && reply->status == 200) {
		add_frames(r, s, body, answer);
	} else if (jdoc_parse(body, &doc, NULL) == 0) {
		save(r, s, doc);
		replay_answer_add(answer, "", doc, &s->view, &r->symbols);
	} else if (body.len > 0) {
		add_text(body, answer);
	}
	if (s->reviews) {
		reviews = replay_hook_take(r->hook);
		replay_answer_add(answer, "reviews", reviews, &s->view, &r->symbols);
	}
}

static int play(struct replay_run *r, const struct replay_step *s, struct replay_answer *answer,
		struct err *err)
{
	struct replay_reply reply = REPLAY_REPLY_INIT;
	const struct replay_request compact = { .method = HTTP_POST,
						.url = "/debug/compact",
						.frames = REPLAY_NO_FRAMES };
	int ret = 0;

	if (s->compact) { /* a real server refuses, and had no history from before it started */
		ret = replay_client_do(r->client, &compact, &reply, err);
	}
	for (long i = 1; ret == 0 && i <= s->each; i++) {
		char count[24];

		snprintf(count, sizeof(count), "%ld", i);
		set_var(r, "i", count);
		ret = send_until(r, s, &reply, err);
	}
	if (ret == 0) {
		read_answer(r, s, &reply, answer);
	}
	strbuf_finish(&reply.body);
	return ret;
}

/* POST that may find the object there. */
static int ensure(struct replay_run *r, const char *url, struct str body, struct err *err)
{
	struct replay_reply reply = REPLAY_REPLY_INIT;
	const struct replay_request req = { .method = HTTP_POST,
					    .url = url,
					    .type = "application/json",
					    .body = body,
					    .frames = REPLAY_NO_FRAMES };
	int ret = replay_client_do(r->client, &req, &reply, err);

	if (ret == 0 && reply.status != 201 && reply.status != 409) {
		ret = err_set(err, ERR_INVALID, "POST %s: %d %.300s", url, reply.status,
			      reply.body.p);
	}
	strbuf_finish(&reply.body);
	return ret;
}

static int ensure_crd(struct replay_run *r, const char *path, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(xmalloc_freep) char *url = NULL;
	struct replay_reply reply = REPLAY_REPLY_INIT;
	struct replay_step served = { .method = HTTP_GET,
				      .until = 200,
				      .frames = REPLAY_NO_FRAMES };
	int ret = file_read_all(path, YAML_MAX_BYTES, &text, err);

	ret = ret < 0 ? ret : yaml_parse(strbuf_str(&text), &doc, err);
	if (ret < 0) {
		return ret;
	}
	jdoc_format(doc, &body);
	url = xmalloc_printf(
		"/apis/%s/%s/%s?limit=1", jdoc_str_or(jdoc_path(doc, "spec.group"), ""),
		jdoc_str_or(jdoc_get(jdoc_first(jdoc_path(doc, "spec.versions")), "name"), ""),
		jdoc_str_or(jdoc_path(doc, "spec.names.plural"), ""));
	served.url = url;
	ret = ensure(r, CRDS, strbuf_str(&body), err);
	ret = ret < 0 ? ret : send_until(r, &served, &reply, err);
	strbuf_finish(&reply.body);
	return ret;
}

static int ensure_crds(struct replay_run *r, const char *folder, struct err *err)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int ret = 0;

	if (dir == NULL) {
		return err_set(err, ERR_NOT_FOUND, "cannot read %s", folder);
	}
	while (ret == 0 && (e = readdir(dir)) != NULL) {
		CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", folder, e->d_name);

		if (str_has_suffix(str_of(path), ".yaml")) {
			ret = ensure_crd(r, path, err);
		}
	}
	closedir(dir);
	return ret;
}

int replay_run_open(const struct kubeconfig *cfg, const char *crds, struct replay_run **ret,
		    struct err *err)
{
	struct replay_run *r = xmalloc_zero(1, sizeof(*r));
	int code;

	rng_init(&r->rng, rng_entropy());
	r->vars = strmap_create(free);
	code = replay_hook_start(&r->hook, err);
	code = code < 0 ? code : replay_client_open(cfg, &r->client, err);
	code = code < 0 ? code : ensure_crds(r, crds, err);
	if (code < 0) {
		replay_run_close(r);
		return code;
	}
	*ret = r;
	return 0;
}

void replay_run_close(struct replay_run *r)
{
	if (r == NULL) {
		return;
	}
	replay_client_close(r->client);
	replay_hook_stop(r->hook);
	strmap_destroy(r->vars);
	free(r);
}

/* Admission wants the service account of pods to be there; a controller may make it first. */
static int make_namespace(struct replay_run *r, const char *ns, struct err *err)
{
	CLEANUP(xmalloc_freep)
	char *space = xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
				     "\"metadata\":{\"name\":\"%s\"}}",
				     ns);
	CLEANUP(xmalloc_freep)
	char *url = xmalloc_printf("/api/v1/namespaces/%s/serviceaccounts", ns);
	int ret = ensure(r, "/api/v1/namespaces", str_of(space), err);

	return ret < 0 ? ret
		       : ensure(r, url,
				STR_LIT("{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\","
					"\"metadata\":{\"name\":\"default\"}}"),
				err);
}

/* Paths and members that nearly every request needs. */
static void set_shorthands(struct replay_run *r, const char *ns)
{
	static const char *const texts[][2] = {
		{ "pod", "apiVersion: v1, kind: Pod" },
		{ "cm", "apiVersion: v1, kind: ConfigMap" },
		{ "queue", "apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue" },
		{ "group", "apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup" },
		{ "queues", "/apis/scheduling.volcano.sh/v1beta1/queues" },
		{ "main", "schedulerName: absent, automountServiceAccountToken: false, "
			  "containers: [{name: main, image: pause}]" },
	};
	static const char *const paths[][2] = {
		{ "pods", "/api/v1/namespaces/%s/pods" },
		{ "cms", "/api/v1/namespaces/%s/configmaps" },
		{ "groups", "/apis/scheduling.volcano.sh/v1beta1/namespaces/%s/podgroups" },
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		set_var(r, texts[i][0], texts[i][1]);
	}
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		const char *at = strstr(paths[i][1], "%s");
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

		strbuf_add(&path, paths[i][1], (size_t)(at - paths[i][1]));
		strbuf_printf(&path, "%s%s", ns, at + 2);
		set_var(r, paths[i][0], path.p);
	}
}

static int play_all(struct replay_run *r, const struct replay_topic *t,
		    struct replay_answer *answers, struct err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		if (play(r, &t->v[i], &answers[i], err) < 0) {
			return err_wrap(err, "%s:%zu: %s", t->path, t->v[i].line, t->v[i].title);
		}
	}
	return 0;
}

int replay_run_topic(struct replay_run *r, const struct replay_topic *t,
		     struct replay_answer *answers, struct err *err)
{
	CLEANUP(xmalloc_freep)
	char *ns = xmalloc_printf("%s-%08" PRIx64, t->name, rng_below(&r->rng, UINT32_MAX));
	CLEANUP(strbuf_finish) struct strbuf ca = STRBUF_INIT;
	int ret;

	strmap_clear(r->vars);
	set_shorthands(r, ns);
	base64_encode(replay_hook_ca(r->hook), &ca);
	set_var(r, "ns", ns);
	set_var(r, "hook", replay_hook_url(r->hook));
	set_var(r, "hook_ca", ca.p);
	r->aliases[0] = (struct replay_alias){ ns, "$ns" };
	r->aliases[1] = (struct replay_alias){ replay_hook_url(r->hook), "$hook" };
	replay_answer_symbols_init(&r->symbols, r->aliases);
	ret = make_namespace(r, ns, err);
	ret = ret < 0 ? ret : play_all(r, t, answers, err);
	replay_answer_symbols_finish(&r->symbols);
	return ret;
}
