/* test/scenario/each_file.h: a group of tests made of files. Owner: the test program. */
#ifndef TEST_SCENARIO_EACH_FILE_H
#define TEST_SCENARIO_EACH_FILE_H

/* Runs a test for each *.yaml right in the folder, by name; its state is the name of the file.
 * Returns what main is to return: not 0 when a test failed, or there is none. */
int each_file_run(const char *group, const char *folder, void (*test)(void **state));

#endif
