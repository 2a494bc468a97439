/* common/base/counter.h: metric cells (counter, gauge, histogram) and their registry.
 * Any thread: cells are relaxed atomics. A family is registered once (name, help, type, label
 * names); cells are created per label values and live as long as the registry or until removed.
 * Lower layers count here; common/obs serves what counter_render writes. */
#ifndef COMMON_BASE_COUNTER_H
#define COMMON_BASE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_MAX_LABELS 16
#define COUNTER_MAX_CELLS                                                                          \
	100000 /* per family; then all further label values share one "other" cell */

enum counter_type { COUNTER_COUNTER, COUNTER_GAUGE, COUNTER_HISTOGRAM };

struct counter_registry;
struct counter_family;
struct counter_cell;
struct strbuf;

/* destroy ends every family and cell; NULL is fine. */
struct counter_registry *counter_registry_create(void);
void counter_registry_destroy(struct counter_registry *r);

/* The same name again returns the same family (asserts that type and labels agree).
 * labels: NULL-terminated names or NULL. bounds: ascending upper bounds for histograms. */
struct counter_family *counter_register(struct counter_registry *r, const char *name,
					const char *help, enum counter_type type,
					const char *const *labels);
struct counter_family *counter_register_histogram(struct counter_registry *r, const char *name,
						  const char *help, const char *const *labels,
						  const double *bounds, size_t nbounds);

/* values: as many as the family has labels; NULL for none. Created on first use. Keep the pointer
 * for hot paths; it dies with counter_remove of the same values. */
struct counter_cell *counter_cell(struct counter_family *f, const char *const *values);
void counter_remove(struct counter_family *f, const char *const *values);
/* Every cell whose first n labels have these values. */
void counter_remove_where(struct counter_family *f, const char *const *values, size_t n);
/* A family of gauges that is told as a whole: cells that are not set between the two are removed.
 * One thread. */
void counter_begin(struct counter_family *f);
void counter_end(struct counter_family *f);

void counter_add(struct counter_cell *c, int64_t n);        /* counters and gauges */
void counter_set(struct counter_cell *c, double value);     /* gauges */
void counter_observe(struct counter_cell *c, double value); /* histograms */
double counter_get(const struct counter_cell *c);           /* histogram: the sum */
uint64_t counter_observations(const struct counter_cell *c);

/* Appends every family as Prometheus text (0.0.4), in name order, cells in label order. */
void counter_render(struct counter_registry *r, struct strbuf *out);

#endif
