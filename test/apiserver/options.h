/* test/apiserver/options.h: the query parameters of a request, checked as Kubernetes checks its
 * CreateOptions, UpdateOptions, PatchOptions, DeleteOptions and ListOptions. */
#ifndef TEST_APISERVER_OPTIONS_H
#define TEST_APISERVER_OPTIONS_H

#include <stdbool.h>

struct call;
struct jdoc;

/* 0, or an answer is there. For every request to a resource. */
int options_check(struct call *c);
/* The body of a deletion, decoded. */
int options_check_delete(struct call *c, const struct jdoc *options);
/* Answers 422 about one parameter of a list or watch. */
int options_refuse_list(struct call *c, const char *reason, const char *field, const char *why);
/* Whether unknown and repeated fields are refused (fieldValidation=Strict). */
bool options_is_strict(const struct call *c);
/* Options as an admission review shows them: "CreateOptions" etc.; a new root. */
struct jdoc *options_for_review(const struct call *c, const char *kind);

#endif
