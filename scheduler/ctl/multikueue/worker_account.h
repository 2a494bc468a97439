/* scheduler/ctl/multikueue/worker_account.h: the account by which a manager of MultiKueue uses a
 * worker cluster: the objects to apply to the worker, and those to apply to the manager once the
 * worker has made a token. Their names are those of the chart (multikueue.worker). One thread. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_ACCOUNT_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_ACCOUNT_H

#include "base/str.h"
#include "scheduler/ctl/multikueue/worker_role.h"

struct err;
struct jdoc;
struct strbuf;

#define WORKER_ACCOUNT_NAME "headgate-multikueue"
#define WORKER_ACCOUNT_SECRET_KEY "kubeconfig" /* in the data of the manager's Secret */
#define WORKER_ACCOUNT_OBJECTS 5               /* on the worker */
#define WORKER_ACCOUNT_TOKEN 4                 /* number of the Secret with the token */

struct worker_account_object {
	const char *kind, *namespace_; /* NULL: an object of the cluster */
	const char *name;
	struct jdoc *json; /* owned */
};

struct worker_account {
	struct worker_account_object v[WORKER_ACCOUNT_OBJECTS];
};

/* In the order in which they are to be applied. namespace_: a DNS label, borrowed. */
void worker_account_init(struct worker_account *ret, const struct worker_role *role,
			 const char *namespace_);
void worker_account_finish(struct worker_account *a); /* for CLEANUP; zeroed is fine */
/* Appends the path of an object, without a query. */
void worker_account_path(const struct worker_account_object *o, struct strbuf *out);

/* How the manager reaches the worker. */
struct worker_account_access {
	const char *cluster; /* name of the MultiKueueCluster, a DNS subdomain */
	const char *server;
	const char *server_name; /* of the certificate; NULL: that of the server's address */
	struct str ca;           /* PEM */
	struct str token;
};

/* Appends the manifests of the Secret, in this namespace of the manager, and of the
 * MultiKueueCluster, as YAML. -ERR_INVALID: the manager would refuse such a kubeconfig. */
int worker_account_manifests(const struct worker_account_access *a, const char *namespace_,
			     struct strbuf *out, struct err *err);

#endif
