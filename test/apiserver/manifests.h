/* test/apiserver/manifests.h: manifest files into the embedded server. */
#ifndef TEST_APISERVER_MANIFESTS_H
#define TEST_APISERVER_MANIFESTS_H

#include <stdint.h>

#define MANIFESTS_MAX_BYTES ((size_t)16 << 20)

struct apiserver;
struct err;

struct manifests_webhooks {
	const char *file;    /* registrations with placeholders */
	const char *url;     /* replaces @WEBHOOK_URL@: "https://127.0.0.1:8443" */
	const char *ca_file; /* PEM; its base64 form replaces @CA_BUNDLE@. NULL: empty */
};

/* Errors name the file. */
int manifests_load_file(struct apiserver *s, const char *path, int64_t now, struct err *err);
/* Every .yaml and .yml file of the folder in order of name. */
int manifests_load_dir(struct apiserver *s, const char *dir, int64_t now, struct err *err);
/* The placeholders are those of charts/headgate/files/webhooks.yaml. */
int manifests_load_webhooks(struct apiserver *s, const struct manifests_webhooks *w, int64_t now,
			    struct err *err);

#endif
