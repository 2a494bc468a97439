/* test/demo/fleet_demo.h: the demo of many clusters: a manager cluster and three worker clusters
 * with Headgate, as processes on this machine. One thread. */
#ifndef TEST_DEMO_FLEET_DEMO_H
#define TEST_DEMO_FLEET_DEMO_H

#include <signal.h>

/* Prints the story and whether its promises held. Returns the exit code. */
int fleet_demo_play(void);
/* Keeps the clusters running, with a kubeconfig of each in this folder, until one of these signals
 * (which are blocked) comes. Returns the exit code. */
int fleet_demo_serve(const char *folder, const sigset_t *until);

#endif
