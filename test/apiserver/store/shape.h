/* test/apiserver/store/shape.h: finds members with a JSON type that Kubernetes' decoder would
 * refuse, as far as the rest of this server relies on them: metadata of everything, data of config
 * maps and secrets, containers of pods. Pure. */
#ifndef TEST_APISERVER_STORE_SHAPE_H
#define TEST_APISERVER_STORE_SHAPE_H

struct jdoc;
struct resource;
struct strbuf;

/* 0, or -ERR_INVALID with the words of the decoder in why. */
int shape_check(const struct resource *res, const struct jdoc *doc, struct strbuf *why);

#endif
