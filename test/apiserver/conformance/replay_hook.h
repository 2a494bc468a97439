/* test/apiserver/conformance/replay_hook.h: an admission webhook on loopback that remembers what it
 * was asked. Paths: /allow; /deny (403, "denied by test"); /label (adds the label
 * "touched" = "yes"); /warn (allows with a warning); /break (an answer of 500); /stranger (the
 * answer of another review). Threads: the server's own. */
#ifndef TEST_APISERVER_CONFORMANCE_REPLAY_HOOK_H
#define TEST_APISERVER_CONFORMANCE_REPLAY_HOOK_H

#include "base/str.h"

struct err;
struct jdoc;
struct replay_hook;

int replay_hook_start(struct replay_hook **ret, struct err *err);
void replay_hook_stop(struct replay_hook *h);       /* NULL is fine */
const char *replay_hook_url(struct replay_hook *h); /* "https://127.0.0.1:PORT", borrowed */
struct str replay_hook_ca(struct replay_hook *h);   /* PEM */
/* A JSON array of the reviews since the last call, each with the path it came to as member "at".
 * The caller owns it. */
struct jdoc *replay_hook_take(struct replay_hook *h);

#endif
