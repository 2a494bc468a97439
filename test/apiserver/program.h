/* test/apiserver/program.h: the headgate-apiserver program behind its main(): options, certificate,
 * manifests, kubeconfig, signals. */
#ifndef TEST_APISERVER_PROGRAM_H
#define TEST_APISERVER_PROGRAM_H

/* The exit code: 0 after SIGTERM or SIGINT, 2 for bad options or input, 1 otherwise. */
int program_run(int argc, char **argv);

#endif
