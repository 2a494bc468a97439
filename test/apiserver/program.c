#include "apiserver/program.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apiserver/front.h"
#include "apiserver/manifests.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/xmalloc.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "collections/vec.h"
#include "enc/base64.h"
#include "process/file.h"
#include "process/signals.h"

#define STOP_GRACE_MS 2000
#define FAULTS_MAX_BYTES ((size_t)1 << 20)

enum option_key {
	KEY_PORT = 'p',
	KEY_ADDRESS = 'a',
	KEY_LOAD = 'l',
	KEY_KUBECONFIG = 256,
	KEY_CRDS,
	KEY_FAULTS,
	KEY_TOKEN,
	KEY_SEED,
	KEY_FINALISE,
	KEY_WEBHOOKS,
	KEY_WEBHOOK_URL,
	KEY_WEBHOOK_CA,
	KEY_CERT,
	KEY_PRIVATE_KEY,
	KEY_CA_OUT,
};

struct options {
	const char *address, *kubeconfig, *crds, *faults, *ca_out;
	const char *webhooks, *webhook_url, *webhook_ca, *cert, *key;
	uint64_t port, seed, finalise_s;
	struct VEC(const char *) loads;
	struct VEC(const char *) tokens;
};

static const struct argp_option options[] = {
	{ "port", KEY_PORT, "PORT", 0, "port to listen on (default 6443; 0: any free one)", 0 },
	{ "address", KEY_ADDRESS, "ADDRESS", 0, "address to listen on (default 127.0.0.1)", 0 },
	{ "kubeconfig-out", KEY_KUBECONFIG, "FILE", 0, "write a kubeconfig for this server", 0 },
	{ "ca-out", KEY_CA_OUT, "FILE", 0, "write the certificate of the server's CA", 0 },
	{ "crds", KEY_CRDS, "DIR", 0, "load every .yaml file in DIR", 0 },
	{ "load", KEY_LOAD, "FILE", 0, "load a manifest, after --crds; may be repeated", 0 },
	{ "webhooks", KEY_WEBHOOKS, "FILE", 0,
	  "load webhook registrations, with @WEBHOOK_URL@ and @CA_BUNDLE@ replaced", 0 },
	{ "webhook-url", KEY_WEBHOOK_URL, "URL", 0, "base URL of the webhook server", 0 },
	{ "webhook-ca", KEY_WEBHOOK_CA, "FILE", 0, "PEM file of the CA of the webhook server", 0 },
	{ "faults", KEY_FAULTS, "FILE", 0, "script of failures, see test/apiserver/faults.h", 0 },
	{ "token", KEY_TOKEN, "TOKEN", 0, "require this bearer token; may be repeated", 0 },
	{ "tls-cert-file", KEY_CERT, "FILE", 0, "serve with this certificate (default: its own)",
	  0 },
	{ "tls-private-key-file", KEY_PRIVATE_KEY, "FILE", 0, "key of --tls-cert-file", 0 },
	{ "seed", KEY_SEED, "N", 0, "seed of UIDs and generated names (default: random)", 0 },
	{ "finalise-pods", KEY_FINALISE, "SECONDS", 0,
	  "remove terminating pods after so long, for want of kubelets (default 0: never)", 0 },
	{ 0 },
};

static bool number(const char *text, uint64_t max, uint64_t *ret)
{
	return str_to_u64(str_of(text), ret) && *ret <= max;
}

static error_t parse_text(int key, char *arg, struct options *o)
{
	switch (key) {
	case KEY_ADDRESS:
		o->address = arg;
		return 0;
	case KEY_KUBECONFIG:
		o->kubeconfig = arg;
		return 0;
	case KEY_CA_OUT:
		o->ca_out = arg;
		return 0;
	case KEY_CRDS:
		o->crds = arg;
		return 0;
	case KEY_FAULTS:
		o->faults = arg;
		return 0;
	case KEY_WEBHOOKS:
		o->webhooks = arg;
		return 0;
	case KEY_WEBHOOK_URL:
		o->webhook_url = arg;
		return 0;
	case KEY_WEBHOOK_CA:
		o->webhook_ca = arg;
		return 0;
	case KEY_CERT:
		o->cert = arg;
		return 0;
	case KEY_PRIVATE_KEY:
		o->key = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	bool ok = true;

	switch (key) {
	case KEY_PORT:
		ok = number(arg, 65535, &o->port);
		break;
	case KEY_SEED:
		ok = number(arg, UINT64_MAX, &o->seed);
		break;
	case KEY_FINALISE:
		ok = number(arg, 86400, &o->finalise_s);
		break;
	case KEY_LOAD:
		vec_push(&o->loads, arg);
		break;
	case KEY_TOKEN:
		vec_push(&o->tokens, arg);
		break;
	case ARGP_KEY_END:
		if ((o->cert == NULL) != (o->key == NULL)) {
			argp_error(state, "--tls-cert-file and --tls-private-key-file go together");
		}
		return 0;
	default:
		return parse_text(key, arg, o);
	}
	if (!ok) {
		argp_error(state, "%s: not a number in range", arg);
	}
	return 0;
}

/* A CA and a certificate of our own, or the pair from files (then ca stays empty). */
static int make_pair(const struct options *o, struct pair *ca, struct pair *leaf, struct err *err)
{
	static const char *const names[] = { "localhost", "kubernetes", "kubernetes.default.svc" };
	const char *ips[] = { "127.0.0.1", "::1", o->address };
	const int64_t now = clock_wall(clock_real());
	const struct ca_options ca_opt = { .common_name = "headgate-apiserver-ca", .now_ns = now };
	struct leaf_options leaf_opt = {
		.ca = ca,
		.dns = names,
		.dns_count = ARRAY_LEN(names),
		.ip = ips,
		.ip_count = 2,
		.now_ns = now,
	};
	int r;

	if (o->cert != NULL) {
		return pair_read(o->cert, o->key, leaf, err);
	}
	if (o->address[0] != '\0' && !str_streq(o->address, "127.0.0.1")) {
		leaf_opt.ip_count = 3;
	}
	r = ca_create(&ca_opt, ca, err);
	return r < 0 ? r : leaf_create(&leaf_opt, leaf, err);
}

static int write_kubeconfig(const struct options *o, const char *url, struct str ca,
			    struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "apiVersion: v1\nkind: Config\ncurrent-context: headgate\nclusters:\n"
		      "- name: headgate\n  cluster:\n    server: %s\n",
		      url);
	if (ca.len > 0) {
		strbuf_add_c(&text, "    certificate-authority-data: ");
		base64_encode(ca, &text);
		strbuf_add_c(&text, "\n");
	}
	strbuf_add_c(&text, "contexts:\n- name: headgate\n  context:\n    cluster: headgate\n"
			    "    user: admin\n    namespace: default\nusers:\n- name: admin\n"
			    "  user:\n");
	strbuf_printf(&text, "    token: \"%s\"\n", o->tokens.n > 0 ? o->tokens.v[0] : "anyone");
	return file_write_atomic(o->kubeconfig, strbuf_str(&text), 0600, err);
}

static int load_all(const struct options *o, struct apiserver *core, int64_t now, struct err *err)
{
	const struct manifests_webhooks hooks = { o->webhooks, o->webhook_url, o->webhook_ca };
	CLEANUP(strbuf_finish) struct strbuf script = STRBUF_INIT;
	int r = 0;

	if (o->crds != NULL) {
		r = manifests_load_dir(core, o->crds, now, err);
	}
	for (size_t i = 0; r == 0 && i < o->loads.n; i++) {
		r = manifests_load_file(core, o->loads.v[i], now, err);
	}
	if (r == 0 && o->webhooks != NULL) {
		r = manifests_load_webhooks(core, &hooks, now, err);
	}
	if (r == 0 && o->faults != NULL) {
		r = file_read_all(o->faults, FAULTS_MAX_BYTES, &script, err);
		r = r < 0 ? r : apiserver_set_faults(core, strbuf_str(&script), err);
		r = r < 0 ? err_wrap(err, "%s", o->faults) : 0;
	}
	return r;
}

static int prepare(const struct options *o, struct front *f, struct str ca, struct err *err)
{
	int64_t now;
	struct apiserver *core = front_lock(f, &now);
	int r = load_all(o, core, now, err);

	front_unlock(f);
	if (r == 0 && o->ca_out != NULL) {
		r = file_write_atomic(o->ca_out, ca, 0644, err);
	}
	if (r == 0 && o->kubeconfig != NULL) {
		r = write_kubeconfig(o, front_url(f), ca, err);
	}
	return r;
}

static int start(struct options *o, struct front **ret, struct err *err)
{
	struct pair ca = PAIR_INIT, leaf = PAIR_INIT;
	struct front_options opt = {
		.core = { .seed = o->seed, .finalise_ns = (int64_t)o->finalise_s * CLOCK_NS_PER_S },
		.address = o->address,
		.port = (uint16_t)o->port,
	};
	struct front *f = NULL;
	int r = make_pair(o, &ca, &leaf, err);

	if (r == 0) {
		vec_push(&o->tokens, NULL);
		o->tokens.n--;
		opt.tokens = o->tokens.n > 0 ? o->tokens.v : NULL;
		opt.cert = strbuf_str(&leaf.cert);
		opt.key = strbuf_str(&leaf.key);
		r = front_start(&opt, &f, err);
	}
	if (r == 0) {
		r = prepare(o, f, strbuf_str(&ca.cert), err);
	}
	pair_finish(&ca);
	pair_finish(&leaf);
	if (r < 0) {
		front_destroy(f, 0);
		return r;
	}
	*ret = f;
	return 0;
}

static int serve(struct options *o, struct err *err)
{
	struct front *f = NULL;
	int fd = signals_block(err);
	int sig = 0;
	int r = fd < 0 ? fd : start(o, &f, err);

	if (r < 0) {
		if (fd >= 0) {
			close(fd);
		}
		return r;
	}
	printf("%s\n", front_url(f));
	fflush(stdout);
	while (sig != SIGTERM && sig != SIGINT) {
		sig = signals_next(fd, -1);
	}
	front_destroy(f, STOP_GRACE_MS);
	close(fd);
	return 0;
}

int program_run(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_option,
		NULL,
		"Embedded Kubernetes API server for development, demonstrations and tests. "
		"Everything is in memory. Prints its URL when it is ready.",
		NULL,
		NULL,
		NULL
	};
	struct options o = { .address = "127.0.0.1", .port = 6443, .seed = rng_entropy() };
	struct err err = ERR_INIT;
	int r;

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0) {
		return 2;
	}
	r = serve(&o, &err);
	vec_finish(&o.loads);
	vec_finish(&o.tokens);
	if (r < 0) {
		fprintf(stderr, "headgate-apiserver: %s\n", err.text);
		return err.code == ERR_INTERNAL || err.code == ERR_IO ? 1 : 2;
	}
	return 0;
}
