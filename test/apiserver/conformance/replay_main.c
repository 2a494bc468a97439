/* Requests to an API server, and whether it answers them as a real kube-apiserver did. Without
 * --kubeconfig: the embedded one, in this process. A TAP test; its last line is
 * "N passed, N failed". */
#include <argp.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "apiserver/conformance/replay_known.h"
#include "apiserver/conformance/replay_run.h"
#include "apiserver/conformance/replay_topic.h"
#include "apiserver/front.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "play/stack.h"
#include "process/file.h"

#define HOME "test/apiserver/conformance"
#define TOKEN "replay"

struct options {
	const char *kubeconfig;
	bool record, all;
	struct VEC(char *) topics; /* paths */
};

struct result {
	unsigned count, passed, failed;
	struct replay_known known;
	const struct options *opt;
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_topics(struct options *o)
{
	CLEANUP(xmalloc_freep) char *folder = xmalloc_printf("%s/" HOME "/topics", stack_source());
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (str_has_suffix(str_of(e->d_name), ".txt")) {
			vec_push(&o->topics, xmalloc_printf("%s/%s", folder, e->d_name));
		}
	}
	if (dir != NULL) {
		closedir(dir);
	}
	if (o->topics.n > 0) {
		qsort(o->topics.v, o->topics.n, sizeof(o->topics.v[0]), compare_paths);
	}
	return o->topics.n > 0 ? 0 : -1;
}

struct place {
	struct result *res;
	const char *topic, *title;
	struct strbuf *out; /* lines about differences */
};

static void add_difference(const struct place *at, const char *path, const char *line)
{
	struct result *res = at->res;

	if (res->opt->kubeconfig != NULL ||
	    !replay_known_has(&res->known, at->topic, at->title, path)) {
		strbuf_printf(at->out, "  %s\n", line);
	}
}

/* Lines of one that the other lacks. */
static void add_missing(const struct place *at, const struct replay_answer *a,
			const struct replay_answer *b, const char *sign)
{
	for (size_t i = 0; i < a->n; i++) {
		CLEANUP(xmalloc_freep)
		char *line = xmalloc_printf("%s %s: %s", sign, a->v[i].path, a->v[i].value);

		if (!str_streq(replay_answer_get(b, a->v[i].path), a->v[i].value)) {
			add_difference(at, a->v[i].path, line);
		}
	}
}

static void add_message(const struct replay_answer *a, const char *sign, struct strbuf *out)
{
	const char *message = replay_answer_get(a, "message");

	if (out->len > 0 && message != NULL) {
		strbuf_printf(out, "  %s message: %s\n", sign, message);
	}
}

static void judge(struct result *res, const struct replay_topic *t, const struct replay_step *s,
		  const struct replay_answer *now)
{
	CLEANUP(strbuf_finish) struct strbuf diff = STRBUF_INIT;
	const struct place at = { res, t->name, s->title, &diff };
	CLEANUP(xmalloc_freep)
	char *codes = xmalloc_printf("- code %d, + code %d", s->recorded.code, now->code);

	if (s->recorded.code != now->code) {
		/* The rest would differ, too, and say little. */
		add_difference(&at, "code", codes);
		add_message(&s->recorded, "-", &diff);
		add_message(now, "+", &diff);
	} else {
		add_missing(&at, &s->recorded, now, "-");
		add_missing(&at, now, &s->recorded, "+");
	}
	printf("%sok %u - %s: %s\n%s", diff.len > 0 ? "not " : "", ++res->count, t->name, s->title,
	       diff.p);
	*(diff.len > 0 ? &res->failed : &res->passed) += 1;
}

static int record(const struct replay_topic *t, const struct replay_answer *answers,
		  struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	replay_topic_format(t, answers, &text);
	return file_write_atomic(t->path, strbuf_str(&text), 0644, err);
}

static int play(struct result *res, struct replay_run *run, const char *path, struct err *err)
{
	struct replay_topic t;
	struct replay_answer *answers = NULL;
	int r = replay_topic_load(path, &t, err);

	if (r == 0) {
		answers = xmalloc_zero(t.n, sizeof(answers[0]));
		r = replay_run_topic(run, &t, answers, err);
	}
	if (r == 0 && res->opt->record) {
		r = record(&t, answers, err);
	}
	for (size_t i = 0; i < t.n && answers != NULL; i++) {
		if (r == 0 && !res->opt->record) {
			judge(res, &t, &t.v[i], &answers[i]);
		}
		replay_answer_finish(&answers[i]);
	}
	free(answers);
	replay_topic_finish(&t);
	return r;
}

/* A difference that is gone must leave the list. */
static void check_known(struct result *res)
{
	for (size_t i = 0; i < res->known.n; i++) {
		const struct replay_known_row *row = &res->known.v[i];

		if (!row->used) {
			printf("not ok %u - differences.txt:%zu is not needed any more\n",
			       ++res->count, row->line);
			res->failed++;
		}
	}
}

static int play_all(struct options *o, struct result *res, const struct kubeconfig *cfg,
		    struct err *err)
{
	CLEANUP(xmalloc_freep)
	char *crds = xmalloc_printf("%s/charts/headgate/files/crds", stack_source());
	struct replay_run *run = NULL;
	int r = replay_run_open(cfg, crds, &run, err);

	for (size_t i = 0; r == 0 && i < o->topics.n; i++) {
		r = play(res, run, o->topics.v[i], err);
	}
	replay_run_close(run);
	if (r == 0 && o->all && o->kubeconfig == NULL) {
		check_known(res);
	}
	return r;
}

static int play_embedded(struct options *o, struct result *res, struct err *err)
{
	static const char *const tokens[] = { TOKEN, NULL };
	char token[] = TOKEN;
	const struct front_options opt = { .core = { .seed = 1 }, .tokens = tokens };
	struct kubeconfig cfg = { .token = token };
	CLEANUP(xmalloc_freep) char *server = NULL;
	struct front *front = NULL;
	int r = front_start(&opt, &front, err);

	if (r < 0) {
		return r;
	}
	cfg.server = server = xmalloc_dup(front_url(front));
	r = play_all(o, res, &cfg, err);
	front_destroy(front, 0);
	return r;
}

static int run(struct options *o, struct result *res, struct err *err)
{
	CLEANUP(xmalloc_freep)
	char *known = xmalloc_printf("%s/" HOME "/differences.txt", stack_source());
	CLEANUP(xmalloc_freep)
	char *readme = xmalloc_printf("%s/" HOME "/README.md", stack_source());
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *cfg = NULL;
	int r;

	if (o->kubeconfig == NULL) {
		r = replay_known_load(known, readme, &res->known, err);
		return r < 0 ? r : play_embedded(o, res, err);
	}
	r = kubeconfig_load(&(struct kubeconfig_options){ .path = o->kubeconfig }, &cfg, err);
	return r < 0 ? r : play_all(o, res, cfg, err);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'k':
		o->kubeconfig = arg;
		return 0;
	case 'r':
		o->record = true;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(&o->topics, xmalloc_dup(arg));
		return 0;
	case ARGP_KEY_END:
		if (o->record && o->kubeconfig == NULL) {
			argp_error(state, "--record needs the --kubeconfig of a real server");
		}
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "kubeconfig", 'k', "FILE", 0, "play against this API server", 0 },
		{ "record", 'r', NULL, 0, "write its answers into the topics", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		options, parse, "[TOPIC.txt...]", NULL, NULL, NULL, NULL
	};
	struct options o = { 0 };
	struct result res = { .opt = &o };
	struct err err = ERR_INIT;
	int r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0) {
		return 2;
	}
	o.all = o.topics.n == 0;
	if (o.all && find_topics(&o) < 0) {
		fprintf(stderr, "no topics in %s/" HOME "/topics\n", stack_source());
		return 2;
	}
	r = run(&o, &res, &err);
	if (r < 0) {
		printf("not ok %u - %s\n", ++res.count, err.text);
		res.failed++;
	}
	printf("1..%u\n%u passed, %u failed\n", res.count, res.passed, res.failed);
	for (size_t i = 0; i < o.topics.n; i++) {
		free(o.topics.v[i]);
	}
	vec_finish(&o.topics);
	replay_known_finish(&res.known);
	return res.failed > 0;
}
