/* Bodies in Kubernetes' protobuf encoding: two as kubectl 1.36 sent them, and messages made here.
 */
#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "apiserver/kubectl/protobuf.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

/* kubectl create namespace a */
static const unsigned char namespace_a[] = {
	'k',  '8', 's',  0x00, 0x0a, 0x0f, 0x0a, 0x02, 'v',  '1',  0x12, 0x09, 'N',
	'a',  'm', 'e',  's',  'p',  'a',  'c',  'e',  0x12, 0x19, 0x0a, 0x11, 0x0a,
	0x01, 'a', 0x12, 0x00, 0x1a, 0x00, '"',  0x00, '*',  0x00, '2',  0x00, '8',
	0x00, 'B', 0x00, 0x12, 0x00, 0x1a, 0x02, 0x0a, 0x00, 0x1a, 0x00, '"',  0x00,
};
/* kubectl create deployment d --image=x --replicas=0 */
static const unsigned char deployment_d[] = {
	'k',  '8',  's',  0x00, 0x0a, 0x15, 0x0a, 0x07, 'a',  'p',  'p',  's',  '/',  'v',  '1',
	0x12, 0x0a, 'D',  'e',  'p',  'l',  'o',  'y',  'm',  'e',  'n',  't',  0x12, 0x9b, 0x01,
	0x0a, 0x1b, 0x0a, 0x01, 'd',  0x12, 0x00, 0x1a, 0x00, '"',  0x00, '*',  0x00, '2',  0x00,
	'8',  0x00, 'B',  0x00, 'Z',  0x08, 0x0a, 0x03, 'a',  'p',  'p',  0x12, 0x01, 'd',  0x12,
	'n',  0x08, 0x00, 0x12, 0x0a, 0x0a, 0x08, 0x0a, 0x03, 'a',  'p',  'p',  0x12, 0x01, 'd',
	0x1a, 'V',  0x0a, 0x1a, 0x0a, 0x00, 0x12, 0x00, 0x1a, 0x00, '"',  0x00, '*',  0x00, '2',
	0x00, '8',  0x00, 'B',  0x00, 'Z',  0x08, 0x0a, 0x03, 'a',  'p',  'p',  0x12, 0x01, 'd',
	0x12, '8',  0x12, 0x1a, 0x0a, 0x01, 'x',  0x12, 0x01, 'x',  '*',  0x00, 'B',  0x00, 'j',
	0x00, 'r',  0x00, 0x80, 0x01, 0x00, 0x88, 0x01, 0x00, 0x90, 0x01, 0x00, 0xa2, 0x01, 0x00,
	0x1a, 0x00, '2',  0x00, 'B',  0x00, 'J',  0x00, 'R',  0x00, 'X',  0x00, '`',  0x00, 'h',
	0x00, 0x82, 0x01, 0x00, 0x8a, 0x01, 0x00, 0x9a, 0x01, 0x00, 0xc2, 0x01, 0x00, '"',  0x02,
	0x0a, 0x00, '(',  0x00, '8',  0x00, 0x1a, 0x0c, 0x08, 0x00, 0x10, 0x00, 0x18, 0x00, 0x20,
	0x00, '(',  0x00, '8',  0x00, 0x1a, 0x00, '"',  0x00,
};

static struct str bytes_of(const unsigned char *p, size_t len)
{
	return (struct str){ (const char *)p, len };
}

static void expect(struct str body, const char *json)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;

	if (protobuf_parse(body, &doc, &err) < 0) {
		fail_msg("refused: %s", err.text);
	}
	jdoc_format(doc, &text);
	assert_string_equal(text.p, json);
}

static void refuse(struct str body, const char *part)
{
	struct jdoc *doc = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(protobuf_parse(body, &doc, &err), -ERR_INVALID);
	assert_null(doc);
	assert_non_null(strstr(err.text, part));
}

static void test_of_kubectl(void **state)
{
	(void)state;
	expect(bytes_of(namespace_a, sizeof(namespace_a)),
	       "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}");
	/* Zero replicas are asked for; other zeros are fields that are not set. */
	expect(bytes_of(deployment_d, sizeof(deployment_d)),
	       "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\","
	       "\"labels\":{\"app\":\"d\"}},\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":"
	       "{\"app\":\"d\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"d\"}},\"spec\":"
	       "{\"containers\":[{\"name\":\"x\",\"image\":\"x\"}]}}}}");
}

/* Every beginning of a body is refused or decoded, and none is read beyond its end. */
static void test_truncated(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(deployment_d); n++) {
		CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
		unsigned char *copy = xmalloc(n + 1);
		struct err err = ERR_INIT;

		memcpy(copy, deployment_d, n);
		(void)protobuf_parse(bytes_of(copy, n), &doc, &err);
		free(copy);
	}
}

/* --- messages made here ----------------------------------------------------------------------- */

static void add_number(struct strbuf *out, unsigned field, uint64_t n)
{
	strbuf_add_ch(out, (char)(field << 3));
	for (; n >= 0x80; n >>= 7) {
		strbuf_add_ch(out, (char)((n & 0x7f) | 0x80));
	}
	strbuf_add_ch(out, (char)n);
}

static void add_bytes(struct strbuf *out, unsigned field, struct str bytes)
{
	assert_true(bytes.len < 0x80);
	strbuf_add_ch(out, (char)(field << 3 | 2));
	strbuf_add_ch(out, (char)bytes.len);
	strbuf_add_str(out, bytes);
}

static void add_text(struct strbuf *out, unsigned field, const char *text)
{
	add_bytes(out, field, str_of(text));
}

/* The body of a request with this message in it. */
static void wrap(struct strbuf *message, const char *kind)
{
	CLEANUP(strbuf_finish) struct strbuf type = STRBUF_INIT;
	struct strbuf body = STRBUF_INIT;

	strbuf_add_str(&body, (struct str){ "k8s", 4 });
	add_text(&type, 1, "v1");
	add_text(&type, 2, kind);
	add_bytes(&body, 1, strbuf_str(&type));
	add_bytes(&body, 2, strbuf_str(message));
	strbuf_finish(message);
	*message = body;
}

static void entry(struct strbuf *out, unsigned field, const char *key, struct str value)
{
	CLEANUP(strbuf_finish) struct strbuf e = STRBUF_INIT;

	add_text(&e, 1, key);
	add_bytes(&e, 2, value);
	add_bytes(out, field, strbuf_str(&e));
}

static void test_secret(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf m = STRBUF_INIT;

	(void)state;
	entry(&m, 2, "k", (struct str){ "\0\xff", 2 });
	entry(&m, 4, "t", STR_LIT("v"));
	add_text(&m, 3, "Opaque");
	add_number(&m, 5, 0);
	add_text(&m, 15, "of a newer version");
	wrap(&m, "Secret");
	expect(strbuf_str(&m),
	       "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"k\":\"AP8=\"},"
	       "\"stringData\":{\"t\":\"v\"},\"type\":\"Opaque\",\"immutable\":false}");
}

static void test_scalars(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf quota = STRBUF_INIT, amount = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf budget = STRBUF_INIT, percent = STRBUF_INIT;
	CLEANUP(strbuf_finish)
	struct strbuf meta = STRBUF_INIT, time = STRBUF_INIT, spec = STRBUF_INIT;

	(void)state;
	add_text(&amount, 1, "2500m");
	entry(&spec, 1, "cpu", strbuf_str(&amount));
	add_bytes(&quota, 2, strbuf_str(&spec));
	wrap(&quota, "ResourceQuota");
	expect(strbuf_str(&quota),
	       "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"spec\":{\"hard\":"
	       "{\"cpu\":\"2500m\"}}}");

	strbuf_reset(&spec);
	add_number(&percent, 1, 1);
	add_text(&percent, 3, "50%");
	add_bytes(&spec, 1, strbuf_str(&percent));
	strbuf_reset(&percent);
	add_number(&percent, 2, 3);
	add_bytes(&spec, 3, strbuf_str(&percent));
	add_number(&time, 1, 1767225600);
	add_number(&meta, 7, (uint64_t)INT64_C(-2));
	add_bytes(&meta, 8, strbuf_str(&time));
	add_bytes(&budget, 1, strbuf_str(&meta));
	add_bytes(&budget, 2, strbuf_str(&spec));
	wrap(&budget, "PodDisruptionBudget");
	expect(strbuf_str(&budget),
	       "{\"apiVersion\":\"v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{"
	       "\"generation\":-2,"
	       "\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{\"minAvailable\":\"50%\","
	       "\"maxUnavailable\":3}}");
}

static void test_refused(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf unknown = STRBUF_INIT, wrong = STRBUF_INIT;
	CLEANUP(strbuf_finish)
	struct strbuf text = STRBUF_INIT, big = STRBUF_INIT, late = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf meta = STRBUF_INIT, time = STRBUF_INIT;

	(void)state;
	refuse(STR_LIT("k8s"), "not in Kubernetes' protobuf encoding");
	refuse(STR_LIT("{\"kind\":\"Namespace\"}"), "not in Kubernetes' protobuf encoding");
	wrap(&unknown, "Ghost");
	refuse(strbuf_str(&unknown), "kind Ghost is not known here");
	add_number(&wrong, 1, 7); /* metadata is a message */
	wrap(&wrong, "Namespace");
	refuse(strbuf_str(&wrong), "metadata: broken protobuf");
	add_text(&meta, 1, "\xff");
	add_bytes(&text, 1, strbuf_str(&meta));
	wrap(&text, "Namespace");
	refuse(strbuf_str(&text), "metadata: name: a text that is not UTF-8");
	strbuf_reset(&meta);
	add_number(&meta, 7, UINT64_C(1) << 54);
	add_bytes(&big, 1, strbuf_str(&meta));
	wrap(&big, "Namespace");
	refuse(strbuf_str(&big), "an integer out of bounds");
	strbuf_reset(&meta);
	add_number(&time, 1, UINT64_C(1) << 50);
	add_bytes(&meta, 8, strbuf_str(&time));
	add_bytes(&late, 1, strbuf_str(&meta));
	wrap(&late, "Namespace");
	refuse(strbuf_str(&late), "a time out of bounds");
}

/* Names and types of the table: in order, so that they are found, and every type is there. */
static void test_messages(void **state)
{
	static const char *const kinds[] = { "Namespace",
					     "ConfigMap",
					     "Secret",
					     "ServiceAccount",
					     "ResourceQuota",
					     "Service",
					     "Deployment",
					     "Job",
					     "CronJob",
					     "Ingress",
					     "Role",
					     "RoleBinding",
					     "ClusterRole",
					     "ClusterRoleBinding",
					     "PriorityClass",
					     "Eviction",
					     "DeleteOptions",
					     "Pod",
					     "PodDisruptionBudget",
					     "SelfSubjectReview",
					     "SelfSubjectAccessReview" };
	const struct protobuf_message *m;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		unit_row_number(i);
		assert_non_null(protobuf_messages_find(str_of(kinds[i])));
	}
	for (size_t i = 0; (m = protobuf_messages_at(i)) != NULL; i++) {
		struct str rest = str_of(m->fields);

		assert_ptr_equal(protobuf_messages_find(str_of(m->name)), m);
		while (rest.len > 0) {
			struct str type = str_trim(str_next(&rest, ','));

			(void)str_next(&type, ' ');
			(void)str_next(&type, ' ');
			if (type.p[0] == '*' || type.p[0] == '%') {
				type = (struct str){ type.p + 1, type.len - 1 };
			}
			assert_true(type.len == 1 ? strchr("sbiBTQO", type.p[0]) != NULL
						  : protobuf_messages_find(type) != NULL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_kubectl), cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_secret),     cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_refused),    cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests_name("protobuf", tests, NULL, NULL);
}
