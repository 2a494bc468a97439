#include "webhook/certs/cert_secret.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "enc/base64.h"
#include "enc/json/json_out.h"
#include "enc/json/reader.h"
#include "net/http_server.h"
#include "webhook/certs/cert_names.h"

/* Certificates begin that long before they are made, since clocks of clients may be behind. */
#define SKEW_NS (300 * CLOCK_NS_PER_S)

/* A member of the Secret and the buffer for it. */
static const struct member {
	const char *key;
	size_t offset;
} members[] = {
	{ "tls.crt", offsetof(struct cert_secret, leaf.cert) },
	{ "tls.key", offsetof(struct cert_secret, leaf.key) },
	{ "ca.crt", offsetof(struct cert_secret, ca.cert) },
	{ "ca.key", offsetof(struct cert_secret, ca.key) },
	{ "next-ca.crt", offsetof(struct cert_secret, next.cert) },
	{ "next-ca.key", offsetof(struct cert_secret, next.key) },
	{ "old-ca.crt", offsetof(struct cert_secret, old) },
};

static struct strbuf *member_of(struct cert_secret *s, size_t i)
{
	return (struct strbuf *)(void *)((char *)s + members[i].offset);
}

static const struct strbuf *value_of(const struct cert_secret *s, size_t i)
{
	return (const struct strbuf *)(const void *)((const char *)s + members[i].offset);
}

void cert_secret_init(struct cert_secret *s)
{
	pair_init(&s->ca);
	pair_init(&s->leaf);
	pair_init(&s->next);
	strbuf_init(&s->old);
}

void cert_secret_finish(struct cert_secret *s)
{
	pair_finish(&s->ca);
	pair_finish(&s->leaf);
	pair_finish(&s->next);
	strbuf_finish(&s->old);
}

void cert_secret_copy(const struct cert_secret *s, struct cert_secret *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		strbuf_add_str(member_of(ret, i), strbuf_str(value_of(s, i)));
	}
}

static void take_member(struct cert_secret *s, struct str key, struct str text)
{
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		struct strbuf *value = member_of(s, i);

		if (str_eq_c(key, members[i].key)) {
			strbuf_reset(value);
			(void)base64_decode(text, value, NULL);
		}
	}
}

static void read_data(struct reader *r, struct cert_secret *ret)
{
	struct str key;

	if (reader_kind(r) != JDOC_OBJECT) {
		reader_skip(r);
		return;
	}
	reader_enter(r);
	while (reader_next(r, &key)) {
		if (reader_kind(r) == JDOC_STRING) {
			take_member(ret, key, reader_str(r));
		} else {
			reader_skip(r);
		}
	}
}

int cert_secret_parse(struct str json, struct cert_secret *ret, struct err *err)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct reader r;
	struct str key;

	reader_of_text(&r, json, arena);
	if (reader_kind(&r) != JDOC_OBJECT) {
		reader_skip(&r);
		return reader_finish(&r, err);
	}
	reader_enter(&r);
	while (reader_next(&r, &key)) {
		if (str_eq_c(key, "data")) {
			read_data(&r, ret);
		} else {
			reader_skip(&r);
		}
	}
	return reader_finish(&r, err);
}

/* A block must begin on a line of its own, however the Secret was written. */
static void add_pem(struct strbuf *out, const struct strbuf *pem)
{
	strbuf_add_str(out, strbuf_str(pem));
	if (pem->len > 0 && pem->p[pem->len - 1] != '\n') {
		strbuf_add_ch(out, '\n');
	}
}

/* The order is fixed: registrations are compared with the bundle as text. */
void cert_secret_bundle(const struct cert_secret *s, struct strbuf *out)
{
	add_pem(out, &s->ca.cert);
	add_pem(out, &s->next.cert);
	add_pem(out, &s->old);
}

/* ---- facts ---- */

static bool is_pair(const struct pair *p)
{
	return p->cert.len > 0 && pair_check(strbuf_str(&p->cert), strbuf_str(&p->key), NULL) == 0;
}

static bool is_ca(const struct pair *p)
{
	return is_pair(p) && pair_is_ca(strbuf_str(&p->cert));
}

/* The server has another library, which refuses some of what OpenSSL reads. */
static bool can_be_served(const struct pair *p)
{
	return is_pair(p) &&
	       http_server_tls_check(strbuf_str(&p->cert), strbuf_str(&p->key), NULL) == 0;
}

static void sooner(int64_t *until, int64_t at, int64_t now)
{
	if (at > now && at < *until) {
		*until = at;
	}
}

/* The facts about the validity of a pair: still valid (good), time for a new one (due). */
static unsigned validity_facts(const struct pair *p, int64_t now, int64_t *until, unsigned good,
			       unsigned due)
{
	int64_t from, to, made, renew;

	if (pair_validity(strbuf_str(&p->cert), &from, &to, NULL) < 0 || now < from || now >= to) {
		return 0;
	}
	/* The life counts from when it was made. A foreign certificate may live for less than
	 * the skew. */
	made = from + SKEW_NS < to ? from + SKEW_NS : from;
	renew = made + PAIR_RENEW_AT(to - made);
	/* Both times change the facts: first it is due, at the end it is not good any more. */
	sooner(until, renew, now);
	sooner(until, to, now);
	return now >= renew ? good | due : good;
}

static bool is_for_all_names(const struct pair *p, const struct cert_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		if (pair_covers(strbuf_str(&p->cert), names->all[i], NULL) < 0) {
			return false;
		}
	}
	return true;
}

/* Whether replicas had time to load the certificate, which was made when its CA became the
 * current one, or later: a renewal meanwhile keeps the former CA for longer, which does no harm. */
static bool is_old_done(const struct cert_secret *s, int64_t keep_ns, int64_t now, int64_t *until)
{
	int64_t from, to;

	if (pair_validity(strbuf_str(&s->leaf.cert), &from, &to, NULL) < 0) {
		return false;
	}
	sooner(until, from + SKEW_NS + keep_ns, now);
	return now >= from + SKEW_NS + keep_ns;
}

unsigned cert_secret_facts(const struct cert_secret *s, const struct cert_secret_options *opt,
			   int64_t now_ns, int64_t *ret_until)
{
	int64_t until = CLOCK_NEVER;
	unsigned facts = 0;

	if (is_ca(&s->ca)) {
		facts |= validity_facts(&s->ca, now_ns, &until, CERT_CA_GOOD, CERT_CA_DUE);
	}
	/* A certificate for other names, or of another CA, counts as none: options may have
	 * changed, or the Secret was edited. */
	if (can_be_served(&s->leaf) && is_for_all_names(&s->leaf, opt->names) &&
	    pair_is_signed_by(strbuf_str(&s->leaf.cert), strbuf_str(&s->ca.cert), NULL) == 0) {
		facts |= validity_facts(&s->leaf, now_ns, &until, CERT_LEAF_GOOD, CERT_LEAF_DUE);
	}
	if (is_ca(&s->next)) {
		/* A next CA that has expired, while it waited for a registration, counts as
		 * absent. */
		facts |= validity_facts(&s->next, now_ns, &until, CERT_HAS_NEXT, 0);
	}
	if (s->old.len > 0) {
		facts |= CERT_HAS_OLD;
		facts |= is_old_done(s, opt->keep_old_ns, now_ns, &until) ? CERT_OLD_DONE : 0;
	}
	*ret_until = until;
	return facts;
}

/* ---- actions ---- */

static int make_ca(const struct cert_secret_options *opt, int64_t now, struct pair *ret,
		   struct err *err)
{
	struct ca_options co = { .common_name = "headgate-webhook-ca",
				 .now_ns = now,
				 .validity_ns = opt->ca_ns };

	pair_finish(ret);
	return ca_create(&co, ret, err);
}

static int sign_leaf(struct cert_secret *s, const struct cert_secret_options *opt, int64_t now,
		     struct err *err)
{
	struct leaf_options lo = { .ca = &s->ca,
				   .dns = opt->names->dns,
				   .dns_count = opt->names->dns_count,
				   .ip = opt->names->ip,
				   .ip_count = opt->names->ip_count,
				   .now_ns = now,
				   .validity_ns = opt->leaf_ns };

	pair_finish(&s->leaf);
	return leaf_create(&lo, &s->leaf, err);
}

/* A rotation in progress ends: the certificate that clients needed its other CAs for is
 * replaced, too. */
static int make_all(struct cert_secret *s, const struct cert_secret_options *opt, int64_t now,
		    struct err *err)
{
	int r = make_ca(opt, now, &s->ca, err);

	pair_finish(&s->next);
	strbuf_finish(&s->old);
	return r < 0 ? r : sign_leaf(s, opt, now, err);
}

/* A CA in the Secret that was not made here may have a key that cannot sign, or fields that fit no
 * certificate: it is replaced. */
static int make_leaf(struct cert_secret *s, const struct cert_secret_options *opt, int64_t now,
		     struct err *err)
{
	if (sign_leaf(s, opt, now, NULL) == 0 &&
	    pair_is_signed_by(strbuf_str(&s->leaf.cert), strbuf_str(&s->ca.cert), NULL) == 0) {
		return 0;
	}
	return make_all(s, opt, now, err);
}

/* Of the former CA the certificate is kept, by which clients trust what replicas still serve.
 * Its key signs nothing any more and is wiped. */
static int promote(struct cert_secret *s, const struct cert_secret_options *opt, int64_t now,
		   struct err *err)
{
	strbuf_reset(&s->old);
	strbuf_add_str(&s->old, strbuf_str(&s->ca.cert));
	pair_finish(&s->ca);
	s->ca = s->next;
	pair_init(&s->next);
	return make_leaf(s, opt, now, err);
}

int cert_secret_apply(struct cert_secret *s, enum cert_action action,
		      const struct cert_secret_options *opt, int64_t now_ns, struct err *err)
{
	switch (action) {
	case CERT_MAKE_ALL:
		return make_all(s, opt, now_ns, err);
	case CERT_MAKE_LEAF:
		return make_leaf(s, opt, now_ns, err);
	case CERT_MAKE_NEXT:
		return make_ca(opt, now_ns, &s->next, err);
	case CERT_PROMOTE:
		return promote(s, opt, now_ns, err);
	case CERT_DROP_OLD:
		strbuf_finish(&s->old);
		return 0;
	case CERT_WAIT:
	case CERT_ACTION_COUNT_:
		break;
	}
	return 0;
}

/* ---- as JSON ---- */

static void add_data(const struct cert_secret *s, bool is_patch, struct json_out *o)
{
	json_out_key(o, "data");
	json_out_object(o);
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		CLEANUP(strbuf_wipe) struct strbuf text = STRBUF_INIT;
		const struct strbuf *value = value_of(s, i);

		if (value->len == 0) {
			/* In a merge patch null removes a member; an absent one would stay. */
			if (is_patch) {
				json_out_kv(o, members[i].key, NULL);
			}
			continue;
		}
		base64_encode(strbuf_str(value), &text);
		json_out_kv(o, members[i].key, text.p);
	}
	json_out_object_end(o);
}

/* Enough bytes for the Secret in base64, with its metadata. */
static size_t size_of(const struct cert_secret *s, const char *namespace_, const char *name)
{
	size_t n = 1024 + strlen(namespace_) + strlen(name);

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		n += value_of(s, i)->len / 3 * 4 + 4;
	}
	return n;
}

void cert_secret_format(const struct cert_secret *s, const char *namespace_, const char *name,
			const char *version, struct strbuf *out)
{
	struct json_out o;

	/* Reserved at once, so that growing leaves no copy of a key in freed memory. */
	strbuf_reserve(out, size_of(s, namespace_, name));
	json_out_init(&o, out);
	json_out_object(&o);
	/* The type of a Secret cannot be changed, and labels may be edited by others later: both
	 * are written once. */
	if (version == NULL) {
		json_out_kv(&o, "apiVersion", "v1");
		json_out_kv(&o, "kind", "Secret");
		json_out_kv(&o, "type", "kubernetes.io/tls");
	}
	json_out_key(&o, "metadata");
	json_out_object(&o);
	if (version == NULL) {
		json_out_kv(&o, "namespace", namespace_);
		json_out_kv(&o, "name", name);
		json_out_key(&o, "labels");
		json_out_object(&o);
		json_out_kv(&o, "app.kubernetes.io/part-of", "headgate");
		json_out_object_end(&o);
	} else {
		json_out_kv(&o, "resourceVersion", version);
	}
	json_out_object_end(&o);
	add_data(s, version != NULL, &o);
	json_out_object_end(&o);
	json_out_end(&o);
}
