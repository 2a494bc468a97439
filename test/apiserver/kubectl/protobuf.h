/* test/apiserver/kubectl/protobuf.h: bodies in Kubernetes' protobuf encoding become JSON. kubectl
 * since 1.32 sends them for what it creates by itself (`create namespace`, `create job`) and does
 * not fall back to JSON. Decodes the kinds that kubectl creates, at most as deep as their types
 * are. Any thread. */
#ifndef TEST_APISERVER_KUBECTL_PROTOBUF_H
#define TEST_APISERVER_KUBECTL_PROTOBUF_H

#include "base/str.h"

#define PROTOBUF_MEDIA_TYPE "application/vnd.kubernetes.protobuf"

struct err;
struct jdoc;

/* Fields of a message as text, separated by commas: "JSON-NAME NUMBER TYPE". TYPE is s (string), b
 * (boolean), i (integer), B (bytes), T (Time), Q (Quantity), O (IntOrString) or the name of a
 * message; with * before it a list of them, with % a map from strings. ^ as the name: the members
 * of the message belong to the outer object. ! after the name: a pointer in Go, so that zero is a
 * value; other fields are left out when they are zero. */
struct protobuf_message {
	const char *name, *fields;
};

const struct protobuf_message *protobuf_messages_at(size_t i); /* NULL: there are no more */
/* NULL: not among the messages that are known. */
const struct protobuf_message *protobuf_messages_find(struct str name);

/* The object with apiVersion and kind. -ERR_INVALID: broken, or a kind or a field that is not
 * known; err says which. */
int protobuf_parse(struct str body, struct jdoc **ret, struct err *err);

#endif
