#!/bin/sh
# The include graph obeys layers.txt: lower layers never see higher ones.
. "$(dirname "$0")/lib.sh"

sources '*.h' '*.c' >"$FOUND.files"
xargs grep -n '^#include "' /dev/null <"$FOUND.files" 2>/dev/null |
	sed 's/^\([^:]*\):\([0-9]*\):#include "\([^"]*\)".*/\1 \2 \3/' |
	awk -v table="$LINT/layers.txt" -v files="$FOUND.files" '
	function folder(path) {
		sub(/\/[^\/]*$/, "", path)
		return path ~ /^test\// ? "test" : path
	}
	function resolve(inc, from,    i) {
		for (i = 1; i <= 3; i++)
			if ((roots[i] inc) in exists)
				return roots[i] inc
		return ""
	}
	# file_rows(path): the rows of files with a pattern that matches the path, joined.
	function file_rows(path,    row, all) {
		for (row in shape)
			if (path ~ shape[row])
				all = all " " may[row]
		return all
	}
	function allowed(row, target,    i, n, words) {
		n = split(row, words, " ")
		for (i = 1; i <= n; i++) {
			if (words[i] == target || (words[i] == "*" && target != "test"))
				return 1
			if (words[i] ~ /\/\*\*$/ && target == substr(words[i], 1, length(words[i]) - 3))
				return 1
			if (words[i] ~ /\/\*+$/ && sub(/\*+$/, "", words[i]) && index(target, words[i]) == 1)
				return 1
		}
		return 0
	}
	BEGIN {
		split("common/ test/", roots, " ")
		roots[3] = ""
		while ((getline line < files) > 0)
			exists[line] = 1
		while ((getline line < table) > 0) {
			if (line ~ /^(#|$)/)
				continue
			split(line, words, /[ \t]+/)
			known[words[1]] = 1
			may[words[1]] = substr(line, length(words[1]) + 1)
			if (words[1] ~ /\.[^\/]*$/) {
				re = words[1]
				sub(/\*/, "[a-z0-9_]*", re)
				sub(/\./, "\\.", re)
				shape[words[1]] = "^" re "$"
			}
		}
	}
	{
		own = folder($1)
		if (!(own in known)) {
			if (!(own in reported))
				print $1 ":" $2 ": folder " own " is not in layers.txt"
			reported[own] = 1
			next
		}
		path = resolve($3)
		if (path == "") {
			print $1 ":" $2 ": cannot find \"" $3 "\" (write folder/file.h)"
			next
		}
		target = folder(path)
		if (target == own || allowed(may[own] file_rows($1), target))
			next
		print $1 ":" $2 ": " own " must not include " target " (\"" $3 "\")"
	}' >"$FOUND"
rm -f "$FOUND.files"
finish
