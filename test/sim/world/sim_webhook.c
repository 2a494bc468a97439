#include "sim/world/sim_webhook.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "obs/metric.h"
#include "play/registration.h"
#include "process/file.h"
#include "sim/world/sim_pod.h"
#include "webhook/server/lister.h"
#include "webhook/server/router.h"

#define URL "https://127.0.0.1:1"
#define QUOTA_REGISTRATION "charts/headgate/files/webhooks-quota.yaml"
#define MAX_MANIFEST (1u << 20)
#define KUEUE_VALIDATE ",/validate-kueue-x-k8s-io-v1beta2-"

struct sim_webhook {
	struct metric_registry *counters;
	struct lister *lister;
	struct router *router;
	int64_t now, away_until; /* monotonic ns */
};

struct sim_webhook *sim_webhook_create(bool quota)
{
	static const char *const schedulers[] = { "volcano" }, *const gated[] = { SIM_POD_THEIRS };
	static const char quota_paths[] =
		"/pods/mutate,/mutate--v1-pod,/validate--v1-pod,/mutate-batch-v1-job"
		",/validate-batch-v1-job"
		",/mutate-kueue-x-k8s-io-v1beta2-clusterqueue"
		",/mutate-kueue-x-k8s-io-v1beta2-resourceflavor" KUEUE_VALIDATE
		"clusterqueue" KUEUE_VALIDATE "cohort" KUEUE_VALIDATE "localqueue" KUEUE_VALIDATE
		"resourceflavor" KUEUE_VALIDATE "workload" KUEUE_VALIDATE "workloadpriorityclass";
	struct sim_webhook *h = xmalloc_zero(1, sizeof(*h));
	struct router_options opt = { .admit = { .scheduler_names = schedulers,
						 .scheduler_count = 1,
						 .gate_schedulers = gated,
						 .gate_scheduler_count = 1,
						 .gate_feature = true,
						 .gate_sticky = true },
				      .enabled = quota ? quota_paths : "/pods/mutate" };

	h->counters = metric_registry_create();
	h->lister = lister_create(NULL);
	opt.lister = h->lister;
	opt.registry = h->counters;
	(void)router_create(&opt, &h->router, NULL);
	return h;
}

void sim_webhook_stop(struct sim_webhook *h, int64_t until_ns)
{
	h->away_until = until_ns;
}

int64_t sim_webhook_back_at(const struct sim_webhook *h)
{
	return h->away_until;
}

void sim_webhook_set_time(struct sim_webhook *h, int64_t now_ns)
{
	h->now = now_ns;
}

void sim_webhook_destroy(struct sim_webhook *h)
{
	router_destroy(h->router);
	lister_destroy(h->lister);
	metric_registry_destroy(h->counters);
	free(h);
}

int sim_webhook_review(void *ctx, const struct apiserver_review *review, struct strbuf *out,
		       struct err *err)
{
	struct sim_webhook *h = ctx;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct str rest = str_of(review->url + sizeof(URL) - 1);
	struct http_request req = { .method = HTTP_POST,
				    .path = str_next(&rest, '?'),
				    .content_type = STR_LIT("application/json"),
				    .body = review->body };
	struct http_response resp = { .retry_after_s = -1 };

	if (h->now < h->away_until) {
		return err_set(err, ERR_UNAVAILABLE, "%s: connection refused", review->url);
	}
	router_handle(h->router, &req, arena, &resp);
	if (resp.status != 200) {
		return err_set(err, ERR_INVALID, "%s: " STR_FMT, review->url, STR_ARG(resp.body));
	}
	strbuf_add_str(out, resp.body);
	return 0;
}

static int add_quota(struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *path = NULL;
	const char *source = getenv("HEADGATE_SRC");
	int r;

	path = xmalloc_printf("%s/" QUOTA_REGISTRATION, source == NULL ? "." : source);
	r = file_read_all(path, MAX_MANIFEST, &text, err);
	if (r == 0) {
		strbuf_add_c(out, "---\n");
		registration_fill(strbuf_str(&text), URL, STR_LIT(""), out);
	}
	return r;
}

int sim_webhook_registration(bool quota, struct strbuf *out, struct err *err)
{
	strbuf_add_c(out, "apiVersion: admissionregistration.k8s.io/v1\n"
			  "kind: MutatingWebhookConfiguration\n"
			  "metadata:\n"
			  "  name: sim\n"
			  "webhooks:\n"
			  "- name: pods.sim.headgate.io\n"
			  "  admissionReviewVersions: [v1]\n"
			  "  sideEffects: None\n"
			  "  failurePolicy: Fail\n"
			  "  clientConfig:\n"
			  "    url: " URL "/pods/mutate\n"
			  "  rules:\n"
			  "  - apiGroups: ['']\n"
			  "    apiVersions: [v1]\n"
			  "    operations: [CREATE]\n"
			  "    resources: [pods]\n");
	return quota ? add_quota(out, err) : 0;
}
