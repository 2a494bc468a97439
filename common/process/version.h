/* common/process/version.h: the version of everything built from this tree. */
#ifndef COMMON_PROCESS_VERSION_H
#define COMMON_PROCESS_VERSION_H

#define HEADGATE_VERSION "0.1.0"

#endif
