/* test/apiserver/kubectl/columns.h: the columns that `kubectl get` shows: a table for the built-in
 * kinds, additionalPrinterColumns for custom ones, name and age for the rest. Pure. */
#ifndef TEST_APISERVER_KUBECTL_COLUMNS_H
#define TEST_APISERVER_KUBECTL_COLUMNS_H

#include <stdint.h>

struct jdoc;
struct resource;

/* columnDefinitions, a new array. */
struct jdoc *columns_headers(const struct resource *res);
/* The cells of one object at time now, a new array of the same length. */
struct jdoc *columns_cells(const struct resource *res, const struct jdoc *doc, int64_t now);

#endif
