/* Certificates and keys in the webhook's Secret, as bytes of DER: mutations reach what they say,
 * which base64 would hide from them. The members of the Secret are separated by "----", in the
 * order of `members`. Whatever they are: the actions end with certificates that serve, signed by a
 * CA that clients accept, and a certificate that is called good is one that the server can load. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/base64.h"
#include "net/http_server.h"
#include "webhook/certs/cert_names.h"
#include "webhook/certs/cert_secret.h"

#define NOW (INT64_C(1780000000) * CLOCK_NS_PER_S)
#define HOUR (3600 * CLOCK_NS_PER_S)
#define GOOD (CERT_CA_GOOD | CERT_LEAF_GOOD)
#define PEM_LINE 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_pem(struct str der, const char *what, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (der.len == 0) {
		return;
	}
	base64_encode(der, &text);
	strbuf_printf(out, "-----BEGIN %s-----\n", what);
	for (size_t i = 0; i < text.len; i += PEM_LINE) {
		size_t n = text.len - i < PEM_LINE ? text.len - i : PEM_LINE;

		strbuf_add(out, text.p + i, n);
		strbuf_add_ch(out, '\n');
	}
	strbuf_printf(out, "-----END %s-----\n", what);
}

/* The text before the next "----", which is removed with it. */
static struct str next_part(struct str *rest)
{
	struct str part = *rest;

	for (size_t i = 0; i + 4 <= rest->len; i++) {
		if (memcmp(rest->p + i, "----", 4) == 0) {
			part.len = i;
			*rest = (struct str){ rest->p + i + 4, rest->len - i - 4 };
			return part;
		}
	}
	rest->len = 0;
	return part;
}

static void read_members(struct str rest, struct cert_secret *s)
{
	const struct {
		struct strbuf *to;
		const char *what;
	} members[] = {
		{ &s->ca.cert, "CERTIFICATE" },   { &s->ca.key, "PRIVATE KEY" },
		{ &s->leaf.cert, "CERTIFICATE" }, { &s->leaf.key, "PRIVATE KEY" },
		{ &s->next.cert, "CERTIFICATE" }, { &s->next.key, "PRIVATE KEY" },
		{ &s->old, "CERTIFICATE" },
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		add_pem(next_part(&rest), members[i].what, members[i].to);
	}
}

static void check_leaf(const struct cert_secret *s)
{
	struct err err = ERR_INIT;

	if (http_server_tls_check(strbuf_str(&s->leaf.cert), strbuf_str(&s->leaf.key), &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}

static void check_actions(struct cert_secret *s, const struct cert_secret_options *opt)
{
	int64_t until;
	unsigned facts = cert_secret_facts(s, opt, NOW, &until);

	for (unsigned i = 0; i < CERT_ACTION_COUNT_; i++) {
		enum cert_action a = cert_rules_next(facts | CERT_NEXT_SPREAD);

		if (a == CERT_WAIT) {
			break;
		}
		assert(cert_secret_apply(s, a, opt, NOW, NULL) == 0);
		facts = cert_secret_facts(s, opt, NOW, &until);
	}
	assert((facts & GOOD) == GOOD && until > NOW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(cert_secret_finish) struct cert_secret s;
	CLEANUP(cert_names_finish) struct cert_names names = { 0 };
	const struct cert_secret_options opt = {
		.names = &names, .ca_ns = 300 * HOUR, .leaf_ns = 30 * HOUR, .keep_old_ns = HOUR
	};
	unsigned facts;
	int64_t until;

	cert_secret_init(&s);
	read_members((struct str){ (const char *)data, size }, &s);
	assert(cert_names_of(&names, "ns", "svc", NULL, NULL) == 0);
	facts = cert_secret_facts(&s, &opt, NOW, &until);
	if ((facts & CERT_LEAF_GOOD) != 0) {
		check_leaf(&s);
	}
	/* Without a CA all is made anew, which takes long and has nothing of the input. */
	if ((facts & CERT_CA_GOOD) != 0) {
		check_actions(&s, &opt);
		check_leaf(&s);
	}
	return 0;
}
