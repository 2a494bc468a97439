/* test/unit/scheduler/multikueue/manager/body_fixture.h: JSON with strings in single quotes, for
 * tests of the bodies of writes. */
#ifndef TEST_UNIT_SCHEDULER_MULTIKUEUE_MANAGER_BODY_FIXTURE_H
#define TEST_UNIT_SCHEDULER_MULTIKUEUE_MANAGER_BODY_FIXTURE_H

struct jdoc;
struct strbuf;

struct jdoc *body_fixture(const char *text); /* the caller destroys it */
/* The body must be this, but for the order of members. */
void body_fixture_expect(const struct strbuf *body, const char *want);

#endif
