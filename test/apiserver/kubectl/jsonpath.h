/* test/apiserver/kubectl/jsonpath.h: the JSON paths that CRDs use in printer columns and scale:
 * member names, ['quoted'] or .escaped\.names, [index], and the filter [?(@.name=="value")]. Pure.
 */
#ifndef TEST_APISERVER_KUBECTL_JSONPATH_H
#define TEST_APISERVER_KUBECTL_JSONPATH_H

struct jdoc;

/* The first node that path selects, NULL: none or an unknown form. */
const struct jdoc *jsonpath_get(const struct jdoc *doc, const char *path);

#endif
