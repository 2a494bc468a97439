/* A transport with connections that can be replaced: a credential plugin may give a new
 * certificate, which belongs to connections, while callers keep their transport. It passes all
 * calls on to the HTTP transport of the moment. */
#include "scheduler/ctl/cli/user_transport.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/exec_credential.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"

/* Credentials are renewed when they have not much longer to live than a request needs to arrive. */
#define MARGIN_NS CLOCK_NS_PER_S

struct user_transport {
	struct transport base;
	struct user_transport_options opt;
	struct kubeconfig *cfg;
	struct transport *http; /* NULL: the plugin has not run yet */
	int64_t expires;        /* wall ns, of what the plugin gave */
};

static struct user_transport *of_base(struct transport *t)
{
	return CONTAINER_OF(t, struct user_transport, base);
}

static uint64_t submit(struct transport *t, const struct http_call *call)
{
	struct user_transport *u = of_base(t);
	struct http_call limited = *call;

	if (u->opt.has_timeout) {
		limited.timeout_ns = u->opt.timeout_ns;
	}
	return transport_submit(u->http, &limited);
}

static void cancel(struct transport *t, uint64_t id)
{
	transport_cancel(of_base(t)->http, id);
}

static void call(struct transport *t, int64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
	transport_call(of_base(t)->http, delay_ns, fn, ctx);
}

static void destroy(struct transport *t)
{
	struct user_transport *u = of_base(t);

	/* This transport is the one that callers see: nothing new is begun while the inner one
	 * ends. */
	atomic_store(&t->stopping, true);
	transport_destroy(u->http);
	kubeconfig_destroy(u->cfg);
	free(u);
}

/* A certificate belongs to the connections: a new one needs new ones. */
static int connect_again(struct user_transport *u, struct err *err)
{
	struct transport *http = NULL;
	int r = transport_http_create(u->cfg, u->opt.user_agent, &http, err);

	if (r < 0) {
		return r;
	}
	/* The old connections go only when there are new ones. */
	transport_destroy(u->http);
	u->http = http;
	return 0;
}

/* The plugin runs again when what it gave has expired, or was refused: a token may be withdrawn
 * before its time. */
static int renew(struct transport *t, bool rejected, struct err *err)
{
	CLEANUP(exec_credential_finish) struct exec_credential given = { 0 };
	struct user_transport *u = of_base(t);
	bool expired = clock_wall(clock_real()) >= u->expires - MARGIN_NS;
	int r;

	if (u->cfg->exec == NULL || (u->http != NULL && !rejected && !expired)) {
		return 0;
	}
	r = u->opt.run_plugin(u->cfg, &given, err);
	if (r < 0) {
		return r;
	}
	kubeconfig_set_credential(u->cfg, given.token, given.cert, given.key);
	u->expires = given.expires;
	r = connect_again(u, err);
	return r < 0 ? r : 1;
}

static const struct transport_ops ops = {
	.submit = submit,
	.cancel = cancel,
	.call = call,
	.destroy = destroy,
	.renew = renew,
};

int user_transport_create(struct kubeconfig *cfg_take, const struct user_transport_options *opt,
			  struct transport **ret, struct err *err)
{
	struct user_transport *u = xmalloc_zero(1, sizeof(*u));
	int r;

	u->base.ops = &ops;
	u->opt = *opt;
	u->cfg = cfg_take;
	/* Credentials that do not come from a plugin are used until the end. */
	u->expires = INT64_MAX;
	r = u->cfg->exec == NULL ? connect_again(u, err) : renew(&u->base, false, err);
	if (r < 0) {
		destroy(&u->base);
		return r;
	}
	*ret = &u->base;
	return 0;
}
