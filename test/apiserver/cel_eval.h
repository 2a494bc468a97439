/* test/apiserver/cel_eval.h: evaluation of compiled expressions. */
#ifndef TEST_APISERVER_CEL_EVAL_H
#define TEST_APISERVER_CEL_EVAL_H

#include <stdbool.h>

#include "apiserver/cel.h"

/* 0 with the truth value, -ERR_INVALID when evaluation fails or the result is no boolean. */
int cel_eval_bool(const struct cel *c, const struct cel_vars *vars, bool *ret, struct err *err);

#endif
