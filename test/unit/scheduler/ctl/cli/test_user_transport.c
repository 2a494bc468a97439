/* When credentials are renewed; test/integration/test_ctl_user.c has the requests. */
#include "scheduler/ctl/cli/user_transport.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/exec_credential.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"

#define HEAD                                                                                       \
	"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"              \
	"clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"

static unsigned runs;
static bool fails;
static int64_t expires;

static int run_plugin(const struct kubeconfig *cfg UNUSED, struct exec_credential *ret,
		      struct err *err)
{
	runs++;
	if (fails) {
		return err_set(err, ERR_FORBIDDEN, "plugin");
	}
	*ret = (struct exec_credential){ .token = xmalloc_dup("t"), .expires = expires };
	return 0;
}

static int create(const char *text, struct transport **ret, struct err *err)
{
	const struct user_transport_options opt = { .user_agent = "test",
						    .run_plugin = run_plugin };
	struct kubeconfig *c = NULL;

	assert_int_equal(kubeconfig_parse(str_of(text), NULL,
					  &(struct kubeconfig_options){ .runs_plugins = true }, &c,
					  NULL),
			 0);
	return user_transport_create(c, &opt, ret, err);
}

static const char with_plugin[] = HEAD
	"users: [{name: u, user: {exec: {apiVersion: " EXEC_CREDENTIAL_V1BETA1 ", command: p}}}]\n";

static void test_without_a_plugin(void **state UNUSED)
{
	struct transport *t = NULL;

	runs = 0;
	assert_int_equal(create(HEAD "users: [{name: u, user: {token: t}}]\n", &t, NULL), 0);
	assert_int_equal(transport_renew(t, false, NULL), 0);
	assert_int_equal(transport_renew(t, true, NULL), 0);
	assert_int_equal(runs, 0);
	transport_destroy(t);
}

static void test_renewal(void **state UNUSED)
{
	struct transport *t = NULL;
	struct err err = ERR_INIT;

	runs = 0;
	expires = INT64_MAX;
	assert_int_equal(create(with_plugin, &t, NULL), 0);
	assert_int_equal(runs, 1);
	assert_int_equal(transport_renew(t, false, NULL), 0);
	assert_int_equal(runs, 1);
	expires = clock_wall(clock_real());
	assert_int_equal(transport_renew(t, true, NULL), 1); /* rejected */
	assert_int_equal(runs, 2);
	expires = INT64_MAX;
	assert_int_equal(transport_renew(t, false, NULL), 1); /* expired */
	assert_int_equal(transport_renew(t, false, NULL), 0);
	assert_int_equal(runs, 3);
	fails = true;
	assert_int_equal(transport_renew(t, true, &err), -ERR_FORBIDDEN);
	assert_string_equal(err.text, "plugin");
	transport_destroy(t);
	assert_int_equal(create(with_plugin, &t, &err), -ERR_FORBIDDEN);
	fails = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_plugin),
		cmocka_unit_test(test_renewal),
	};

	return cmocka_run_group_tests_name("user_transport", tests, NULL, NULL);
}
