/* The webhook's Secret of any content: it is read without error, written so that it reads back as
 * the same, and the actions for its facts end with certificates that serve. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "webhook/certs/cert_names.h"
#include "webhook/certs/cert_secret.h"

#define NOW (INT64_C(1780000000) * CLOCK_NS_PER_S)
#define HOUR (3600 * CLOCK_NS_PER_S)
#define GOOD (CERT_CA_GOOD | CERT_LEAF_GOOD)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_equal(const struct strbuf *a, const struct strbuf *b)
{
	return str_eq(strbuf_str(a), strbuf_str(b));
}

static void check_format(const struct cert_secret *s)
{
	CLEANUP(cert_secret_finish) struct cert_secret again;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	cert_secret_init(&again);
	cert_secret_format(s, "ns", "name", NULL, &text);
	assert(cert_secret_parse(strbuf_str(&text), &again, NULL) == 0);
	assert(is_equal(&s->ca.cert, &again.ca.cert) && is_equal(&s->ca.key, &again.ca.key));
	assert(is_equal(&s->leaf.cert, &again.leaf.cert) &&
	       is_equal(&s->leaf.key, &again.leaf.key));
	assert(is_equal(&s->next.cert, &again.next.cert) &&
	       is_equal(&s->next.key, &again.next.key));
	assert(is_equal(&s->old, &again.old));
}

/* CA, certificate, next CA and former CA: no Secret needs more actions than there are. */
static void check_actions(struct cert_secret *s, const struct cert_secret_options *opt)
{
	int64_t until;
	enum cert_action a;

	for (unsigned i = 0; i < CERT_ACTION_COUNT_; i++) {
		a = cert_rules_next(cert_secret_facts(s, opt, NOW, &until) | CERT_NEXT_SPREAD);
		if (a == CERT_WAIT) {
			break;
		}
		if (cert_secret_apply(s, a, opt, NOW, NULL) < 0) {
			return; /* logged and tried again: the Secret is left as it is */
		}
	}
	assert((cert_secret_facts(s, opt, NOW, &until) & GOOD) == GOOD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(cert_secret_finish) struct cert_secret s;
	CLEANUP(cert_names_finish) struct cert_names names = { 0 };
	const struct cert_secret_options opt = {
		.names = &names, .ca_ns = 300 * HOUR, .leaf_ns = 30 * HOUR, .keep_old_ns = HOUR
	};

	cert_secret_init(&s);
	assert(cert_names_of(&names, "ns", "svc", NULL, NULL) == 0);
	if (cert_secret_parse((struct str){ (const char *)data, size }, &s, NULL) == 0) {
		check_format(&s);
		check_actions(&s, &opt);
	}
	return 0;
}
