#include "webhook/certs/ca_bundles.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "lib/unit.h"

#define A STR_LIT("/m/a")
#define B STR_LIT("/m/b")
#define WEBHOOK(name, bundle)                                                                      \
	"{\"name\":\"" name "\",\"clientConfig\":{\"url\":\"u\",\"caBundle\":\"" bundle "\"}}"

static void expect(const struct ca_bundles *b, int64_t now, const char *path, const char *patch,
		   int64_t at)
{
	CLEANUP(strbuf_finish) struct strbuf p = STRBUF_INIT, text = STRBUF_INIT;
	int64_t ret_at = -1;

	if (path == NULL) {
		assert_false(ca_bundles_next(b, STR_LIT("bmV3"), now, &p, &text, &ret_at));
		assert_true(ret_at == at);
		return;
	}
	assert_true(ca_bundles_next(b, STR_LIT("bmV3"), now, &p, &text, &ret_at));
	assert_string_equal(p.p, path);
	assert_string_equal(text.p, patch);
}

static void test_which_and_how(void **state)
{
	struct ca_bundles *b = ca_bundles_create();

	(void)state;
	expect(b, 0, NULL, NULL, CLOCK_NEVER);
	assert_true(ca_bundles_set(b, A,
				   STR_LIT("{\"webhooks\":[" WEBHOOK("x", "bmV3") "," WEBHOOK(
					   "y", "b2xk") ",{\"name\":\"z\","
							"\"clientConfig\":{}}]}")));
	expect(b, 0, "/m/a",
	       "[{\"op\":\"test\",\"path\":\"/webhooks/1/name\",\"value\":\"y\"},"
	       "{\"op\":\"add\",\"path\":\"/webhooks/1/clientConfig/caBundle\",\"value\":\"bmV3\"},"
	       "{\"op\":\"test\",\"path\":\"/webhooks/2/name\",\"value\":\"z\"},"
	       "{\"op\":\"add\",\"path\":\"/webhooks/2/clientConfig/"
	       "caBundle\",\"value\":\"bmV3\"}]",
	       0);
	assert_true(ca_bundles_set(b, A, STR_LIT("{\"webhooks\":[" WEBHOOK("x", "bmV3") "]}")));
	expect(b, 0, NULL, NULL, CLOCK_NEVER);
	assert_false(ca_bundles_set(b, A, STR_LIT("{")));
	expect(b, 0, NULL, NULL, CLOCK_NEVER);
	assert_true(ca_bundles_set(b, A, STR_LIT("{}")));
	expect(b, 0, NULL, NULL, CLOCK_NEVER);
	ca_bundles_destroy(b);
	ca_bundles_destroy(NULL);
}

static void test_one_that_fails_does_not_hold_up_others(void **state)
{
	static const char patch[] =
		"[{\"op\":\"test\",\"path\":\"/webhooks/0/name\",\"value\":\"x\"},"
		"{\"op\":\"add\",\"path\":\"/webhooks/0/clientConfig/"
		"caBundle\",\"value\":\"bmV3\"}]";
	struct ca_bundles *b = ca_bundles_create();

	(void)state;
	assert_true(ca_bundles_set(b, A, STR_LIT("{\"webhooks\":[" WEBHOOK("x", "") "]}")));
	assert_true(ca_bundles_set(b, B, STR_LIT("{\"webhooks\":[" WEBHOOK("x", "") "]}")));
	ca_bundles_defer(b, A, 10);
	ca_bundles_defer(b, STR_LIT("/m/absent"), 10);
	expect(b, 9, "/m/b", patch, 0);
	ca_bundles_defer(b, B, 12);
	expect(b, 9, NULL, NULL, 10);
	expect(b, 10, "/m/a", patch, 0);
	ca_bundles_remove(b, A);
	ca_bundles_remove(b, A);
	expect(b, 10, NULL, NULL, 12);
	ca_bundles_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_and_how),
		cmocka_unit_test(test_one_that_fails_does_not_hold_up_others),
	};

	return cmocka_run_group_tests_name("webhook/certs/ca_bundles", tests, NULL, NULL);
}
