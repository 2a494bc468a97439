/* test/play/registration.h: certificates for the webhook and the manifest that registers it,
 * rendered from the chart's template of registrations with a URL instead of a Service; and the API
 * path of an object of a manifest. Any thread. */
#ifndef TEST_PLAY_REGISTRATION_H
#define TEST_PLAY_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct err;
struct jdoc;
struct strbuf;

/* Writes ca.crt, ca.key, tls.crt, tls.key (for 127.0.0.1 and localhost) into dir. An existing CA is
 * used again. */
int registration_make_certificates(const char *dir, struct err *err);
/* source: the tree with charts/headgate; the CA is dir/ca.crt; quota: with the registrations of
 * Kueue's kinds, Jobs and pods. Appends YAML. */
int registration_render(const char *source, const char *dir, uint16_t port, bool quota,
			struct strbuf *out, struct err *err);
/* Removes the webhooks with a URL of this ending from registrations. */
void registration_drop(struct jdoc *registrations, const char *ending);
/* Appends a template of registrations with its placeholders replaced. */
void registration_fill(struct str text, const char *url, struct str ca, struct strbuf *out);
/* Appends the path that objects of this kind are created at ("/api/v1/namespaces/ns/pods"). */
int registration_path(const struct jdoc *object, struct strbuf *out, struct err *err);

#endif
