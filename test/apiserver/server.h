/* test/apiserver/server.h: the inside of struct apiserver and the context of one request, shared by
 * the files of this folder only. */
#ifndef TEST_APISERVER_SERVER_H
#define TEST_APISERVER_SERVER_H

#include "apiserver/apiserver.h"
#include "apiserver/reqinfo.h"
#include "apiserver/store/resource.h"
#include "base/rng.h"

struct faults;
struct strmap;

struct server_due {
	int64_t at;
	struct resource *res;
	char *key, *uid;
};

struct apiserver {
	struct apiserver_options opt;
	struct resource_table resources;
	struct rng rng;
	struct strmap *expressions; /* text -> struct cel: of match conditions that were met */
	int64_t rv;
	struct faults *faults;
	struct server_due *due; /* terminating pods to finalise, in order of time */
	size_t n_due, cap_due;
	unsigned watches;
};

struct call {
	struct apiserver *s;
	const struct http_request *req;
	int64_t now;
	struct reqinfo info;
	struct resource *res;
	struct apiserver_response *resp;
	bool creating, applying;
	bool patched;     /* a webhook has: defaults are set and members pruned once more */
	bool trusted;     /* loading manifests: no admission call-outs */
	int64_t stale_rv; /* a scripted stale read sees this version; -1: none */
};

static inline bool call_is_sub(const struct call *c, const char *sub)
{
	return str_eq_c(c->info.sub, sub);
}

#endif
