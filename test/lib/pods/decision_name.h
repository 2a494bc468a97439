/* test/lib/pods/decision_name.h: names of kinds of decisions, for scenarios and traces. Pure. */
#ifndef TEST_LIB_PODS_DECISION_NAME_H
#define TEST_LIB_PODS_DECISION_NAME_H

#include "scheduler/pods/session/decision.h"

const char *decision_name(enum decision_kind kind); /* "Ungate", ... */

#endif
