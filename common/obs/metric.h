/* common/obs/metric.h: families of metrics (counters, gauges, histograms) and their registry. A
 * family is registered once (name, help, type, label names); cells are created per label values and
 * live as long as the registry or until removed. obs/exposition formats them. Any thread. */
#ifndef COMMON_OBS_METRIC_H
#define COMMON_OBS_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/metric_cell.h"

#define METRIC_MAX_LABELS 16
#define METRIC_MAX_CELLS                                                                           \
	100000 /* limit per family: all further label values share one "other" cell */

struct metric_registry;
struct metric_family;

/* destroy ends every family and cell; NULL is fine. */
struct metric_registry *metric_registry_create(void);
void metric_registry_destroy(struct metric_registry *r);

/* The same name again returns the same family (asserts that type and labels agree).
 * labels: NULL-terminated names or NULL. bounds: ascending upper bounds for histograms. */
struct metric_family *metric_register(struct metric_registry *r, const char *name, const char *help,
				      enum metric_type type, const char *const *labels);
struct metric_family *metric_register_histogram(struct metric_registry *r, const char *name,
						const char *help, const char *const *labels,
						const double *bounds, size_t nbounds);

/* values: as many as the family has labels; NULL for none. Created on first use. Keep the pointer
 * for hot paths; metric_remove of the same values frees it. */
struct metric_cell *metric_cell(struct metric_family *f, const char *const *values);
void metric_remove(struct metric_family *f, const char *const *values);
/* Removes every cell with these values in its first n labels. */
void metric_remove_where(struct metric_family *f, const char *const *values, size_t n);
/* begin and end replace a family of gauges: cells not set in between are removed. One thread. */
void metric_begin(struct metric_family *f);
void metric_end(struct metric_family *f);

/* The description of a family, as it was registered. */
struct metric_info {
	const char *name, *help;
	enum metric_type type;
	const char *const *labels;
	size_t nlabels;
};

struct metric_visitor {
	void *ctx;
	void (*family)(void *ctx, const struct metric_info *f); /* before its cells */
	/* values: of the labels, each ended by NUL */
	void (*cell)(void *ctx, const struct metric_info *f, const char *values,
		     const struct metric_cell *c);
};
/* Families in name order, cells in label order. The functions must not call this module. */
void metric_visit(struct metric_registry *r, const struct metric_visitor *v);

#endif
