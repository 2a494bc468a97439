#include "sim/sim_webhook.h"

#include "admit/pod_mutate.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "server/review.h"

int sim_webhook_review(void *ctx UNUSED, const struct apiserver_review *review, struct strbuf *out,
		       struct err *err)
{
	static const char *const schedulers[] = { "volcano" };
	static const struct admit_options options = { .scheduler_names = schedulers,
						      .scheduler_count = 1,
						      .gate_feature = true };
	static const struct admit_view view = { .queues_known = false };
	struct admit_request request = { .options = &options, .view = &view };
	struct review_outcome outcome;
	int r;

	request.arena = arena_create(0);
	r = review_run(pod_mutate, &request, review->body, &outcome, err);
	if (r == 0) {
		strbuf_add_str(out, outcome.body);
	}
	arena_destroy(request.arena);
	return r;
}

struct str sim_webhook_registration(void)
{
	return STR_LIT("apiVersion: admissionregistration.k8s.io/v1\n"
		       "kind: MutatingWebhookConfiguration\n"
		       "metadata:\n"
		       "  name: sim\n"
		       "webhooks:\n"
		       "- name: pods.sim.headgate.io\n"
		       "  admissionReviewVersions: [v1]\n"
		       "  sideEffects: None\n"
		       "  failurePolicy: Fail\n"
		       "  clientConfig:\n"
		       "    url: https://127.0.0.1:1/pods/mutate\n"
		       "  rules:\n"
		       "  - apiGroups: ['']\n"
		       "    apiVersions: [v1]\n"
		       "    operations: [CREATE]\n"
		       "    resources: [pods]\n");
}
