/* headgate-webhook with certificates of its own, as processes: pods are created one after the other
 * while the CA is rotated, and none of them is refused. */
#include "lib/unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"
#include "lib/scene.h"

#define SECRET "/api/v1/namespaces/default/secrets/headgate-webhook-tls"
#define HOOK                                                                                       \
	"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"                     \
	"volcano-admission-service-pods-mutate"
#define TIMEOUT_NS (120 * CLOCK_NS_PER_S)
#define PACE_MS 100

static struct scene scene;

/* The authority is due at 30 s, and then has 15 s left to be replaced. */
static const char *const webhook_args[] = { "--cert-ca-duration=45s", "--cert-leaf-duration=45s",
					    "--cert-rotation-delay=500ms", NULL };

static char *member(const char *key)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;

	scene_call(&scene, "GET", SECRET, NULL, &doc);
	return xmalloc_dup(jdoc_str_or(jdoc_get(jdoc_get(doc, "data"), key), ""));
}

static void create_pod(unsigned i)
{
	char name[32];
	const struct scene_pod p = { .name = name, .queue = "rotation", .cpu = "1" };
	struct err err = ERR_INIT;

	snprintf(name, sizeof(name), "pod-%u", i);
	if (scene_try_pod(&scene, &p, &err) < 0) {
		scene_fail(&scene, "%s: %s", name, err.text);
	}
	(void)poll(NULL, 0, PACE_MS);
}

/* Creates pods until the Secret's member has changed from before (takes it over). */
static void create_until_changed(const char *key, char *before_take, unsigned *count)
{
	CLEANUP(xmalloc_freep) char *before = before_take;
	int64_t end = clock_mono(clock_real()) + TIMEOUT_NS;

	for (;;) {
		CLEANUP(xmalloc_freep) char *now = member(key);

		if (!str_streq(now, before)) {
			return;
		}
		if (clock_mono(clock_real()) > end) {
			scene_fail(&scene, "%s did not change", key);
		}
		create_pod((*count)++);
	}
}

static void test_no_pod_is_refused_during_a_rotation(void **state UNUSED)
{
	unsigned count = 0;

	scene_add_queue(&scene, "rotation", NULL, "1", NULL);
	create_until_changed("ca.crt", member("ca.crt"), &count);
	create_until_changed("old-ca.crt", member("old-ca.crt"), &count);
	create_pod(count);
	scene_settle(&scene);
	assert_true(count > 10);
	assert_true(scene_saw(&scene, "pod-1", SCENE_GATED));
	assert_true(scene_metric(&scene, STACK_WEBHOOK,
				 "headgate_webhook_certificate_reloads_total") >= 2);
	assert_true(scene_metric(&scene, STACK_WEBHOOK,
				 "headgate_webhook_certificate_write_errors_total") == 0);
}

/* Until the registrations carry the CA, pods are refused. */
static void await_registration(void)
{
	int64_t end = clock_mono(clock_real()) + TIMEOUT_NS;
	CLEANUP(xmalloc_freep) char *ca = member("ca.crt");

	for (;;) {
		CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
		const struct jdoc *last;

		scene_call(&scene, "GET", HOOK, NULL, &doc);
		last = jdoc_at(jdoc_get(doc, "webhooks"), 2);
		if (str_streq(jdoc_path_str(last, "clientConfig.caBundle"), ca)) {
			return;
		}
		if (clock_mono(clock_real()) > end) {
			scene_fail(&scene, "no CA in the registration");
		}
		(void)poll(NULL, 0, PACE_MS);
	}
}

static int begin(void **state UNUSED)
{
	const struct scene_options opt = { .stack = { .webhook_managed = true,
						      .webhook_args = webhook_args } };

	scene_start(&scene, &opt);
	await_registration();
	return 0;
}

static int end(void **state UNUSED)
{
	scene_stop(&scene);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_pod_is_refused_during_a_rotation),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
