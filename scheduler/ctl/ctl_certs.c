/* headgatectl certs: writes ca.crt, ca.key, tls.crt and tls.key to a folder. Running it again
 * changes nothing while the files are good: the authority is kept; the server certificate is
 * replaced only if it does not cover the given names, was signed by another authority, does not
 * match its key, or has less than a third of its validity left. */
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "enc/json/json_out.h"
#include "process/file.h"

#define DAY_NS (86400 * CLOCK_NS_PER_S)
#define MAX_DAYS 36500

struct certs_options {
	const char *out;
	struct flags_list dns, ip;
	int64_t days, ca_days;
	bool force;
	enum verb_output output;
};

#define AT(kind, member) FLAGS_AT(struct certs_options, kind, member)

static const struct flags_row rows[] = {
	{ "out", .letter = 'd', AT(TEXT, out), .arg = "DIR", .def = ".",
	  .help = "Folder for the files" },
	{ "dns", .letter = 'n', AT(LIST, dns), .arg = "NAME", .max = LEAF_MAX_NAMES,
	  .help = "DNS name of the server; may be repeated" },
	{ "ip", .letter = 'i', AT(LIST, ip), .arg = "ADDRESS", .max = LEAF_MAX_NAMES,
	  .help = "IP address of the server; may be repeated" },
	{ "days", .letter = 'y', AT(INT, days), .min = 1, .max = MAX_DAYS, .def = "365",
	  .help = "Validity of the server certificate" },
	{ "ca-days", .letter = 'c', AT(INT, ca_days), .min = 1, .max = MAX_DAYS, .def = "3650",
	  .help = "Validity of the authority" },
	{ "force", .letter = 'f', AT(BOOL, force),
	  .help = "Always create a new server certificate" },
	{ "output", .letter = 'o', FLAGS_CHOICE_AT(struct certs_options, verb_outputs, output),
	  .def = "table", .help = "Output format" },
	{ .type = FLAGS_END },
};

struct paths {
	char *ca_cert, *ca_key, *cert, *key;
};

static void paths_init(struct paths *p, const char *dir)
{
	p->ca_cert = xmalloc_printf("%s/ca.crt", dir);
	p->ca_key = xmalloc_printf("%s/ca.key", dir);
	p->cert = xmalloc_printf("%s/tls.crt", dir);
	p->key = xmalloc_printf("%s/tls.key", dir);
}

static void paths_finish(struct paths *p)
{
	free(p->ca_cert);
	free(p->ca_key);
	free(p->cert);
	free(p->key);
}

static int write_pair(const struct pair *p, const char *cert, const char *key, struct err *err)
{
	/* The key first: a program that finds the new certificate finds its key, too. With the
	 * new key alone it refuses the pair, and keeps the former one. */
	int r = file_write_atomic(key, strbuf_str(&p->key), 0600, err);

	return r == 0 ? file_write_atomic(cert, strbuf_str(&p->cert), 0644, err) : r;
}

/* An unusable authority is an error: replacing it would break the clients that trust it. */
static int load_or_make_ca(const struct certs_options *o, const struct paths *p, struct pair *ret,
			   bool *ret_made, struct err *err)
{
	struct ca_options opt = { .now_ns = clock_wall(clock_real()),
				  .days = (unsigned)o->ca_days };
	int64_t from, to;
	int r;

	/* Only if both are missing: one of them alone is a mistake, and not to be overwritten. */
	*ret_made = access(p->ca_cert, F_OK) != 0 && access(p->ca_key, F_OK) != 0;
	if (*ret_made) {
		r = ca_create(&opt, ret, err);
		return r == 0 ? write_pair(ret, p->ca_cert, p->ca_key, err) : r;
	}
	r = pair_read(p->ca_cert, p->ca_key, ret, err);
	if (r == 0) {
		r = pair_check(strbuf_str(&ret->cert), strbuf_str(&ret->key), err);
	}
	if (r == 0) {
		r = pair_validity(strbuf_str(&ret->cert), &from, &to, err);
	}
	if (r == 0 && to <= opt.now_ns) {
		r = err_set(err, ERR_INVALID, "expired");
	}
	return r < 0 ? err_wrap(err, "%s", p->ca_cert) : 0;
}

static bool covers_all(struct str cert, const struct flags_list *names)
{
	for (size_t i = 0; i < names->n; i++) {
		if (pair_covers(cert, names->v[i], NULL) < 0) {
			return false;
		}
	}
	return true;
}

/* A missing or broken certificate is no error here: the answer is a new one. */
static bool is_good(const struct certs_options *o, const struct paths *p, const struct pair *ca)
{
	CLEANUP(pair_finish) struct pair leaf = PAIR_INIT;
	int64_t from, to, now = clock_wall(clock_real());
	struct str cert;

	if (o->force || pair_read(p->cert, p->key, &leaf, NULL) < 0) {
		return false;
	}
	cert = strbuf_str(&leaf.cert);
	return pair_check(cert, strbuf_str(&leaf.key), NULL) == 0 &&
	       pair_is_signed_by(cert, strbuf_str(&ca->cert), NULL) == 0 &&
	       pair_validity(cert, &from, &to, NULL) == 0 &&
	       now - from < PAIR_RENEW_AT(to - from) && covers_all(cert, &o->dns) &&
	       covers_all(cert, &o->ip);
}

static int make_leaf(const struct certs_options *o, const struct paths *p, const struct pair *ca,
		     struct err *err)
{
	CLEANUP(pair_finish) struct pair leaf = PAIR_INIT;
	struct leaf_options opt = { .ca = ca,
				    .dns = o->dns.v,
				    .dns_count = o->dns.n,
				    .ip = o->ip.v,
				    .ip_count = o->ip.n,
				    .now_ns = clock_wall(clock_real()),
				    .days = (unsigned)o->days };
	int r = leaf_create(&opt, &leaf, err);

	return r == 0 ? write_pair(&leaf, p->cert, p->key, err) : r;
}

/* Read back from the files: what is printed is what a server will find. */
static int print_files(const struct certs_options *o, const struct paths *p, bool ca_made,
		       bool leaf_made, struct err *err)
{
	const struct {
		const char *name, *path;
		bool made;
	} files[] = { { "ca", p->ca_cert, ca_made }, { "tls", p->cert, leaf_made } };
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	struct json_out out;

	json_out_init(&out, &json);
	json_out_object(&out);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT;
		char until[CLOCK_RFC3339_MAX];
		int64_t from = 0, to = 0;

		if (file_read_all(files[i].path, PAIR_MAX_BYTES, &pem, err) < 0 ||
		    pair_validity(strbuf_str(&pem), &from, &to, err) < 0) {
			return verb_fail(err);
		}
		clock_format_time(to, until);
		if (o->output == VERB_TABLE) {
			printf("%-8s until %s  %s\n", files[i].made ? "made" : "kept", until,
			       files[i].path);
		}
		json_out_key(&out, files[i].name);
		json_out_object(&out);
		json_out_kv(&out, "path", files[i].path);
		json_out_kv_bool(&out, "made", files[i].made);
		json_out_kv(&out, "notAfter", until);
		json_out_object_end(&out);
	}
	json_out_object_end(&out);
	json_out_end(&out);
	if (o->output == VERB_JSON) {
		printf("%s\n", json.p);
	}
	return VERB_OK;
}

static int run(const struct certs_options *o, struct err *err)
{
	CLEANUP(paths_finish) struct paths p = { 0 };
	CLEANUP(pair_finish) struct pair ca = PAIR_INIT;
	bool ca_made, leaf_made;

	paths_init(&p, o->out);
	if (file_make_dirs(o->out, err) < 0 || load_or_make_ca(o, &p, &ca, &ca_made, err) < 0) {
		return verb_fail(err);
	}
	leaf_made = !is_good(o, &p, &ca);
	if (leaf_made && make_leaf(o, &p, &ca, err) < 0) {
		return verb_fail(err);
	}
	return print_files(o, &p, ca_made, leaf_made, err);
}

static int run_verb(int argc, char **argv)
{
	struct certs_options o = { .out = NULL };
	struct flags_parsed parsed;
	struct err err = ERR_INIT;
	int code;

	if (!verb_parse(&ctl_certs_verb.flags, argc, argv, &o, &parsed, &code)) {
		return code;
	}
	if (o.dns.n + o.ip.n == 0) {
		fprintf(stderr, "headgatectl: certs: give at least one --dns or --ip\n");
		return VERB_USAGE;
	}
	return run(&o, &err);
}

static const struct flags_row *const tables[] = { rows, flags_help, NULL };

const struct verb ctl_certs_verb = {
	VERB("certs"),
	.help = "create a certificate authority and a server certificate",
	.flags.doc = "Create ca.crt, ca.key, tls.crt and tls.key (ECDSA P-256), unless valid files "
		     "exist already.",
	.flags.tables = tables,
	.run = run_verb,
};
