/* headgate-webhook with certificates of its own, as processes: pods are created one after the other
 * while the CA is rotated, and none of them is refused; then its registrations and its Secret are
 * edited, deleted and made again, and what it needs of them is restored. */
#include "lib/unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "lib/wait.h"
#include "play/registration.h"
#include "play/scene.h"
#include "process/file.h"

#define SECRETS "/api/v1/namespaces/default/secrets"
#define SECRET SECRETS "/headgate-webhook-tls"
#define TIMEOUT_NS (300 * CLOCK_NS_PER_S)
#define MINUTE_NS (60 * CLOCK_NS_PER_S)
#define CA_LIFE_NS (60 * MINUTE_NS)
#define CA_DUE_NS (40 * MINUTE_NS) /* two thirds of it */
#define MAX_LOG ((size_t)16 << 20)

static struct scene scene;
static struct strbuf first_ca = STRBUF_INIT; /* base64, as the Secret has it */

/* The registration that the API server uses for a request may be that old. */
static const char *const webhook_args[] = { "--cert-rotation-delay=4s", NULL };

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
}

/* Creates a pod, and more of them while the Secret's member is as before. */
static void create_until_changed(const char *key, const char *before, unsigned *count)
{
	int64_t end = wait_deadline(TIMEOUT_NS);
	bool same = true;

	while (same) {
		CLEANUP(xmalloc_freep) char *now = NULL;

		create_pod((*count)++);
		now = member(key);
		same = str_streq(now, before);
		if (same && !wait_until(end)) {
			scene_fail(&scene, "%s did not change", key);
		}
	}
}

/* Writes fail for want of time at most, on a busy machine. */
static void check_write_errors(void)
{
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("%s/headgate-webhook.log", stack_dir(scene.stack));
	CLEANUP(strbuf_finish) struct strbuf log = STRBUF_INIT;
	struct str rest;

	assert_int_equal(file_read_all(path, MAX_LOG, &log, NULL), 0);
	for (rest = strbuf_str(&log); rest.len > 0;) {
		struct str line = str_next(&rest, '\n');

		if (memmem(line.p, line.len, "write failed", 12) != NULL &&
		    memmem(line.p, line.len, "in time", 7) == NULL) {
			scene_fail(&scene, STR_FMT, STR_ARG(line));
		}
	}
}

static bool has_come(void *ctx, const struct mirror *m)
{
	return mirror_get(m, MIRROR_PODS, ctx) != NULL;
}

static void test_no_pod_is_refused_during_a_rotation(void **state UNUSED)
{
	unsigned count = 0;
	char last[32];

	create_until_changed("ca.crt", first_ca.p, &count);
	create_until_changed("old-ca.crt", first_ca.p, &count);
	snprintf(last, sizeof(last), "default/pod-%u", count);
	create_pod(count);
	scene_wait_for(&scene, "the last pod is there", has_come, last);
	assert_true(scene_saw(&scene, "pod-0", SCENE_GATED));
	assert_true(scene_metric(&scene, STACK_WEBHOOK,
				 "headgate_webhook_certificate_reloads_total") >= 2);
	check_write_errors();
}

/* --- registrations -----------------------------------------------------------------------------*/

#define REGISTRATIONS "/apis/admissionregistration.k8s.io/v1/"

static const char *const kinds[] = { REGISTRATIONS "mutatingwebhookconfigurations",
				     REGISTRATIONS "validatingwebhookconfigurations" };

/* How many webhooks have the CA of the Secret in their caBundle; *ret_n: how many there are. */
static size_t trusting(size_t *ret_n)
{
	CLEANUP(xmalloc_freep) char *ca64 = member("ca.crt");
	CLEANUP(strbuf_finish) struct strbuf ca = STRBUF_INIT;
	size_t n = 0;

	*ret_n = 0;
	assert_int_equal(base64_decode(str_of(ca64), &ca, NULL), 0);
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;

		scene_call(&scene, "GET", kinds[k], NULL, &list);
		for (const struct jdoc *o = jdoc_first(jdoc_get(list, "items")); o != NULL;
		     o = jdoc_next(o)) {
			for (const struct jdoc *w = jdoc_first(jdoc_get(o, "webhooks")); w != NULL;
			     w = jdoc_next(w)) {
				CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT;
				const char *bundle = jdoc_path_str(w, "clientConfig.caBundle");

				++*ret_n;
				n += bundle != NULL && ca.len > 0 &&
				     base64_decode(str_of(bundle), &pem, NULL) == 0 &&
				     memmem(pem.p, pem.len, ca.p, ca.len) != NULL;
			}
		}
	}
	return n;
}

static void wait_trust(size_t webhooks)
{
	int64_t end = wait_deadline(TIMEOUT_NS);
	size_t all = 0, n;

	do {
		n = trusting(&all);
	} while ((n != all || all != webhooks) && wait_until(end));
	if (n != all || all != webhooks) {
		scene_fail(&scene, "%zu of %zu webhooks trust the CA, there were %zu", n, all,
			   webhooks);
	}
}

/* A pod is let through and has its gate. Before, there may be webhooks that API servers do not
 * trust yet. */
static void check_pod(const char *name)
{
	const struct scene_pod p = { .name = name, .queue = "rotation", .cpu = "1" };

	scene_add_pod(&scene, &p);
	scene_wait(&scene, name, SCENE_GATED);
}

/* -ERR_CONFLICT: the webhook was faster. */
static int try_bundles(const char *path, const char *bundle, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *o = NULL;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct jdoc *list;

	scene_call(&scene, "GET", path, NULL, &o);
	list = jdoc_get_mut(o, "webhooks");
	for (size_t i = 0; i < jdoc_count(list); i++) {
		struct jdoc *config = jdoc_ensure_object(jdoc_at_mut(list, i), "clientConfig");

		if (bundle == NULL) {
			(void)jdoc_remove(config, "caBundle");
		} else {
			jdoc_set_str(config, "caBundle", bundle);
		}
	}
	jdoc_format(o, &body);
	return stack_call(scene.stack, "PUT", path, strbuf_str(&body), NULL, err);
}

/* caBundle of each webhook of an object; NULL: removed. */
static void set_bundles(const char *kind, const char *name, const char *bundle)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", kind, name);
	struct err err;
	int r;

	do {
		err = (struct err)ERR_INIT;
		r = try_bundles(path, bundle, &err);
	} while (r == -ERR_CONFLICT);
	if (r < 0) {
		scene_fail(&scene, "%s", err.text);
	}
}

static void delete_one(const char *kind, const char *name, const char *unused UNUSED)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", kind, name);

	scene_call(&scene, "DELETE", path, NULL, NULL);
}

static void each_registration(void (*fn)(const char *kind, const char *name, const char *arg),
			      const char *arg)
{
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;

		scene_call(&scene, "GET", kinds[k], NULL, &list);
		for (const struct jdoc *o = jdoc_first(jdoc_get(list, "items")); o != NULL;
		     o = jdoc_next(o)) {
			fn(kinds[k], jdoc_path_str(o, "metadata.name"), arg);
		}
	}
}

/* With the CA of the files, which signed no certificate of the webhook. */
static void apply_registrations(void)
{
	CLEANUP(strbuf_finish) struct strbuf manifest = STRBUF_INIT;
	struct err err = ERR_INIT;

	if (registration_render(stack_source(), stack_dir(scene.stack),
				stack_webhook_port(scene.stack), false, &manifest, &err) < 0 ||
	    stack_apply(scene.stack, strbuf_str(&manifest), &err) < 0) {
		scene_fail(&scene, "%s", err.text);
	}
}

static void test_edited_registrations_are_restored(void **state UNUSED)
{
	size_t webhooks;

	(void)trusting(&webhooks);
	assert_true(webhooks > 1);
	wait_trust(webhooks);
	each_registration(set_bundles, first_ca.p); /* of an authority that was replaced */
	wait_trust(webhooks);
	each_registration(set_bundles, NULL);
	wait_trust(webhooks);
	check_pod("after-edits");
}

static void test_deleted_registrations_are_completed_when_they_are_made_again(void **state UNUSED)
{
	size_t webhooks, none;

	(void)trusting(&webhooks);
	each_registration(delete_one, NULL);
	(void)trusting(&none);
	assert_int_equal(none, 0);
	apply_registrations();
	wait_trust(webhooks);
	check_pod("after-deletion");
}

static void test_deleted_secret_is_made_again(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *before = member("ca.crt");
	CLEANUP(xmalloc_freep) char *now = NULL;
	int64_t end = wait_deadline(TIMEOUT_NS);
	size_t webhooks;
	struct err err = ERR_INIT;
	int r;

	(void)trusting(&webhooks);
	scene_call(&scene, "DELETE", SECRET, NULL, NULL);
	do {
		err = (struct err)ERR_INIT;
		r = stack_call(scene.stack, "GET", SECRET, STR_LIT(""), NULL, &err);
	} while (r < 0 && wait_until(end));
	assert_int_equal(r, 0);
	wait_trust(webhooks);
	check_pod("after-secret");
	now = member("ca.crt");
	assert_string_not_equal(now, before);
}

/* --- begin and end -----------------------------------------------------------------------------*/

static void add_data(struct json_out *o, const char *key, const struct strbuf *pem)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	base64_encode(strbuf_str(pem), &text);
	json_out_kv(o, key, text.p);
}

/* The authority is due now, and has twenty minutes left to be replaced. */
static void make_secret(void)
{
	static const char *const ips[] = { "127.0.0.1" };
	CLEANUP(pair_finish) struct pair ca = PAIR_INIT;
	CLEANUP(pair_finish) struct pair leaf = PAIR_INIT;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const int64_t now = clock_wall(clock_real());
	const struct ca_options co = { .now_ns = now - CA_DUE_NS, .validity_ns = CA_LIFE_NS };
	const struct leaf_options lo = {
		.ca = &ca, .ip = ips, .ip_count = ARRAY_LEN(ips), .now_ns = now
	};
	struct json_out o;

	assert_int_equal(ca_create(&co, &ca, NULL), 0);
	assert_int_equal(leaf_create(&lo, &leaf, NULL), 0);
	json_out_init(&o, &body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "Secret");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "name", "headgate-webhook-tls");
	json_out_object_end(&o);
	json_out_kv(&o, "type", "kubernetes.io/tls");
	json_out_key(&o, "data");
	json_out_object(&o);
	add_data(&o, "ca.crt", &ca.cert);
	add_data(&o, "ca.key", &ca.key);
	add_data(&o, "tls.crt", &leaf.cert);
	add_data(&o, "tls.key", &leaf.key);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	scene_call(&scene, "POST", SECRETS, body.p, NULL);
	base64_encode(strbuf_str(&ca.cert), &first_ca);
}

static void start_webhook(void)
{
	CLEANUP(strbuf_finish) struct strbuf manifest = STRBUF_INIT;
	const char *dir = stack_dir(scene.stack);
	struct err err = ERR_INIT;

	if (registration_make_certificates(dir, &err) < 0 ||
	    registration_render(stack_source(), dir, stack_webhook_port(scene.stack), false,
				&manifest, &err) < 0 ||
	    stack_apply(scene.stack, strbuf_str(&manifest), &err) < 0 ||
	    stack_start_program(scene.stack, STACK_WEBHOOK, &err) < 0) {
		scene_fail(&scene, "%s", err.text);
	}
}

static int begin(void **state UNUSED)
{
	const struct scene_options opt = { .stack = { .no_webhook = true,
						      .webhook_managed = true,
						      .webhook_args = webhook_args } };

	const struct scene_pod probe = { .name = "probe", .queue = "rotation", .cpu = "1" };

	scene_start(&scene, &opt);
	make_secret();
	start_webhook();
	/* Until the registrations carry the CA, everything is refused, and tried again. */
	scene_add_queue(&scene, "rotation", NULL, "1", NULL);
	scene_add_pod(&scene, &probe);
	return 0;
}

static int end(void **state UNUSED)
{
	scene_stop(&scene);
	strbuf_finish(&first_ca);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_pod_is_refused_during_a_rotation),
		cmocka_unit_test(test_edited_registrations_are_restored),
		cmocka_unit_test(test_deleted_registrations_are_completed_when_they_are_made_again),
		cmocka_unit_test(test_deleted_secret_is_made_again),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
