/* common/schema/cel_eval.h: evaluation of compiled expressions. */
#ifndef COMMON_SCHEMA_CEL_EVAL_H
#define COMMON_SCHEMA_CEL_EVAL_H

#include <stdbool.h>

#include "schema/cel.h"

/* 0 with the truth value, -ERR_INVALID when evaluation fails or the result is no boolean. */
int cel_eval_bool(const struct cel *c, const struct cel_vars *vars, bool *ret, struct err *err);

#endif
