/* scheduler/ctl/manifest/chart_file.h: a file of the chart as a part of the program: what the chart
 * installs and what headgatectl knows are one text. The Makefile compiles the source file again
 * when the file changes. */
#ifndef SCHEDULER_CTL_MANIFEST_CHART_FILE_H
#define SCHEDULER_CTL_MANIFEST_CHART_FILE_H

#include "base/str.h"

/* Defines SYMBOL and SYMBOL_end, the bytes of charts/headgate/files/PATH and what is behind them.
 */
#define CHART_FILE(symbol, path)                                                                   \
	extern const char symbol[], symbol##_end[];                                                \
	__asm__(".pushsection .rodata\n" #symbol ":\n"                                             \
		".incbin \"charts/headgate/files/" path "\"\n" #symbol "_end:\n"                   \
		".byte 0\n"                                                                        \
		".popsection\n")

/* Ends with a NUL, and has none before it. */
#define CHART_FILE_TEXT(symbol) str_of(symbol)

#endif
