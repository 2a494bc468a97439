/* test/lib/pods/ledger_verify.h: the ledger's sums against its charges. Pure. */
#ifndef TEST_LIB_PODS_LEDGER_VERIFY_H
#define TEST_LIB_PODS_LEDGER_VERIFY_H

struct cluster;

/* NULL when every sum equals the sum of its tasks' charges, else a static text. */
const char *ledger_verify(const struct cluster *c);

#endif
