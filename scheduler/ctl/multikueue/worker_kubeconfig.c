#include "scheduler/ctl/multikueue/worker_kubeconfig.h"

#include <stdio.h>
#include <time.h>

#include "api/meta/validate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "process/file.h"
#include "scheduler/ctl/multikueue/multikueue_args.h"
#include "scheduler/ctl/multikueue/worker_account.h"
#include "scheduler/ctl/multikueue/worker_kinds.h"
#include "scheduler/ctl/multikueue/worker_role.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define POLL_NS (200 * CLOCK_NS_PER_MS)
#define CA_MAX_BYTES (1u << 20)
#define APPLY "?fieldManager=headgatectl"

static int check_names(const struct multikueue_args *a, struct err *err)
{
	if (a->name == NULL) {
		return err_set(err, ERR_INVALID,
			       "--name is missing: the name of the MultiKueueCluster");
	}
	if (!validate_is_dns_subdomain(str_of(a->name))) {
		return err_set(err, ERR_INVALID, "--name: %s: no name of an object", a->name);
	}
	if (!validate_is_dns_label(str_of(a->cluster.secrets_namespace))) {
		return err_set(err, ERR_INVALID, "--namespace: %s: no name of a namespace",
			       a->cluster.secrets_namespace);
	}
	if (!validate_is_dns_label(str_of(a->account))) {
		return err_set(err, ERR_INVALID, "--account-namespace: %s: no name of a namespace",
			       a->account);
	}
	return 0;
}

static void print_objects(const struct worker_account *account)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < WORKER_ACCOUNT_OBJECTS; i++) {
		strbuf_add_c(&text, i == 0 ? "" : "---\n");
		yaml_format(account->v[i].json, &text);
	}
	fputs(text.p, stdout);
}

/* Without force: where the chart or another tool has made the object differently, it is said. */
static int apply(struct transport *t, const struct worker_account_object *o, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	int r;

	worker_account_path(o, &path);
	strbuf_add_c(&path, APPLY);
	jdoc_format(o->json, &body);
	r = rest_call(t, HTTP_PATCH, path.p, "application/apply-patch+yaml", strbuf_str(&body),
		      CALL_NS, NULL, err);
	if (r == -ERR_FORBIDDEN) {
		return err_wrap(err, "%s %s: the rights to create and to patch it are needed",
				o->kind, o->name);
	}
	return r < 0 ? err_wrap(err, "%s %s", o->kind, o->name) : 0;
}

static int read_data(const struct jdoc *secret, const char *key, struct strbuf *out,
		     struct err *err)
{
	const char *text = jdoc_str_or(jdoc_get(jdoc_get(secret, "data"), key), "");
	int r = base64_decode(str_of(text), out, err);

	return r < 0 ? err_wrap(err, "Secret " WORKER_ACCOUNT_NAME ": data.%s", key) : 0;
}

static void pause_a_little(void)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };

	nanosleep(&pause, NULL);
}

/* The controllers of the worker put a token into the Secret soon after it was created. */
static int wait_for_token(const struct multikueue_args *a, struct transport *t,
			  const struct worker_account_object *o, struct jdoc **ret_secret,
			  struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	int64_t limit =
		a->cluster.has_timeout && a->cluster.timeout > 0 ? a->cluster.timeout : CALL_NS;
	int64_t deadline = clock_mono(clock_real()) + limit;
	struct jdoc *secret = NULL;

	worker_account_path(o, &path);
	for (;;) {
		int r = rest_call(t, HTTP_GET, path.p, NULL, (struct str){ NULL, 0 }, CALL_NS,
				  &secret, err);

		if (r < 0) {
			return err_wrap(err, "Secret %s", o->name);
		}
		if (jdoc_str(jdoc_path(secret, "data.token")) != NULL) {
			*ret_secret = secret;
			return 0;
		}
		jdoc_destroy(secret);
		if (clock_mono(clock_real()) >= deadline) {
			return err_set(err, ERR_TIMEOUT,
				       "Secret %s has no token yet: is the token controller of the "
				       "worker running? Run it again to go on",
				       o->name);
		}
		pause_a_little();
	}
}

/* The authority by which this kubeconfig trusts the server; else that of the cluster. */
static int read_authority(const struct kubeconfig *c, const struct jdoc *secret, struct strbuf *out,
			  struct err *err)
{
	if (c->tls.ca_pem.len > 0) {
		strbuf_add_str(out, c->tls.ca_pem);
		return 0;
	}
	if (c->tls.ca_file != NULL) {
		return file_read_all(c->tls.ca_file, CA_MAX_BYTES, out, err);
	}
	return read_data(secret, "ca.crt", out, err);
}

static int print_manifests(const struct multikueue_args *a, const struct kubeconfig *c,
			   const struct jdoc *secret, struct err *err)
{
	CLEANUP(strbuf_wipe) struct strbuf token = STRBUF_INIT, out = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf ca = STRBUF_INIT;
	struct worker_account_access access = {
		.cluster = a->name,
		.server = a->address == NULL ? c->server : a->address,
		.server_name = c->tls.server_name,
	};
	int r = read_data(secret, "token", &token, err);

	if (r == 0) {
		r = read_authority(c, secret, &ca, err);
	}
	if (r < 0) {
		return r;
	}
	access.token = strbuf_str(&token);
	access.ca = strbuf_str(&ca);
	r = worker_account_manifests(&access, a->cluster.secrets_namespace, &out, err);
	if (r == 0) {
		fputs(out.p, stdout);
	}
	return r;
}

/* The server is refused before anything is made on the worker. */
static int check_server(const struct multikueue_args *a, const struct kubeconfig *c,
			struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf unused = STRBUF_INIT;
	const struct worker_account_access access = {
		.cluster = a->name,
		.server = a->address == NULL ? c->server : a->address,
		.server_name = c->tls.server_name,
		.ca = c->tls.ca_pem,
		.token = STR_LIT("t"),
	};

	return worker_account_manifests(&access, a->cluster.secrets_namespace, &unused, err);
}

static int make(const struct multikueue_args *a, const struct worker_account *account,
		struct transport *t, struct jdoc **ret_secret, struct err *err)
{
	for (size_t i = 0; i < WORKER_ACCOUNT_OBJECTS; i++) {
		int r = apply(t, &account->v[i], err);

		if (r < 0) {
			return r;
		}
	}
	return wait_for_token(a, t, &account->v[WORKER_ACCOUNT_TOKEN], ret_secret, err);
}

/* The kinds of the configuration are looked up on the worker, for the names of their resources. */
static int add_kinds(const struct multikueue_args *a, struct worker_role *role, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct transport *t = NULL;
	struct custom_kinds kinds;
	int r = worker_kinds_parse(&a->frameworks, arena, &kinds, err);

	if (r < 0 || kinds.n == 0) {
		return r;
	}
	if (a->level < WORKER_ROLE_MANAGER) {
		return err_set(err, ERR_INVALID,
			       "--external-framework: only with --for manager or manager-pods");
	}
	r = cluster_args_connect(&a->cluster, &t, err);
	for (size_t i = 0; r == 0 && i < kinds.n; i++) {
		CLEANUP(xmalloc_freep) char *plural = NULL;

		r = worker_kinds_ask(t, &kinds.v[i], CALL_NS, &plural, err);
		if (r == 0) {
			worker_role_add_kind(role, kinds.v[i].group, plural);
		}
	}
	transport_destroy(t);
	return r;
}

/* 1. Mistakes in names and address are refused before anything is made.
 * 2. The account, its rights and a Secret for its token are applied to the worker.
 * 3. The worker makes the token.
 * 4. Token, authority and address of the server become the kubeconfig of the manager. */
int worker_kubeconfig_run(const struct multikueue_args *a, struct err *err)
{
	CLEANUP(worker_account_finish) struct worker_account account = { 0 };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *secret = NULL;
	struct transport *t = NULL;
	CLEANUP(worker_role_destroyp) struct worker_role *role = worker_role_create(a->level);
	int r = check_names(a, err);

	r = r < 0 ? r : add_kinds(a, role, err);
	if (r < 0) {
		return r;
	}
	worker_account_init(&account, role, a->account);
	if (a->dry_run) {
		print_objects(&account);
		return 0;
	}
	r = cluster_args_kubeconfig(&a->cluster, &c, err);
	if (r == 0) {
		r = check_server(a, c, err);
	}
	if (r == 0) {
		r = cluster_args_connect(&a->cluster, &t, err);
	}
	if (r == 0) {
		r = make(a, &account, t, &secret, err);
	}
	transport_destroy(t);
	return r < 0 ? r : print_manifests(a, c, secret, err);
}
