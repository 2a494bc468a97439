#!/bin/sh
# Each library's headers appear only in the files of thirdparty.txt, everything else in <> is libc,
# and the folders of pure.txt see only the part of libc that computes.
. "$(dirname "$0")/lib.sh"

sources '*.h' '*.c' | xargs grep -n '^#include <' /dev/null |
	sed 's/^\([^:]*\):\([0-9]*\):#include <\([^>]*\)>.*/\1 \2 \3/' |
	awk -v table="$LINT/thirdparty.txt" -v pures="$LINT/pure.txt" '
	BEGIN {
		while ((getline line < table) > 0) {
			if (line ~ /^(#|$)/)
				continue
			split(line, words, /\t+/)
			header[++n] = "^(" words[1] ")$"
			files[n] = words[2]
		}
		calm = "^(assert|ctype|errno|inttypes|limits|math|float|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|stdatomic)\\.h$"
		libc = "^((argp|dirent|dlfcn|err|fcntl|fnmatch|getopt|glob|ifaddrs|locale|malloc|netdb|poll|pthread|pwd|regex|sched|search|semaphore|setjmp|signal|spawn|strings|termios|time|unistd|wait|wchar|execinfo|ftw|link|elf|endian|ucontext|libgen)\\.h|(sys|netinet|arpa|net|linux|asm|bits)/[a-z0-9_]+\\.h)$"
		while ((getline line < pures) > 0)
			if (line !~ /^(#|$)/)
				pure[line "/"] = 1
	}
	# is_pure(path): it is in a folder of pure.txt or below one.
	function is_pure(path,    folder) {
		for (folder in pure)
			if (index(path, folder) == 1)
				return 1
		return 0
	}
	{
		for (i = 1; i <= n; i++) {
			if ($3 !~ header[i])
				continue
			if ($1 !~ files[i])
				print $1 ":" $2 ": <" $3 "> belongs to other files only (thirdparty.txt)"
			next
		}
		if (is_pure($1) && $3 !~ calm)
			print $1 ":" $2 ": pure code must not include <" $3 ">"
		else if ($3 !~ calm && $3 !~ libc)
			print $1 ":" $2 ": <" $3 "> is neither libc nor in thirdparty.txt"
	}' >"$FOUND"
finish
